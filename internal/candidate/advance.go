package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// Status is where a candidate stood when Advance returned.
type Status struct {
	Summary
	Waiting string `json:"waiting,omitempty"` // what it waits for, when State is Waits
	Reason  string `json:"reason,omitempty"`  // why it ended, when Outcome is not Validated
	Sealed  bool   `json:"sealed,omitempty"`  // it had its receipt before, nothing was done
}

// work is one Advance of one candidate: the receipts that hold, and what was
// looked up on the way. It lives for one call.
type work struct {
	*Shepherd
	c     Candidate
	now   time.Time
	login string
	main  string // name of the default branch, "" until it was asked for

	receipts map[string]Receipt // newest of each step
	fresh    []Receipt          // of steps before propose: kept once propose has claimed
	known    int                // receipts in the ledger when they were read last
	claimed  bool               // there is a receipt of propose
	owners   []string           // logins between which it changed hands
	dry      bool               // nothing may be written
	shut     bool               // somebody else holds the lease
	leased   string             // commit of the lease we hold, "" when we hold none

	left  map[[2]int64][]forge.Artifact // by run and attempt
	parts map[int64]map[string][]byte   // of artifacts that points left, by id
	lain  *forge.Run                    // the newest run of the head that did nothing, as far as sweepRuns has looked

	pull *forge.Pull // looked up at most once between two writes
	tree map[string]treeView
}

// Advance walks the lifecycle from the top. A step whose receipt holds is
// skipped; the first that must wait ends the walk. It never sleeps. An error
// means that it could not do its work; the candidate is as it was.
func (s *Shepherd) Advance(ctx context.Context, c Candidate) (Status, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return Status{}, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	if st, ok := w.sealed(); ok {
		return st, w.tidy(ctx, st)
	}
	if err := w.obeyBase(ctx); err != nil {
		return Status{}, err
	}
	if err := w.inherit(ctx, false); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	if err := w.untampered(ctx); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	if end, ok := w.pendingEnd(); ok {
		return w.walkEnding(ctx, end)
	}
	return w.walk(ctx, Lifecycle)
}

// Rehearse walks only the steps that look, and writes nothing.
func (s *Shepherd) Rehearse(ctx context.Context, c Candidate) (Status, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return Status{}, err
	}
	w.dry = true
	if st, ok := w.sealed(); ok {
		return st, nil
	}
	if err := w.obeyBase(ctx); err != nil {
		return Status{}, err
	}
	if err := w.inherit(ctx, false); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	var looks []Step
	for _, step := range Lifecycle {
		if step.Name == "propose" {
			break
		}
		looks = append(looks, step)
	}
	st, err := w.walk(ctx, looks)
	if err == nil && st.State == Done && st.Outcome == "" {
		st.State = Ready
	}
	return st, err
}

func (s *Shepherd) open(ctx context.Context, c Candidate) (*work, error) {
	w := &work{Shepherd: s, c: c, now: s.Now(), tree: map[string]treeView{}, left: map[[2]int64][]forge.Artifact{}, parts: map[int64]map[string][]byte{}}
	return w, w.read(ctx)
}

// read reads the ledger. Of doctor's receipts the one of this process counts:
// what another session saw says nothing about this one.
func (w *work) read(ctx context.Context) error {
	all, err := w.Ledger.Receipts(ctx, w.c.ID)
	if err != nil {
		return fmt.Errorf("candidate %s: read receipts: %w", w.c.ID, err)
	}
	w.known = len(all)
	w.hold(all)
	return nil
}

// hold takes the newest receipt of each step of this attempt.
func (w *work) hold(all []Receipt) {
	w.receipts, w.owners = map[string]Receipt{}, nil
	for _, r := range ofAttempt(all, w.c.Attempt) {
		if r.Step == "doctor" && w.receipts["doctor"].Subject == w.Holder.String() {
			continue
		}
		w.receipts[r.Step] = r
		if a, err := evidence[Adopted](w, r.Step); r.Step == "adopt" && err == nil {
			w.owners = append(w.owners, a.From, a.To)
		}
	}
	_, w.claimed = w.receipts["propose"]
}

