package candidate

import (
	"context"
	"io/fs"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Shepherd moves candidates. Its fields are all it may touch; every one is
// needed unless its comment says otherwise.
type Shepherd struct {
	Forge  *forge.Client
	Web    string // address of the repository for people: links in reports
	Ledger Ledger
	Feeds  Feeds
	APIURL string // public address of Feeds, named as source in the baseline

	// History is what this workspace's store remembers of published runs of a
	// family at an image digest, oldest run first.
	History func(ctx context.Context, family, digest string) ([]result.Row, []result.EvalRow, error)

	Images image.Library
	Cache  image.Cache

	// Help is what a program of an image prints for --help; an executor runs it.
	// Without one (nil), only images that say where their source lies can be inspected.
	Help func(ctx context.Context, img image.Image, program []string) ([]byte, error)

	// Tree is the repository at a commit. It must know the commits of the forge.
	Tree func(ctx context.Context, commit string) (fs.FS, error)

	Config workspace.Config
	Paths  workspace.Paths

	// Capacity says whether a runner label has room for one more sweep.
	Capacity func(ctx context.Context, runner string) gate.Verdict

	// Weights says whether the weights of a family are where its cluster says
	// that they lie; nil asks nobody.
	Weights func(recipe.Runners, recipe.Entry) gate.Verdict

	// Local are checks of this machine that doctor runs beside its own.
	Local func(ctx context.Context) []gate.Verdict

	// Judge asks somebody for a judgement that evidence alone does not decide; the
	// answer must fit the question. nil asks nobody: then nothing is left to judgement.
	Judge func(ctx context.Context, q Question) (Answer, error)

	// Keep saves a copy of a published page on this machine; nil keeps none.
	Keep func(candidate, name, page string) error

	// Parent is the workflow run of the forge that this process is a part of, by
	// its id: then that makes the claims. "" is none: then this process does.
	Parent string

	Holder workspace.Holder
	Now    func() time.Time
	Tell   func(Event) // progress; nil tells nobody
}

// Event is one line of progress.
type Event struct {
	Step   string
	Mark   string // "start", "done", "kept" (an earlier receipt holds), "waiting", "end"
	Detail string
}

func (s *Shepherd) tell(step, mark, detail string) {
	if s.Tell != nil {
		s.Tell(Event{step, mark, detail})
	}
}

func (s *Shepherd) prefix() string { return s.Config.Policy.Prefix }

// pages is how this workspace renders its records.
func (s *Shepherd) pages() report.Policy {
	return report.Policy{
		Prefix:    s.prefix(),
		Title:     s.Config.Policy.Title,
		Repairs:   s.Config.Policy.Repairs,
		Bilingual: s.Config.Policy.Bilingual,
		RunURL:    s.runURL,
	}
}
