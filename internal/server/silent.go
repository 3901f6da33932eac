package server

import (
	"net"
	"net/http"
	"sync"
)

// silent are connections on which nothing was asked yet. Clients open some in
// advance; a server that ends would wait seconds for them to speak.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
}

// watch is a server's ConnState.
func (s *silent) watch(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, c)
	case s.ended:
		_ = c.Close()
	default:
		if s.conns == nil {
			s.conns = map[net.Conn]bool{}
		}
		s.conns[c] = true
	}
}

// end closes them, and those that come.
func (s *silent) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c := range s.conns {
		_ = c.Close() // the other side sees that nobody answers
	}
}
