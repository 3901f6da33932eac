package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

// Reproduction is how a point is measured by hand. Lines are for a shell, to
// be pasted as they are.
type Reproduction struct {
	Script  string   `json:"script,omitempty"`  // relative to the workspace, with slashes
	Tried   []string `json:"tried"`             // paths looked for, the most specific first
	Problem string   `json:"problem,omitempty"` // why there is no script, or no line
	Measure string   `json:"measure,omitempty"` // this program measures the committed state here
	Beside  int      `json:"beside,omitempty"`  // points of the family that Measure takes along
	Recipe  string   `json:"recipe,omitempty"`  // the recipe alone, where its engine is installed
}

// recipePort is where a recipe that is started by hand serves.
const recipePort = 8888

// Reproduce looks for the point's recipe in the tree of a workspace, whose
// folder is root, and spells the lines. points are all of the family's, and
// weights where its weights are staged, "" for nowhere.
func Reproduce(tree fs.FS, root string, f recipe.Family, p matrix.Point, points []matrix.Point, weights string) Reproduction {
	script, tried, err := recipe.ScriptPath(tree, f.Entry, p.Settings().Scenario, p.Row.Str("spec-decoding"))
	r := Reproduction{Script: script, Tried: tried}
	if tried == nil {
		r.Tried = []string{}
	}
	switch {
	case f.Entry.Multinode:
		r.Problem = "a multi-node point is started by its cluster's launcher, not by a script of one node"
		return r
	case errors.Is(err, fs.ErrNotExist):
		r.Problem = "none of the recipe scripts exists"
		return r
	case err != nil:
		r.Problem = err.Error()
		return r
	}
	if r.Measure, err = measureLine(f.Key, p.Conc()); err == nil && !recipe.IsDeclared(script) {
		r.Recipe, err = recipeLine(root, script, f, p, weights)
	}
	if err != nil {
		r.Problem = err.Error()
	}
	r.Beside = len(withConc(points, []int{p.Conc()})) - 1
	return r
}

// measureLine dispatches a targeted run of the family at one concurrency on
// this machine.
func measureLine(key string, conc int) (string, error) {
	if strings.ContainsAny(key, "*?[\\\"'") || len(strings.Fields(key)) != 1 {
		return "", fmt.Errorf("the config key %q cannot be named in a targeted run", key)
	}
	command := "test-config --config-keys " + key + " --conc " + strconv.Itoa(conc)
	event, err := json.Marshal(map[string]any{"inputs": map[string]string{"generate-cli-command": command}})
	if err != nil {
		return "", err
	}
	line, err := shellWords("printf", "%s", string(event))
	return line + " | refit ci e2e-tests --event /dev/stdin --out out", err
}

// recipeLine runs the recipe script with the environment that it is promised.
func recipeLine(root, script string, f recipe.Family, p matrix.Point, weights string) (string, error) {
	runner := fileName(p.Row.Str("runner")) + "_local"
	j := Job{Name: resultName(p.Row, p.Fingerprint, runner), Fingerprint: p.Fingerprint, Row: p.Row, Throughput: true,
		Image: f.Entry.Image, Checkout: root, Weights: weights}
	j.Provenance.Runner = runner
	env := contract(j, recipePort)
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "PYTHON") }) // of a job's own folders
	words := []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, name+"="+env[name])
	}
	line, err := shellWords(append(words, "bash", script)...)
	if err != nil {
		return "", err
	}
	folder, err := shellWords(root)
	return "cd " + folder + " && " + line, err
}

// shellWords is the one spelling of words for bash.
func shellWords(words ...string) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		var err error
		if quoted[i], err = syntax.Quote(w, syntax.LangBash); err != nil {
			return "", fmt.Errorf("word %q cannot be spelled for a shell: %w", w, err)
		}
	}
	return strings.Join(quoted, " "), nil
}
