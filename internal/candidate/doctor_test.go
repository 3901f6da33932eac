package candidate

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

// doctored asks doctor as a process does, which must not write, and returns its
// answers by the name of the check. set changes the process's surroundings.
func (w *world) doctored(set func(*process, *Shepherd)) map[string]gate.Verdict {
	w.t.Helper()
	p := w.process(gone(8))
	s := p.shepherd()
	set(p, s)
	d, err := s.Doctor(w.t.Context())
	w.must(err)
	if n := p.written(); n != 0 {
		w.t.Errorf("doctor wrote %d times: %v", n, p.writes)
	}
	answers := map[string]gate.Verdict{}
	for _, v := range d.Checks {
		answers[v.Gate] = v
	}
	return answers
}

// answers checks one answer of doctor, and that its reason says what is wanted.
func (w *world) answers(name string, got gate.Verdict, want gate.Answer, says string) {
	w.t.Helper()
	if got.Answer != want || !strings.Contains(got.Reason, says) {
		w.t.Errorf("%s: got %+v, want %s with %q", name, got, want, says)
	}
}

func healthy(*process, *Shepherd) {}

// Where nothing is wrong every check passes, and each is told.
func TestDoctorPassesEveryCheck(t *testing.T) {
	w := newWorld(t)
	got := w.doctored(healthy)
	for _, name := range []string{"login", "permission", "dispatch", "rulesets", "clock", "label", "workflows", "drafts", "results"} {
		w.answers(name, got[name], gate.Pass, "")
	}
	if len(got) != 9 {
		t.Errorf("%d checks, want 9: %v", len(got), got)
	}
}

func TestDoctorChecksTheLogin(t *testing.T) {
	w := newWorld(t)
	w.forge.Tokens["ghs-token"], w.forge.Permissions[forge.ActionsLogin] = forge.ActionsLogin, "write"
	for name, c := range map[string]struct {
		login string // of refit.yaml
		token string
		want  gate.Answer
		says  string
	}{
		"the-owner's":         {"bot", "bot-token", gate.Pass, "belongs to bot"},
		"nobody-named":        {"", "bot-token", gate.Pass, "refit.yaml names no login"},
		"somebody-else's":     {"bot", "maintainer-token", gate.Fail, "belongs to maintainer, refit.yaml wants bot"},
		"of-a-workflow's-run": {"", "ghs-token", gate.Fail, "is the GITHUB_TOKEN of a workflow run"},
	} {
		got := w.doctored(func(p *process, s *Shepherd) {
			s.Forge, s.Config.Forge.Login = w.clientAt(p.url, c.token), c.login
		})
		w.answers(name, got["login"], c.want, c.says)
	}
}

func TestDoctorChecksThePermission(t *testing.T) {
	w := newWorld(t)
	as := func(token string) gate.Verdict {
		return w.doctored(func(p *process, s *Shepherd) { s.Forge = w.clientAt(p.url, token) })["permission"]
	}
	w.answers("admin", as("bot-token"), gate.Pass, "(admin)")
	w.answers("write", as("maintainer-token"), gate.Pass, "(write)")
	w.answers("read", as("reader-token"), gate.Fail, `reader has permission "read": pushing, labelling and dispatching need write`)
}

// instead answers what a path's end asks for, and leaves the rest to the forge.
func instead(end string, status int, body string) func(*process, *Shepherd) {
	return func(p *process, _ *Shepherd) {
		next := p.faults.Forge
		p.faults.Forge = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, end) {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
}

// scoped is a forge that tells other scopes of a token: none at all for "-".
func scoped(scopes string) func(*process, *Shepherd) {
	return func(p *process, _ *Shepherd) {
		next := p.faults.Forge
		p.faults.Forge = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said := httptest.NewRecorder()
			next.ServeHTTP(said, r)
			for key, values := range said.Header() {
				w.Header()[key] = values
			}
			if w.Header().Del("X-OAuth-Scopes"); scopes != "-" {
				w.Header().Set("X-OAuth-Scopes", scopes)
			}
			w.WriteHeader(said.Code)
			w.Write(said.Body.Bytes())
		})
	}
}

