package server

import (
	"net"
	"net/url"
	"testing"
	"time"
)

// Connections that clients opened in advance do not keep a server from ending.
func TestSilentConnectionsEnd(t *testing.T) {
	h := startHost(t)
	for name, base := range h.places() {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer c.Close()
	}
	began := time.Now()
	if err := h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Close took %v: it waited for somebody to speak", took)
	}
}
