package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// Review is the built-in reviewer: it answers for every proposal of a wave from
// the open pull requests alone. One that edits the family's own lines, or
// another file that the family depends on, makes it a duplicate; one whose files
// are not all known, or whose head cannot be read, makes it uncertain. The same
// model or image in another family is nothing.
func (s *Shepherd) Review(ctx context.Context, w Wave) ([]Decision, error) {
	r := reviewer{s: s, wave: w, heads: map[int]commits{}, files: map[[2]string]map[string]string{}}
	ds := make([]Decision, 0, len(w.Candidates))
	for _, p := range w.Candidates {
		d, err := r.decide(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("review of %s: %w", p.Family, err)
		}
		ds = append(ds, d)
	}
	return ds, nil
}

// reviewer remembers what it has read: several families share a master.
type reviewer struct {
	s     *Shepherd
	wave  Wave
	heads map[int]commits
	files map[[2]string]map[string]string // by commit and master: the lines of each family
}

// commits are where a pull request's branch is, and what it was opened against.
type commits struct{ head, base string }

func (r *reviewer) decide(ctx context.Context, p Proposal) (Decision, error) {
	d := Decision{ID: p.ID, Family: p.Family, Decision: DecisionProceed, Clusters: p.Clusters, Reason: "no open pull request edits what the family depends on"}
	var edits, unknown []string
	for _, pull := range r.wave.Pulls {
		what, known, err := r.overlap(ctx, p, pull)
		switch {
		case err != nil:
			return d, err
		case what != "":
			d.Pulls = append(d.Pulls, pull.Number)
			edits = append(edits, fmt.Sprintf("#%d edits %s", pull.Number, what))
		case !known:
			unknown = append(unknown, fmt.Sprintf("#%d", pull.Number))
		}
	}
	switch {
	case len(edits) > 0:
		d.Decision, d.Clusters, d.Reason = DecisionDuplicate, nil, strings.Join(edits, "; ")
	case len(unknown) > 0:
		d.Decision, d.Clusters, d.Reason = DecisionUncertain, nil, "not all that is edited is known of "+strings.Join(unknown, ", ")
	}
	return d, nil
}

// overlap is what a pull request edits of what a family depends on, "" for
// nothing; known is false when nothing was found and something may be missing.
func (r *reviewer) overlap(ctx context.Context, p Proposal, pull OpenPull) (what string, known bool, err error) {
	known = !pull.Incomplete
	for _, f := range p.Files {
		if !slices.Contains(pull.Files, f) {
			continue
		}
		if f != p.File() {
			return f, true, nil
		}
		edits, told, err := r.editsFamily(ctx, p, pull.Number)
		switch {
		case err != nil:
			return "", false, err
		case edits:
			return "the lines of " + p.Key() + " in " + f, true, nil
		}
		known = known && told
	}
	return "", known, nil
}

// editsFamily says whether a pull request changes the family's entry in its
// master: at its head the entry is neither what it is now nor what it was in
// the commit that the pull request was opened against. told is false where a
// version of the file cannot be read.
func (r *reviewer) editsFamily(ctx context.Context, p Proposal, number int) (edits, told bool, err error) {
	at, err := r.at(ctx, number)
	if err != nil {
		return false, false, err
	}
	now, there, err := r.entry(ctx, r.wave.Base, p)
	if err != nil || !there {
		return false, false, err
	}
	head, there, err := r.entry(ctx, at.head, p)
	if err != nil {
		return false, false, unreadable(err)
	}
	if there && head == now {
		return false, true, nil
	}
	before, was, err := r.entry(ctx, at.base, p) // the branch may only be behind
	if err != nil {
		return false, false, unreadable(err)
	}
	return there != was || head != before, true, nil
}

// errMaster is a master file that is not there, or is none.
var errMaster = errors.New("no readable master")

// unreadable keeps an error of the forge; a commit that is gone, or a file that
// is no master, is no error of the review.
func unreadable(err error) error {
	if errors.Is(err, errMaster) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (r *reviewer) at(ctx context.Context, number int) (commits, error) {
	if c, ok := r.heads[number]; ok {
		return c, nil
	}
	p, err := r.s.Forge.Pull(ctx, number)
	if err != nil {
		return commits{}, err
	}
	r.heads[number] = commits{p.HeadSHA, p.BaseSHA}
	return r.heads[number], nil
}

// entry is the text of a family's lines in its master at a commit.
func (r *reviewer) entry(ctx context.Context, commit string, p Proposal) (text string, there bool, err error) {
	key := [2]string{commit, p.File()}
	texts, ok := r.files[key]
	if !ok {
		if texts, err = r.master(ctx, commit, p.File()); err != nil {
			return "", false, err
		}
		r.files[key] = texts
	}
	text, there = texts[p.Family]
	return text, there, nil
}

func (r *reviewer) master(ctx context.Context, commit, file string) (map[string]string, error) {
	tree, err := r.s.Tree(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("commit %.12s: %w", commit, err)
	}
	src, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMaster, err)
	}
	families, err := recipe.ParseMaster(src, file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMaster, err)
	}
	return familyLines(src, families), nil
}

// familyLines are the lines of each family, from its key to the last before
// the remarks that lead to the next.
func familyLines(src []byte, families []recipe.Family) map[string]string {
	lines := strings.Split(string(src), "\n")
	starts := []int{len(lines)}
	for _, f := range families {
		starts = append(starts, f.Line-1)
	}
	slices.Sort(starts)
	texts := map[string]string{}
	for _, f := range families {
		at, _ := slices.BinarySearch(starts, f.Line)
		end := starts[at]
		for end > f.Line && (strings.TrimSpace(lines[end-1]) == "" || strings.HasPrefix(lines[end-1], "#")) {
			end--
		}
		texts[f.ID] = strings.Join(lines[f.Line-1:end], "\n")
	}
	return texts
}
