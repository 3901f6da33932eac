package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
)

// Adopted is the receipt of an adoption.
type Adopted struct {
	From     string    `json:"from"` // login that owned the draft
	To       string    `json:"to"`
	Pull     int       `json:"pull"`
	Head     string    `json:"head"`
	Reason   string    `json:"reason"`
	Records  int       `json:"records"`  // published again
	Receipts []Origin  `json:"receipts"` // what was issued again, as it was
	At       time.Time `json:"at"`
}

func (a Adopted) String() string {
	return fmt.Sprintf("#%d of %s adopted by %s: %d records and %d receipts issued again, nothing measured again", a.Pull, a.From, a.To, a.Records, len(a.Receipts))
}

// Origin is who issued a receipt first, and when.
type Origin struct {
	Step string    `json:"step"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// Adopt makes the login behind the credential the owner of a draft that was
// made under another login. The records and receipts are issued again under
// the adopter's name with the original evidence; nothing is measured again.
// The receipt of the adoption goes last: after a crash Adopt is called again.
func (s *Shepherd) Adopt(ctx context.Context, c Candidate, reason string) (Adopted, error) {
	var a Adopted
	w, err := s.open(ctx, c)
	if err != nil {
		return a, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	if err = w.inherit(ctx, true); err == nil {
		err = w.twice(ctx, func() error { a, err = w.adopt(ctx, reason); return err })
	}
	if err != nil {
		return Adopted{}, fmt.Errorf("adopt candidate %s: %w", c.ID, err)
	}
	w.tell("adopt", "done", a.String())
	return a, nil
}

func (w *work) adopt(ctx context.Context, reason string) (Adopted, error) {
	p, owner, err := w.adoptable(ctx, reason)
	if err != nil {
		return Adopted{}, err
	}
	if owner == w.login {
		a, err := evidence[Adopted](w, "adopt")
		if err != nil {
			err = fmt.Errorf("#%d is by %s already", p.Number, owner)
		}
		return a, err
	}
	if err := w.takeLease(ctx); err != nil {
		return Adopted{}, err
	}
	a := Adopted{From: owner, To: w.login, Pull: p.Number, Head: p.HeadSHA, Reason: reason, At: w.now}
	if a.Records, err = w.publishAgain(ctx, p, owner); err != nil {
		return Adopted{}, err
	}
	receipts, err := w.foreign(ctx)
	if err != nil {
		return Adopted{}, err
	}
	for _, r := range receipts {
		a.Receipts = append(a.Receipts, Origin{r.Step, r.By, r.At})
	}
	if err := w.audit(ctx, p.Number, "adoption", w.login, fmt.Sprintf("**Adopted** from %s by %s. %d records and %d receipts were issued again with their original evidence; nothing was measured again.",
		word(owner), word(w.login), a.Records, len(receipts)), reason); err != nil {
		return Adopted{}, err
	}
	w.fresh = nil // what was inherited is issued again, not taken as it is
	for _, r := range receipts {
		if w.receipts[r.Step].By == w.login {
			continue // issued again before a crash
		}
		r.By, r.At = w.login, w.now
		w.fresh = append(w.fresh, r)
	}
	if err := w.keep(ctx, "adopt", p.HeadSHA, a); err != nil {
		return Adopted{}, err
	}
	return a, w.save(ctx, w.summary("adopt", Waits))
}

// adoptable looks whether the candidate may change hands, and finds its owner.
func (w *work) adoptable(ctx context.Context, reason string) (forge.Pull, string, error) {
	if err := w.mayDecide(ctx, reason); err != nil {
		return forge.Pull{}, "", err
	}
	if !w.claimed {
		return forge.Pull{}, "", errors.New("there is no pull request of it to adopt: upgrade the family instead")
	}
	if st, ok := w.sealed(); ok {
		return forge.Pull{}, "", fmt.Errorf("it has ended: %s", st.Outcome)
	}
	w.pull = nil
	p, err := w.ownPull(ctx)
	if err != nil {
		return p, "", err
	}
	handoff := w.Config.Forge.HandoffLabel
	switch {
	case p.State != "open":
		return p, "", fmt.Errorf("#%d is %s", p.Number, p.State)
	case p.HeadRepo != w.Forge.Repository.String():
		return p, "", fmt.Errorf("#%d comes from %q, want a branch of %s", p.Number, p.HeadRepo, w.Forge.Repository)
	case handoff != "" && slices.Contains(p.Labels, handoff):
		return p, "", fmt.Errorf("#%d carries the label %s: take it off first", p.Number, handoff)
	}
	if err := w.headIsOurs(ctx, p.HeadSHA); err != nil {
		return p, "", err
	}
	return p, w.owner(p), nil
}

// owner is who may write to the pull request as this candidate: the login that
// adopted it last, else its author.
func (w *work) owner(p forge.Pull) string {
	if a, err := evidence[Adopted](w, "adopt"); err == nil && a.Pull == p.Number {
		return a.To
	}
	return p.Author
}

// publishAgain publishes the owner's records under our login, byte for byte. A
// record that another login edited is not evidence any more: it blocks.
func (w *work) publishAgain(ctx context.Context, p forge.Pull, owner string) (int, error) {
	there, err := w.Forge.Comments(ctx, p.Number)
	if err != nil {
		return 0, fmt.Errorf("comments of #%d: %w", p.Number, err)
	}
	var records []report.NamedComment
	seen := map[string]bool{}
	for _, c := range there {
		rec, ok, err := report.ParseRecord(w.prefix(), c.Body)
		if c.Author != owner || err != nil || !ok || rec.ID != w.c.ID || rec.Kind == report.ReceiptKind || seen[rec.Kind+"/"+rec.Name] {
			continue
		}
		seen[rec.Kind+"/"+rec.Name] = true
		editor, at, err := w.Forge.Editor(ctx, c)
		if err != nil {
			return 0, err
		}
		if editor != "" && editor != owner {
			return 0, fmt.Errorf("record %s of %s is tampered: %s edited it at %s", c.URL, owner, editor, at.Format(time.DateTime))
		}
		name := rec.Name
		if name == "" {
			name = rec.Kind
		}
		records = append(records, report.NamedComment{Name: name, Body: c.Body})
	}
	_, err = w.upsert(ctx, p.Number, records)
	return len(records), err
}

// foreign are the newest receipts of each step that another login issued: what
// was inherited, then those of the ledger in its order. Doctor's mean nothing
// to another session.
func (w *work) foreign(ctx context.Context) ([]Receipt, error) {
	all, err := w.Ledger.Receipts(ctx, w.c.ID)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(w.fresh, ofAttempt(all, w.c.Attempt))
	all = slices.DeleteFunc(all, func(r Receipt) bool {
		return r.By == w.login || slices.Contains([]string{"doctor", "adopt", "takeover", "attempt"}, r.Step)
	})
	newest := map[string]int{}
	for i, r := range all {
		newest[r.Step] = i
	}
	var out []Receipt
	for i, r := range all {
		if newest[r.Step] == i {
			out = append(out, r)
		}
	}
	return out, nil
}
