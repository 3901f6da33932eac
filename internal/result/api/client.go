package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The bounds of every request.
const (
	maxBody = 16 << 20
	timeout = 15 * time.Second
)

// pauses before the second and third try of a request that may pass later.
var pauses = [...]time.Duration{500 * time.Millisecond, 1500 * time.Millisecond}

// Client reads a results API. Base is the address before "/api/v1". HTTP gives
// the transport; nil is http.DefaultClient. Redirects are never followed, an
// answer must be JSON and at most 16 MiB, one try takes at most 15 s. Answers
// 408, 429 and 5xx are tried twice more.
type Client struct {
	Base  string
	HTTP  *http.Client
	Pause func(ctx context.Context, d time.Duration) error // nil waits for d
}

// Benchmarks returns the rows of a model (display name) measured on date (YYYY-MM-DD).
func (c *Client) Benchmarks(ctx context.Context, model, date string) ([]BenchmarkRow, error) {
	var rows []BenchmarkRow
	err := c.read(ctx, "benchmarks", url.Values{"model": {model}, "date": {date}, "exact": {"true"}}, &rows)
	return rows, err
}

// WorkflowInfo returns the runs of a day.
func (c *Client) WorkflowInfo(ctx context.Context, date string) (WorkflowInfo, error) {
	var info WorkflowInfo
	err := c.read(ctx, "workflow-info", url.Values{"date": {date}}, &info)
	return info, err
}

// Evaluations returns all published evaluations.
func (c *Client) Evaluations(ctx context.Context) ([]EvaluationRow, error) {
	var rows []EvaluationRow
	err := c.read(ctx, "evaluations", nil, &rows)
	return rows, err
}

// URL is the address of a request, as it may be cited.
func (c *Client) URL(endpoint string, query url.Values) string {
	address := strings.TrimSuffix(c.Base, "/") + "/api/v1/" + endpoint
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

func (c *Client) read(ctx context.Context, endpoint string, query url.Values, v any) error {
	for try := 0; ; try++ {
		again, err := c.once(ctx, c.URL(endpoint, query), v)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("results api: %s: %w", endpoint, err)
		if !again || try == len(pauses) || ctx.Err() != nil {
			return err
		}
		if waitErr := c.pause(ctx, pauses[try]); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
}

// once makes one try and says whether another one may help.
func (c *Client) once(ctx context.Context, address string, v any) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.client().Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return true, fmt.Errorf("read body: %w", err)
	case len(body) > maxBody:
		return false, fmt.Errorf("body is larger than %d bytes", maxBody)
	case resp.StatusCode != http.StatusOK:
		s := resp.StatusCode
		return s == http.StatusRequestTimeout || s == http.StatusTooManyRequests || s >= 500, statusError(resp, body)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return false, fmt.Errorf("content type %q is not JSON", resp.Header.Get("Content-Type"))
	}
	if err := json.Unmarshal(body, v); err != nil {
		return false, fmt.Errorf("decode: %w", err)
	}
	return false, nil
}

// client is the given one without redirects.
func (c *Client) client() *http.Client {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if c.Pause != nil {
		return c.Pause(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// StatusError is an answer that says no. Code is its HTTP status.
type StatusError struct {
	Code int
	text string
}

// Error returns the status line, with what the server said about it.
func (e *StatusError) Error() string { return "status " + e.text }

func statusError(resp *http.Response, body []byte) error {
	var e ErrorBody
	if json.Unmarshal(body, &e) == nil && e.Error != "" {
		return &StatusError{resp.StatusCode, fmt.Sprintf("%s: %.200q", resp.Status, e.Error)}
	}
	return &StatusError{resp.StatusCode, resp.Status}
}
