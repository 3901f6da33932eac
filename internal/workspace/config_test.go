package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConfigDefaults(t *testing.T) {
	for name, src := range map[string]string{"missing": "", "only-comments": "# nothing\n", "null": "null\n", "empty-section": "policy:\n"} {
		got, settings, err := ParseConfig([]byte(src), "refit.yaml")
		if err != nil {
			t.Errorf("ParseConfig(%s): %v", name, err)
			continue
		}
		if diff := cmp.Diff(DefaultConfig(), got); diff != "" {
			t.Errorf("ParseConfig(%s) (-want +got):\n%s", name, diff)
		}
		if len(settings) != 37 {
			t.Errorf("ParseConfig(%s): got %d settings, want 37", name, len(settings))
		}
	}
}

func TestParseConfig(t *testing.T) {
	const src = `version: 1
forge: {kind: github, repository: org/recipes, login: bot, token-file: /run/token}
images:
  kind: layout
  path: ../images
evals:
  lengths: [256/64]
  floor: 2
  data: {path: data/arith200.jsonl}
policy:
  require: {throughput: no-worse, accuracy: no-worse}
  bilingual: false
  title: "[lab]  x # "
`
	got, settings, err := ParseConfig([]byte(src), "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultConfig()
	want.Forge = ForgeConfig{"github", "", "org/recipes", "bot", "/run/token", "handoff"}
	want.Images.Path = "../images"
	want.Evals.Lengths, want.Evals.Floor, want.Evals.Data.Path = []string{"256/64"}, 2, "data/arith200.jsonl"
	want.Policy.Require = map[string]string{"throughput": "no-worse", "accuracy": "no-worse"}
	want.Policy.Bilingual, want.Policy.Title = false, "[lab]  x # "
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseConfig (-want +got):\n%s", diff)
	}
	origin := map[string]Setting{}
	for _, s := range settings {
		origin[s.Key] = s
	}
	for _, w := range []Setting{
		{"forge.login", "bot", "refit.yaml:2"},
		{"forge.handoff-label", "handoff", "default"},
		{"evals.lengths", "[256/64]", "refit.yaml:7"},
		{"evals.data.path", "data/arith200.jsonl", "refit.yaml:9"},
		{"evals.data.sha256", `""`, "default"},
		{"policy.require", "{accuracy: no-worse, throughput: no-worse}", "refit.yaml:11"},
		{"policy.title", `"[lab]  x # "`, "refit.yaml:13"},
	} {
		if origin[w.Key] != w {
			t.Errorf("setting %s: got %v, want %v", w.Key, origin[w.Key], w)
		}
	}
	again, _, err := ParseConfig(Effective(settings), "effective")
	if err != nil {
		t.Fatalf("%v\n%s", err, Effective(settings))
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("effective file parses to another configuration (-want +got):\n%s", diff)
	}
}

