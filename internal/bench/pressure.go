package bench

import (
	"bytes"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"
)

// starved is how long so far some runnable task of this machine had to wait
// for a processor: the kernel's pressure stall information. It says false where
// the kernel keeps none.
func starved() (time.Duration, bool) {
	data, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0, false
	}
	return parseStarved(data)
}

// parseStarved reads the total of the line "some", in microseconds.
func parseStarved(data []byte) (time.Duration, bool) {
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, ok := bytes.Cut(bytes.TrimSpace(line), []byte("total="))
		us, err := strconv.ParseInt(string(total), 10, 64)
		return time.Duration(us) * time.Microsecond, ok && err == nil
	}
	return 0, false
}

// sameHost says whether a target is served by this machine, so that engine and
// client compete for its processors.
func sameHost(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}
