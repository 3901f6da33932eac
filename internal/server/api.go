package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/store"
)

// API is the public results API over published rows.
type API struct {
	Store    *store.Store
	Releases api.FrameworkReleases // newest release per framework; a nil value: not known
}

// Handler serves /api/v1: GET and HEAD, no authentication, JSON only. Anything
// wrong with a request is 400 with {"error": text}; anything wrong behind it is
// 500 without detail.
func (a API) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, answer := range map[string]answer{
		"benchmarks":         a.benchmarks,
		"benchmarks/history": a.history,
		"workflow-info":      a.workflowInfo,
		"evaluations":        func(ctx context.Context, _ url.Values) (any, error) { return a.Store.Evaluations(ctx) },
		"latest-images":      func(ctx context.Context, _ url.Values) (any, error) { return a.Store.LatestImages(ctx) },
		"framework-releases": a.releases,
	} {
		mux.Handle("/api/v1/"+path, serve(answer))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, http.StatusNotFound, "Not found") })
	return mux
}

// answer computes the body of a request.
type answer func(context.Context, url.Values) (any, error)

// badRequest is a fault of the request; its text is public.
type badRequest string

func (b badRequest) Error() string { return string(b) }

const (
	unknownModel = badRequest("Unknown model")
	badDate      = badRequest("Invalid date format (YYYY-MM-DD required)")
	badHistory   = badRequest("model, isl, and osl are required")
)

func (a API) benchmarks(ctx context.Context, q url.Values) (any, error) {
	date := q.Get("date")
	if date != "" && !isDate(date) {
		return nil, badDate
	}
	if err := a.known(ctx, q.Get("model")); err != nil {
		return nil, err
	}
	return a.Store.Benchmarks(ctx, q.Get("model"), date, date != "" && q.Get("exact") == "true")
}

func (a API) history(ctx context.Context, q url.Values) (any, error) {
	h := store.History{Model: q.Get("model"), Type: result.SingleTurn}
	if q.Get("benchmarkType") == result.AgenticTraces {
		h.Type = result.AgenticTraces
	} else {
		h.ISL, _ = strconv.Atoi(q.Get("isl"))
		h.OSL, _ = strconv.Atoi(q.Get("osl"))
	}
	if h.Model == "" || h.Type == result.SingleTurn && (h.ISL <= 0 || h.OSL <= 0) {
		return nil, badHistory
	}
	if err := a.known(ctx, h.Model); err != nil {
		return nil, err
	}
	return a.Store.History(ctx, h)
}

func (a API) workflowInfo(ctx context.Context, q url.Values) (any, error) {
	if !isDate(q.Get("date")) {
		return nil, badDate
	}
	return a.Store.WorkflowInfo(ctx, q.Get("date"))
}

func (a API) releases(context.Context, url.Values) (any, error) {
	if a.Releases == nil {
		return api.FrameworkReleases{}, nil
	}
	return a.Releases, nil
}

// known refuses names that are neither shipped nor published; store keys are
// not names.
func (a API) known(ctx context.Context, model string) error {
	if model == "" {
		return unknownModel
	}
	if result.KnownDisplayName(model) {
		return nil
	}
	published, err := a.Store.KnownModel(ctx, model)
	if err == nil && !published {
		return unknownModel
	}
	return err
}

// isDate accepts calendar days spelled YYYY-MM-DD.
func isDate(s string) bool {
	t, err := time.Parse(time.DateOnly, s)
	return err == nil && t.Format(time.DateOnly) == s
}

// serve turns an answer into a handler.
func serve(f answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "Method not allowed")
			return
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			refuse(w, http.StatusBadRequest, "Invalid query")
			return
		}
		v, err := f(r.Context(), query)
		var bad badRequest
		switch {
		case errors.As(err, &bad):
			refuse(w, http.StatusBadRequest, string(bad))
			return
		case err != nil:
			refuse(w, http.StatusInternalServerError, "Internal server error")
			return
		}
		sendJSON(w, r, v)
	})
}

// refuse answers with an error body, which nobody may keep.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	body, _ := json.Marshal(api.ErrorBody{Error: text}) // two strings always have a JSON form
	writeJSON(w, status, body)
}

// sendJSON encodes before it writes, so that a value without a JSON form becomes
// a clean 500, and tags the body, so that an unchanged one is not sent again.
func sendJSON(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "Internal server error")
		return
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "public, max-age=0, s-maxage=86400")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	writeJSON(w, http.StatusOK, body)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
