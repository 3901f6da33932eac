package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/report"
)

// pages serves the dashboard and the results API.
func (h *Host) pages() http.Handler {
	b := &Board{Workspace: filepath.Base(h.Workspace.Root), Rows: h.rows, Page: h.page, Log: h.Log}
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", API{Store: h.Store}.Handler())
	mux.Handle("/", b.Handler())
	return mux
}

func (h *Host) rows(ctx context.Context) ([]report.BoardRow, error) {
	all, err := h.Store.Candidates(ctx)
	if err != nil {
		return nil, err
	}
	var rows []report.BoardRow
	for _, s := range all {
		rows = append(rows, boardRow(s))
	}
	return rows, nil
}

func boardRow(s candidate.Summary) report.BoardRow {
	row := report.BoardRow{
		ID: s.ID, Family: s.Family, OldImage: s.OldImage, NewImage: s.NewImage, Step: s.Step,
		State: string(s.State), Outcome: string(s.Outcome), Next: s.Next, Owner: s.Owner,
		Pull: s.Pull, Created: s.Created, Updated: s.Updated, Evidence: s.Marks,
	}
	for _, name := range candidate.Dimensions() {
		if v, ok := s.Verdicts[name]; ok {
			row.Verdicts = append(row.Verdicts, report.BoardVerdict{Name: name, Verdict: v})
		}
	}
	return row
}

// page is the last computed state of a candidate: the store and the kept
// pages are read, no forge is asked.
func (h *Host) page(ctx context.Context, id string) (report.BoardPage, error) {
	all, err := h.Store.Candidates(ctx)
	if err != nil {
		return report.BoardPage{}, err
	}
	i := slices.IndexFunc(all, func(s candidate.Summary) bool { return s.ID == id })
	if i < 0 {
		return report.BoardPage{}, fmt.Errorf("candidate %s: %w", id, fs.ErrNotExist)
	}
	p := report.BoardPage{Row: boardRow(all[i])}
	receipts, err := h.Store.Receipts(ctx, id)
	if err != nil {
		return p, err
	}
	for _, r := range receipts {
		p.Receipts = append(p.Receipts, report.BoardReceipt{Step: r.Step, Subject: r.Subject, By: r.By, At: r.At, Detail: candidate.Describe(r)})
	}
	return p, h.kept(&p, id)
}

// kept adds the published pages that were kept on this machine, in the order
// of their names' last change, and the curves their records hold.
func (h *Host) kept(p *report.BoardPage, id string) error {
	dir := h.Workspace.State("reports", id)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing published yet
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return modified(a).Compare(modified(b)) })
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		rec, ok, err := report.ParseRecord(h.Workspace.Config.Policy.Prefix, string(body))
		if err != nil || !ok {
			continue
		}
		p.Reports = append(p.Reports, report.BoardReport{Title: strings.TrimSuffix(e.Name(), ".md"), Markdown: rec.Markdown})
		addCurve(p, rec)
	}
	return nil
}

// modified is when a page was last published; a file that is gone sorts first.
func modified(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func addCurve(p *report.BoardPage, rec report.Record) {
	if rec.Name == "baseline" {
		var b report.Baseline
		if json.Unmarshal(rec.JSON, &b) == nil {
			p.Old = report.Curve(b.Points)
		}
		return
	}
	var a report.Attempt
	if json.Unmarshal(rec.JSON, &a) == nil && a.Kind == "final" {
		p.New = report.Curve(a.Points)
	}
}
