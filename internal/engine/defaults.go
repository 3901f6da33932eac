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

// variable judges one exported variable. It is false when neither version
// reads it: it then belongs to something outside the engine's source.
func (p *pair) variable(u Use) (Finding, bool) {
	a, inOld := p.old.Variable(u.Name)
	b, inNew := p.new.Variable(u.Name)
	if !inOld && !inNew {
		return Finding{}, false
	}
	f := Finding{Kind: "variable", Name: u.Name, Old: read(a, inOld), New: read(b, inNew), Verdict: Same, Confidence: Certain, Condition: u.Condition, Recipe: u.Location.String()}
	if inOld {
		f.Evidence = append(f.Evidence, "old "+a.At.String())
	}
	if inNew {
		f.Evidence = append(f.Evidence, "new "+b.At.String())
	}
	detail := ""
	switch {
	case !inNew && p.help:
		f.Verdict, f.Confidence, detail = NoEffect, Likely, p.renamedVariable(a)
	case !inOld && p.help:
		f.Verdict, f.Confidence, detail = OtherMeaning, Likely, "the old help text does not name it"
	case !inNew:
		f.Verdict, f.Confidence, detail = NoEffect, Likely, "no Python source of the new version reads it"
	case !inOld:
		f.Verdict, f.Confidence, detail = OtherMeaning, Likely, "no Python source of the old version read it"
	case b.AliasOf != "" && a.AliasOf == "":
		f.Verdict, detail = Alias, "old spelling of "+b.AliasOf
	case b.AliasOf != "":
		f.Verdict, detail = Warned, "old spelling of "+b.AliasOf
	case !u.Symbolic && equalsDefault(u.Value, b.Default):
		detail = "redundant, it equals the default of the new version"
	}
	f.Message = sentence(f, detail)
	return f, true
}

func read(v Variable, ok bool) string {
	switch {
	case !ok:
		return "not read"
	case v.Default == "":
		return "read"
	}
	return "read, default " + v.Default
}

func equalsDefault(value, def string) bool {
	v, ok := parseLiteral(def)
	if !ok || def == "" {
		return false
	}
	if yes, isBool := v.(bool); isBool {
		truth := slices.Contains([]string{"1", "true", "yes", "y"}, strings.ToLower(value))
		lie := slices.Contains([]string{"0", "false", "no", "n"}, strings.ToLower(value))
		return yes && truth || !yes && lie
	}
	return v != nil && spell(v) == value
}

// variableDefaults lists the variables that both versions read with different
// defaults and that the launch does not export.
func (p *pair) variableDefaults() []Finding {
	var all []Finding
	for _, b := range p.new.Variables {
		a, ok := p.old.Variable(b.Name)
		exported := slices.ContainsFunc(p.launch.Exports, func(u Use) bool { return u.Name == b.Name && u.Condition == "" })
		if !ok || a.Default == b.Default || exported {
			continue
		}
		f := Finding{Kind: "variable", Name: b.Name, Old: shown(a.Default), New: shown(b.Default), Verdict: DefaultMoved, Confidence: Certain,
			Evidence: []string{"old " + a.At.String(), "new " + b.At.String()}}
		if !literalDefault(a.Default) || !literalDefault(b.Default) {
			f.Confidence = Unknown
		}
		f.Message = sentence(f, fmt.Sprintf("from %s to %s; the recipe does not export it", f.Old, f.New))
		all = append(all, f)
	}
	return all
}
