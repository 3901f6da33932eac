package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
)

// kept is what the pull requests of a candidate hold.
type kept struct {
	candidate Candidate       // as the newest record names it; no ID when there is none
	pull      forge.Pull      // the newest
	owner     string          // of the newest
	receipts  []Receipt       // oldest first
	comments  []forge.Comment // of the newest pull request
}

// kept reads all pull requests of a candidate: every attempt has its own.
func (l *CommentLedger) kept(ctx context.Context, id string) (kept, error) {
	branch := Candidate{ID: id}.Branch(l.Pages.Prefix)
	pulls, err := l.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return kept{}, fmt.Errorf("pull requests of %s: %w", branch, err)
	}
	return l.keptIn(ctx, id, pulls)
}

// keptIn reads pull requests, which come newest first.
func (l *CommentLedger) keptIn(ctx context.Context, id string, pulls []forge.Pull) (kept, error) {
	var k kept
	for _, p := range slices.Backward(pulls) {
		comments, err := l.Forge.Comments(ctx, p.Number)
		if err != nil {
			return k, fmt.Errorf("comments of #%d: %w", p.Number, err)
		}
		r := reading{CommentLedger: l, id: id, pull: p, owner: p.Author, parts: map[string]report.Record{}, seen: map[string]bool{}, rights: map[string]bool{}}
		for _, c := range comments {
			if !strings.HasPrefix(c.Body, l.marker()) {
				continue
			}
			if err := r.comment(ctx, c); err != nil {
				return kept{candidate: k.candidate, pull: p, owner: r.owner}, err
			}
		}
		k.pull, k.owner, k.comments = p, r.owner, comments
		k.receipts = append(k.receipts, r.receipts...)
		if r.candidate.ID != "" {
			k.candidate = r.candidate
		}
	}
	return k, nil
}

// reading is a walk over the comments of one pull request, oldest first.
type reading struct {
	*CommentLedger
	id     string
	pull   forge.Pull
	owner  string                   // at this point of the walk
	parts  map[string]report.Record // by author and name
	seen   map[string]bool          // by author and name: of two with one marker the older stays
	rights map[string]bool          // who may write, as far as it was asked

	candidate Candidate
	receipts  []Receipt
}

// comment reads a comment that begins like receipts. What the owner did not
// write is skipped, unless it is a decision of somebody who may write: an
// adoption, after which it is he who is believed, or a takeover.
func (r *reading) comment(ctx context.Context, c forge.Comment) error {
	own := c.Author == r.owner
	if own {
		if err := r.unedited(ctx, c); err != nil {
			return err
		}
	}
	rec, ok, err := report.ParseRecord(r.Pages.Prefix, c.Body)
	name := c.Author + "/" + rec.Name
	switch {
	case err != nil || !ok:
		return r.unreadable(c, own, err)
	case rec.ID != r.id || r.seen[name]:
		return nil
	case rec.ReceiptPart():
		r.parts[name] = rec
		return nil
	}
	p, err := r.posted(rec, c.Author)
	if err != nil {
		return r.unreadable(c, own, err)
	}
	if !own {
		if decided, err := r.decided(ctx, c.Author, p.Receipts); err != nil || !decided {
			return err
		}
		if err := r.unedited(ctx, c); err != nil {
			return err
		}
	}
	r.seen[name] = true
	r.candidate, r.receipts = p.Candidate, append(r.receipts, p.Receipts...)
	return nil
}

// altered says that receipts of the owner are not as they were written.
type altered struct{ error }

// Changed is what is wrong with receipts that somebody has edited; false for every
// other error of a ledger.
func Changed(err error) (string, bool) {
	var t Tampered
	var a altered
	switch {
	case errors.As(err, &t):
		return t.String(), true
	case errors.As(err, &a):
		return a.Error(), true
	}
	return "", false
}

// unreadable is an error when the owner's own record cannot be read: then
// nobody knows what else it said. What others write cannot block anything.
func (r *reading) unreadable(c forge.Comment, own bool, err error) error {
	if !own {
		return nil
	}
	return altered{fmt.Errorf("comment %s of %s begins like receipts and is not as it was written (%w): delete it, and what it said is found out again", c.URL, c.Author, err)}
}

// posted reads the receipts of a record and checks that they are its author's
// and the candidate's.
func (r *reading) posted(rec report.Record, author string) (posted, error) {
	var p posted
	data, err := report.WholeReceipts(rec, func(name string) (report.Record, bool) {
		part, ok := r.parts[author+"/"+name]
		return part, ok
	})
	if err != nil {
		return p, err
	}
	var version struct{ Version int }
	if err := json.Unmarshal(data, &version); err != nil {
		return p, err
	}
	if version.Version != receiptsVersion {
		return p, fmt.Errorf("receipts of version %d, this refit reads %d", version.Version, receiptsVersion)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, err
	}
	if c := p.Candidate; c.ID != r.id || c.ID != c.identity() || c.Parent != rec.Parent {
		return p, fmt.Errorf("it names candidate %s of %s", c.ID, c.Parent)
	}
	for _, one := range p.Receipts {
		if one.Candidate != r.id || one.By != author || one.Step == "" || one.At.IsZero() {
			return p, fmt.Errorf("its receipt of %q is not one of candidate %s by %s", one.Step, r.id, author)
		}
	}
	return p, nil
}

// unedited asks who edited a comment, when it is not as old as it was.
func (r *reading) unedited(ctx context.Context, c forge.Comment) error {
	if c.Updated.Equal(c.Created) {
		return nil
	}
	editor, at, err := r.Forge.Editor(ctx, c)
	if err != nil {
		return err
	}
	if editor != "" && editor != c.Author {
		return Tampered{Record: c.URL, Owner: c.Author, Editor: editor, At: at}
	}
	return nil
}

// decided says whether receipts of somebody who is not the owner count. An
// adoption makes him the owner.
func (r *reading) decided(ctx context.Context, author string, rs []Receipt) (bool, error) {
	takeover, adopts := true, false
	for _, one := range rs {
		takeover = takeover && one.Step == "takeover"
		var a Adopted
		if one.Step == "adopt" && json.Unmarshal(one.Evidence, &a) == nil {
			adopts = a.From == r.owner && a.To == author && a.Pull == r.pull.Number
		}
	}
	if !takeover && !adopts {
		return false, nil
	}
	may, err := r.mayWrite(ctx, author)
	if may && adopts {
		r.owner = author
	}
	return may, err
}

// mayWrite asks once for each login.
func (r *reading) mayWrite(ctx context.Context, login string) (bool, error) {
	if may, known := r.rights[login]; known {
		return may, nil
	}
	level, err := r.Forge.Permission(ctx, login)
	if err != nil {
		return false, fmt.Errorf("whether %s may decide about #%d: %w", login, r.pull.Number, err)
	}
	r.rights[login] = slices.Contains([]string{"admin", "maintain", "write"}, level)
	return r.rights[login], nil
}
