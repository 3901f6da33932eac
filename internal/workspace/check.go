package workspace

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// words that a setting may take, by key.
var choices = []struct {
	key   string
	at    func(Config) string
	words []string
}{
	{"layout", func(c Config) string { return c.Layout }, []string{"inferencex"}},
	{"forge.kind", func(c Config) string { return c.Forge.Kind }, []string{"local", "github"}},
	{"executor.kind", func(c Config) string { return c.Executor.Kind }, []string{"local", "docker", "slurm", "actions"}},
	{"images.kind", func(c Config) string { return c.Images.Kind }, []string{"layout", "registry"}},
	{"results.kind", func(c Config) string { return c.Results.Kind }, []string{"local", "api", "postgres"}},
	{"ledger", func(c Config) string { return c.Ledger }, []string{"store", "comments"}},
	{"jobs.client", func(c Config) string { return c.Jobs.Client }, []string{"refit", "recipe"}},
	{"policy.sweeps-on-draft", func(c Config) string { return c.Policy.SweepsOnDraft }, []string{"auto", "always", "never"}},
}

var (
	lengthPair = regexp.MustCompile(`^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$`)
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sha256Hex  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	repository = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	// A prefix stands in names of branches and at the start of comments' markers.
	refPrefix  = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)
	fileName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	dimensions = []string{"throughput", "tpot", "accuracy"}
	outcomes   = []string{"validated", "regressed", "capacity-deferred", "readiness-blocked", "incompatible", "duplicate",
		"retired", "already-updated", "uncertain", "failed", "unexpected-error"}
)

// check holds the values against each other and against their lists.
func (d *decoder) check(c Config) {
	if c.Version != 1 {
		d.fail(d.line("version"), "version: want 1, got %d", c.Version)
	}
	for _, ch := range choices {
		if word := ch.at(c); !slices.Contains(ch.words, word) {
			d.unknown(d.line(ch.key), ch.key, word, ch.words)
		}
	}
	d.checkPlaces(c)
	d.checkNames(c)
	d.checkWords("policy.require", c.Policy.Require, dimensions, []string{"no-worse"})
	d.checkWords("policy.outcomes", c.Policy.Outcomes, outcomes, []string{"kept", "deleted"})
}

// checkPlaces asks for what the chosen kinds cannot do without.
func (d *decoder) checkPlaces(c Config) {
	need := func(ok bool, key, kind, want string) {
		if !ok {
			d.fail(max(d.line(key), d.line(strings.SplitN(key, ".", 2)[0]+".kind")), "%s: %s needs %s", key, kind, want)
		}
	}
	if c.Forge.Kind == "github" {
		need(repository.MatchString(c.Forge.Repository), "forge.repository", "github", "owner/name")
		need(c.Forge.URL == "" || web(c.Forge.URL), "forge.url", "github", "an http or https address")
	}
	if c.Results.Kind == "api" {
		need(web(c.Results.URL), "results.url", "api", "an http or https address")
	}
	if c.Results.Kind == "postgres" {
		need(c.Results.DSNFile != "", "results.dsn-file", "postgres", "the name of a file")
	}
	need(c.Images.Path != "", "images.path", c.Images.Kind, "a folder or a registry")
	for key, name := range map[string]string{"executor.targeted": c.Executor.Targeted, "executor.sweep": c.Executor.Sweep} {
		if name == "" || path.Base(name) != name {
			d.fail(d.line(key), "%s: want the name of a workflow file, got %q", key, name)
		}
	}
}

func web(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

func (d *decoder) checkNames(c Config) {
	each := func(key string, words []string, form *regexp.Regexp, want string) {
		for _, w := range words {
			if !form.MatchString(w) {
				d.fail(d.line(key), "%s: want %s, got %q", key, want, w)
			}
		}
	}
	each("evals.lengths", c.Evals.Lengths, lengthPair, `"input/output" in tokens`)
	each("jobs.env", c.Jobs.Env, envName, "names of environment variables")
	each("policy.prefix", []string{c.Policy.Prefix}, refPrefix, "lower-case letters, digits and inner dashes, a letter first and 32 at most")
	each("evals.task", []string{c.Evals.Task}, fileName, "a name of letters, digits, dots, dashes and underscores")
	if c.Evals.Data.SHA256 != "" {
		each("evals.data.sha256", []string{c.Evals.Data.SHA256}, sha256Hex, "64 lower-case hex digits")
	}
	for key, text := range map[string]string{"policy.sweep-label": c.Policy.SweepLabel, "forge.handoff-label": c.Forge.HandoffLabel} {
		if strings.TrimSpace(text) == "" {
			d.fail(d.line(key), "%s: want a name, got none", key)
		}
	}
}

func (d *decoder) checkWords(key string, m map[string]string, keys, values []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		line := d.line(key + "." + k)
		if !slices.Contains(keys, k) {
			d.unknown(line, "key", k, keys)
		} else if !slices.Contains(values, m[k]) {
			d.unknown(line, key+"."+k, m[k], values)
		}
	}
}

// line is where the file sets a key, or 1 for a default.
func (d *decoder) line(key string) int { return max(d.origin[key], 1) }
