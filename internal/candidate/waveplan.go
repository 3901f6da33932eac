package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/workspace"
)

// WaveSources is what a wave is planned from, beside the forge, the tree and
// the ledger that a Shepherd knows.
type WaveSources struct {
	// Images is the feed latest-images.
	Images func(ctx context.Context) (api.ImageFeed, error)
	// Releases is the feed framework-releases; nil where there is none: then
	// the newest image of a family's lane says what its engine's release is.
	Releases func(ctx context.Context) (api.FrameworkReleases, error)

	Capacity Capacity // as the clusters answered just now
	Seed     uint64   // of the shuffle
	Earlier  []string // other spellings of policy.prefix, whose refs still count
}

// The reasons for which a family does not move, in the order in which they are
// looked for: the first that holds is told.
const (
	NotGenerated    = "not-generated"       // its rows cannot be made
	NoObservation   = "no-observation"      // nothing is published for it at its image
	NoCluster       = "no-eligible-cluster" // none of its clusters has room
	PullOpen        = "open-pull-request"   // a candidate of it, of any release, is proposed
	ClaimTaken      = "claim-taken"         // somebody moves it
	ClaimUnreadable = "claim-unreadable"    // nobody knows who moves it
	BranchTaken     = "branch-taken"        // an end that kept its branch
	Interrupted     = "interrupted"         // a candidate without an end
	TagsUnknown     = "tags-unknown"        // its repository does not answer
	NothingNewer    = "nothing-newer"       // its lane has no image that is surely newer
	AlreadyNewest   = "already-newest"      // it runs the newest of its lane
	TriedBefore     = "tried-before"        // this very move has an end that another try would not change
)

// stays is why a family does not move.
type stays struct{ reason, detail string }

func (s *stays) Error() string { return s.reason + ": " + s.detail }

func stay(reason, detail string, args ...any) error {
	return &stays{reason, fmt.Sprintf(detail, args...)}
}

var earlierForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// planner is one look at everything, over the tree at the tip of main.
type planner struct {
	*Shepherd // with the policy of that tree
	from      WaveSources
	base      string
	now       time.Time
	tree      fs.FS
	runners   recipe.Runners
	releases  api.FrameworkReleases // nil: not asked for
	taken     taken
	pulls     []OpenPull
	saved     []Summary
	tags      map[string]tagList
}

// PlanWave finds the families that may move now, and says of every other why
// not. It only looks. A feed that cannot be used is an *api.FeedError; an error
// beside that says that the forge, the tree or the ledger could not be read.
// What is wrong with one family, one row or one pull request is in the result.
func (s *Shepherd) PlanWave(ctx context.Context, from WaveSources) (Wave, error) {
	for _, e := range from.Earlier {
		if !earlierForm.MatchString(e) {
			return Wave{}, fmt.Errorf("plan wave: earlier prefix %q: want letters, digits and inner ._-, at most 64", e)
		}
	}
	feed, err := from.Images(ctx)
	if err != nil {
		return Wave{}, err
	}
	p := &planner{from: from, now: s.Now().UTC(), tags: map[string]tagList{}}
	if from.Releases != nil {
		if p.releases, err = from.Releases(ctx); err != nil {
			return Wave{}, err
		}
	}
	s.tell("feeds", "done", fmt.Sprintf("rows: %d, set aside: %d", len(feed.Rows), len(feed.Aside)))
	if err := p.stand(ctx, s); err != nil {
		return Wave{}, fmt.Errorf("plan wave: %w", err)
	}
	w := Wave{Base: p.base, Seed: from.Seed, At: p.now, Candidates: []Proposal{}, SetAside: setAside(feed.Aside), Pulls: p.pulls}
	if err := p.sort(ctx, &w, feed.Rows); err != nil {
		return Wave{}, fmt.Errorf("plan wave: %w", err)
	}
	shuffle(w.Candidates, from.Seed)
	s.tell("families", "done", fmt.Sprintf("may move: %d, left out: %d", len(w.Candidates), len(w.Left)))
	return w, nil
}

// stand reads what the plan stands on: the tip of main with its policy, the
// refs and pull requests of the forge, and the ledger.
func (p *planner) stand(ctx context.Context, s *Shepherd) error {
	var err error
	if p.base, err = (&work{Shepherd: s}).mainTip(ctx); err != nil {
		return err
	}
	if p.Shepherd, err = s.obeying(ctx, p.base); err != nil {
		return err
	}
	if p.tree, err = s.Tree(ctx, p.base); err != nil {
		return fmt.Errorf("base %.12s: %w", p.base, err)
	}
	if p.pulls, err = s.openPulls(ctx); err != nil {
		return err
	}
	if p.taken, err = p.takenRefs(ctx); err != nil {
		return err
	}
	if p.saved, err = s.Ledger.Candidates(ctx); err != nil {
		return fmt.Errorf("list candidates: %w", err)
	}
	return nil
}

