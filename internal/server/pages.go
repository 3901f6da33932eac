package server

import (
	"context"
	"net/http"
	"path/filepath"

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
	all, err := h.candidates(ctx)
	if err != nil {
		return nil, err
	}
	var rows []report.BoardRow
	for _, s := range all {
		rows = append(rows, boardRow(s))
	}
	return rows, nil
}

func (h *Host) page(ctx context.Context, id string) (report.BoardPage, error) {
	l, err := h.ledger()
	if err != nil {
		return report.BoardPage{}, err
	}
	return CandidatePage(ctx, h.Workspace, l, h.Store, id)
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
