package server

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// maxReport bounds a kept report, in bytes; a comment's body has at most 65,536
// characters.
const maxReport = 1 << 20

// addPublished adds the reports that the ledger shares with everybody, else
// those that were kept on this machine.
func addPublished(ctx context.Context, p *report.BoardPage, w *workspace.Workspace, l candidate.Ledger, id string) error {
	prefix := w.Config.Policy.Prefix
	shared, ok := l.(interface {
		Reports(context.Context, string) ([]report.NamedComment, error)
	})
	if !ok {
		addReports(p, w.State("reports", id), prefix)
		return nil
	}
	pages, err := shared.Reports(ctx, id)
	if reason, changed := candidate.Changed(err); changed {
		if !slices.Contains(p.Row.Evidence, reason) {
			p.Row.Evidence = append(p.Row.Evidence, reason)
		}
		return nil
	}
	addPages(p, pages, prefix)
	return err
}

// addReports adds the published reports that were kept on this machine, in the
// order of their last change, and the records they hold. A report that cannot
// be read takes nothing from the page but is named on it.
func addReports(p *report.BoardPage, dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing published yet
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return modified(a).Compare(modified(b)) })
	var pages []report.NamedComment
	for _, e := range entries {
		body, err := workspace.ReadFile(filepath.Join(dir, e.Name()), maxReport)
		if err != nil {
			p.Row.Evidence = append(p.Row.Evidence, "a kept report cannot be read: "+e.Name())
			continue
		}
		pages = append(pages, report.NamedComment{Name: strings.TrimSuffix(e.Name(), ".md"), Body: string(body)})
	}
	addPages(p, pages, prefix)
}

// addPages adds reports as they were published, and the records they hold.
func addPages(p *report.BoardPage, pages []report.NamedComment, prefix string) {
	var records []report.Record
	for _, page := range pages {
		rec, ok, err := report.ParseRecord(prefix, page.Body)
		if err != nil || !ok {
			continue
		}
		p.Reports = append(p.Reports, report.BoardReport{Title: page.Name, Markdown: rec.Markdown})
		records = append(records, rec)
	}
	for _, rec := range records {
		if err := addRecord(p, rec, records); err != nil {
			p.Row.Evidence = append(p.Row.Evidence, err.Error())
		}
	}
}

// modified is when a page was last published; a file that is gone sorts first.
func modified(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// addRecord keeps the baseline and the newest full sweep, each whole: the rows
// of a long one are spread over numbered parts.
func addRecord(p *report.BoardPage, rec report.Record, all []report.Record) error {
	if rec.Kind != "report" {
		return nil
	}
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(rec.JSON, &kind); err != nil || rec.Name != "baseline" && kind.Kind != "final" {
		return err
	}
	whole, err := report.Assemble(rec, all)
	if err != nil {
		return err
	}
	if rec.Name == "baseline" {
		b, err := report.ParseBaseline(whole)
		if err == nil {
			p.Baseline = &b
		}
		return err
	}
	a, err := report.ParseAttempt(whole)
	if err != nil {
		return err
	}
	if p.Attempt == nil || a.UpdatedAt.After(p.Attempt.UpdatedAt) {
		p.Attempt = &a
	}
	return nil
}
