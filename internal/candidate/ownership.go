package candidate

import (
	"context"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
)

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
	case p.HeadRepo != "" && p.HeadRepo != w.Config.Forge.Repository && w.Config.Forge.Repository != "":
		return fmt.Errorf("Candidate ownership mismatch: #%d comes from %s", p.Number, p.HeadRepo)
	case p.Merged:
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("#%d is merged", p.Number)}
	case p.State != "open":
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("#%d was closed by somebody else", p.Number)}
	}
	return w.headIsOurs(ctx, p.HeadSHA)
}

func (w *work) mismatch(p forge.Pull, login string) error {
	return fmt.Errorf("Candidate ownership mismatch: #%d is by %s, the credential is %s; `refit candidate adopt %s --reason TEXT` takes it over", p.Number, w.owner(p), login, w.c.ID)
}

// headIsOurs accepts the head that we last wrote, and one that we wrote and
// whose receipt was lost: its message ends with the candidate's mark.
func (w *work) headIsOurs(ctx context.Context, head string) error {
	want := w.expectedHead()
	if want == "" || want == head {
		return nil
	}
	message, err := w.Forge.Message(ctx, head)
	if err != nil {
		return fmt.Errorf("head %.12s: %w", head, err)
	}
	if !w.signed(message) {
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("the branch moved from %.12s to %.12s and not by us", want, head)}
	}
	return nil
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
		return forge.Pull{}, fmt.Errorf("ambiguous: %d pull requests of %s, want one", len(pulls), branch)
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
