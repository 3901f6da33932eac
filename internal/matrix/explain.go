package matrix

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/refit-bench/refit/internal/recipe"
)

// Explanation says of one point where each of its values comes from, whether
// it is evaluated and why, and which machines it asks for.
type Explanation struct {
	Family      string `json:"family"` // config key
	File        string `json:"file"`
	Line        int    `json:"line"` // of the key
	Label       string `json:"label"`
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
	// The texts whose SHA-256 key and fingerprint are.
	KeyText         string     `json:"key-text"`
	FingerprintText string     `json:"fingerprint-text"`
	Values          []Value    `json:"values"`          // of the plan row, in its order
	Again           []string   `json:"again,omitempty"` // "file:line" of other entries with the same point
	Eval            EvalReason `json:"eval"`
	Runner          Runner     `json:"runner"`
}

// Value is one value of a plan row; those inside objects are named
// "prefill.tp". At is "file:line" of what decides it, "" where nothing is
// written. How is a sentence, "" for a value that stands in the file as it is.
type Value struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	From  From   `json:"from"`
	At    string `json:"at,omitempty"`
	How   string `json:"how,omitempty"`
}

// From is the kind of a value's origin.
type From string

// The origins of values.
const (
	Written From = "written" // stands in a file
	Default From = "default" // the schema's, where a file says nothing
	Derived From = "derived" // follows from others by a rule
)

// Runner is what a point asks to run on.
type Runner struct {
	Label    string   `json:"label"`
	At       string   `json:"at,omitempty"` // of the label in the runners file, "" when it is not there
	Machines []string `json:"machines"`
}

// Sources are the files behind a catalogue, for their lines, and where the
// rule of evals is set: "default", or the place in the configuration.
type Sources struct {
	Master, Runners        recipe.Places // Master is the file of the family that is explained
	LengthsFrom, FloorFrom string
}

// Explain explains a point of a family of the catalogue.
func Explain(cat *recipe.Catalogue, f recipe.Family, p Point, ev EvalRule, src Sources) (Explanation, error) {
	found, err := origins(f, cat.Runners, p.Key)
	if err != nil {
		return Explanation{}, err
	}
	if len(found) == 0 {
		return Explanation{}, fmt.Errorf("recipe %s: no entry has the point %s", f.Key, p.Key)
	}
	e := Explanation{Family: f.Key, File: f.File, Line: f.Line, Label: p.Label(), Key: p.Key, Fingerprint: p.Fingerprint}
	x := explainer{cat: cat, family: f, point: p, src: src, origin: found[0]}
	keyText, err := KeyText(p.Row)
	if err != nil {
		return e, err
	}
	text, err := FingerprintText(x.generated)
	if err != nil {
		return e, err
	}
	e.KeyText, e.FingerprintText = string(keyText), string(text)
	e.Values = x.values(p.Row)
	for _, o := range found[1:] {
		e.Again = append(e.Again, fmt.Sprintf("%s:%d", f.File, o.search.Line))
	}
	if e.Eval, err = x.eval(ev); err != nil {
		return e, err
	}
	e.Runner = x.runner()
	return e, nil
}

// explainer holds what the parts of an explanation look at.
type explainer struct {
	cat    *recipe.Catalogue
	family recipe.Family
	point  Point
	src    Sources
	origin
}

// origin is the search-space entry that a point comes from.
type origin struct {
	scenario  string
	block     int
	index     int // of the entry in the block's search space
	search    recipe.Search
	generated Row // as the generator emits it
}

// origins lists the entries of a family that have the point, in the order in
// which points are listed.
func origins(f recipe.Family, runners recipe.Runners, key string) ([]origin, error) {
	var out []origin
	look := func(o origin, one recipe.Entry) error {
		rows, err := expand(recipe.Family{ID: f.ID, File: f.File, Key: f.Key, Line: f.Line, Entry: one}, runners, []string{o.scenario})
		if err != nil {
			return err
		}
		for _, r := range rows {
			points, err := pointsOf(f, r)
			if err != nil {
				return err
			}
			for _, p := range points {
				if p.Key == key {
					o.generated = r
					out = append(out, o)
				}
			}
		}
		return nil
	}
	var errs []error
	for i, b := range f.Entry.Fixed {
		for j, s := range b.Search {
			one := f.Entry
			b.Search = []recipe.Search{s}
			one.Fixed = []recipe.FixedBlock{b}
			errs = append(errs, look(origin{scenario: Fixed, block: i, index: j, search: s}, one))
		}
	}
	for i, b := range f.Entry.Agentic {
		for j, s := range b.Search {
			one := f.Entry
			b.Search = []recipe.Search{s}
			one.Agentic = []recipe.AgenticBlock{b}
			errs = append(errs, look(origin{scenario: Agentic, block: i, index: j, search: s}, one))
		}
	}
	return out, errors.Join(errs...)
}

// inEntry, inBlock and inSearch are paths in the master file.
func (x explainer) inEntry(name ...string) []string {
	return append([]string{x.family.Key}, name...)
}

func (x explainer) inBlock(name ...string) []string {
	return x.inEntry(append([]string{"scenarios", x.scenario, strconv.Itoa(x.block)}, name...)...)
}

func (x explainer) inSearch(name ...string) []string {
	return x.inBlock(append([]string{"search-space", strconv.Itoa(x.index)}, name...)...)
}

// runner looks the label up.
func (x explainer) runner() Runner {
	label := x.family.Entry.Runner
	machines := x.cat.Runners.Labels[label]
	if machines == nil {
		machines = []string{}
	}
	return Runner{Label: label, At: x.src.Runners.At("labels", label), Machines: machines}
}