// sort puts each family on one of the wave's two lists.
func (p *planner) sort(ctx context.Context, w *Wave, rows []api.LatestImage) error {
	families, left, err := p.live()
	if err != nil {
		return err
	}
	w.Left = left
	seen := observe(families, rows)
	for _, f := range families {
		prop, err := p.consider(ctx, f, seen[f.ID])
		var why *stays
		switch {
		case errors.As(err, &why):
			w.Left = append(w.Left, LeftOut{f.ID, why.reason, why.detail})
		case err != nil:
			return fmt.Errorf("family %s: %w", f.ID, err)
		default:
			w.Candidates = append(w.Candidates, prop)
		}
	}
	slices.SortFunc(w.Left, func(a, b LeftOut) int { return strings.Compare(a.Family, b.Family) })
	return nil
}

// consider makes a family's proposal of its newest published rows at its live
// image; a *stays says that it does not move.
func (p *planner) consider(ctx context.Context, f live, rows []api.LatestImage) (Proposal, error) {
	if len(rows) == 0 {
		return Proposal{}, stay(NoObservation, "nothing is published for it at %s", f.Entry.Image)
	}
	clusters, err := p.eligible(f)
	if err != nil {
		return Proposal{}, err
	}
	if err := p.free(ctx, f); err != nil {
		return Proposal{}, err
	}
	target, release, err := p.newest(ctx, f, rows)
	if err != nil {
		return Proposal{}, err
	}
	c := Candidate{Family: f.ID, Base: p.base, OldImage: f.Entry.Image, NewImage: target, Release: release, Parent: p.Holder.ID()}
	c.ID = c.identity()
	if c, err = p.attempt(ctx, c); err != nil {
		return Proposal{}, err
	}
	releases := p.releases
	if releases == nil && release != "" {
		releases = api.FrameworkReleases{rows[0].Framework: &release}
	}
	signals := signalsOf(rows, releases, p.now)
	return Proposal{
		Candidate: c, Observation: Observation{rows[0].Image, rows[0].Date}, Signals: signals, Review: NeedsReview(signals),
		Clusters: clusters, Files: dependencies(p.tree, p.Paths, f, p.runners),
	}, nil
}

// eligible are the clusters of a family that may take one more sweep.
func (p *planner) eligible(f live) ([]string, error) {
	ids := p.runners.Clusters(f.Entry.Runner)
	if len(ids) == 0 {
		return nil, stay(NoCluster, "runner label %s is not in %s", f.Entry.Runner, p.Paths.Runners)
	}
	room, reasons := p.from.Capacity.split(ids)
	if len(room) == 0 {
		return nil, stay(NoCluster, "%s", strings.Join(reasons, "; "))
	}
	return room, nil
}

// signalsOf are the signals of any of the rows, each once.
func signalsOf(rows []api.LatestImage, releases api.FrameworkReleases, now time.Time) []Signal {
	told := map[Signal]bool{}
	for _, r := range rows {
		for _, s := range Signals(r, releases, now) {
			told[s] = true
		}
	}
	all := []Signal{}
	for _, s := range []Signal{UnstableImage, ReleaseComparisonUnknown, ReleaseStringMismatch, AgentXAge} {
		if told[s] {
			all = append(all, s)
		}
	}
	return all
}

// setAside counts the invalid rows by what is wrong with them.
func setAside(rows []api.AsideRow) []SetAside {
	all := []SetAside{}
	for _, r := range rows {
		i := slices.IndexFunc(all, func(s SetAside) bool { return s.Reason == r.Err.Error() })
		if i < 0 {
			i = len(all)
			all = append(all, SetAside{Reason: r.Err.Error()})
		}
		all[i].Count++
	}
	slices.SortFunc(all, func(a, b SetAside) int { return strings.Compare(a.Reason, b.Reason) })
	return all
}

// shuffle orders proposals by a hash of seed and family: every order is as
// likely, one seed gives one order with any version of Go, and a family that
// comes or goes leaves the others in theirs.
func shuffle(all []Proposal, seed uint64) {
	place := map[string]string{}
	for _, p := range all {
		place[p.Family] = workspace.Identity([]any{seed, p.Family})
	}
	slices.SortFunc(all, func(a, b Proposal) int { return strings.Compare(place[a.Family], place[b.Family]) })
}
