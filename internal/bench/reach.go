package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// Rhythm of waiting for a server.
const (
	readyEvery = 100 * time.Millisecond
	tellEvery  = 5 * time.Second
)

// reach waits until the server is ready and asks it for what the flags left
// open: its model, and whether it has the completions endpoint. One short
// request shows that it answers at all, before anything is measured.
func (o *options) reach(ctx context.Context, stderr io.Writer) error {
	s := newSide(o.served())
	defer s.close()
	s.http.Timeout = o.work.IdleTimeout
	if err := s.ready(ctx, o.own.wait, stderr); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.target.Model == "" {
		m, err := s.onlyModel(ctx)
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		o.target.Model, s.target.Model = m, m
	}
	if o.target.API != Completions && o.target.API != Chat {
		return nil // the first warm-up shows what there is
	}
	if o.target.API != Chat {
		err := s.tries(ctx, Completions)
		if !errors.Is(err, errNoEndpoint) {
			return err
		}
		fmt.Fprintf(stderr, "no completions at %s: measuring chat completions\n", o.target.URL)
		o.target.API, o.target.Path, o.backend = Chat, chatPath(o.target.Path), "openai-chat"
		s.target.Path = o.target.Path
	}
	return s.tries(ctx, Chat)
}

// ready waits until the server says that it takes requests.
func (s side) ready(ctx context.Context, limit time.Duration, stderr io.Writer) error {
	began := time.Now()
	told, last := "", began
	for {
		state := s.state(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		now := time.Now()
		switch {
		case state == "":
			return nil
		case now.Sub(began) >= limit:
			return fmt.Errorf("%s: %s (waited %v, see --wait)", s.target.URL, state, limit)
		case state != told || now.Sub(last) >= tellEvery:
			fmt.Fprintf(stderr, "%s: %s; waiting, %v of %v\n", s.target.URL, state, now.Sub(began).Round(time.Second), limit)
			told, last = state, now
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(readyEvery, limit-now.Sub(began))):
		}
	}
}

// state is empty when the server takes requests, else what keeps it. Without
// /health it is what the list of models says; a server that has neither is
// asked for a token, which will tell.
func (s side) state(ctx context.Context) string {
	for _, path := range []string{"/health", "/v1/models"} {
		status, body, err := s.ask(ctx, http.MethodGet, path, nil)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return "nothing answers (connection refused)"
		case err != nil:
			return "nothing answers (" + workspace.Printable(err.Error()) + ")"
		case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
			continue
		case status >= 500:
			return fmt.Sprintf("not ready (%s)", refusal(status, body))
		}
		return ""
	}
	return ""
}

// onlyModel is the name of the model that a server serves, when it is one.
func (s side) onlyModel(ctx context.Context) (string, error) {
	status, body, err := s.ask(ctx, http.MethodGet, "/v1/models", nil)
	if err != nil {
		return "", err
	}
	var got struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("/v1/models: %s: say which model with --model", refusal(status, body))
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return "", fmt.Errorf("/v1/models: %w", err)
	}
	var names []string
	for _, m := range got.Data {
		names = append(names, workspace.Printable(m.ID))
	}
	if len(names) != 1 || got.Data[0].ID == "" {
		return "", fmt.Errorf("%w: the server has %d models: say which with --model: %s", ErrUsage, len(names), strings.Join(names, ", "))
	}
	return got.Data[0].ID, nil
}

// errNoEndpoint says that a server does not know a path.
var errNoEndpoint = errors.New("no such endpoint")

// tries asks for one token of an endpoint.
func (s side) tries(ctx context.Context, api string) error {
	t := s.target
	t.API = api
	status, answer, err := s.ask(ctx, http.MethodPost, endpoint(t), probe(t, "one"))
	switch {
	case err != nil:
		return fmt.Errorf("bench: %w", err)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		return fmt.Errorf("bench: %s%s: %s: %w", t.URL, endpoint(t), refusal(status, answer), errNoEndpoint)
	case status != http.StatusOK:
		return fmt.Errorf("bench: %s%s: %s", t.URL, endpoint(t), refusal(status, answer))
	}
	return nil
}

// refusal is a status with the reason that the body gives, in OpenAI's form or
// as it stands.
func refusal(status int, body []byte) string {
	var got struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text := http.StatusText(status)
	if json.Unmarshal(body, &got) == nil && got.Error.Message != "" {
		text = start([]byte(got.Error.Message))
	} else if b := strings.TrimSpace(start(body)); b != "" {
		text = b
	}
	return fmt.Sprintf("%d %s", status, text)
}
