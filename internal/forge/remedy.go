package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/google/go-github/v89/github"
)

// remedy is what a person can do about an answer that says no, as the end of
// its message.
func remedy(err error, status int) string {
	resp := response(err)
	switch {
	case throttled(err):
		return until(resp)
	case status == http.StatusUnauthorized:
		return ": the server does not accept the credential: it is wrong, expired or revoked, use another token"
	case status == http.StatusForbidden:
		return ": the credential lacks the right for this"
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect:
		return ": the repository or the server has another address now"
	case status >= http.StatusInternalServerError:
		return ": the server is in trouble, try again later"
	}
	return ""
}

// response is the answer that an error of the library came with.
func response(err error) *http.Response {
	var refused *github.ErrorResponse
	var limited *github.RateLimitError
	var abused *github.AbuseRateLimitError
	switch {
	case errors.As(err, &refused):
		return refused.Response
	case errors.As(err, &limited):
		return limited.Response
	case errors.As(err, &abused):
		return abused.Response
	}
	return nil
}

// throttled says that the server refused because of how much was asked, not
// because of what.
func throttled(err error) bool {
	var limited *github.RateLimitError
	var abused *github.AbuseRateLimitError
	if errors.As(err, &limited) || errors.As(err, &abused) {
		return true
	}
	resp := response(err)
	if resp == nil {
		return false
	}
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden && resp.Header.Get("Retry-After") != ""
}

// until says when a rate limit ends: what Retry-After counts from the answer's
// own date, else the time that X-RateLimit-Reset names. This machine's clock is
// not asked; it may be wrong.
func until(resp *http.Response) string {
	if resp == nil {
		return ": try again later"
	}
	end, ok := limitEnd(resp.Header)
	if !ok {
		return ": try again later"
	}
	return fmt.Sprintf(": nothing is answered until %s UTC, try again then", end.UTC().Format(time.DateTime))
}

func limitEnd(h http.Header) (time.Time, bool) {
	after := h.Get("Retry-After")
	if at, err := http.ParseTime(after); err == nil {
		return at, true
	}
	from, err := http.ParseTime(h.Get("Date"))
	if wait, bad := strconv.ParseInt(after, 10, 32); bad == nil && err == nil {
		return from.Add(time.Duration(wait) * time.Second), true
	}
	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	return time.Unix(reset, 0), err == nil
}

// unanswered is the text of an error without an answer: what the network said,
// and what a person can look at.
func unanswered(err error) string {
	said := plain(err)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return said + ": nothing listens there, is the server up and the address right?"
	}
	return said
}

// silence is a call that got no answer in time.
type silence struct{ patience time.Duration }

// Error names the time.
func (s silence) Error() string {
	return fmt.Sprintf("no answer within %s: the server is overloaded or out of reach, try again later", s.patience)
}

// Unwrap returns context.DeadlineExceeded: it is not known if a write was done.
func (s silence) Unwrap() error { return context.DeadlineExceeded }