func TestEffective(t *testing.T) {
	got := string(Effective([]Setting{
		{"version", "1", "default"},
		{"evals.floor", "2", "refit.yaml:3"},
		{"evals.data.path", "q.jsonl", "refit.yaml:4"},
		{"jobs.client", "refit", "default"},
	}))
	want := `version: 1         # default
evals:
  floor: 2         # refit.yaml:3
  data:
    path: q.jsonl  # refit.yaml:4
jobs:
  client: refit    # default
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Effective (-want +got):\n%s", diff)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"unknown-key":      {"version: 1\npolcy: {}\n", `refit.yaml:2: unknown key "polcy" (did you mean "policy"?)`},
		"far-key":          {"jobs: {entirely: 1}\n", `refit.yaml:1: unknown key "entirely" (known: env, client)`},
		"twice":            {"ledger: store\nledger: store\n", `refit.yaml:2: key "ledger" is set twice`},
		"number-for-text":  {"clusters: 12\n", "refit.yaml:1: clusters: want text, got the number 12"},
		"text-for-number":  {"policy:\n  repairs: five\n", `refit.yaml:2: policy.repairs: want a whole number, got "five"`},
		"fraction":         {"evals: {floor: 1.5}\n", "refit.yaml:1: evals.floor: want a whole number, got the number 1.5"},
		"negative":         {"policy: {rounds: -1}\n", "refit.yaml:1: policy.rounds: want a whole number from 0 to 1073741824, got -1"},
		"text-for-switch":  {"policy: {bilingual: yes}\n", `refit.yaml:1: policy.bilingual: want true or false, got "yes"`},
		"quoted-switch":    {"policy: {bilingual: \"true\"}\n", `refit.yaml:1: policy.bilingual: want true or false, got "true"`},
		"nothing-for-text": {"ledger:\n", "refit.yaml:1: ledger: want text, got nothing"},
		"text-for-list":    {"jobs: {env: HOME}\n", `refit.yaml:1: jobs.env: want a list of texts, got "HOME"`},
		"mapping-in-list":  {"jobs:\n  env:\n  - {a: b}\n", "refit.yaml:3: jobs.env: want a list of texts, got a mapping"},
		"list-as-file":     {"- a\n", "refit.yaml:1: the file: want a mapping, got a list"},
		"merge-key":        {"jobs: &j {client: refit}\nevals:\n  <<: *j\n", `refit.yaml:3: unknown key "<<" (known: lengths, floor, task, data, thresholds)`},
		"two-documents":    {"version: 1\n---\nversion: 1\n", "refit.yaml:2: a second document"},
		"broken-yaml":      {"a: b\n  c: [\n", "refit.yaml:2: mapping values are not allowed in this context"},
		"bad-word":         {"ledger: stoer\n", `refit.yaml:1: unknown ledger "stoer" (did you mean "store"?)`},
		"version-2":        {"version: 2\n", "refit.yaml:1: version: want 1, got 2"},
		"github-url":       {"ledger: store\nforge: {kind: github, repository: o/r, url: ftp://h}\n", "refit.yaml:2: forge.url: github needs an http or https address"},
		"github-no-repo":   {"ledger: store\nforge: {kind: github}\n", "refit.yaml:2: forge.repository: github needs owner/name"},
		"api-no-url":       {"results: {kind: api}\n", "refit.yaml:1: results.url: api needs an http or https address"},
		"bad-length":       {"evals: {lengths: [8k/1k]}\n", `refit.yaml:1: evals.lengths: want "input/output" in tokens, got "8k/1k"`},
		"bad-prefix":       {"policy: {prefix: Re/fit}\n", `refit.yaml:1: policy.prefix: want lower-case letters, digits and inner dashes, a letter first and 32 at most, got "Re/fit"`},
		"misspelt-require": {"policy:\n  require:\n    acuracy: no-worse\n", `refit.yaml:3: unknown key "acuracy" (did you mean "accuracy"?)`},
		"bad-outcome":      {"policy: {outcomes: {failed: keep}}\n", `refit.yaml:1: unknown policy.outcomes.failed "keep" (known: kept, deleted)`},
		"workflow-path":    {"executor: {sweep: a/b.yml}\n", `refit.yaml:1: executor.sweep: want the name of a workflow file, got "a/b.yml"`},
		"all-at-once": {"polcy: 1\nevals:\n  floor: x\nldger: store\n", `refit.yaml:1: unknown key "polcy" (did you mean "policy"?)` + "\n" +
			`refit.yaml:3: evals.floor: want a whole number, got "x"` + "\n" + `refit.yaml:4: unknown key "ldger" (did you mean "ledger"?)`},
	} {
		_, _, err := ParseConfig([]byte(c.src), "refit.yaml")
		if err == nil || err.Error() != c.want {
			t.Errorf("ParseConfig(%s): got %v, want %s", name, err, c.want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("forge: {kind: local}\n")
	f.Add("a: &a [*a]\n")
	f.Add("policy: {title: \"\\u0007 x: #\\\"\", require: {tpot: no-worse}, outcomes: {regressed: deleted}}\njobs: {env: [A, _b]}\n")
	f.Fuzz(func(t *testing.T, src string) {
		_, s, err := ParseConfig([]byte(src), "refit.yaml")
		if err != nil {
			return
		}
		_, again, err := ParseConfig(Effective(s), "effective")
		if err != nil || len(again) != len(s) {
			t.Fatalf("effective file of %q: %d settings of %d, %v", src, len(again), len(s), err)
		}
		for i := range s {
			if again[i].Key != s[i].Key || again[i].Value != s[i].Value {
				t.Errorf("effective file of %q: got %+v, want %+v", src, again[i], s[i])
			}
		}
	})
}

func TestOpen(t *testing.T) {
	outer := t.TempDir()
	write(t, filepath.Join(outer, "refit.yaml"), "ledger: comments\n")
	write(t, filepath.Join(outer, "checkout/.git/HEAD"), "")
	write(t, filepath.Join(outer, "checkout/configs/deep/x"), "")
	write(t, filepath.Join(outer, "plain/deep/x"), "")
	check := func(dir, root, ledger string) {
		t.Helper()
		w, err := Open(filepath.Join(outer, dir))
		if err != nil {
			t.Fatal(err)
		}
		if w.Root != filepath.Join(outer, root) || w.Config.Ledger != ledger {
			t.Errorf("Open(%s): got root %s with ledger %s, want %s with %s", dir, w.Root, w.Config.Ledger, root, ledger)
		}
	}
	check("plain/deep", ".", "comments")
	check("checkout/configs/deep", "checkout", "store") // never beyond the checkout
	write(t, filepath.Join(outer, "checkout/refit.yaml"), "images: {path: ../images}\n")
	check("checkout/configs", "checkout", "store")

	w, err := Open(filepath.Join(outer, "checkout"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.State("store.db"), filepath.Join(outer, "checkout/.refit/store.db"); got != want {
		t.Errorf("State: got %s, want %s", got, want)
	}
	if got := w.Paths.Changelog; got != "perf-changelog.yaml" {
		t.Errorf("Paths.Changelog: got %s", got)
	}
	write(t, filepath.Join(outer, "checkout/refit.yaml"), "polcy: {}\n")
	if _, err := Open(filepath.Join(outer, "checkout")); err == nil || !strings.HasPrefix(err.Error(), "refit.yaml:1: ") {
		t.Errorf("Open with a mistake: got %v", err)
	}
	if _, err := Open(filepath.Join(outer, "absent")); err == nil {
		t.Error("Open(absent): no error")
	}
}

func TestClosest(t *testing.T) {
	known := []string{"throughput", "tpot", "accuracy", "id"}
	for word, want := range map[string]string{"acuracy": "accuracy", "tptot": "tpot", "troughputt": "throughput", "di": "id", "latency": "", "": ""} {
		if got := Closest(word, known); got != want {
			t.Errorf("Closest(%q): got %q, want %q", word, got, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
