package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	callTimeout     = 90 * time.Second // one call with its retries
	downloadTimeout = 15 * time.Minute
	headerTimeout   = 30 * time.Second
	maxAnswer       = 32 << 20 // bytes of one answer
	tries           = 4
	firstWait       = 250 * time.Millisecond
	longestWait     = time.Minute // of a rate limit; a longer one is an error
)

// errTooLarge says that an answer passed its limit.
var errTooLarge = errors.New("answer too large")

// A transport adds the credential on its own origin, counts, bounds answers,
// and repeats reads that met a network error or a 5xx.
type transport struct {
	client *Client
	next   http.RoundTripper
	origin string
	token  string
	limit  int64
	calls  atomic.Int64

	patience time.Duration // of one call; 0 is the client's
}

// newBase returns a transport of our own, so that nothing else in the process
// shares its connections or changes its limits. Proxies apply to other hosts only.
func newBase() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  headerTimeout,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 1 << 20,
		ForceAttemptHTTP2:      true,
	}
}

// RoundTrip sends the request. A read is sent again after a network error, a
// 5xx or an answer that was cut; a write only when the server says that it did
// nothing because of its rate limit.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	patience := cmp.Or(t.patience, t.client.Patience, callTimeout)
	ctx, cancel := context.WithTimeoutCause(req.Context(), patience, silence{patience})
	resp, err := t.try(req.Clone(ctx))
	if err != nil {
		defer cancel()
		if req.Context().Err() == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	resp.Body = &timed{resp.Body, cancel}
	return resp, nil
}

// timed is a body whose deadline ends with it.
type timed struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body and gives the deadline back.
func (t *timed) Close() error {
	t.cancel()
	return t.ReadCloser.Close()
}

// try sends the request as often as that is right. It may change it.
func (t *transport) try(req *http.Request) (*http.Response, error) {
	if t.token != "" && origin(req.URL) == t.origin {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	wait := firstWait
	for try := 1; ; try++ {
		t.calls.Add(1)
		resp, err := t.next.RoundTrip(req)
		if err == nil {
			resp.Body = &bounded{body: resp.Body, left: t.limit}
			if readOnly(req) {
				err = swallow(resp)
			}
		}
		pause, again := wait, try < tries && repeatable(req, resp, err)
		if limit, told := limited(resp, err); told && try < tries {
			pause, again = limit, limit <= longestWait && rewind(req)
		}
		if !again {
			if err != nil {
				resp = nil
			}
			return resp, err
		}
		if resp != nil {
			io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
			resp.Body.Close()
		}
		if err := t.wait(req.Context(), pause); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// swallow reads the whole answer now, so that one that is cut is noticed while
// the request can still be sent again. One that is too long stays to be read.
func swallow(resp *http.Response) error {
	data, err := io.ReadAll(resp.Body)
	if errors.Is(err, errTooLarge) {
		return nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return err
}

// limited reports how long a server asks to be left alone. Such a request was
// refused before anything was done.
// Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
func limited(resp *http.Response, err error) (time.Duration, bool) {
	if err != nil || resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusForbidden {
		return 0, false
	}
	seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, bad == nil && seconds >= 0
}

// rewind makes a request's body ready to be sent once more.
func rewind(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	req.Body = body
	return err == nil
}

func (t *transport) wait(ctx context.Context, d time.Duration) error {
	if t.client.Wait != nil {
		return t.client.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func readOnly(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}

func repeatable(req *http.Request, resp *http.Response, err error) bool {
	if !readOnly(req) || req.Context().Err() != nil {
		return false
	}
	return err != nil || resp.StatusCode >= 500
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// A bounded body fails instead of ending early when the answer is too long.
type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		return 0, errTooLarge
	}
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }

// Loopback reports whether a "host" or "host:port" names this machine without
// asking a resolver: "localhost", 127.0.0.0/8 or [::1].
func Loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