// obeyBase takes policy and evals from the base's refit.yaml: neither what the
// work tree holds nor what the candidate's head proposes about its own
// judgement counts. Where things are (forge, executor, images) is this machine's.
func (w *work) obeyBase(ctx context.Context) error {
	s, err := w.Shepherd.obeying(ctx, w.c.Base)
	if err != nil {
		return fmt.Errorf("candidate %s: %w", w.c.ID, err)
	}
	if here, base := w.prefix(), s.prefix(); w.batch() != nil && here != base {
		return fmt.Errorf("candidate %s: policy.prefix is %q here and %q at base %.12s: receipts in comments are found by it; commit the one that you mean", w.c.ID, here, base, w.c.Base)
	}
	w.Shepherd = s
	return nil
}

// obeying is the same Shepherd with policy and evals of a commit.
func (s *Shepherd) obeying(ctx context.Context, base string) (*Shepherd, error) {
	fsys, err := s.Tree(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	src, err := fs.ReadFile(fsys, workspace.ConfigName)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	config, _, err := workspace.ParseConfig(src, workspace.ConfigName)
	if err != nil {
		return nil, fmt.Errorf("base %.12s: %w", base, err)
	}
	other := *s
	other.Config.Policy, other.Config.Evals = config.Policy, config.Evals
	return &other, nil
}

func (w *work) walk(ctx context.Context, steps []Step) (Status, error) {
	for _, step := range steps {
		err := w.take(ctx, step)
		var wait Waiting
		var end *End
		switch {
		case errors.As(err, &wait):
			w.tell(step.Name, "waiting", wait.For)
			if err := w.settle(ctx); err != nil {
				return Status{}, fmt.Errorf("candidate %s: %w", w.c.ID, err)
			}
			return w.status(ctx, step.Name, Waits, wait.For, nil)
		case errors.As(err, &end):
			w.tell(step.Name, "end", end.Error())
			return w.finishWith(ctx, step, end)
		case err != nil:
			return Status{}, fmt.Errorf("candidate %s: %s: %w", w.c.ID, step.Name, err)
		}
	}
	if err := w.settle(ctx); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", w.c.ID, err)
	}
	return w.status(ctx, steps[len(steps)-1].Name, Done, "", nil)
}

// take skips a step whose receipt holds; otherwise it checks the precondition,
// makes sure that nobody else writes, acts, and keeps the receipt.
func (w *work) take(ctx context.Context, step Step) error {
	subject, err := step.Subject(ctx, w)
	if err != nil {
		return err
	}
	if r, ok := w.receipts[step.Name]; ok && subject != "" && r.Subject == subject {
		w.tell(step.Name, "kept", "receipt of "+r.At.UTC().Format(time.DateTime)+" UTC holds")
		return nil
	}
	if err := step.Ready(ctx, w); err != nil {
		return err
	}
	if !w.dry && (step.Name == "propose" || w.claimed) {
		if err := w.takeLease(ctx); err != nil {
			return err
		}
	}
	w.tell(step.Name, "start", "")
	var evidence any
	err = w.twice(ctx, func() error { evidence, err = step.Act(w, ctx); return err })
	if err != nil {
		return err
	}
	if w.batch() == nil {
		return w.keep(ctx, step.Name, subject, evidence)
	}
	if err := w.note(ctx, step.Name, subject, evidence); err != nil { // settle writes it, with those of other steps
		return err
	}
	w.tell(step.Name, "done", describe(evidence))
	return nil
}

// twice acts, and acts once more when an answer was lost. Every act looks
// before it writes, so the second one finds what the first one did.
func (w *work) twice(ctx context.Context, act func() error) error {
	err := act()
	if forge.Unanswered(err) && ctx.Err() == nil {
		w.pull = nil
		err = act()
	}
	return err
}

