package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// Parts are a workspace's embedded parts as a command uses them: those of the
// process that serves them already, else its own for its own duration.
type Parts struct {
	Workspace *workspace.Workspace
	Address   Address
	Store     *store.Store
	Own       bool // this process hosts them

	token string
	host  *Host
	now   func() time.Time
}

// Attach finds the process that serves the workspace, or hosts the parts here.
func Attach(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (*Parts, error) {
	p, err := attach(ctx, w, refit, log, now)
	if err == nil && behind(ctx, w) {
		fmt.Fprintln(log, "note: the embedded forge's main lacks this checkout's HEAD; to put it there: git push .refit/forge.git HEAD:main")
	}
	return p, err
}

// behind says that the forge's main, which was filled from the checkout once,
// has not got the checkout's present commit.
func behind(ctx context.Context, w *workspace.Workspace) bool {
	head, err := workspace.Repo{Dir: w.Root}.Resolve(ctx, "HEAD")
	if err != nil {
		return false // nothing to compare
	}
	_, err = bareOf(w).Git(ctx, "merge-base", "--is-ancestor", head, "refs/heads/main")
	return err != nil
}

func attach(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (*Parts, error) {
	for try := 1; ; try++ {
		h := &Host{Workspace: w, Refit: refit, Log: log, Now: now}
		err := h.Start(ctx)
		if err == nil {
			p := &Parts{Workspace: w, Address: h.Address, Store: h.Store, Own: true, token: h.token, host: h, now: now}
			if err := p.prepare(ctx); err != nil {
				return nil, errors.Join(err, p.Close())
			}
			return p, nil
		}
		if !errors.Is(err, ErrRunning) {
			return nil, err
		}
		if a, err := served(w); err == nil {
			return join(ctx, w, a, now)
		} else if try == joinTries {
			return nil, fmt.Errorf("%w and does not answer yet: %w", ErrRunning, err)
		}
		if err := Pause(ctx, joinPause); err != nil {
			return nil, err
		}
	}
}

// A process that holds the lock is starting, serving or ending: for ten
// seconds it may write its address or let go of the lock.
const (
	joinTries = 100
	joinPause = 100 * time.Millisecond
)

// served is the address of the living process that serves the workspace.
func served(w *workspace.Workspace) (Address, error) {
	a, err := ReadAddress(w)
	if err != nil {
		return a, err
	}
	holder, err := workspace.ParseHolder(a.Holder)
	if err != nil {
		return a, err
	}
	if alive, known := holder.Alive(); known && !alive {
		return a, fmt.Errorf("%s names a process that is gone", w.State("serve.json"))
	}
	return a, nil
}

// join uses the parts of another process.
func join(ctx context.Context, w *workspace.Workspace, a Address, now func() time.Time) (*Parts, error) {
	token, err := readToken(w.State("token"))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, w.State("store.db"))
	if err != nil {
		return nil, err
	}
	return &Parts{Workspace: w, Address: a, Store: s, token: token, now: now}, nil
}

// prepare gives a fresh embedded forge the label that asks for sweeps.
func (p *Parts) prepare(ctx context.Context) error {
	c, err := p.Forge()
	if err != nil {
		return err
	}
	labels, err := c.Labels(ctx)
	if err != nil {
		return err
	}
	want := p.Workspace.Config.Policy.SweepLabel
	for _, l := range labels {
		if l == want {
			return nil
		}
	}
	return c.CreateLabel(ctx, want, "0e8a16", "run the full sweep of what the changelog adds")
}

// Close gives the parts back. Parts hosted here stop.
func (p *Parts) Close() error {
	if p.host != nil {
		return p.host.Close()
	}
	return p.Store.Close()
}

// Forge is a client of the workspace's forge with this user's credential.
func (p *Parts) Forge() (*forge.Client, error) {
	return forge.New(p.Address.Forge, p.token, repository(p.Workspace.Config))
}

// Bare is the embedded forge's repository.
func (p *Parts) Bare() workspace.Repo { return bareOf(p.Workspace) }

// Shepherd is the one visible place where a candidate's needs are wired.
func (p *Parts) Shepherd(tell func(candidate.Event)) (*candidate.Shepherd, error) {
	c, err := p.Forge()
	if err != nil {
		return nil, err
	}
	w := p.Workspace
	return &candidate.Shepherd{
		Forge:    c,
		Web:      p.Address.Forge + "/" + repository(w.Config),
		Ledger:   p.Store,
		Feeds:    &api.Client{Base: p.Address.Dashboard},
		APIURL:   p.Address.Dashboard,
		History:  p.history,
		Images:   image.Library{Layout: imageDir(w)},
		Cache:    image.Cache{Dir: w.State("cache")},
		Tree:     func(ctx context.Context, commit string) (fs.FS, error) { return p.Bare().FS(ctx, commit) },
		Config:   w.Config,
		Paths:    w.Paths,
		Capacity: localCapacity,
		Local:    p.local,
		Keep:     p.keep,
		Holder:   workspace.Process(),
		Now:      p.now,
		Tell:     tell,
	}, nil
}

// history is what the store holds of published runs.
func (p *Parts) history(ctx context.Context, family, digest string) ([]result.Row, []result.EvalRow, error) {
	published := true
	q := store.Query{Family: family, Digest: digest, Published: &published}
	rows, err := p.Store.Points(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	evals, err := p.Store.Evals(ctx, q)
	return rows, evals, err
}

// localCapacity: the embedded forge runs one workflow run at a time and queues
// the others, so this machine always has room for one more.
func localCapacity(_ context.Context, runner string) gate.Verdict {
	return gate.Verdict{Gate: "capacity", Answer: gate.Pass, Reason: "local executor: runs of " + runner + " queue on this machine"}
}

// minFree is the free space below which doctor refuses to start.
const minFree = 1 << 30

func (p *Parts) local(context.Context) []gate.Verdict {
	var s unix.Statfs_t
	v := gate.Verdict{Gate: "disk", Answer: gate.Pass}
	if err := unix.Statfs(p.Workspace.State(), &s); err != nil {
		v.Answer, v.Reason = gate.Unknown, err.Error()
		return []gate.Verdict{v}
	}
	free := s.Bavail * uint64(s.Bsize)
	v.Reason = fmt.Sprintf("%.1f GiB free for images and runs", float64(free)/(1<<30))
	if free < minFree {
		v.Answer, v.Reason = gate.Fail, v.Reason+": free at least 1 GiB"
	}
	return []gate.Verdict{v}
}

// keep saves a published page below .refit/reports.
func (p *Parts) keep(id, name, page string) error {
	dir := p.Reports(id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return workspace.WriteFile(filepath.Join(dir, name+".md"), []byte(page), 0o644)
}

// Reports is the folder of a candidate's pages on this machine.
func (p *Parts) Reports(id string) string { return p.Workspace.State("reports", id) }
