package candidate

import (
	"context"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
)

// notOurs says that a candidate's pull request is somebody else's, or not one.
type notOurs string

func (n notOurs) Error() string { return string(n) }

// isOwned looks afresh whether the candidate's pull request is still ours to
// write to. It is asked before every step that writes, and never cached across
// a write. Source: lifecycle specification, section 6.
func isOwned(ctx context.Context, w *work) error {
	w.pull = nil
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	login, err := w.who(ctx)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(p.Labels, w.Config.Forge.HandoffLabel) && w.Config.Forge.HandoffLabel != "":
		return &End{Outcome: Handoff, Phase: Unknown, Reason: "a maintainer has taken over (label " + w.Config.Forge.HandoffLabel + ")"}
	case w.owner(p) != login:
		return w.mismatch(p, login)
	case p.HeadRepo != "" && !w.Forge.Repository.Is(p.HeadRepo):
		return notOurs(fmt.Sprintf("Candidate ownership mismatch: #%d comes from %s", p.Number, p.HeadRepo))
	case p.Merged:
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("#%d is merged", p.Number)}
	case p.State != "open":
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("#%d was closed by somebody else", p.Number)}
	}
	return w.headIsOurs(ctx, p.HeadSHA)
}

func (w *work) mismatch(p forge.Pull, login string) error {
	return notOurs(fmt.Sprintf("Candidate ownership mismatch: #%d is by %s, the credential is %s; `refit candidate adopt %s --reason TEXT` takes it over", p.Number, w.owner(p), login, w.c.ID))
}

// headIsOurs accepts the head that we last wrote, and one that we wrote on top
// of it and whose receipt was lost. A forge may still show an older head for a
// moment after a push.
func (w *work) headIsOurs(ctx context.Context, head string) error {
	want := w.expectedHead()
	ours, err := w.oursSince(ctx, want, head)
	if err != nil || ours {
		return err
	}
	at, _, err := w.Forge.Ref(ctx, "heads/"+w.c.Branch(w.prefix()))
	if err != nil {
		return fmt.Errorf("branch: %w", err)
	}
	if at == want {
		return Waiting{"the forge to show the head that was pushed last"}
	}
	return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("the branch moved from %.12s to %.12s and not by us", want, head)}
}

// mostUnnoted is how many commits may stand on the last one that has a receipt.
const mostUnnoted = 16

// oursSince says whether a head is a commit of ours, or stands on it by nothing
// but commits of ours: each carries the candidate's mark. The mark alone says
// little: what somebody amends or rebases keeps it, and stands on another commit.
func (w *work) oursSince(ctx context.Context, from, head string) (bool, error) {
	for range mostUnnoted {
		if from == "" || from == head {
			return true, nil
		}
		message, err := w.Forge.Message(ctx, head)
		if err != nil {
			return false, fmt.Errorf("head %.12s: %w", head, err)
		}
		if !w.signed(message) {
			return false, nil
		}
		parents, err := w.Forge.Parents(ctx, head)
		if err != nil || len(parents) == 0 {
			return false, err
		}
		head = parents[0]
	}
	return false, nil
}

// ownPull is exactly one pull request of the branch, read once between writes.
func (w *work) ownPull(ctx context.Context) (forge.Pull, error) {
	if w.pull != nil {
		return *w.pull, nil
	}
	branch := w.c.Branch(w.prefix())
	pulls, err := w.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return forge.Pull{}, fmt.Errorf("pull requests of %s: %w", branch, err)
	}
	if p, err := evidence[Proposed](w, "propose"); err == nil {
		pulls = slices.DeleteFunc(pulls, func(q forge.Pull) bool { return q.State != "open" && q.Number != p.Pull })
	}
	if len(pulls) != 1 {
		return forge.Pull{}, notOurs(fmt.Sprintf("ambiguous: %d pull requests of %s, want one", len(pulls), branch))
	}
	w.pull = &pulls[0]
	return pulls[0], nil
}

// who is the login behind the write credential.
func (w *work) who(ctx context.Context) (string, error) {
	if w.login == "" {
		login, err := w.Forge.Login(ctx)
		if err != nil {
			return "", fmt.Errorf("who am I: %w", err)
		}
		w.login = login
	}
	return w.login, nil
}

// expectedHead is the head that we last wrote: that of the changelog entry,
// else that of the proposal.
func (w *work) expectedHead() string {
	if e, err := evidence[Entered](w, "enter"); err == nil {
		return e.Head
	}
	if p, err := evidence[Proposed](w, "propose"); err == nil {
		return p.Head
	}
	return ""
}
