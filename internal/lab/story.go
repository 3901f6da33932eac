package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
)

// chapter is one family's upgrade and how it is planned to end.
type chapter struct {
	Family string
	Want   candidate.Outcome
}

// spareRuns is how many more may be published when a load client was unhealthy.
const spareRuns = 3

// Ending is how a family's upgrade ended.
type Ending struct {
	Family   string             `json:"family"`
	ID       string             `json:"id"`
	Outcome  candidate.Outcome  `json:"outcome"`
	Planned  candidate.Outcome  `json:"planned"`
	Reason   string             `json:"reason,omitempty"`
	OldImage string             `json:"old-image"`
	NewImage string             `json:"new-image"`
	Verdicts map[string]string  `json:"verdicts"`
	Curves   []compare.Curve    `json:"curves"`
	Accuracy []compare.Accuracy `json:"accuracy"`
	Readings []Reading          `json:"readings"`
	Pull     int                `json:"pull"`
	Head     string             `json:"head"`
	Reports  []string           `json:"reports"`
	Kept     bool               `json:"kept"` // everything was done before
}

// Tell publishes the history of every family and upgrades it. say gets lines
// of progress; event gets those of the candidates.
func (l Lab) Tell(ctx context.Context, p *server.Parts, say func(string), event func(candidate.Event)) ([]Ending, error) {
	ed, err := l.edition()
	if err != nil {
		return nil, err
	}
	var endings []Ending
	for _, c := range ed.story {
		if err := l.publish(ctx, p, c.Family, ed.oldRuns, say); err != nil {
			return endings, fmt.Errorf("lab: publish %s: %w", c.Family, err)
		}
		say("upgrade " + c.Family)
		e, err := l.upgrade(ctx, p, c, event)
		if err != nil {
			return endings, fmt.Errorf("lab: upgrade %s: %w", c.Family, err)
		}
		endings = append(endings, e)
	}
	return endings, nil
}

// publish measures the old image as a workspace would: each run is started by
// a changelog entry that lands on main.
func (l Lab) publish(ctx context.Context, p *server.Parts, family string, oldRuns int, say func(string)) error {
	for try := 0; ; try++ {
		fam, done, err := published(ctx, p, family)
		if err != nil || done >= oldRuns {
			return err
		}
		if try == oldRuns+spareRuns {
			return fmt.Errorf("only %d of %d runs had a healthy load client: this machine is too busy to measure on", done, try)
		}
		say(fmt.Sprintf("publish run %d of %d of %s at %s", done+1, oldRuns, fam.Key, fam.Entry.Image))
		if err := l.publishOne(ctx, p, fam, done); err != nil {
			return err
		}
	}
}

// published counts the runs of the family's present image that are in the
// store. A run with an unhealthy point is history too, but not a whole one.
func published(ctx context.Context, p *server.Parts, family string) (recipe.Family, int, error) {
	tip, err := p.Bare().Resolve(ctx, "refs/heads/main")
	if err != nil {
		return recipe.Family{}, 0, err
	}
	fsys, err := p.Bare().FS(ctx, tip)
	if err != nil {
		return recipe.Family{}, 0, err
	}
	catalogue, err := recipe.Load(fsys, p.Workspace.Paths.Masters, p.Workspace.Paths.Runners)
	if err != nil {
		return recipe.Family{}, 0, err
	}
	fam, err := catalogue.Family(family)
	if err != nil {
		return fam, 0, err
	}
	yes := true
	rows, err := p.Store.Points(ctx, store.Query{Family: fam.ID, Image: fam.Entry.Image, Published: &yes})
	whole := 0
	for _, run := range compare.ByRun(rows) {
		sick := slices.ContainsFunc(run, func(r result.Row) bool { return !r.Health.Usable() })
		if !sick {
			whole++
		}
	}
	return fam, whole, err
}

// publishOne lands one changelog entry on main and waits for the run that this
// starts. A run that an earlier process started is waited for instead.
func (l Lab) publishOne(ctx context.Context, p *server.Parts, fam recipe.Family, n int) error {
	c, err := p.Forge()
	if err != nil {
		return err
	}
	running, err := unfinished(ctx, c)
	if err != nil {
		return err
	}
	if running == "" {
		if running, err = l.land(ctx, p, c, fam, n); err != nil {
			return err
		}
	}
	return waitRun(ctx, c, running)
}

// unfinished is the head of a push run that has not ended, "" when there is none.
func unfinished(ctx context.Context, c *forge.Client) (string, error) {
	runs, err := c.Runs(ctx, forge.RunFilter{Event: "push"})
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return r.HeadSHA, nil
		}
	}
	return "", nil
}

func (l Lab) land(ctx context.Context, p *server.Parts, c *forge.Client, fam recipe.Family, n int) (string, error) {
	tip, ok, err := c.Ref(ctx, "heads/main")
	if err != nil || !ok {
		return "", errors.Join(err, errors.New("the lab's main branch cannot be read"))
	}
	log, err := c.File(ctx, tip, p.Workspace.Paths.Changelog)
	if err != nil {
		return "", err
	}
	grown, err := recipe.AppendEntry(log, recipe.ChangelogEntry{
		ConfigKeys:  []string{fam.Key},
		Description: []string{fmt.Sprintf("Publish run %d of %s", n+1, fam.Entry.Image)},
		PRLink:      fmt.Sprintf("https://github.com/%s/pull/%d", c.Repository, n+2),
	})
	if err != nil {
		return "", err
	}
	head, err := c.Commit(ctx, tip, fmt.Sprintf("Publish run %d of %s", n+1, fam.Key), map[string][]byte{p.Workspace.Paths.Changelog: grown})
	if err != nil {
		return "", err
	}
	return head, c.MoveRef(ctx, "heads/main", tip, head)
}

// poll is how often a process on this machine is asked whether it is done.
const poll = 200 * time.Millisecond

func waitRun(ctx context.Context, c *forge.Client, head string) error {
	for {
		runs, err := c.Runs(ctx, forge.RunFilter{Event: "push", HeadSHA: head})
		if err != nil {
			return err
		}
		if len(runs) > 0 && runs[0].Status == "completed" {
			if runs[0].Conclusion != "success" {
				return fmt.Errorf("run %d ended as %s", runs[0].ID, runs[0].Conclusion)
			}
			return nil
		}
		if err := server.Pause(ctx, poll); err != nil {
			return err
		}
	}
}

func (l Lab) upgrade(ctx context.Context, p *server.Parts, c chapter, event func(candidate.Event)) (Ending, error) {
	s, err := p.Shepherd(event)
	if err != nil {
		return Ending{}, err
	}
	who, err := s.Select(ctx, c.Family, "")
	if err != nil {
		return Ending{}, err
	}
	st, acted, err := server.Drive(ctx, s, who, poll)
	if err != nil {
		return Ending{}, err
	}
	e := Ending{
		Family: who.Family, ID: who.ID, Outcome: st.Outcome, Planned: c.Want, Reason: st.Reason,
		OldImage: who.OldImage, NewImage: who.NewImage, Verdicts: st.Verdicts, Pull: st.Pull, Head: st.Head, Kept: !acted,
	}
	if cert, ok, err := s.Certificate(ctx, who); err != nil {
		return e, err
	} else if ok {
		e.Curves, e.Accuracy = cert.Result.Curves, cert.Result.Accuracy
	}
	if e.Readings, err = readings(ctx, p, who.Family, e.OldImage, e.NewImage); err != nil {
		return e, err
	}
	e.Reports, err = filepath.Glob(filepath.Join(p.Reports(who.ID), "*"))
	return e, err
}