// keep records a receipt. What the steps before propose found is written
// together with propose's own receipt: until then nothing exists to describe.
func (w *work) keep(ctx context.Context, step, subject string, evidence any) error {
	if err := w.note(ctx, step, subject, evidence); err != nil {
		return err
	}
	if w.claimed && !w.dry {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.tell(step, "done", describe(evidence))
	return nil
}

// note makes a receipt that is still to be written.
func (w *work) note(ctx context.Context, step, subject string, evidence any) error {
	data, err := json.Marshal(evidence)
	if err != nil {
		return fmt.Errorf("receipt of %s: %w", step, err)
	}
	login, err := w.who(ctx)
	if err != nil {
		return fmt.Errorf("receipt of %s: %w", step, err)
	}
	r := Receipt{Candidate: w.c.ID, Step: step, Subject: subject, By: login, At: w.now, Evidence: data}
	w.receipts[step] = r
	w.fresh = append(w.fresh, r)
	if step == "propose" {
		w.claimed = true
	}
	return nil
}

// flush appends the receipts that are not in the ledger yet, after the line
// that begins a further attempt.
func (w *work) flush(ctx context.Context) error {
	if _, begun := w.receipts["attempt"]; w.c.Attempt > 0 && !begun {
		r := Receipt{Candidate: w.c.ID, Step: "attempt", Subject: strconv.Itoa(w.c.Attempt), By: w.login, At: w.now, Evidence: mustJSON(w.c)}
		w.receipts["attempt"] = r
		w.fresh = slices.Insert(w.fresh, 0, r)
	}
	if w.batch() != nil {
		return w.flushAll(ctx)
	}
	for len(w.fresh) > 0 {
		if err := w.appendOnce(ctx, w.fresh[0]); err != nil {
			return fmt.Errorf("receipt of %s: %w", w.fresh[0].Step, err)
		}
		w.fresh = w.fresh[1:]
	}
	return nil
}

// ofAttempt are the receipts of one attempt: those after the line that begins
// it. Earlier attempts are history.
func ofAttempt(all []Receipt, attempt int) []Receipt {
	var out []Receipt
	at := 0
	for _, r := range all {
		if r.Step == "attempt" {
			if n, err := strconv.Atoi(r.Subject); err == nil {
				at = n
			}
		}
		if at == attempt {
			out = append(out, r)
		}
	}
	return out
}

// appendOnce appends receipts. When the ledger's answer was lost it looks
// which of them are there, and only then tries again.
func (w *work) appendOnce(ctx context.Context, rs ...Receipt) error {
	err := w.appendAll(ctx, rs)
	if err == nil || ctx.Err() != nil {
		return err
	}
	all, bad := w.Ledger.Receipts(ctx, w.c.ID)
	if bad != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(rs), func(r Receipt) bool { return slices.ContainsFunc(all, r.same) })
	if len(left) == 0 {
		return nil
	}
	return w.appendAll(ctx, left)
}

// same says whether two receipts are one.
func (r Receipt) same(old Receipt) bool {
	return old.Step == r.Step && old.Subject == r.Subject && old.By == r.By && old.At.Equal(r.At)
}

// evidence decodes what a step left behind.
func evidence[T any](w *work, step string) (T, error) {
	var v T
	r, ok := w.receipts[step]
	if !ok {
		return v, fmt.Errorf("no receipt of step %s", step)
	}
	if err := json.Unmarshal(r.Evidence, &v); err != nil {
		return v, fmt.Errorf("receipt of step %s: %w", step, err)
	}
	return v, nil
}

// describe is the one line about a step's evidence that progress shows.
func describe(evidence any) string {
	if s, ok := evidence.(fmt.Stringer); ok {
		return s.String()
	}
	return ""
}

// Describe is the one line about a receipt that lists and pages show.
func Describe(r Receipt) string {
	into := map[string]fmt.Stringer{
		"doctor": &Doctored{}, "resolve": &Resolved{}, "inspect": &Inspected{}, "rehearse": &Rehearsed{},
		"propose": &Proposed{}, "baseline": &Published{}, "smoke": &Measured{}, "enter": &Entered{},
		"sweep": &Measured{}, "certify": &Certified{}, "verdict": &Certified{}, "dispatch": &Dispatched{}, "round": &Round{},
		"adopt": &Adopted{}, "takeover": &TakenOver{}, "release": &Released{}, "merged": &Parted{}, "closed": &Parted{}, "tampered": &Tampered{}, "finish": &Sealed{}, "outcome": &Sealed{},
	}[r.Step]
	if into == nil || json.Unmarshal(r.Evidence, into) != nil {
		return ""
	}
	return into.String()
}
