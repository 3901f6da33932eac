package engine

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/refit-bench/refit/internal/recipe"
)

// ErrNoLaunch says that a script has no command that looks like the start of
// a server.
var ErrNoLaunch = errors.New("no command that starts a server: none runs in the background or writes server.log")

// Use is a flag, or an exported variable, as the recipe writes it.
//
// Start and End are the byte range of the flag's name in the script, without
// a value written behind "="; for a variable, of its name. Values are the
// words that follow up to the next flag; Value joins them with spaces.
// Symbolic says that a value depends on something the script does not fix.
// Condition is the text of the conditions under which the use happens. Drop
// takes it out of the file with its values, where that can be done. Fixed says
// why a variable can neither be renamed nor dropped in place.
type Use struct {
	Name      string       `json:"name"`
	Value     string       `json:"value,omitempty"`
	Values    []string     `json:"values,omitempty"`
	Joined    bool         `json:"joined,omitempty"` // written as --x=v
	Symbolic  bool         `json:"symbolic,omitempty"`
	Location  Location     `json:"location"`
	Start     int          `json:"start"`
	End       int          `json:"end"`
	Condition string       `json:"condition,omitempty"`
	Drop      *recipe.Edit `json:"drop,omitempty"`
	Fixed     string       `json:"fixed,omitempty"`

	kept  string   // why there is no Drop
	group *exports // the statement that exports it, with others
}

// Launch is what a recipe starts. Notices say where the script changes the
// installed engine before it starts it: the source compared is then not the
// source run. NotRead lists words and files that could not be followed.
type Launch struct {
	Command string   `json:"command"`           // the words before the first flag
	Program []string `json:"program,omitempty"` // what asks for help when --help is added: program, module and subcommand; empty when not fixed
	Uses    []Use    `json:"uses"`
	Exports []Use    `json:"exports,omitempty"`
	Notices []string `json:"notices,omitempty"`
	NotRead []string `json:"not-read,omitempty"`

	names map[string][]int // where the script names what may be a variable
}

// maxScript bounds a recipe; the largest known one has a hundredth of it.
const maxScript = 4 << 20

// ReadLaunch finds the command of a recipe that starts the server, with its
// flags. The name tells a declarative recipe from a bash script, of which
// arrays and plain variables are expanded; nothing is run. The error is
// ErrNoLaunch or names the line that is no recipe.
func ReadLaunch(script []byte, name string) (Launch, error) {
	if recipe.IsDeclared(name) {
		return readDeclared(script, name)
	}
	if len(script) > maxScript {
		return Launch{}, fmt.Errorf("%s:1: script larger than %d bytes", name, maxScript)
	}
	file, err := parseScript(script, name)
	if err != nil {
		return Launch{}, err
	}
	w := &walker{src: script, name: name, assigned: map[string][]assignment{}, listed: map[*syntax.DeclClause]listed{}, whole: map[int]*syntax.Word{}}
	w.survey(file)
	w.stmts(file.Stmts, surroundings{})
	starts := w.starts()
	if len(starts) == 0 {
		return Launch{}, fmt.Errorf("%s: %w", name, ErrNoLaunch)
	}
	return w.launch(starts), nil
}

// oddKey is an array key with a colon, which bash takes and the parser does not.
var oddKey = regexp.MustCompile(`(?m)^\s*\[[^\]"'\n]*:[^\]\n]*\]=`)

func parseScript(script []byte, name string) (*syntax.File, error) {
	parse := func(src []byte) (*syntax.File, error) {
		return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(bytes.NewReader(src), name)
	}
	file, err := parse(script)
	if err == nil {
		return file, nil
	}
	eased := oddKey.ReplaceAllFunc(script, func(key []byte) []byte { return bytes.ReplaceAll(key, []byte(":"), []byte("_")) })
	if file, again := parse(eased); again == nil {
		return file, nil
	}
	var bad syntax.ParseError
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("%s:%d: not bash: %s", name, bad.Pos.Line(), bad.Text)
	}
	return nil, fmt.Errorf("%s: not bash: %w", name, err)
}

// launch turns the starting commands into flags.
func (w *walker) launch(starts []command) Launch {
	l := Launch{}
	first := starts[0]
	for i, c := range starts {
		own := flags(w, c)
		if i == 0 {
			l.Command, l.Program = own.Command, own.Program
		}
		l.Uses = append(l.Uses, own.Uses...)
		l.Exports = append(l.Exports, own.Exports...)
		l.NotRead = append(l.NotRead, own.NotRead...)
	}
	if len(starts) > 1 {
		l.NotRead = append(l.NotRead, fmt.Sprintf("%s:%d: %d commands start a server; the flags of all are listed", w.name, first.line, len(starts)))
	}
	for _, e := range w.exports {
		if e.Start < starts[len(starts)-1].at {
			l.Exports = append(l.Exports, e)
		}
	}
	for _, n := range w.notices {
		if n.at < starts[len(starts)-1].at {
			l.Notices = append(l.Notices, n.text)
		}
	}
	l.NotRead = append(l.NotRead, w.notRead...)
	w.settle(&l)
	return l
}

