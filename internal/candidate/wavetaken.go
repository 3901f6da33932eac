package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

// taken are the refs that say that somebody has a family: by kind (auto, claim,
// lease, recovery), then by the first part of a candidate's id, the ref.
type taken map[string]map[string]string

// takenForm is a ref of a candidate behind the prefix. A recovery ref, which
// the reference made where a lease is now, names its parent before the id.
var takenForm = regexp.MustCompile(`^(auto|claim|lease|recovery)-(?:[^/]*?-)??([0-9a-f]{16})(?:-[0-9a-f]{16})?$`)

// takenRefs lists the refs of all spellings of the prefix, branches and others.
func (p *planner) takenRefs(ctx context.Context) (taken, error) {
	all := taken{}
	for _, prefix := range p.prefixes() {
		for _, root := range []string{"heads/" + prefix + "/", prefix + "/"} {
			refs, err := p.Forge.Refs(ctx, root)
			if err != nil {
				return nil, fmt.Errorf("refs of candidates: %w", err)
			}
			for _, name := range slices.Sorted(maps.Keys(refs)) {
				m := takenForm.FindStringSubmatch(strings.TrimPrefix(name, root))
				if m == nil {
					continue
				}
				if all[m[1]] == nil {
					all[m[1]] = map[string]string{}
				}
				all[m[1]][m[2]] = name
			}
		}
	}
	return all, nil
}

// prefixes are the spellings of the prefix, the present one first.
func (p *planner) prefixes() []string {
	all := []string{p.prefix()}
	for _, e := range p.from.Earlier {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// of is the ref of some kind that belongs to a family, "" when there is none.
func (t taken) of(kind string, f live) string {
	if ref, ok := t[kind][short(f.ID)]; ok {
		return ref
	}
	for _, id := range slices.Sorted(maps.Keys(f.coarse)) {
		if ref, ok := t[kind][id]; ok {
			return ref
		}
	}
	return ""
}

// free says with a *stays that somebody has the family: a pull request, a
// claim, a branch, or a candidate without an end.
func (p *planner) free(ctx context.Context, f live) error {
	if n, head := p.proposed(f); n > 0 {
		return stay(PullOpen, "#%d, from %s", n, head)
	}
	if ref := p.taken.of("claim", f); ref != "" {
		return p.claimed(ctx, f, ref)
	}
	if ref := p.taken.of("auto", f); ref != "" {
		return stay(BranchTaken, "%s", ref)
	}
	for _, kind := range []string{"lease", "recovery"} {
		if ref := p.taken.of(kind, f); ref != "" {
			return stay(Interrupted, "%s stands without a claim", ref)
		}
	}
	for _, c := range p.saved {
		if c.Family == f.ID && c.Outcome == "" {
			return stay(Interrupted, "candidate %s has no end: refit candidate advance %s", c.ID, c.ID)
		}
	}
	return nil
}

// proposed finds an open pull request of a candidate of the family, whatever
// its images are.
func (p *planner) proposed(f live) (int, string) {
	for _, pull := range p.pulls {
		for _, prefix := range p.prefixes() {
			m := takenForm.FindStringSubmatch(strings.TrimPrefix(pull.Head, prefix+"/"))
			if m != nil && m[1] == "auto" && strings.HasPrefix(pull.Head, prefix+"/") && (m[2] == short(f.ID) || f.coarse[m[2]]) {
				return pull.Number, pull.Head
			}
		}
	}
	return 0, ""
}

// claimed reads who has a claim that stands. One that cannot be read blocks the
// family as well, and says so; that the forge did not answer is an error.
func (p *planner) claimed(ctx context.Context, f live, ref string) error {
	if ref != ClaimRef(p.prefix(), f.ID) {
		return stay(ClaimTaken, "%s", ref) // another spelling, whose form nobody promised
	}
	c, ok, err := p.Claimed(ctx, f.ID)
	var asked *forge.Error
	switch {
	case errors.As(err, &asked) && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return stay(ClaimUnreadable, "%v", err)
	case !ok:
		return stay(ClaimTaken, "%s was released just now", ref)
	}
	return stay(ClaimTaken, "candidate %s of %s", c.ID, c.Parent)
}
