package recipe

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// DeclaredExt ends the names of recipes that are data rather than bash.
const DeclaredExt = ".yaml"

// IsDeclared says whether a recipe of this name is a declarative one.
func IsDeclared(name string) bool { return path.Ext(name) == DeclaredExt }

// Declared is a recipe written as data: an engine's command line, how to tell
// that it is ready, and what is asked of it. No shell reads it.
type Declared struct {
	File     string
	Command  []Word // the first is a program of the image's PATH
	Env      []Setting
	Ready    Ready
	Workload Workload
	Eval     Shots
}

// Setting is a variable of the engine's environment.
type Setting struct{ Name, Value Word }

// Ready says how to tell that the engine is ready, or never will be.
type Ready struct {
	Path    string
	Timeout time.Duration
	Fatal   []*regexp.Regexp // lines of the log after which it never will be
}

// Workload is the load of a point. What is not written has the values that
// every sweep uses.
type Workload struct {
	Backend    string
	Prompts    Count
	Warmups    Count
	RangeRatio string // decimal text; "" = RANDOM_RANGE_RATIO
	IgnoreEOS  bool
}

// Shots is how many examples stand before each question of an eval, and the
// file in the workspace that they are drawn from.
type Shots struct {
	Count int
	Train string
}

// Backends are the request forms that a workload can ask for.
var Backends = []string{"vllm", "sglang", "openai", "openai-chat", "lmdeploy", "scalellm"}

// maxDeclared bounds a declarative recipe, in bytes, and maxWords its command.
const (
	maxDeclared = 1 << 20
	maxWords    = 4096
)

// ParseDeclared reads a declarative recipe strictly. Errors start with
// file:line:column.
func ParseDeclared(src []byte, file string) (Declared, error) {
	if len(src) > maxDeclared {
		return Declared{}, fmt.Errorf("%s: %d bytes, more than the limit of %d", file, len(src), maxDeclared)
	}
	root, err := parseRoot(src, file)
	if err != nil {
		return Declared{}, err
	}
	if root == nil {
		return Declared{}, fmt.Errorf("%s: the file is empty", file)
	}
	r := declaredReader{document{name: file}, newPositions(src)}
	d := Declared{File: file, Ready: Ready{Path: "/health", Timeout: 2 * time.Hour},
		Workload: Workload{Backend: "vllm", Prompts: Count{10, true}, Warmups: Count{2, true}, IgnoreEOS: true}}
	if m := r.mapping(root, ""); m != nil {
		r.version(m.need("version"))
		r.server(m.need("server"), &d)
		r.ready(m.take("ready"), &d.Ready)
		r.workload(m.take("workload"), &d.Workload)
		r.eval(m.take("eval"), &d.Eval)
		m.done()
	}
	return d, r.err()
}

// declaredReader collects the mistakes of one file.
type declaredReader struct {
	document
	positions
}

func (r *declaredReader) version(n *yaml.Node) {
	if v := r.integer(n, "version", 1); v != 1 {
		r.fail(n, "version", "%d is not known, only 1 is", v)
	}
}

func (r *declaredReader) server(n *yaml.Node, d *Declared) {
	if n == nil {
		return
	}
	m := r.mapping(n, "server")
	if m == nil {
		return
	}
	if c := m.need("command"); c != nil {
		d.Command = r.command(c)
	}
	if e := m.take("env"); e != nil {
		d.Env = r.settings(e)
	}
	m.done()
}

func (r *declaredReader) command(n *yaml.Node) []Word {
	items := r.sequence(n, "server.command")
	switch {
	case n.Kind == yaml.SequenceNode && len(items) == 0:
		r.fail(n, "server.command", "must name a program")
		return nil
	case len(items) > maxWords:
		r.fail(n, "server.command", "has %d words, more than the limit of %d", len(items), maxWords)
		return nil
	}
	words := make([]Word, len(items))
	for i, item := range items {
		words[i] = r.word(item, fmt.Sprintf("server.command[%d]", i))
	}
	if len(words) > 0 && (words[0].Text == "" || strings.ContainsAny(words[0].Text, "/$")) {
		r.fail(items[0], "server.command[0]", "want the name of a program in the image's PATH, got %s", describe(items[0]))
	}
	return words
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r *declaredReader) settings(n *yaml.Node) []Setting {
	m := r.mapping(n, "server.env")
	if m == nil {
		return nil
	}
	var out []Setting
	for _, k := range m.keys {
		s := Setting{Name: r.located(k), Value: r.word(m.take(k.Value), m.at(k.Value))}
		switch {
		case !variableName.MatchString(k.Value):
			r.fail(k, "server.env", "%q is no name of a variable", k.Value)
		case slices.Contains([]string{"PATH", "HOME", "TMPDIR"}, k.Value), strings.HasPrefix(k.Value, "REFIT"):
			r.fail(k, "server.env", "%s belongs to the job and cannot be set", k.Value)
		}
		out = append(out, s)
	}
	return out
}

