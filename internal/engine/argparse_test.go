package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// judge is a small program of our own: it builds parsers as it is told and
// reports what argparse makes of the arguments.
const judge = `
import argparse, json, sys

TYPES = {"int": int, "float": float, "bool": bool, "str": str, "": None}
ACTIONS = {"on_off": argparse.BooleanOptionalAction}


class Refused(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(message)

    def print_help(self, file=None):
        raise Refused("help was asked for")


def build(options):
    p = Parser(prog="p")
    for o in options:
        kw = {}
        if o["action"]:
            kw["action"] = ACTIONS.get(o["action"], o["action"])
        plain = o["action"] in ("", "store", "append", "extend")
        if plain and o["type"]:
            kw["type"] = TYPES[o["type"]]
        if plain and o["nargs"]:
            kw["nargs"] = int(o["nargs"]) if o["nargs"].isdigit() else o["nargs"]
        if plain and o["choices"] is not None:
            kw["choices"] = [kw.get("type", str)(c) for c in o["choices"]]
        if o["default"]:
            kw["default"] = argparse.SUPPRESS if o["default"] == "SUPPRESS" else eval(o["default"])
        if o["const"]:
            kw["const"] = eval(o["const"])
        if o["names"][0].startswith("-"):
            kw["dest"] = o["dest"]
            if o["required"]:
                kw["required"] = True
        p.add_argument(*o["names"], **kw)
    return p


out = []
for case in json.load(sys.stdin):
    try:
        out.append({"values": vars(build(case["options"]).parse_args(case["args"]))})
    except Refused as e:
        out.append({"error": str(e)})
    except argparse.ArgumentError as e:
        out.append({"error": "conflict: " + str(e)})
    except (ValueError, TypeError) as e:
        out.append({"error": "cannot build: " + str(e)})
json.dump(out, sys.stdout)
`

type judged struct {
	Options []map[string]any `json:"options"`
	Args    []string         `json:"args"`
}

type outcome struct {
	Values map[string]json.RawMessage `json:"values"`
	Error  string                     `json:"error"`
}

func ask(t *testing.T, cases []row) []outcome {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no comparison with CPython: python3 is not on the PATH")
	}
	in := make([]judged, len(cases))
	for i, c := range cases {
		in[i].Args = append([]string{}, c.args...)
		for _, o := range c.options {
			in[i].Options = append(in[i].Options, map[string]any{"names": o.Names, "dest": o.Dest, "type": o.Type, "action": o.Action,
				"nargs": o.Nargs, "choices": o.Choices, "default": o.Default, "const": o.Const, "required": o.Required})
		}
		if in[i].Options == nil {
			in[i].Options = []map[string]any{}
		}
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-I", "-c", judge)
	cmd.Stdin = bytes.NewReader(data)
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Skipf("no comparison with CPython: %v: %s", err, stderr.String())
	}
	var out []outcome
	if err := json.Unmarshal(answer, &out); err != nil || len(out) != len(cases) {
		t.Fatalf("python's answer: %d outcomes, %v", len(out), err)
	}
	return out
}

// agree compares one outcome; messages up to the place where CPython versions differ.
func agree(t *testing.T, r row, want outcome) {
	t.Helper()
	got, err := Model{Options: r.options}.Parse(r.args)
	var reject *RejectError
	if errors.As(err, &reject) {
		ours, _, _ := strings.Cut(reject.Message, " (choose")
		theirs, _, _ := strings.Cut(want.Error, " (choose")
		if reject.Kind == Broken && strings.HasPrefix(theirs, "conflict: ") {
			return
		}
		if clustered(r.args) && want.Error != "" {
			return // since 3.13 the message names the unknown letter instead
		}
		if ours != theirs {
			t.Errorf("%s: options %+v args %q: we refuse with %q, CPython says %q %s", r.name, r.options, r.args, ours, theirs, want.Values)
		}
		return
	}
	if want.Error != "" {
		t.Errorf("%s: options %+v args %q: we accept %v, CPython refuses: %s", r.name, r.options, r.args, got.Values, want.Error)
		return
	}
	for dest, raw := range want.Values {
		theirs := string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil && strings.HasPrefix(theirs, `"`) {
			theirs = text
		}
		ours, ok := got.Values[dest]
		if !ok {
			ours = "null"
		}
		if clustered(r.args) && want.Error != "" {
			return // since 3.13 the message names the unknown letter instead
		}
		if ours != theirs {
			t.Errorf("%s: options %+v args %q: %s is %s, CPython says %s", r.name, r.options, r.args, dest, ours, theirs)
		}
	}
	for dest := range got.Values {
		if _, ok := want.Values[dest]; !ok {
			t.Errorf("%s: args %q: %s is not stored by CPython", r.name, r.args, dest)
		}
	}
}

// clustered reports arguments such as -xy.
func clustered(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return len(a) > 2 && a[0] == '-' && a[1] >= 'a' && a[1] <= 'z' })
}

func TestRowsAgainstCPython(t *testing.T) {
	cases := rows()
	for i, want := range ask(t, cases) {
		agree(t, cases[i], want)
	}
}

// TestRandomAgainstCPython draws parsers and arguments from a fixed seed.
func TestRandomAgainstCPython(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	var cases []row
	for range 3000 {
		var r row
		used := map[string]bool{}
		for range 1 + rng.IntN(4) {
			name := pick("--a", "--ab", "--abc", "--b", "--b-a", "-x", "-y", "--no-a")
			if used[name] {
				continue
			}
			used[name] = true
			o := opt(name, typed(pick("", "", "int", "float")), acting(pick("", "", "store_true", "on_off", "append")), counted(pick("", "", "?", "*", "+", "2")), defaulting(pick("", "1", `"2"`, "SUPPRESS", "None")))
			if o.Action == "store_true" || o.Action == "on_off" || o.Action == "append" {
				o.Default = ""
			}
			if o.Action == "on_off" && !strings.HasPrefix(name, "--") {
				o.Action = "store_true"
			}
			if o.Action == "append" && o.Nargs == "?" {
				o.Nargs = ""
			}
			if valueless(&o) {
				o.Nargs, o.Type = "", ""
			}
			r.options = append(r.options, o)
		}
		if rng.IntN(3) == 0 {
			r.options = append(r.options, opt("model", counted(pick("", "?", "*", "+"))))
		}
		for range rng.IntN(5) {
			r.args = append(r.args, pick("--a", "--ab", "--b", "--a=1", "--ab=", "-x", "-y", "-xy", "-x1", "1", "2", "x", "-1", "-1.5", "--no-a", "--a b", "--zz"))
		}
		cases = append(cases, r)
	}
	for i, want := range ask(t, cases) {
		agree(t, cases[i], want)
	}
}
