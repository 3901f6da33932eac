package engine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// FromHelp is the Source of a model that was read out of a help text, FromSource
// how a Side says that its model was not.
const (
	FromSource = "source"
	FromHelp   = "help"
)

// Limits on what ReadHelp takes. The longest known help text has 60 KB and 300
// options; whatever is far beyond is no help text.
const (
	maxHelp        = 4 << 20
	maxHelpOptions = 5000
	maxDescription = 4000
	maxOptionName  = 200
)

// ReadHelp works out what an engine accepts from the text that it prints for
// --help, in one of the shapes that argument parsers print: aligned columns,
// argparse, pflag and cobra, clap, Click, and Go's flag package. The name is that of
// the text in places.
//
// A help text is hearsay: it may leave out options, abbreviations, and what
// happens to a value later. The model says so by its Source, is never
// Complete, and a comparison with it is never certain. Positional arguments
// are not read. The error is a text without any option or beyond the limits.
func ReadHelp(text []byte, name string) (Model, error) {
	if len(text) > maxHelp {
		return Model{}, fmt.Errorf("help text %s: larger than %d bytes", name, maxHelp)
	}
	entries, argparse := helpEntries(string(text))
	if len(entries) == 0 {
		return Model{}, fmt.Errorf("help text %s: %w", name, errNoOptions)
	}
	if len(entries) > maxHelpOptions {
		return Model{}, fmt.Errorf("help text %s: more than %d options", name, maxHelpOptions)
	}
	m := Model{Source: FromHelp, Files: []string{name}, FilesRead: 1, NoAbbrev: !argparse,
		Notes: []string{name + ":1: a help text need not show every option, abbreviation or effect"}}
	for _, e := range entries {
		at := Location{name, e.line}
		options := e.options(at)
		m.Options = append(m.Options, options...)
		for _, v := range environmentOf(e.description()) {
			if _, have := m.Variable(v); !have {
				m.Variables = append(m.Variables, Variable{Name: v, Option: options[0].Name(), At: at})
			}
		}
	}
	goNames(m.Options)
	dropDoubles(&m)
	settle(m.Options)
	_, m.NoHelp = m.Option("--help")
	m.ExactShort = slices.ContainsFunc(m.Options, func(o Option) bool { return slices.ContainsFunc(o.Names, longShort) })
	return m, nil
}

var errNoOptions = errors.New("no line of it shows an option")

// longShort reports a name of several letters behind a single dash. Programs
// with such names do not read -xVALUE as -x VALUE.
func longShort(name string) bool { return len(name) > 2 && !strings.HasPrefix(name, "--") }

// goNames adds the second spelling of names where only Go's flag package shows
// long names with a single dash; it takes both, and one value at most.
func goNames(options []Option) {
	for _, o := range options {
		if slices.ContainsFunc(o.Names, func(n string) bool { return strings.HasPrefix(n, "--") }) {
			return
		}
	}
	for i, o := range options {
		options[i].Nargs = "" // the name of a value may have several words
		for _, n := range o.Names {
			options[i].Names = append(options[i].Names, "-"+n)
		}
	}
}

// dropDoubles removes options whose names were all shown before, as when a
// program lists its most used options twice.
func dropDoubles(m *Model) {
	seen := map[string]bool{}
	m.Options = slices.DeleteFunc(m.Options, func(o Option) bool {
		double := true
		for _, n := range o.Names {
			double = double && seen[n]
			seen[n] = true
		}
		return double
	})
}

