package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/workspace"
)

// A process inside a workflow run of the workspace's repository claims for it.
func TestParentRun(t *testing.T) {
	for _, c := range []struct{ actions, repository, want string }{
		{"true", "toy/recipes", "4711"},
		{"true", "Toy/Recipes", "4711"},
		{"true", "toy/other", ""},
		{"", "toy/recipes", ""},
	} {
		env := map[string]string{"GITHUB_ACTIONS": c.actions, "GITHUB_REPOSITORY": c.repository, "GITHUB_RUN_ID": "4711"}
		if got := parentRun(func(k string) string { return env[k] }, "toy/recipes"); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}

// The embedded forge knows a person beside the login that works: another login,
// with write permission.
func TestTheEmbeddedForgeKnowsAMaintainer(t *testing.T) {
	h := startHost(t)
	p := &Parts{Workspace: h.Workspace, Address: h.Address, Store: h.Store, token: h.token, now: h.Now}
	mine := loginOf(t, p)
	if err := p.ActAs(h.Workspace.State(maintainerToken)); err != nil {
		t.Fatal(err)
	}
	theirs := loginOf(t, p)
	c, err := p.Forge()
	if err != nil {
		t.Fatal(err)
	}
	level, err := c.Permission(t.Context(), theirs)
	if err != nil || mine == theirs || theirs != "maintainer" || level != "write" {
		t.Errorf("got %s beside %s with %q, %v; want maintainer with write", theirs, mine, level, err)
	}
	if got := maintainer(workspace.Config{Forge: workspace.ForgeConfig{Login: "maintainer"}}); got != "owner" {
		t.Errorf("beside a login of that name: got %q, want owner", got)
	}
	loose := filepath.Join(t.TempDir(), "token")
	for text, want := range map[string]string{"refit_0\n": "lets others read it", "two words": "holds none"} {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "refit") {
			mode = 0o644
		}
		os.Remove(loose)
		if err := os.WriteFile(loose, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := p.ActAs(loose); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func loginOf(t *testing.T, p *Parts) string {
	t.Helper()
	c, err := p.Forge()
	if err != nil {
		t.Fatal(err)
	}
	login, err := c.Login(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return login
}
