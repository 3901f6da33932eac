package matrix

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Text writes the explanation for people; verbose adds the whole eval group and
// every machine. Write errors are the writer's to remember.
func (e Explanation) Text(w io.Writer, verbose bool) {
	fmt.Fprintf(w, "%s  %s\n%s:%d\n\n", e.Family, e.Label, e.File, e.Line)
	name, value := 0, 0
	words := make([]string, len(e.Values))
	for i, v := range e.Values {
		words[i] = spelled(v.Value)
		name = max(name, len(v.Name))
		if len(words[i]) <= wideValue {
			value = max(value, len(words[i]))
		}
	}
	for i, v := range e.Values {
		if v.Name != "recipe-fingerprint" { // has a line of its own below
			fmt.Fprintf(w, "%-*s  %-*s  %s\n", name, v.Name, value, words[i], v.origin())
		}
	}
	for _, at := range e.Again {
		fmt.Fprintf(w, "\nthe same point is listed again at %s, and is measured once\n", at)
	}
	fmt.Fprintln(w)
	e.Eval.text(w, verbose)
	e.Runner.text(w, verbose)
	fmt.Fprintf(w, "%-12s %s\n%-12s %s\n", "key", e.Key, "fingerprint", e.Fingerprint)
}

// Texts writes what is hashed to key and fingerprint.
func (e Explanation) Texts(w io.Writer) {
	fmt.Fprintf(w, "\nThe key is the SHA-256 of:\n%s\n\nThe fingerprint is the SHA-256 of:\n%s\n", e.KeyText, e.FingerprintText)
}

// wideValue is a width that one value does not force on the column of all.
const wideValue = 40

// origin is a value's origin in a line: the place, and the rule if there is one.
func (v Value) origin() string {
	words := []string{v.At}
	if v.At == "" {
		words = nil
	}
	switch {
	case v.From == Default:
		words = append(words, "default: "+v.How)
	case v.How != "":
		words = append(words, v.How)
	}
	return strings.Join(words, "  ")
}

// spelled is a value as JSON has it, a text without its quotes.
func spelled(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func (e EvalReason) text(w io.Writer, verbose bool) {
	answer := "no"
	if e.Evaluated {
		answer = "yes"
	}
	fmt.Fprintf(w, "%-12s %s: %s\n", "evaluated", answer, e.Why)
	indent := strings.Repeat(" ", 13)
	if e.Elsewhere != "" {
		fmt.Fprintf(w, "%s%s\n", indent, e.Elsewhere)
	}
	if e.Grouped == "" {
		return
	}
	fmt.Fprintf(w, "%sgroup: %s, equal %s\n", indent, plural(len(e.Group), "point"), e.Grouped)
	if !verbose {
		return
	}
	for _, m := range e.Group {
		mark := " "
		if m.Evaluated {
			mark = "*"
		}
		fmt.Fprintf(w, "%s%s %s\n", indent, mark, m.Label)
	}
}

// fewMachines are named without being asked for.
const fewMachines = 6

func (r Runner) text(w io.Writer, verbose bool) {
	switch {
	case r.At == "":
		fmt.Fprintf(w, "%-12s %s, which the runners file does not list: no machine is known\n", "runner", r.Label)
		return
	case verbose || len(r.Machines) <= fewMachines:
		fmt.Fprintf(w, "%-12s %s (%s): %s\n", "runner", r.Label, r.At, strings.Join(r.Machines, " "))
		return
	}
	fmt.Fprintf(w, "%-12s %s (%s): %s and %d more\n", "runner", r.Label, r.At, strings.Join(r.Machines[:fewMachines-1], " "), len(r.Machines)-fewMachines+1)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
