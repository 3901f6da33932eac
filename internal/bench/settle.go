package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// warmAtOnce is how many warm-up requests run at a time without a cap.
const warmAtOnce = 8

// settle checks the arguments and fills in defaults.
func settle(ctx context.Context, t Target, w Workload) (Target, Workload, unix.Sockaddr, error) {
	t.API = cmp.Or(t.API, Completions)
	t.URL = strings.TrimSuffix(t.URL, "/")
	w = w.settled()
	if err := t.checkAPI(); err != nil {
		return t, w, nil, fmt.Errorf("bench: %w", err)
	}
	if strings.ContainsAny(t.Token, "\r\n") {
		return t, w, nil, errors.New("bench: token holds a line end")
	}
	if err := w.check(t); err != nil {
		return t, w, nil, fmt.Errorf("bench: %w", err)
	}
	addr, err := address(ctx, t.URL)
	if err != nil {
		return t, w, nil, fmt.Errorf("bench: %w", err)
	}
	return t, w, addr, nil
}

// settled fills in the defaults.
func (w Workload) settled() Workload {
	w.RangeRatio = cmp.Or(w.RangeRatio, 1)
	w.Burstiness = cmp.Or(w.Burstiness, 1)
	w.Spacing = cmp.Or(w.Spacing, Gamma)
	w.IdleTimeout = cmp.Or(w.IdleTimeout, 10*time.Minute)
	w.Deadline = cmp.Or(w.Deadline, 6*time.Hour)
	if w.Warmups < 0 {
		w.Warmups = 2 * cmp.Or(w.Concurrency, warmAtOnce)
	}
	if w.Trace != nil {
		w.Requests = w.Trace.requests()
	}
	return w
}

// maxRate is the highest rate that is taken for one.
const maxRate = 1e6

// check refuses what cannot be measured.
func (w Workload) check(t Target) error {
	switch {
	case w.Requests < 1:
		return fmt.Errorf("%d requests: must be positive", w.Requests)
	case w.Concurrency < 0:
		return fmt.Errorf("concurrency %d: must be positive, or 0 for no cap", w.Concurrency)
	case w.InputTokens < 1 || w.OutputTokens < 1:
		return fmt.Errorf("%d input and %d output tokens: both must be positive", w.InputTokens, w.OutputTokens)
	case !(w.RangeRatio > 0 && w.RangeRatio <= 1):
		return fmt.Errorf("range ratio %v is not in (0, 1]", w.RangeRatio)
	case !(w.Rate >= 0 && w.Rate <= maxRate):
		return fmt.Errorf("request rate %v is not in (0, %.0f]", w.Rate, float64(maxRate))
	case !(w.Burstiness > 0) || math.IsInf(w.Burstiness, 0):
		return fmt.Errorf("burstiness %v: must be positive", w.Burstiness)
	case w.Spacing != Gamma && w.Spacing != Constant:
		return fmt.Errorf("spacing %q is neither %s nor %s", w.Spacing, Gamma, Constant)
	case w.Trace != nil && t.API != Chat:
		return fmt.Errorf("a trace is replayed as chat completions, not as %s", t.API)
	}
	return nil
}

// places is the room there is for a workload's connections, and how many
// sessions may be under way at a time, 0 = as many as come. A cap that there is
// no room for is an error; without a cap, the room is the cap.
func places(addr unix.Sockaddr, w Workload) (Headroom, int, error) {
	most := w.Requests
	if w.Trace != nil {
		most = len(w.Trace.Sessions)
	}
	if w.Concurrency > 0 {
		room := headroom(addr, min(w.Concurrency, most))
		return room, w.Concurrency, room.check()
	}
	room := headroom(addr, most)
	if left := room.most(); left < most {
		if left == 0 {
			return room, 0, room.check()
		}
		return room, left, nil
	}
	return room, 0, nil
}

// checkUser refuses a URL with a user and a password in it, without repeating
// them: it would stand in every line that names the target.
func checkUser(target string) error {
	if strings.Contains(target, "@") {
		return errors.New("target: a URL with a user or a password is not taken: want http://host:port")
	}
	return nil
}

// address finds out where a target listens.
func address(ctx context.Context, target string) (unix.Sockaddr, error) {
	if err := checkUser(target); err != nil {
		return nil, err
	}
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
