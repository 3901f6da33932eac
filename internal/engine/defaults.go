package engine

import (
	"fmt"
	"slices"
	"strings"
)

// defaults lists the options whose default moved and that the launch leaves
// alone, at least under some condition.
func (p *pair) defaults() []Finding {
	var all []Finding
	for i := range p.new.Options {
		b := &p.new.Options[i]
		a := p.counterpart(b)
		if a == nil || sameDefault(a.Default, b.Default) || p.help && (a.Default == "" || b.Default == "") { // unsaid is not none
			continue
		}
		condition, always := p.set(b.Dest)
		if always {
			continue
		}
		f := Finding{Kind: "default", Name: b.Name(), Old: shown(a.Default), New: shown(b.Default), Verdict: DefaultMoved, Confidence: Certain,
			Condition: condition, Evidence: []string{"old " + a.At.String(), "new " + b.At.String()}}
		if !literalDefault(a.Default) || !literalDefault(b.Default) {
			f.Confidence = Unknown
		}
		f.Message = sentence(f, fmt.Sprintf("from %s to %s; the recipe does not set it", f.Old, f.New))
		all = append(all, f)
	}
	return all
}

// counterpart is the option of the old version that has the same name and
// stores in the same place.
func (p *pair) counterpart(b *Option) *Option {
	if b.Deprecated != "" || b.Positional() {
		return nil
	}
	for i := range p.old.Options {
		a := &p.old.Options[i]
		if a.Deprecated == "" && a.Dest == b.Dest && slices.ContainsFunc(a.Names, func(n string) bool { return slices.Contains(b.Names, n) }) {
			return a
		}
	}
	return nil
}

// set says whether the launch always sets what is stored under dest, and if
// only sometimes, under which condition it does not.
func (p *pair) set(dest string) (condition string, always bool) {
	var parts []string
	for _, u := range p.launch.Uses {
		r := p.newTable.resolve(u.Name)
		if r.Option == nil {
			r = p.oldTable.resolve(u.Name)
		}
		if r.Option == nil || r.Option.Dest != dest {
			continue
		}
		if u.Condition == "" {
			return "", true
		}
		parts = append(parts, "not ("+u.Condition+")")
	}
	for _, u := range p.launch.Exports {
		if v, ok := p.new.Variable(u.Name); ok && v.Option != "" && u.Condition == "" {
			if o, ok := p.new.Option(v.Option); ok && o.Dest == dest {
				return "", true
			}
		}
	}
	return strings.Join(parts, " and "), false
}

// sameDefault takes an absent default for None, as argparse does.
func sameDefault(a, b string) bool {
	norm := func(s string) string {
		if s == "" {
			return "None"
		}
		return s
	}
	return norm(a) == norm(b)
}

func literalDefault(s string) bool {
	if s == "" || s == Suppressed {
		return true
	}
	_, ok := parseLiteral(s)
	return ok
}

func shown(s string) string {
	if s == "" {
		return "None"
	}
	return s
}
