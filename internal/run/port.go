package run

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// freePort finds a TCP port on which nobody listens.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("probe for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// leftPort makes sure that a job, all of whose processes are gone, has left its
// port. Whoever is seen there took it in its place.
func leftPort(port int, limit time.Duration) error {
	if len(holders(port)) > 0 {
		return nil
	}
	return released(port, limit)
}

// released waits until a port can be listened on again.
func released(port int, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return l.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("port %d is still in use after the job: %w", port, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// holders are the processes that listen on a port, as far as this user may see.
func holders(port int) []int {
	sockets := listeners(port)
	if len(sockets) == 0 {
		return nil
	}
	var pids []int
	for _, pid := range running() {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if to, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && sockets[to] {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// listeners are the sockets that listen on a port, as links of /proc/PID/fd
// name them.
func listeners(port int) map[string]bool {
	sockets := map[string]bool{}
	suffix := fmt.Sprintf(":%04X", port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		src, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(src)) {
			f := strings.Fields(line)
			if len(f) > 9 && strings.HasSuffix(f[1], suffix) && f[3] == "0A" { // 0A: listening
				sockets["socket:["+f[9]+"]"] = true
			}
		}
	}
	return sockets
}
