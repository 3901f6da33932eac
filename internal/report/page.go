package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed web
var web embed.FS

// pageTemplates are the templates of the HTML pages.
var pageTemplates = template.Must(template.New("pages").Funcs(pageWords()).ParseFS(web, "web/*.html"))

// Site makes the HTML pages of a workspace. They only read, need no script and
// load nothing from elsewhere, so each is complete as a file of its own.
type Site struct {
	Workspace string // named in the heading
	Home      string // address of the list, "/" or "../"; "" for a page that stands alone
}

// pageFrame is what every page has.
type pageFrame struct {
	Site
	Title string
	CSS   template.CSS
}

func (s Site) frame(title string) (pageFrame, error) {
	css, err := web.ReadFile("web/page.css")
	return pageFrame{s, title, template.CSS(string(css) + chartStyle)}, err // both are our own text
}

// List writes the page of all candidates, in the order of the rows.
func (s Site) List(w io.Writer, rows []BoardRow) error {
	f, err := s.frame("Upgrade candidates · refit")
	if err != nil {
		return err
	}
	return show(w, "list", struct {
		pageFrame
		Rows   []BoardRow
		Counts []boardCount
	}{f, rows, boardCounts(rows)})
}

// Candidate writes the page of one candidate.
func (s Site) Candidate(w io.Writer, p BoardPage) error {
	f, err := s.frame(familyKey(p.Row.Family) + " · refit")
	if err != nil {
		return err
	}
	return show(w, "candidate", candidateView{
		pageFrame: f, Page: p, Chart: chartOf(p), Metrics: metricViews(p), Evals: evalViews(p.Verdicts), Warnings: warnings(p.Verdicts),
		Evidence: evidenceViewOf(p), Source: sourceViewOf(p.Source), Reports: reportViews(p.Reports),
	})
}

// Problem writes the page that is shown when there is no other.
func (s Site) Problem(w io.Writer, heading, advice string) error {
	f, err := s.frame(heading + " · refit")
	if err != nil {
		return err
	}
	return show(w, "problem", struct {
		pageFrame
		Heading, Advice string
	}{f, heading, advice})
}

// show makes a page whole before its first byte is written.
func show(w io.Writer, name string, data any) error {
	var page bytes.Buffer
	if err := pageTemplates.ExecuteTemplate(&page, name, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	_, err := w.Write(page.Bytes())
	return err
}

// candidateView is what the candidate's template is given.
type candidateView struct {
	pageFrame
	Page     BoardPage
	Chart    chartView
	Metrics  []metricView
	Evals    []evalView
	Warnings []string
	Evidence evidenceView
	Source   sourceView
	Reports  []reportView
}

// reportView is a published report as HTML; the newest is shown open.
type reportView struct {
	Title string
	HTML  template.HTML
	Open  bool
}

func reportViews(rs []BoardReport) []reportView {
	var out []reportView
	for i := len(rs) - 1; i >= 0; i-- {
		// HTML passes no markup of its input.
		out = append(out, reportView{rs[i].Title, template.HTML(HTML(rs[i].Markdown)), i == len(rs)-1})
	}
	return out
}
