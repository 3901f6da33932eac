package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/run"
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
	Measures  bool // this process measures: what runs ends with it

	// Room is where clusters are asked for room before anything is measured; it
	// may be set before the first use.
	Room CapacitySource

	token    string
	host     *Host
	now      func() time.Time
	patience time.Duration // of one call of the forge; 0 is the client's own
}

// Attach finds the process that serves the workspace, or hosts the parts here.
func Attach(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (*Parts, error) {
	return attach(ctx, func() *Host { return &Host{Workspace: w, Refit: refit, Log: log, Now: now} })
}

// attach tells, beside, when the embedded forge is behind the checkout.
func attach(ctx context.Context, host func() *Host) (*Parts, error) {
	h := host()
	p, err := find(ctx, h.Workspace, host)
	if err == nil && !elsewhere(h.Workspace) && behind(ctx, h.Workspace) {
		fmt.Fprintln(h.Log, "note: the embedded forge's main lacks this checkout's HEAD; to put it there: git push .refit/forge.git HEAD:main")
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

// find hosts the parts here, each try with a host of its own, or joins the
// process that does.
func find(ctx context.Context, w *workspace.Workspace, host func() *Host) (*Parts, error) {
	p := &Parts{Workspace: w, now: host().Now}
	p.patience, _ = ctx.Value(patience{}).(time.Duration)
	if elsewhere(w) {
		err := supported(w)
		if err == nil {
			p.token, err = credential(w)
		}
		if err != nil {
			return nil, err
		}
	}
	for try := 1; ; try++ {
		h := host()
		err := p.own(ctx, h)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, ErrRunning) {
			return nil, err
		}
		a, err := served(w)
		if err == nil {
			err = h.joinable(a)
		}
		if err == nil {
			if err := p.join(ctx, a); err != nil {
				return nil, err
			}
			return p, nil
		}
		if try == joinTries {
			return nil, fmt.Errorf("%w and does not answer yet: %w", ErrRunning, err)
		}
		if err := Pause(ctx, joinPause); err != nil {
			return nil, err
		}
	}
}

// patience is the key of WithPatience.
type patience struct{}

// WithPatience makes parts whose forge client waits d for each of its calls
// instead of minutes. Tests that meet a silent forge use it.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patience{}, d)
}

// own hosts the parts in this process.
func (p *Parts) own(ctx context.Context, h *Host) error {
	if elsewhere(p.Workspace) {
		if err := h.startBeside(ctx); err != nil {
			return err
		}
		p.Address, p.Store, p.Own, p.host = h.Address, h.Store, true, h
		p.Address.Forge = p.api()
		return nil
	}
	if err := h.Start(ctx); err != nil {
		return err
	}
	p.Address, p.Store, p.Own, p.Measures, p.token, p.host = h.Address, h.Store, true, !h.Looks, h.token, h
	if err := p.prepare(ctx); err != nil {
		return errors.Join(err, p.Close())
	}
	return nil
}

// api is the address of a forge elsewhere.
func (p *Parts) api() string {
	return cmp.Or(strings.TrimRight(p.Workspace.Config.Forge.URL, "/"), "https://api.github.com")
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
func (p *Parts) join(ctx context.Context, a Address) (err error) {
	p.Address = a
	if elsewhere(p.Workspace) {
		p.Address.Forge = p.api()
	} else if a.Forge == noForge {
		return fmt.Errorf("%w, and without a forge: it was started when forge.kind was github, stop it", ErrRunning)
	} else if p.token, err = readToken(p.Workspace.State("token")); err != nil {
		return err
	}
	p.Store, err = store.Open(ctx, p.Workspace.State("store.db"))
	return err
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
	c, err := forge.New(p.Address.Forge, p.token, repository(p.Workspace.Config))
	if err == nil {
		c.Patience = p.patience
	}
	return c, err
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
		Web:      webOf(p.Address.Forge) + "/" + repository(w.Config),
		Ledger:   ledgerOf(w, c, p.Store),
		Feeds:    &api.Client{Base: p.Address.Dashboard},
		APIURL:   p.Address.Dashboard,
		History:  p.history,
		Images:   image.Library{Layout: imageDir(w)},
		Cache:    image.Cache{Dir: w.State("cache")},
		Tree:     p.trees(c),
		Config:   w.Config,
		Paths:    w.Paths,
		Capacity: p.capacity,
		Weights:  weights(p.Workspace),
		Help:     run.Helper{Cache: image.Cache{Dir: w.State("cache")}}.Help,
		Local:    p.local,
		Keep:     p.keep,
		Parent:   p.parent(),
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

// trees reads commits of the forge: out of its own repository where it is
// embedded, else out of the checkout when that has the commit already, and
// through the API when not. Nothing is fetched into the checkout.
func (p *Parts) trees(c *forge.Client) func(context.Context, string) (fs.FS, error) {
	if !elsewhere(p.Workspace) {
		return func(ctx context.Context, commit string) (fs.FS, error) { return p.Bare().FS(ctx, commit) }
	}
	objects := &forge.Objects{Client: c}
	return func(ctx context.Context, commit string) (fs.FS, error) {
		if commitForm.MatchString(commit) {
			if fsys, err := (workspace.Repo{Dir: p.Workspace.Root}).FS(ctx, commit); err == nil {
				return fsys, nil
			}
		}
		return objects.Tree(ctx, commit)
	}
}

// commitForm is a commit by its full name: a branch of the checkout may be
// somewhere else than the forge's.
var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func (p *Parts) local(context.Context) []gate.Verdict {
	var s unix.Statfs_t
	if err := unix.Statfs(p.Workspace.State(), &s); err != nil {
		return []gate.Verdict{{Gate: "disk", Answer: gate.Unknown, Reason: err.Error()}}
	}
	return []gate.Verdict{enoughFree(s.Bavail * uint64(s.Bsize))}
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
