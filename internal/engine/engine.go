// Package engine knows what a serving engine is from the outside: the
// arguments its source declares, the line that launches it in a recipe, and
// how two versions of it differ for that line. It reads text; it never runs
// an engine, never runs Python and never asks a registry or a forge.
package engine

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoReader says that this build cannot read Python source: the reader
// needs cgo, and the binary was built without it.
var ErrNoReader = errors.New("python source reader not in this build (built without cgo)")

// Location is a line of a file, counted from one. The zero value is nowhere.
type Location struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String spells the place as file:line, or nothing for the zero value.
func (l Location) String() string {
	if l.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}

// Values of Option.Deprecated.
const (
	AliasOption    = "alias"     // warns and stores for another option, as far as a help text says which
	NoEffectOption = "no-effect" // warns and stores nothing
	ErrorOption    = "error"     // declared, but using it ends the program
)

// Suppressed is the Default of an option whose absence leaves no trace.
const Suppressed = "SUPPRESS"

// Option is one declared argument, in the words of argparse.
//
// Default, Const are Python literals in a fixed spelling (None, True, 4, 0.5,
// "text", [1, 2]), Suppressed, or the expression as written when it is no
// literal; an empty text means none was declared. Choices are spelled like
// the values of Parsed.
type Option struct {
	Names       []string `json:"names"`                  // in order of declaration; one name without dash for a positional
	Dest        string   `json:"dest"`                   // what the value is stored as
	Type        string   `json:"type,omitempty"`         // int, float, bool; str or empty is text; other names are parsers we do not know
	Action      string   `json:"action,omitempty"`       // store (or empty), store_true, store_false, store_const, append, append_const, extend, count, on_off, help, version
	Nargs       string   `json:"nargs,omitempty"`        // "", a number, "?", "*", "+", "...", "A..."
	Choices     []string `json:"choices,omitempty"`      // allowed values that are known
	OpenChoices bool     `json:"open-choices,omitempty"` // there may be more choices than the known ones
	Default     string   `json:"default,omitempty"`      //
	Const       string   `json:"const,omitempty"`        //
	Required    bool     `json:"required,omitempty"`     //
	Deprecated  string   `json:"deprecated,omitempty"`   // "", alias, no-effect, error
	AliasOf     string   `json:"alias-of,omitempty"`     // first name of the option that owns Dest
	Message     string   `json:"message,omitempty"`      // text of a deprecated option, as declared
	Help        string   `json:"help,omitempty"`         // description in a help text, without default and variables
	Condition   string   `json:"condition,omitempty"`    // text of the conditions around the declaration
	At          Location `json:"at"`
}

// Name is the first long name, else the first name.
func (o Option) Name() string {
	for _, n := range o.Names {
		if strings.HasPrefix(n, "--") {
			return n
		}
	}
	if len(o.Names) == 0 {
		return o.Dest
	}
	return o.Names[0]
}

// Positional reports whether the option has no name that starts with a dash.
func (o Option) Positional() bool {
	return len(o.Names) == 0 || !strings.HasPrefix(o.Names[0], "-")
}

// label is how argparse names the option in an error.
func (o Option) label() string { return strings.Join(o.strings(), "/") }

// strings are the texts that select the option: its names, and for an on/off
// pair the negated forms, each behind its own name.
func (o Option) strings() []string {
	if o.Action != "on_off" {
		return o.Names
	}
	var all []string
	for _, n := range o.Names {
		all = append(all, n)
		if rest, ok := strings.CutPrefix(n, "--"); ok {
			all = append(all, "--no-"+rest)
		}
	}
	return all
}

// Variable is an environment variable that the source reads. Default is
// spelled like Option.Default; empty means the variable has none. AliasOf
// names the variable that this one is an old spelling of. Option is the
// option that the variable sets, where a help text says so.
type Variable struct {
	Name    string   `json:"name"`
	Default string   `json:"default,omitempty"`
	AliasOf string   `json:"alias-of,omitempty"`
	Option  string   `json:"option,omitempty"`
	At      Location `json:"at"`
}

// Model is what one version of an engine accepts: its arguments in order of
// registration and the environment variables it reads.
type Model struct {
	Source     string     `json:"source,omitempty"` // FromHelp; empty for the source itself
	Options    []Option   `json:"options"`
	Variables  []Variable `json:"variables,omitempty"`
	Complete   bool       `json:"complete"`              // every registration and every choice resolved to literals
	Unnamed    []Location `json:"unnamed,omitempty"`     // registrations whose option texts are not known
	Notes      []string   `json:"notes,omitempty"`       // what was not resolved or not counted, each "file:line: reason"
	Files      []string   `json:"files"`                 // files that declare something
	FilesRead  int        `json:"files-read"`            // files looked at
	NoAbbrev   bool       `json:"no-abbrev,omitempty"`   // abbreviations are switched off
	NoHelp     bool       `json:"no-help,omitempty"`     // -h and --help are not registered
	ExactShort bool       `json:"exact-short,omitempty"` // names with one dash are taken whole: -xVALUE is not -x VALUE
}

// Option returns the option that has name among its texts, by exact match.
func (m Model) Option(name string) (Option, bool) {
	for _, o := range m.Options {
		for _, n := range o.strings() {
			if n == name {
				return o, true
			}
		}
	}
	return Option{}, false
}

// Variable returns the environment variable of that name.
func (m Model) Variable(name string) (Variable, bool) {
	for _, v := range m.Variables {
		if v.Name == name {
			return v, true
		}
	}
	return Variable{}, false
}