// flags reads one command of a script.
func flags(w *walker, c command) Launch { return w.grouped(w.words(c.args, c), c.env) }

// grouped sorts the words of one command into flags and their values.
func (w *walker) grouped(words []token, env []Use) Launch {
	l := Launch{}
	l.Exports = append(l.Exports, env...)
	program := w.programEnd(words, &l)
	l.Program = programWords(words, program)
	var command []string
	for _, t := range words[:program] {
		command = append(command, t.text)
	}
	var open *Use
	var taken [][]token // each flag with its values
	for _, t := range words[program:] {
		switch {
		case t.unread:
			l.NotRead = append(l.NotRead, fmt.Sprintf("%s: %s is not fixed in the script", t.location, t.text))
			open = nil
		case t.flag():
			l.Uses = append(l.Uses, w.checked(t.use()))
			taken = append(taken, []token{t})
			open = &l.Uses[len(l.Uses)-1]
			if open.Joined {
				open = nil
			}
		case open != nil && (t.condition == open.Condition || len(open.Values) == 0):
			taken[len(taken)-1] = append(taken[len(taken)-1], t)
			open.Values = append(open.Values, t.text)
			open.Value = strings.Join(open.Values, " ")
			open.Symbolic = open.Symbolic || t.symbolic
		case len(l.Uses) == 0:
			command = append(command, t.text)
		}
	}
	for i, words := range taken {
		l.Uses[i].Drop = w.drop(words)
	}
	l.Command = strings.Join(command, " ")
	return l
}

// token is one word of an expanded command.
type token struct {
	text       string
	symbolic   bool // part of the text is not fixed in the script
	unread     bool // the word may stand for any number of words
	quoted     bool // a space inside is part of the word
	start, end int
	location   Location
	condition  string
}

var numberLike = regexp.MustCompile(`^-(\d|\.\d)`)

// flag reports whether the word is an option rather than a value.
func (t token) flag() bool {
	return len(t.text) > 1 && t.text[0] == '-' && t.text != "--" && !numberLike.MatchString(t.text) && !strings.Contains(flagName(t.text), " ")
}

func flagName(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return name
}

func (t token) use() Use {
	name, value, joined := strings.Cut(t.text, "=")
	u := Use{Name: name, Joined: joined, Location: t.location, Start: t.start, End: t.end, Condition: t.condition}
	if joined {
		u.Value, u.Values, u.Symbolic = value, []string{value}, t.symbolic
		u.End = min(t.end, t.start+len(name))
	}
	return u
}

// checked drops a range whose bytes are not the name itself, as when the name
// is put together from pieces: such a flag cannot be edited in place.
func (w *walker) checked(u Use) Use {
	if u.Start < 0 || u.End > len(w.src) || u.Start > u.End || string(w.src[u.Start:u.End]) != u.Name {
		u.Start, u.End = 0, 0
	}
	return u
}

// programEnd is the index of the first word behind the program and, for an
// interpreter, its module or script. Wrappers in front are stepped over.
func (w *walker) programEnd(words []token, l *Launch) int {
	i := 0
	for i < len(words) {
		switch base := words[i].text[strings.LastIndexByte(words[i].text, '/')+1:]; {
		case wrapper(base):
			i++
			for i < len(words) && (strings.HasPrefix(words[i].text, "-") || wrapperValue.MatchString(words[i].text) || strings.Contains(words[i].text, "=")) {
				if name, value, ok := strings.Cut(words[i].text, "="); ok && base == "env" && !strings.HasPrefix(name, "-") {
					t := words[i]
					u := w.checked(Use{Name: name, Value: value, Values: []string{value}, Symbolic: t.symbolic,
						Location: t.location, Start: t.start, End: min(t.end, t.start+len(name)), Condition: t.condition})
					w.dropArgument(&u, t)
					l.Exports = append(l.Exports, u)
				}
				i++
			}
		case base == "bash" || base == "sh":
			i += min(2, len(words)-i)
		case strings.HasPrefix(base, "python"):
			return interpreterEnd(words, i+1)
		default:
			return i + 1
		}
	}
	return len(words)
}

func wrapper(name string) bool {
	switch name {
	case "env", "exec", "nohup", "setsid", "nice", "ionice", "stdbuf", "numactl", "taskset", "timeout", "time", "eval", "command", "sudo":
		return true
	}
	return false
}

var wrapperValue = regexp.MustCompile(`^[0-9][0-9,.\-]*[smhd]?$`)

func interpreterEnd(words []token, i int) int {
	for i < len(words) {
		switch text := words[i].text; {
		case text == "-m" || text == "-c":
			return min(i+2, len(words))
		case text == "-X" || text == "-W":
			i += 2
		case strings.HasPrefix(text, "-"):
			i++
		default:
			return i + 1
		}
	}
	return len(words)
}
