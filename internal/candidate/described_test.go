package candidate

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/refit-bench/refit/internal/forge/described"
	"github.com/refit-bench/refit/internal/forge/local"
)

// What a whole upgrade and a whole failure ask, what the embedded forge answers,
// and the events it sends are as GitHub describes them.
func TestUpgradeIsAsGitHubDescribesIt(t *testing.T) {
	described.Require(t)
	for name, slow := range map[string]float64{"validated": 1, "regressed": 0.5} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.slow = slow
			watch := described.NewWatch(t)
			run := w.forge.Run
			w.forge.Run = func(ctx context.Context, r local.RunRequest) error {
				watch.Event(r.Event, r.Payload)
				return run(ctx, r)
			}
			server := httptest.NewServer(watch.Handler(w.forge.Handler()))
			t.Cleanup(server.Close)
			w.url = server.URL
			if _, st := w.upgrade(w.shepherd("bot-token")); string(st.Outcome) != name {
				t.Fatalf("got %s (%s), want %s", st.Outcome, st.Reason, name)
			}
			if n := len(watch.Seen()); n < 20 {
				t.Errorf("operations of an upgrade: got %d, want at least 20", n)
			}
		})
	}
}
