package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settle checks the arguments and fills in defaults.
func settle(ctx context.Context, t Target, w Workload) (Target, Workload, unix.Sockaddr, error) {
	if t.API == "" {
		t.API = "completions"
	}
	if w.RangeRatio == 0 {
		w.RangeRatio = 1
	}
	if w.Warmups < 0 {
		w.Warmups = 2 * w.Concurrency
	}
	if w.IdleTimeout == 0 {
		w.IdleTimeout = 10 * time.Minute
	}
	t.URL = strings.TrimSuffix(t.URL, "/")
	switch {
	case t.API != "completions" && t.API != "chat":
		return t, w, nil, fmt.Errorf("bench: api %q is neither completions nor chat", t.API)
	case w.Requests < 1 || w.Concurrency < 1:
		return t, w, nil, fmt.Errorf("bench: %d requests at concurrency %d: both must be positive", w.Requests, w.Concurrency)
	case w.InputTokens < 1 || w.OutputTokens < 1:
		return t, w, nil, fmt.Errorf("bench: %d input and %d output tokens: both must be positive", w.InputTokens, w.OutputTokens)
	case !(w.RangeRatio > 0 && w.RangeRatio <= 1):
		return t, w, nil, fmt.Errorf("bench: range ratio %v is not in (0, 1]", w.RangeRatio)
	case strings.ContainsAny(t.Token, "\r\n"):
		return t, w, nil, errors.New("bench: token holds a line end")
	}
	addr, err := address(ctx, t.URL)
	if err != nil {
		return t, w, nil, fmt.Errorf("bench: %w", err)
	}
	return t, w, addr, nil
}

// address finds out where a target listens.
func address(ctx context.Context, target string) (unix.Sockaddr, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", target, err)
	}
	if u.Scheme != "http" || u.Hostname() == "" {
		return nil, fmt.Errorf("target %q: want http://host:port", target)
	}
	port := 80
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("target %q: port %q", target, p)
		}
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", target, err)
	}
	for _, ip := range ips { // an IPv4 address when there is one
		if ip = ip.Unmap(); ip.Is4() {
			return &unix.SockaddrInet4{Port: port, Addr: ip.As4()}, nil
		}
	}
	return &unix.SockaddrInet6{Port: port, Addr: ips[0].As16()}, nil
}