func TestDoctorChecksTheRightToDispatch(t *testing.T) {
	w := newWorld(t)
	for scopes, want := range map[string]gate.Answer{
		"repo, workflow": gate.Pass, "repo": gate.Pass,
		"public_repo": gate.Fail, // the world's repository is private
		"gist":        gate.Fail, "": gate.Fail,
		"-": gate.Unknown, // a fine-grained token, or an app's
	} {
		w.answers(fmt.Sprintf("scopes %q", scopes), w.doctored(scoped(scopes))["dispatch"], want, "")
	}
	w.answers("too little", w.doctored(scoped("gist"))["dispatch"], gate.Fail, "the token's scopes (gist) do not let it push or start a workflow: make one with the scope repo")
	w.answers("not told", w.doctored(scoped("-"))["dispatch"], gate.Unknown, "it needs write for contents, pull requests, issues and actions")
}

func TestDoctorChecksTheRulesets(t *testing.T) {
	w := newWorld(t)
	const end = "/rules/branches/refit/auto-0"
	rule := func(kind string) string {
		return `{"type":"` + kind + `","ruleset_source_type":"Repository","ruleset_source":"toy/recipes","ruleset_id":7}`
	}
	check := func(name string, status int, body string, want gate.Answer, says string) {
		t.Helper()
		w.answers(name, w.doctored(instead(end, status, body))["rulesets"], want, says)
	}
	check("none", 200, `[]`, gate.Pass, "none is in the way of refit/auto-*")
	check("one that refuses nothing", 200, `[`+rule("non_fast_forward")+`]`, gate.Pass, "")
	check("some that may refuse", 200, `[`+rule("creation")+`,`+rule("pull_request")+`,`+rule("creation")+`]`, gate.Unknown,
		"rulesets hold refit/auto-* (creation, pull_request): unless bot may bypass them")
	check("not on this plan", 403, `{"message":"Upgrade to make rules"}`, gate.Unknown, "does not tell the rulesets")
	check("an old server", 404, `{"message":"Not Found"}`, gate.Unknown, "does not tell the rulesets")
}

func TestDoctorChecksTheClock(t *testing.T) {
	w := newWorld(t)
	off := func(by time.Duration) gate.Verdict {
		return w.doctored(func(_ *process, s *Shepherd) { s.Now = func() time.Time { return time.Now().Add(by) } })["clock"]
	}
	w.answers("right", off(0), gate.Pass, "within 30s")
	w.answers("ahead", off(10*time.Minute), gate.Fail, "ahead of the forge's, at most 30s are allowed")
	w.answers("behind", off(-10*time.Minute), gate.Fail, "behind the forge's, at most 30s are allowed")
}

func TestDoctorChecksTheLabel(t *testing.T) {
	w := newWorld(t)
	got := w.doctored(func(_ *process, s *Shepherd) { s.Config.Policy.SweepLabel = "measure" })["label"]
	w.answers("missing", got, gate.Fail, "label measure does not exist: create it, or change policy.sweep-label")
	w.must(w.client("bot-token").CreateLabel(t.Context(), "measure", "0e8a16", ""))
	got = w.doctored(func(_ *process, s *Shepherd) { s.Config.Policy.SweepLabel = "measure" })["label"]
	w.answers("there", got, gate.Pass, "measure exists")
}

func TestDoctorChecksTheWorkflows(t *testing.T) {
	w := newWorld(t)
	const file = ".github/workflows/run-sweep.yml"
	got := w.doctored(func(_ *process, s *Shepherd) { s.Config.Executor.Sweep = "nightly.yml" })
	w.answers("missing", got["workflows"], gate.Fail, ".github/workflows/nightly.yml is not on main: put it there")
	if v, told := got["drafts"]; told {
		t.Errorf("without the file doctor says %+v about drafts", v)
	}
	w.commitOn("main", "No label", map[string][]byte{file: []byte("on: push\n")})
	w.answers("without its trigger", w.doctored(healthy)["workflows"], gate.Fail, file+" has no labeled trigger: refit could not start it")
}

