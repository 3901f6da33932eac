package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"github.com/refit-bench/refit/internal/report"
)

// boardPolicy forbids the pages everything but their own embedded style.
const boardPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Board serves the dashboard's pages, which report makes. They only read.
// Rows is needed; without Page no candidate has a page of its own.
type Board struct {
	Workspace string // named in the heading
	// Rows lists every candidate in the order of the page.
	Rows func(ctx context.Context) ([]report.BoardRow, error)
	// Page is everything about one candidate; fs.ErrNotExist when there is none.
	Page func(ctx context.Context, id string) (report.BoardPage, error)
	// Log takes what went wrong behind a page; nil drops it.
	Log io.Writer
}

// Handler serves / and /candidates/{id}, and /candidates/{id}/curve.svg, to GET
// and HEAD. Every other path is a page that says 404.
func (b *Board) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.list)
	mux.HandleFunc("GET /candidates/{id}", b.candidate)
	mux.HandleFunc("GET /candidates/{id}/curve.svg", b.curve)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		b.problem(w, http.StatusNotFound, "No such page", "The address may be misspelt.")
	})
	return mux
}

func (b *Board) site() report.Site { return report.Site{Workspace: b.Workspace, Home: "/"} }

func (b *Board) list(w http.ResponseWriter, r *http.Request) {
	rows, err := b.Rows(r.Context())
	if err != nil {
		b.broken(w, fmt.Errorf("list candidates: %w", err))
		return
	}
	b.show(w, http.StatusOK, func(to io.Writer) error { return b.site().List(to, rows) })
}

func (b *Board) candidate(w http.ResponseWriter, r *http.Request) {
	if page, ok := b.load(w, r); ok {
		b.show(w, http.StatusOK, func(to io.Writer) error { return b.site().Candidate(to, page) })
	}
}

func (b *Board) curve(w http.ResponseWriter, r *http.Request) {
	if page, ok := b.load(w, r); ok {
		boardHeaders(w, "image/svg+xml")
		w.Write(page.SVG())
	}
}

// load finds the candidate of the request's path, or answers the request.
func (b *Board) load(w http.ResponseWriter, r *http.Request) (report.BoardPage, bool) {
	id := r.PathValue("id")
	var page report.BoardPage
	err := fs.ErrNotExist
	if b.Page != nil {
		page, err = b.Page(r.Context(), id)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.problem(w, http.StatusNotFound, "No such candidate", "It may belong to another workspace.")
	case err != nil:
		b.broken(w, fmt.Errorf("candidate %.80q: %w", id, err))
	}
	return page, err == nil
}

// broken answers with a page that keeps the reason to the log.
func (b *Board) broken(w http.ResponseWriter, err error) {
	b.log(err)
	b.problem(w, http.StatusInternalServerError, "This page cannot be made right now", "The reason is in the server's log.")
}

func (b *Board) log(err error) {
	if b.Log != nil {
		fmt.Fprintln(b.Log, "board:", err)
	}
}

func (b *Board) problem(w http.ResponseWriter, code int, heading, advice string) {
	b.show(w, code, func(to io.Writer) error { return b.site().Problem(to, heading, advice) })
}

// show makes a page whole before its first byte is sent.
func (b *Board) show(w http.ResponseWriter, code int, make func(io.Writer) error) {
	var page bytes.Buffer
	if err := make(&page); err != nil {
		b.log(err)
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	boardHeaders(w, "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(page.Bytes())
}

func boardHeaders(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", boardPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
