package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// variables judges the exported variables, and lists those that neither
// version reads.
func (p *pair) variables() (found []Finding, outside []string) {
	var uses []Use // of the findings
	for _, u := range p.launch.Exports {
		if f, ok := p.variable(u); ok {
			found, uses = append(found, f), append(uses, u)
		} else {
			outside = append(outside, u.Location.String()+": "+u.Name+" is read by neither version: outside the engine")
		}
	}
	going := map[*exports]int{}
	for i, f := range found {
		if f.Edit != nil && f.Edit == uses[i].Drop {
			going[uses[i].group]++
		}
	}
	for i := range found { // export alone would list the environment
		if g := uses[i].group; g != nil && found[i].Edit != nil && found[i].Edit == uses[i].Drop && going[g] == g.variables {
			found[i].Edit = &g.whole
		}
	}
	return found, outside
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
		f.Verdict, f.Confidence, detail = NoEffect, Likely, "the new help text does not name it"
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
	if f.Verdict == NoEffect {
		p.proposeVariable(a, u, &f, detail)
		return f, true
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

// proposeVariable says what became of a variable that the new version does not
// read. It proposes its new name where the versions tell that, or else to leave
// it out, which changes nothing for the new version.
func (p *pair) proposeVariable(a Variable, u Use, f *Finding, detail string) {
	name, why := p.successor(a, u)
	if why != "" {
		detail += ", " + why
	}
	if u.Fixed == "" && name != "" && u.End > u.Start && p.launch.unnamed(name) {
		f.Edit, f.EditFile = &recipe.Edit{Start: u.Start, End: u.End, Old: u.Name, New: name}, u.Location.File
		f.Message = sentence(*f, detail)
		return
	}
	f.Message = sentence(*f, detail)
	switch {
	case why != "" || u.Fixed != "":
	case u.Drop != nil && (!p.help || a.Option != "" && p.newTable.resolve(a.Option).By != ByName):
		f.Edit, f.EditFile = u.Drop, u.Location.File
		f.Message += "; leaving it out changes nothing for the new version"
	}
}

// successor is the variable that took the place of one that is gone: the one
// that it was an old spelling of, or the one that sets the same option. It is
// empty where that is named but does not take the same value.
func (p *pair) successor(was Variable, u Use) (name, why string) {
	if v, ok := p.new.Variable(was.AliasOf); ok && was.AliasOf != "" {
		return v.Name, "but it was an old spelling of " + v.Name + ", which is read"
	}
	r := p.newTable.resolve(was.Option)
	if !p.help || was.Option == "" || r.By != ByName {
		return "", ""
	}
	for _, v := range p.new.Variables {
		if v.Option == "" || !slices.Contains(r.Option.Names, v.Option) {
			continue
		}
		why := fmt.Sprintf("and names %s for %s", v.Name, was.Option)
		if !valueless(r.Option) && accepts(r, Use{Name: was.Option, Value: u.Value, Values: u.Values, Symbolic: u.Symbolic}) != nil {
			return "", why
		}
		return v.Name, why
	}
	return "", ""
}

// unnamed says that neither the launch nor the script around it has a variable
// of that name.
func (l Launch) unnamed(name string) bool {
	return len(l.names[name]) == 0 && !slices.ContainsFunc(l.Exports, func(u Use) bool { return u.Name == name })
}
