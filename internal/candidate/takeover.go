package candidate

import (
	"context"
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/workspace"
)

// TakenOver is the receipt of a lease that a person took from its holder.
type TakenOver struct {
	Holder string `json:"holder"` // who held it
	Lease  string `json:"lease"`  // the commit that said so
	By     string `json:"by"`
	Reason string `json:"reason"`
}

func (t TakenOver) String() string { return fmt.Sprintf("lease of %s taken by %s", t.Holder, t.By) }

// Takeover takes the lease of a candidate from a holder that this machine
// cannot ask, on the word of somebody with write permission, and gives it back:
// whoever advances next finds it free. A holder that is seen alive keeps it.
func (s *Shepherd) Takeover(ctx context.Context, c Candidate, reason string) (TakenOver, error) {
	var t TakenOver
	w, err := s.open(ctx, c)
	if err != nil {
		return t, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	if err := w.twice(ctx, func() error { return w.mayDecide(ctx, reason) }); err != nil {
		return t, fmt.Errorf("take over candidate %s: %w", c.ID, err)
	}
	t.By, t.Reason = w.login, reason
	err = w.twice(ctx, func() error { return w.seize(ctx, &t) })
	if err == nil {
		err = w.twice(ctx, func() error { return w.auditTakeover(ctx, t) })
	}
	if err != nil {
		return TakenOver{}, fmt.Errorf("take over candidate %s: %w", c.ID, err)
	}
	w.tell("takeover", "done", t.String())
	return t, nil
}

// seize moves the lease by compare-and-swap from what was seen to us.
func (w *work) seize(ctx context.Context, t *TakenOver) error {
	ref := w.c.LeaseRef(w.prefix())
	old, ok, err := w.Forge.Ref(ctx, ref)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	if !ok {
		return errors.New("nobody holds its lease: advance it")
	}
	if old == w.leased { // the answer of the first try was lost
		return nil
	}
	message, err := w.Forge.Message(ctx, old)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	holder, bad := workspace.ParseHolder(message)
	if alive, known := holder.Alive(); bad == nil && known && alive && holder != w.Holder {
		return fmt.Errorf("%s is alive on this machine: end process %d first", holder, holder.PID)
	}
	t.Holder, t.Lease = line(message), old
	commit, err := w.Forge.Commit(ctx, old, w.Holder.String(), nil)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	err = w.Forge.MoveRef(ctx, ref, old, commit)
	if err == nil || forge.Unanswered(err) {
		w.leased = commit
	}
	if errors.Is(err, forge.ErrMoved) {
		return errors.New("the lease has just changed hands: look again")
	}
	return err
}

func (w *work) auditTakeover(ctx context.Context, t TakenOver) error {
	pulls, err := w.Forge.PullsByHead(ctx, w.c.Branch(w.prefix()))
	if err != nil {
		return err
	}
	if len(pulls) == 1 {
		said := fmt.Sprintf("**Lease taken over** from %s by %s.", word(t.Holder), word(t.By))
		if err := w.audit(ctx, pulls[0].Number, "takeover", t.Lease[:12], said, t.Reason); err != nil {
			return err
		}
	}
	err = w.appendOnce(ctx, Receipt{Candidate: w.c.ID, Step: "takeover", Subject: t.Lease, By: t.By, At: w.now, Evidence: mustJSON(t)})
	if errors.Is(err, errNoPull) { // receipts are comments, and nothing was proposed yet: there is no record that the takeover could explain
		return nil
	}
	return err
}

// mayDecide asks for a reason, and for the right to write.
func (w *work) mayDecide(ctx context.Context, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return errors.New("no reason given: it becomes the audit line")
	}
	login, err := w.who(ctx)
	if err != nil {
		return err
	}
	v, err := w.checkPermission(ctx, Doctored{Login: login})
	if err == nil && v.Answer == gate.Fail { // of an app nobody knows; the lease will refuse it if it may not write
		err = errors.New(v.Reason)
	}
	return err
}

// audit posts one line about a person's decision, once: it is found by its
// marker. It is no record and is never read back for anything else.
func (w *work) audit(ctx context.Context, pull int, kind, name, said, reason string) error {
	there, err := w.Forge.Comments(ctx, pull)
	if err != nil {
		return fmt.Errorf("comments of #%d: %w", pull, err)
	}
	marker := fmt.Sprintf("<!-- %s-%s:%s:%s:%s -->", w.prefix(), kind, w.c.Parent, w.c.ID, word(name))
	for _, c := range there {
		if c.Author == w.login && strings.HasPrefix(c.Body, marker) {
			return nil
		}
	}
	_, err = w.Forge.AddComment(ctx, pull, fmt.Sprintf("%s\n%s Reason: %s\n", marker, said, html.EscapeString(line(reason))))
	return err
}

// word is a name in a sentence of a comment: a mention notifies nobody.
func word(s string) string {
	return strings.NewReplacer("`", "'", "<", "", ">", "", "@", "").Replace(line(s))
}

// line is a text on one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
