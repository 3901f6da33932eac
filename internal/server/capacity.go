package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/workspace"
)

// CapacitySource is where clusters are asked for room: the dashboard's status
// document, or records of sinfo. The zero value asks nobody.
type CapacitySource struct {
	Status  string            // file or address of a status document
	KeyFile string            // holds the address's bearer token
	Sinfo   map[string]string // file of a record, by cluster
}

// None says that nobody is asked.
func (s CapacitySource) None() bool { return s.Status == "" && len(s.Sinfo) == 0 }

// maxSinfo bounds a record: a line of 64 bytes for each of 250,000 nodes.
const maxSinfo = 16 << 20

// Ask asks once. The time is taken after the answer: reading may be slow. What
// cannot be read is an error; an answer that makes no sense makes nothing
// eligible.
func (s CapacitySource) Ask(ctx context.Context, now func() time.Time) (candidate.Capacity, error) {
	if s.Status == "" {
		records := map[string][]byte{}
		for id, file := range s.Sinfo {
			src, err := workspace.ReadFile(file, maxSinfo)
			if err != nil {
				return candidate.Capacity{}, err
			}
			records[id] = src
		}
		return candidate.SinfoCapacities(records, now()), nil
	}
	source := api.Source{Name: s.Status}
	if s.KeyFile != "" {
		key, err := workspace.ReadPrivate(s.KeyFile)
		if err != nil {
			return candidate.Capacity{}, fmt.Errorf("key: %w", err)
		}
		source.Key = strings.TrimSpace(string(key))
	}
	src, err := source.Read(ctx)
	if err != nil {
		return candidate.Capacity{}, err
	}
	return candidate.StatusCapacity(src, now()), nil
}

// Clusters asks which clusters have room now. Without a source there is always
// room: a forge runs what it has runners for and queues the others, and the
// embedded one does one run at a time.
func (p *Parts) Clusters(ctx context.Context) (candidate.Capacity, error) {
	switch {
	case !p.Room.None():
		return p.Room.Ask(ctx, p.now)
	case elsewhere(p.Workspace):
		return candidate.AlwaysRoom("no cluster is asked: runs queue at the forge"), nil
	}
	return candidate.AlwaysRoom("no cluster is asked: runs queue on this machine, local executor"), nil
}

// capacity says if a runner label's clusters have room for one more sweep. What
// cannot be asked has none.
func (p *Parts) capacity(ctx context.Context, runner string) gate.Verdict {
	c, err := p.Clusters(ctx)
	var runners recipe.Runners
	if err == nil && !p.Room.None() {
		runners, err = runnersOf(p.Workspace)
	}
	if err != nil {
		return gate.Verdict{Gate: "capacity", Answer: gate.Fail, Reason: err.Error()}
	}
	return c.Runner(runners, runner)
}

// runnersOf reads the runners as they lie in the checkout: where things are is
// this machine's.
func runnersOf(w *workspace.Workspace) (recipe.Runners, error) {
	src, err := workspace.ReadFile(filepath.Join(w.Root, filepath.FromSlash(w.Paths.Runners)), maxMaster)
	if err != nil {
		return recipe.Runners{}, err
	}
	return recipe.ParseRunners(src, w.Paths.Runners)
}
