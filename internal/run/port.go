package run

import (
	"fmt"
	"net"
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
