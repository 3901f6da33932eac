package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Headroom is what was left of the things that connections are made of, before
// the first one was opened.
type Headroom struct {
	Connections int  `json:"connections"` // at most needed at a time
	Descriptors int  `json:"descriptors"` // that this process may open besides
	Ports       *int `json:"ports"`       // local ports that are free towards the target; nil = the system does not say
}

// spareDescriptors are left for everything that is no measured connection.
const spareDescriptors = 64

// headroom raises the limit of open descriptors as far as it may, when
// connections need that, and looks what is left.
func headroom(target unix.Sockaddr, connections int) Headroom {
	h := Headroom{Connections: connections}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		open := openDescriptors()
		if want := uint64(connections + open + spareDescriptors); want > limit.Cur {
			limit = raised(limit, want)
		}
		h.Descriptors = int(min(limit.Cur, 1<<30)) - open - spareDescriptors
	}
	if ports, ok := freePorts(target); ok {
		h.Ports = &ports
	}
	return h
}

// most is the number of connections there is room for.
func (h Headroom) most() int {
	n := h.Descriptors
	if h.Ports != nil {
		n = min(n, *h.Ports)
	}
	return max(n, 0)
}

// check refuses a concurrency that there is no room for.
func (h Headroom) check() error {
	switch {
	case h.Connections > h.Descriptors:
		return fmt.Errorf("%d connections at a time, but only %d files may be opened: raise the limit (ulimit -n) or lower the concurrency", h.Connections, h.Descriptors)
	case h.Ports != nil && h.Connections > *h.Ports:
		return fmt.Errorf("%d connections at a time, but only %d local ports are free towards the target: widen net.ipv4.ip_local_port_range or lower the concurrency", h.Connections, *h.Ports)
	}
	return nil
}

// object spells the figures with the keys of their JSON form.
func (h Headroom) object() *object {
	var o object
	o.integer("connections", h.Connections)
	o.integer("descriptors", h.Descriptors)
	if h.Ports == nil {
		o.null("ports")
	} else {
		o.integer("ports", *h.Ports)
	}
	return &o
}

func openDescriptors() int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(fds)
}

// freePorts is how many local ports the system still gives for connections to
// the target. One that waits out its end is not counted: the system gives it
// again on its own machine, and elsewhere within a minute.
func freePorts(target unix.Sockaddr) (int, bool) {
	span, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var first, last int
	if _, err := fmt.Sscan(string(span), &first, &last); err != nil {
		return 0, false
	}
	free := last - first + 1
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return 0, false
		}
		free -= connectionsTo(table, target)
	}
	return max(free, 0), true
}

// waitsOut is TIME_WAIT in the kernel's table.
const waitsOut = "06"

// connectionsTo counts the lines of the kernel's table with a remote end.
func connectionsTo(table []byte, target unix.Sockaddr) int {
	remote, n := remoteEnd(target), 0
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 3 && f[2] == remote && f[3] != waitsOut {
			n++
		}
	}
	return n
}

// remoteEnd is an address as the kernel's table spells it: words of four bytes,
// each as a number of the machine's own order, and the port.
func remoteEnd(target unix.Sockaddr) string {
	var ip []byte
	port := 0
	switch a := target.(type) {
	case *unix.SockaddrInet4:
		ip, port = a.Addr[:], a.Port
	case *unix.SockaddrInet6:
		ip, port = a.Addr[:], a.Port
	}
	var end strings.Builder
	for word := range slices.Chunk(ip, 4) {
		fmt.Fprintf(&end, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&end, ":%04X", port)
	return end.String()
}
