package image

import (
	"fmt"
	"io"
	"net/http"
)

// Limits of one listing of tags: the registry client follows every next page
// and reads every answer to its end.
const (
	maxListing  = 16 << 20 // bytes of all answers
	maxRequests = 1000
)

// budget bounds what one operation reads from a registry. It serves one
// operation, whose requests follow each other.
type budget struct {
	next     http.RoundTripper
	bytes    int64
	requests int
}

func (b *budget) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.requests--; b.requests < 0 {
		return nil, fmt.Errorf("more than %d requests", maxRequests)
	}
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &spending{resp.Body, b}
	}
	return resp, err
}

// spending is a body that is paid for out of the budget.
type spending struct {
	io.ReadCloser
	from *budget
}

func (s *spending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.from.bytes -= int64(n); s.from.bytes < 0 {
		return n, fmt.Errorf("more than %d bytes of answers", maxListing)
	}
	return n, err
}
