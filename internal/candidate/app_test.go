package candidate

import (
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/gate"
)

// app is a session under the token of an app, whose permission no forge tells.
func (w *world) app() *Shepherd {
	w.forge.Tokens["app-token"], w.forge.Permissions["helper[bot]"] = "helper[bot]", "write"
	s := w.shepherd("app-token")
	s.Config.Forge.Login = "helper[bot]"
	return s
}

// The write credential may be an app's. What the forge does not tell about it
// is unknown, which refuses nothing.
func TestAnAppUpgrades(t *testing.T) {
	w := newWorld(t)
	s := w.app()
	d, err := s.Doctor(t.Context())
	w.must(err)
	var said gate.Verdict
	for _, v := range d.Checks {
		if v.Gate == "permission" {
			said = v
		}
	}
	if said.Answer != gate.Unknown || !strings.HasPrefix(said.Reason, "helper[bot] is an app, and the forge does not tell") {
		t.Errorf("permission: got %+v, want unknown", said)
	}
	_, st := w.upgrade(s)
	if st.Outcome != Validated || st.Owner != "helper[bot]" {
		t.Errorf("got %s (%s) of %s, want validated, of the app", st.Outcome, st.Reason, st.Owner)
	}
}

// An app that edits its own record has two names on GitHub, and tampers with nothing.
func TestAnAppsOwnEditIsNoTampering(t *testing.T) {
	w := newWorld(t)
	s := w.app()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 2 { // the smoke run, then the sweep
		_, err = s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
	}
	comments, err := s.Forge.Comments(t.Context(), 1)
	w.must(err)
	w.forge.Now = func() time.Time { return time.Now().Add(5 * time.Second) } // forges tell whole seconds
	w.must(s.Forge.EditComment(t.Context(), comments[0].ID, comments[0].Body))
	if editor, _, err := s.Forge.Editor(t.Context(), comments[0]); editor != "helper[bot]" || err != nil {
		t.Errorf("editor: got %q, %v; want the app as everywhere", editor, err)
	}
	if _, st := w.upgrade(s); st.Outcome != Validated {
		t.Errorf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	w.must(w.client("maintainer-token").EditComment(t.Context(), comments[0].ID, comments[0].Body+"x"))
	w.ledger.lose("finish")
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is tampered: maintainer edited it") {
		t.Errorf("edited by a person: got %v, want that it is tampered", err)
	}
}