func TestDoctorChecksThatDraftsAreSwept(t *testing.T) {
	w := newWorld(t)
	const file, on = ".github/workflows/run-sweep.yml", "on:\n  pull_request:\n    types: [labeled, synchronize]\n"
	elsewhere := func(_ *process, s *Shepherd) { s.Config.Forge.Kind = "github" }
	w.answers("taken", w.doctored(elsewhere)["drafts"], gate.Pass, "run-sweep.yml sweeps them")
	w.commitOn("main", "Remark", map[string][]byte{file: []byte(on + "# if: ${{ !github.event.pull_request.draft }}\n")})
	w.answers("left out in a remark", w.doctored(elsewhere)["drafts"], gate.Pass, "")
	w.commitOn("main", "No drafts", map[string][]byte{file: []byte(on + "jobs: {a: {if: '${{ !github.event.pull_request.draft }}'}}\n")})
	w.answers("left out", w.doctored(elsewhere)["drafts"], gate.Pass, "run-sweep.yml leaves them out: a pull request is marked ready before its sweep")
	w.answers("the embedded forge reads no workflow", w.doctored(healthy)["drafts"], gate.Pass, "")
}

func TestDoctorChecksThatResultsCanBeRead(t *testing.T) {
	w := newWorld(t)
	check := func(name string, status int, body string, want gate.Answer, says string) {
		t.Helper()
		srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			fmt.Fprint(rw, body)
		}))
		defer srv.Close()
		got := w.doctored(func(_ *process, s *Shepherd) {
			s.Feeds = &api.Client{Base: srv.URL, Pause: func(context.Context, time.Duration) error { return nil }}
		})
		w.answers(name, got["results"], want, says)
	}
	check("read", 200, `[]`, gate.Pass, "is read")
	check("read, with an invalid row", 200, `[{}]`, gate.Pass, "1 rows of its newest images are set aside")
	check("no key", 401, `{"error":"key"}`, gate.Fail, `(status 401 Unauthorized: "key"): the key of the dashboard is missing or wrong`)
	check("wrong key", 403, `{}`, gate.Fail, "the key of the dashboard is missing or wrong")
	check("down", 503, `{}`, gate.Unknown, "cannot be read now")
}

// What this machine lacks is told beside what the forge does.
func TestDoctorAsksThisMachine(t *testing.T) {
	w := newWorld(t)
	got := w.doctored(func(_ *process, s *Shepherd) {
		s.Local = func(context.Context) []gate.Verdict { return []gate.Verdict{fail("disk", "0.5 GiB free")} }
	})
	w.answers("disk", got["disk"], gate.Fail, "0.5 GiB free")
	if v := gate.All(everyAnswer(got)); v.Answer != gate.Fail {
		t.Errorf("over all checks: got %s, want fail", v)
	}
}

func everyAnswer(m map[string]gate.Verdict) (all []gate.Verdict) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// Seven public sessions learned only at their end, one of them after it had used
// accelerators, that their credential was not the owner's: lifecycle, 12.1.
// Each ends in doctor, in seconds though the forge is slow, and has written nothing.
func TestAWrongLoginEndsInSecondsWithoutAWrite(t *testing.T) {
	const late = 100 * time.Millisecond
	for _, session := range []int{3278, 3279, 3282, 3311, 3312, 3313, 3318} {
		t.Run(fmt.Sprint(session), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(gone(session))
			p.faults.Delay = late
			choose := p.faults.Choose // counts the writes
			p.faults.Choose = func(n int, r *http.Request) local.Fault {
				if f := choose(n, r); f != local.None {
					return f
				}
				return local.Late
			}
			s := p.shepherd()
			s.Forge = w.clientAt(p.url, "maintainer-token") // who may write, and is not the bot
			c, err := s.Select(t.Context(), family, "")
			w.must(err)
			begun := time.Now()
			_, err = s.Advance(t.Context(), c)
			took := time.Since(begun)
			if err == nil || !strings.Contains(err.Error(), "doctor: ") || !strings.Contains(err.Error(), "belongs to maintainer, refit.yaml wants bot") {
				t.Errorf("got %v, want that doctor names the login", err)
			}
			if asked := p.faults.Counts()[local.Late]; took > 5*time.Second || took < 5*late || asked < 8 {
				t.Errorf("took %s for %d requests, each %s late; want less than 5 s", took, asked, late)
			}
			refs, err := w.client("bot-token").Refs(t.Context(), "")
			w.must(err)
			if n := p.written(); n != 0 || len(w.ledger.receipts) != 0 || len(refs) != 1 {
				t.Errorf("%d writes (%v), receipts %s, refs %v; want nothing but main", n, p.writes, w.ledger.steps(), refs)
			}
		})
	}
}