func (r *declaredReader) ready(n *yaml.Node, to *Ready) {
	if n == nil {
		return
	}
	m := r.mapping(n, "ready")
	if m == nil {
		return
	}
	if p := m.take("path"); p != nil {
		if to.Path = r.text(p, "ready.path"); to.Path != "" && (to.Path[0] != '/' || strings.ContainsAny(to.Path, " \t\r\n#")) {
			r.fail(p, "ready.path", "want a path such as /health, got %s", describe(p))
		}
	}
	if t := m.take("timeout"); t != nil {
		limit, err := time.ParseDuration(r.text(t, "ready.timeout"))
		if err != nil || limit <= 0 {
			r.fail(t, "ready.timeout", "want a duration such as 10m, got %s", describe(t))
		}
		to.Timeout = limit
	}
	if f := m.take("fatal"); f != nil {
		to.Fatal = r.fatal(f)
	}
	m.done()
}

// fatal reads log lines: /.../ is a regular expression, anything else is a
// part of a line as it stands.
func (r *declaredReader) fatal(n *yaml.Node) []*regexp.Regexp {
	var out []*regexp.Regexp
	for i, item := range r.sequence(n, "ready.fatal") {
		at := fmt.Sprintf("ready.fatal[%d]", i)
		text := strings.TrimSpace(r.text(item, at))
		if text == "" {
			continue
		}
		expr := regexp.QuoteMeta(text)
		if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
			expr = text[1 : len(text)-1]
		}
		p, err := regexp.Compile(expr)
		switch {
		case err != nil:
			r.fail(item, at, "%v", err)
		case p.MatchString(""):
			r.fail(item, at, "matches every line")
		default:
			out = append(out, p)
		}
	}
	return out
}

func (r *declaredReader) workload(n *yaml.Node, to *Workload) {
	if n == nil {
		return
	}
	m := r.mapping(n, "workload")
	if m == nil {
		return
	}
	if b := m.take("backend"); b != nil {
		if to.Backend = r.text(b, "workload.backend"); to.Backend != "" && !slices.Contains(Backends, to.Backend) {
			r.fail(b, "workload.backend", "%q is not supported%s; known are %s", to.Backend, didYouMean(to.Backend, Backends), strings.Join(Backends, ", "))
		}
	}
	if p := m.take("num-prompts"); p != nil {
		if to.Prompts = r.count(p, "workload.num-prompts"); to.Prompts.N == 0 {
			r.fail(p, "workload.num-prompts", "must be greater than 0")
		}
	}
	if w := m.take("warmups"); w != nil {
		to.Warmups = r.count(w, "workload.warmups")
	}
	to.RangeRatio = r.share(m.take("random-range-ratio"), "workload.random-range-ratio")
	if e := m.take("ignore-eos"); e != nil {
		to.IgnoreEOS = r.boolean(e, "workload.ignore-eos")
	}
	m.done()
}

func (r *declaredReader) eval(n *yaml.Node, to *Shots) {
	if n == nil {
		return
	}
	m := r.mapping(n, "eval")
	if m == nil {
		return
	}
	shots := m.take("shots")
	if to.Count = r.integer(shots, "eval.shots", 0); to.Count < 0 {
		r.fail(shots, "eval.shots", "must not be negative, got %d", to.Count)
	}
	train := m.take("train")
	to.Train = r.str(train, "eval.train")
	switch {
	case to.Train != "" && !filepath.IsLocal(filepath.FromSlash(to.Train)):
		r.fail(train, "eval.train", "want a file of the workspace, got %s", describe(train))
	case to.Count > 0 && to.Train == "":
		r.fail(shots, "eval.shots", "examples are drawn from eval.train, which is missing")
	}
	m.done()
}

// Argv is the engine's command line for a point. The error names the line of
// a variable that env does not have.
func (d Declared) Argv(env map[string]string) ([]string, error) {
	argv := make([]string, len(d.Command))
	var errs []error
	for i, w := range d.Command {
		text, err := w.expand(d.File, env)
		argv[i] = text
		errs = append(errs, err)
	}
	return argv, errors.Join(errs...)
}

// Environ is what the recipe adds to the engine's environment, NAME=value. A
// name of env itself is an error: the point says its value.
func (d Declared) Environ(env map[string]string) ([]string, error) {
	var out []string
	var errs []error
	for _, s := range d.Env {
		if _, taken := env[s.Name.Text]; taken {
			errs = append(errs, fmt.Errorf("%s:%d: server.env: %s is given by the point and cannot be set", d.File, s.Name.Line, s.Name.Text))
		}
		text, err := s.Value.expand(d.File, env)
		errs = append(errs, err)
		out = append(out, s.Name.Text+"="+text)
	}
	return out, errors.Join(errs...)
}

// expand replaces each ${NAME}, and $$ by a dollar sign.
func (w Word) expand(file string, env map[string]string) (string, error) {
	var errs []error
	text := reference.ReplaceAllStringFunc(w.Text, func(ref string) string {
		if ref == "$$" {
			return "$"
		}
		name := ref[2 : len(ref)-1]
		value, ok := env[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s:%d: unknown variable %s%s", file, w.Line, ref, didYouMean(name, slices.Sorted(maps.Keys(env)))))
		}
		return value
	})
	return text, errors.Join(errs...)
}
