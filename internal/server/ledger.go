package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// inComments says that receipts live in comments of the pull requests.
func inComments(w *workspace.Workspace) bool { return w.Config.Ledger == "comments" }

// ledgerOf is the one ledger that is the truth: the store, or the comments of
// the forge. The store then only keeps what this machine saw last.
func ledgerOf(w *workspace.Workspace, c *forge.Client, st *store.Store) candidate.Ledger {
	if !inComments(w) {
		return st
	}
	policy := w.Config.Policy
	return &candidate.CommentLedger{Forge: c, Pages: report.Policy{Prefix: policy.Prefix, Bilingual: policy.Bilingual}, View: st}
}

// Looking is what is needed to look at candidates and to move none.
type Looking struct {
	Shepherd *candidate.Shepherd
	Store    *store.Store
	close    func() error
}

// Close gives back what was opened.
func (l Looking) Close() error { return l.close() }

// OpenLedger opens a workspace's ledger for who only looks. Where receipts are
// in the store no forge is asked; where they are comments the parts are
// attached, as for Look.
func OpenLedger(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (Looking, error) {
	if !inComments(w) {
		st, err := OpenStore(ctx, w)
		if err != nil {
			return Looking{}, err
		}
		s := &candidate.Shepherd{Ledger: st, Config: w.Config, Now: now, Holder: workspace.Process()}
		return Looking{s, st, st.Close}, nil
	}
	p, err := Look(ctx, w, refit, log, now)
	if err != nil {
		return Looking{}, err
	}
	s, err := p.Shepherd(nil)
	if err != nil {
		return Looking{}, errors.Join(err, p.Close())
	}
	return Looking{s, p.Store, p.Close}, nil
}

// commented lists the candidates of a workspace whose receipts are comments.
// Nothing is made for the sake of looking: an embedded forge that nobody serves
// is not started, and what this machine saw last is what there is.
func commented(ctx context.Context, w *workspace.Workspace, patience time.Duration) ([]candidate.Summary, error) {
	p := &Parts{Workspace: w, patience: patience}
	if elsewhere(w) {
		var err error
		if p.token, err = credential(w); err != nil {
			return nil, err
		}
		p.Address.Forge = p.api()
	} else {
		a, err := served(w)
		if err == nil {
			p.token, err = readToken(w.State("token"))
		}
		if err != nil {
			return seenHere(ctx, w)
		}
		p.Address = a
	}
	c, err := p.Forge()
	if err != nil {
		return nil, err
	}
	l := &candidate.CommentLedger{Forge: c, Pages: report.Policy{Prefix: w.Config.Policy.Prefix}}
	return l.Candidates(ctx)
}

// seenHere are the candidates as this machine saw them last.
func seenHere(ctx context.Context, w *workspace.Workspace) (list []candidate.Summary, err error) {
	if _, err := os.Stat(w.State("store.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	st, err := OpenStore(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Candidates(ctx)
}

// ledger is what the pages show.
func (h *Host) ledger() (candidate.Ledger, error) {
	w := h.Workspace
	if !inComments(w) {
		return h.Store, nil
	}
	p := &Parts{Workspace: w, Address: h.Address, token: h.token}
	if elsewhere(w) {
		p.Address.Forge = p.api()
	}
	c, err := p.Forge()
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return ledgerOf(w, c, h.Store), nil
}

// listLife is how long a list from a forge elsewhere is shown again: its
// requests are counted by the hour.
const listLife = 30 * time.Second

// lately keeps the list of candidates that was shown last.
type lately struct {
	mu   sync.Mutex
	list []candidate.Summary
	at   time.Time
}

// candidates lists them for the pages.
func (h *Host) candidates(ctx context.Context) ([]candidate.Summary, error) {
	l, err := h.ledger()
	if err != nil {
		return nil, err
	}
	if !inComments(h.Workspace) || !elsewhere(h.Workspace) {
		return l.Candidates(ctx)
	}
	h.lately.mu.Lock()
	defer h.lately.mu.Unlock()
	if now := h.Now(); h.lately.at.IsZero() || now.Sub(h.lately.at) > listLife {
		if h.lately.list, err = l.Candidates(ctx); err != nil {
			return nil, err
		}
		h.lately.at = now
	}
	return h.lately.list, nil
}
