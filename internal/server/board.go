package server

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"

	"github.com/refit-bench/refit/internal/report"
)

//go:embed web/board.css
var boardCSS string

//go:embed web/board.html
var boardHTML string

// boardPolicy forbids the pages everything but their own embedded style.
const boardPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Board serves the dashboard's pages. They only read, need no script and load
// nothing from elsewhere. Rows is needed; without Page no candidate has a page
// of its own.
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
	h := boardHandler{b, template.Must(template.New("board").Funcs(boardFuncs()).Parse(boardHTML))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.list)
	mux.HandleFunc("GET /candidates/{id}", h.candidate)
	mux.HandleFunc("GET /candidates/{id}/curve.svg", h.curve)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		h.problem(w, http.StatusNotFound, "No such page", "The address may be misspelt.")
	})
	return mux
}

type boardHandler struct {
	*Board
	pages *template.Template
}

// frame is what every page has.
type frame struct {
	Title, Workspace string
	CSS              template.CSS
}

func (h boardHandler) frame(title string) frame {
	return frame{title, h.Workspace, template.CSS(boardCSS)} // the style is our own file
}

func (h boardHandler) list(w http.ResponseWriter, r *http.Request) {
	rows, err := h.Rows(r.Context())
	if err != nil {
		h.broken(w, fmt.Errorf("list candidates: %w", err))
		return
	}
	h.show(w, http.StatusOK, "list", struct {
		frame
		Rows   []report.BoardRow
		Counts []boardCount
	}{h.frame("Upgrade candidates · refit"), rows, boardCounts(rows)})
}

// shownReport is a report as HTML; the newest is shown open.
type shownReport struct {
	Title string
	HTML  template.HTML
	Open  bool
}

func (h boardHandler) candidate(w http.ResponseWriter, r *http.Request) {
	page, ok := h.load(w, r)
	if !ok {
		return
	}
	var reports []shownReport
	for i := len(page.Reports) - 1; i >= 0; i-- {
		p := page.Reports[i]
		// report.HTML passes no markup of its input.
		reports = append(reports, shownReport{p.Title, template.HTML(report.HTML(p.Markdown)), i == len(page.Reports)-1})
	}
	var chart template.HTML
	if len(page.Old)+len(page.New) > 0 {
		chart = template.HTML(curve(page)) // CurveSVG escapes the names
	}
	h.show(w, http.StatusOK, "candidate", struct {
		frame
		Page    report.BoardPage
		Chart   template.HTML
		Reports []shownReport
	}{h.frame(familyKey(page.Row.Family) + " · refit"), page, chart, reports})
}

func (h boardHandler) curve(w http.ResponseWriter, r *http.Request) {
	page, ok := h.load(w, r)
	if !ok {
		return
	}
	boardHeaders(w, "image/svg+xml")
	w.Write(curve(page))
}

func curve(p report.BoardPage) []byte {
	return report.CurveSVG(p.Old, p.New, p.Row.OldImage, p.Row.NewImage)
}

// load finds the candidate of the request's path, or answers the request.
func (h boardHandler) load(w http.ResponseWriter, r *http.Request) (report.BoardPage, bool) {
	id := r.PathValue("id")
	var page report.BoardPage
	err := fs.ErrNotExist
	if h.Page != nil {
		page, err = h.Page(r.Context(), id)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.problem(w, http.StatusNotFound, "No such candidate", "It may belong to another workspace.")
	case err != nil:
		h.broken(w, fmt.Errorf("candidate %.80q: %w", id, err))
	}
	return page, err == nil
}

// broken answers with a page that keeps the reason to the log.
func (h boardHandler) broken(w http.ResponseWriter, err error) {
	if h.Log != nil {
		fmt.Fprintln(h.Log, "board:", err)
	}
	h.problem(w, http.StatusInternalServerError, "This page cannot be made right now", "The reason is in the server's log.")
}

func (h boardHandler) problem(w http.ResponseWriter, code int, heading, advice string) {
	h.show(w, code, "problem", struct {
		frame
		Heading, Advice string
	}{h.frame(heading + " · refit"), heading, advice})
}

// show renders a page whole before its first byte is sent.
func (h boardHandler) show(w http.ResponseWriter, code int, name string, data any) {
	var page bytes.Buffer
	if err := h.pages.ExecuteTemplate(&page, name, data); err != nil {
		if h.Log != nil {
			fmt.Fprintln(h.Log, "board:", err)
		}
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
