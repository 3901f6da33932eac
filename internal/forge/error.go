package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v89/github"

	"github.com/refit-bench/refit/internal/workspace"
)

var (
	// ErrExists says that the reference to create is there already.
	ErrExists = errors.New("reference already exists")
	// ErrMoved says that a reference is not where the caller saw it.
	ErrMoved = errors.New("reference moved")

	errDenied = errors.New("denied")
)

// An Error is a call that failed. It never holds the credential. It wraps
// fs.ErrNotExist for a 404, ErrExists, ErrMoved, and a context's error.
type Error struct {
	Op      string // operation and object, such as "pull 12"
	Status  int    // HTTP status, 0 without an answer
	Message string
	kind    error
}

// Error returns the operation, the status and the server's message.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Op + ": " + e.Message
	}
	return fmt.Sprintf("%s: %d %s", e.Op, e.Status, e.Message)
}

// Unwrap returns the sentinel this error stands for, or nil.
func (e *Error) Unwrap() error { return e.kind }

// Unanswered reports whether err leaves open if a write was done: no answer
// came, or the server broke while it gave one. Then the caller looks.
func Unanswered(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Status >= 500 || e.Status == 0 && (e.kind == nil || e.kind == context.DeadlineExceeded)
}

// Passing reports whether err says nothing about what was asked for: no answer
// came, the server broke, or a limit of requests is used up. Later it may do.
func Passing(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	limited := e.Status == http.StatusTooManyRequests || e.Status == http.StatusForbidden && e.kind != errDenied
	return Unanswered(err) || limited
}

// fail turns an error of the library into one without secrets.
func (c *Client) fail(err error, op string, args ...any) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: "forge: " + fmt.Sprintf(op, args...), Message: unanswered(err)}
	if status, message := answer(err); status != 0 {
		e.Status, e.Message = status, message+remedy(err, status)
	}
	switch {
	case e.Status == http.StatusNotFound:
		e.kind = fs.ErrNotExist
	case e.Status == http.StatusForbidden && !throttled(err):
		e.kind = errDenied
	case e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Message, "Reference already exists"):
		e.kind = ErrExists
	case e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Message, "not a fast forward"):
		e.kind = ErrMoved
	default:
		e.kind = sentinel(err)
	}
	if c.token != "" {
		e.Message = strings.ReplaceAll(e.Message, c.token, "[redacted]")
		e.Op = strings.ReplaceAll(e.Op, c.token, "[redacted]")
	}
	return e
}

// answer reads status and message out of the library's error types.
func answer(err error) (int, string) {
	var refused *github.ErrorResponse
	var limited *github.RateLimitError
	var abused *github.AbuseRateLimitError
	var moved *github.RedirectionError
	var accepted *github.AcceptedError
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		return refused.Response.StatusCode, detail(refused)
	case errors.As(err, &limited) && limited.Response != nil:
		return limited.Response.StatusCode, "rate limit reached"
	case errors.As(err, &abused) && abused.Response != nil:
		return abused.Response.StatusCode, "secondary rate limit reached"
	case errors.As(err, &moved) && moved.Response != nil:
		return moved.StatusCode, "redirect not followed"
	case errors.As(err, &accepted):
		return http.StatusAccepted, "accepted, not done yet"
	}
	return 0, ""
}

// Denied reports whether the server knows the credential and refuses what was
// asked for lack of a right. A rate limit is no such thing.
func Denied(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.kind == errDenied
}

// detail joins the message of an answer with its list of reasons.
func detail(r *github.ErrorResponse) string {
	parts := []string{cmp.Or(r.Message, http.StatusText(r.Response.StatusCode))}
	for _, e := range r.Errors {
		switch {
		case e.Message != "":
			parts = append(parts, e.Message)
		case e.Code != "":
			parts = append(parts, strings.TrimSpace(e.Resource+"."+e.Field+" "+e.Code))
		}
	}
	return clip(strings.Join(parts, "; "))
}

// plain is the text of an error without the queries of URLs, which may be signed.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		where := u.URL
		if parsed, bad := url.Parse(u.URL); bad == nil {
			parsed.RawQuery, parsed.User, parsed.Fragment = "", nil, ""
			where = parsed.String()
		}
		return clip(fmt.Sprintf("%s %s: %v", u.Op, where, u.Err))
	}
	return clip(err.Error())
}

func clip(s string) string {
	s = workspace.Printable(strings.Join(strings.Fields(s), " "))
	if len(s) > 600 {
		s = strings.ToValidUTF8(s[:600], "") + " ..."
	}
	return s
}

func sentinel(err error) error {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, ErrExists, ErrMoved} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}