// settle says where options store that share a place with another one: a
// switch --no-x that stands alone switches x off, unless another option is
// called --x; and an option that the text calls another name of one stores there.
func settle(options []Option) {
	at := map[string]*Option{}
	for i := range options {
		for _, n := range options[i].Names {
			if at[n] == nil {
				at[n] = &options[i]
			}
		}
	}
	for i := range options {
		o := &options[i]
		if rest, ok := strings.CutPrefix(o.Name(), "--no-"); ok && o.Action == "store_true" && at["--"+rest] == nil {
			o.Action, o.Dest = "store_false", strings.ReplaceAll(rest, "-", "_")
			if o.Default != "" { // of the switch itself
				o.Default = map[string]string{"False": "True", "True": "False"}[o.Default]
			}
		}
	}
	for i := range options {
		if o := &options[i]; o.AliasOf != "" && o.Deprecated != ErrorOption && at[o.AliasOf] != nil && at[o.AliasOf] != o {
			o.Dest = at[o.AliasOf].Dest
		}
	}
}

// entry is one option as a help text shows it: the words on the left, and the
// lines of its description.
type entry struct {
	line  int
	head  string
	lines []string
}

// description is the text on one line.
func (e entry) description() string {
	return clipped(strings.Join(strings.Fields(strings.Join(e.lines, " ")), " "), maxDescription)
}

var (
	escapes   = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07]*\x07")
	headStart = regexp.MustCompile(`^--?[A-Za-z0-9?@]`)
	gap       = regexp.MustCompile(` {2,}`)
)

// deepestHead is the largest indentation at which a line can begin an option
// when nothing is known about the column of the descriptions.
const deepestHead = 10

// helpEntries splits a text into the options that it shows. It also says
// whether argparse wrote it, which takes abbreviations.
func helpEntries(text string) (entries []entry, argparse bool) {
	text = strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "?")
	var r helpReader
	for i, line := range strings.Split(text, "\n") {
		r.line(i+1, expandTabs(strings.TrimRight(line, "\r")))
	}
	return r.entries, r.argparse
}

// helpReader goes through a help text line by line.
type helpReader struct {
	entries  []entry
	open     bool // lines still belong to the last entry
	indent   int  // of the open entry's head
	column   int  // where its description starts; 0 = not seen yet
	usage    bool // inside the usage, which runs to an empty line
	argparse bool
}

func (r *helpReader) line(number int, line string) {
	body := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case body == "":
		r.usage = false
	case usageStart.MatchString(body):
		r.usage, r.open = true, false
		r.argparse = r.argparse || argparseUsage.MatchString(body)
	case r.usage:
	case r.begins(body, indent):
		r.begin(number, body, indent)
	case !r.open:
	case indent <= r.indent:
		r.open = false // a heading
	default:
		if r.column == 0 {
			r.column = indent
		}
		last := &r.entries[len(r.entries)-1]
		if len(last.lines) < maxDescription {
			last.lines = append(last.lines, body)
		}
	}
}

var (
	usageStart    = regexp.MustCompile(`(?i)^usage:`)
	argparseUsage = regexp.MustCompile(`^usage: .*\[-h\]`)
)

// begins tells an option's first line from a description that continues with
// the name of another option.
func (r *helpReader) begins(body string, indent int) bool {
	if !headStart.MatchString(body) {
		return false
	}
	if r.open && r.column > 0 {
		return indent < r.column
	}
	return indent <= deepestHead
}

func (r *helpReader) begin(number int, body string, indent int) {
	head, rest := splitHead(body)
	e := entry{line: number, head: head}
	r.open, r.indent, r.column = true, indent, 0
	if rest != "" {
		e.lines = []string{rest}
		r.column = indent + len(body) - len(rest)
	}
	r.entries = append(r.entries, e)
}

// splitHead cuts a line at the first gap that is not behind a comma, which
// only aligns the next name.
func splitHead(body string) (head, rest string) {
	for _, g := range gap.FindAllStringIndex(body, -1) {
		if !strings.HasSuffix(body[:g[0]], ",") {
			return body[:g[0]], body[g[1]:]
		}
	}
	return body, ""
}

func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	for _, c := range line {
		if c != '\t' {
			b.WriteRune(c)
			continue
		}
		b.WriteString(strings.Repeat(" ", 8-b.Len()%8))
	}
	return b.String()
}
