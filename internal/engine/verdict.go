package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// pair is two models and the launch that is moved from one to the other.
type pair struct {
	old, new           Model
	oldTable, newTable *table
	launch             Launch
	help               bool // a model was read from a help text
}

// flag judges one flag of the launch.
func (p *pair) flag(u Use) Finding {
	a, b := p.oldTable.resolve(u.Name), p.newTable.resolve(u.Name)
	f := Finding{Kind: "flag", Name: u.Name, Old: p.meaning(a), New: p.meaning(b), Condition: u.Condition, Recipe: u.Location.String()}
	f.Evidence = append(evidence("old ", p.oldTable, a), evidence("new ", p.newTable, b)...)
	detail := ""
	switch {
	case len(b.Candidates) > 1:
		f.Verdict, f.Confidence = AmbiguousName, p.sureOfCandidates(b)
		detail = ambiguous(u.Name, b.Candidates).Message
	case b.Option == nil:
		f.Verdict, f.Confidence, detail = p.missing(a)
	case b.Option.Deprecated == ErrorOption:
		f.Verdict, f.Confidence, detail = Rejected, conditional(b), b.Option.Message
	default:
		f.Verdict, f.Confidence, detail = p.found(a, b, u)
	}
	if f.Verdict == Rejected || f.Verdict == AmbiguousName || f.Verdict == OtherMeaning {
		p.propose(a, u, &f)
	}
	if p.help && f.Verdict == Rejected && a.Option != nil && f.Edit == nil {
		detail = p.replaced(a, u, &f, detail)
	}
	f.Message = sentence(f, detail)
	return f
}

// meaning says what a flag stands for in one version.
func (p *pair) meaning(r Resolution) string {
	switch {
	case len(r.Candidates) > 1:
		return "ambiguous: " + strings.Join(r.Candidates, ", ")
	case r.Option == nil && p.help:
		return "not in the help text"
	case r.Option == nil:
		return "not declared"
	}
	o := *r.Option
	text := r.Name
	if r.By == ByPrefix {
		text += " by abbreviation"
	}
	switch o.Deprecated {
	case AliasOption:
		text += ", deprecated"
		if !p.help { // which says nothing of where a value is stored
			text += ", stores " + o.Dest
		}
	case NoEffectOption:
		text += ", deprecated, no effect"
	case ErrorOption:
		text += ", deprecated, ends the program"
	}
	return text
}

func evidence(side string, t *table, r Resolution) []string {
	var all []string
	add := func(o *Option) {
		if o != nil && o.At.File != "" && !slices.Contains(all, side+o.At.String()) {
			all = append(all, side+o.At.String())
		}
	}
	add(r.Option)
	for _, name := range r.Candidates {
		add(t.options[name])
	}
	return all
}

// sureOfCandidates: two registered options suffice for an ambiguity, whatever
// else may be registered besides.
func (p *pair) sureOfCandidates(r Resolution) string {
	sure := 0
	for _, name := range r.Candidates {
		if p.newTable.options[name].Condition == "" {
			sure++
		}
	}
	if sure > 1 {
		return Certain
	}
	return Likely
}

func conditional(r Resolution) string {
	if r.Option.Condition != "" {
		return Likely
	}
	return Certain
}

// missing judges a flag that the new version does not know.
func (p *pair) missing(a Resolution) (verdict, confidence, detail string) {
	switch {
	case a.Option == nil && p.help:
		return CannotTell, Unknown, "the old help text does not show it either"
	case a.Option == nil && len(a.Candidates) == 0:
		return Rejected, Likely, "the old version does not declare it either"
	case len(p.new.Unnamed) > 0:
		return Rejected, Likely, fmt.Sprintf("%d registrations of the new version could not be read", len(p.new.Unnamed))
	case a.Option != nil && a.Option.Deprecated == NoEffectOption:
		return Rejected, Certain, "it had no effect before, so no behaviour is lost"
	case p.help:
		return Rejected, Certain, "the new help text does not show it"
	}
	return Rejected, Certain, ""
}

// found judges a flag that selects one option of the new version.
func (p *pair) found(a, b Resolution, u Use) (verdict, confidence, detail string) {
	if b.Option.Deprecated == NoEffectOption {
		return NoEffect, conditional(b), deprecation(b)
	}
	if verdict, confidence, detail := p.value(a, b, u); verdict != "" {
		return verdict, confidence, detail
	}
	switch {
	case a.Option == nil && len(a.Candidates) > 1:
		return CannotTell, Unknown, "it is ambiguous in the old version"
	case a.Option == nil && p.help:
		return CannotTell, Unknown, "the old help text does not show it"
	case a.Option == nil:
		return CannotTell, Unknown, "the old version does not declare it"
	case a.Option.Deprecated == ErrorOption:
		return CannotTell, Unknown, "the old version declares it only to refuse it"
	case a.Option.Deprecated == NoEffectOption:
		return OtherMeaning, conditional(b), "it had no effect before and stores " + b.Option.Dest + " now"
	case a.Option.Dest != b.Option.Dest && !(p.help && a.By == ByName && b.By == ByName):
		return p.otherPlace(a, b)
	}
	if detail := storedDifference(a.Option, b.Option, u); detail != "" {
		return OtherMeaning, conditional(b), detail
	}
	switch {
	case b.Option.Deprecated == AliasOption && a.Option.Deprecated == AliasOption:
		return Warned, conditional(b), deprecation(b)
	case b.Option.Deprecated == AliasOption:
		return Alias, conditional(b), deprecation(b)
	case b.By == ByPrefix && a.By == ByPrefix:
		return Same, p.prefixConfidence(b), "by abbreviation of " + b.Name + " in both versions"
	case b.By == ByPrefix:
		return Alias, p.prefixConfidence(b), "it is taken as " + b.Name + " by abbreviation"
	}
	return Same, conditional(b), ""
}

func deprecation(r Resolution) string {
	if r.Option.AliasOf != "" {
		return "deprecated spelling of " + r.Option.AliasOf
	}
	return "deprecated"
}

// prefixConfidence: a unique prefix is unique only among the options that are known.
func (p *pair) prefixConfidence(b Resolution) string {
	if len(p.new.Unnamed) > 0 {
		return Likely
	}
	return conditional(b)
}

// otherPlace judges one name that stores in two places. A flag taken as an
// option it merely abbreviates is a trap: the program starts.
func (p *pair) otherPlace(a, b Resolution) (verdict, confidence, detail string) {
	renamed := !p.stores(p.old, b.Option.Dest) && !p.stores(p.new, a.Option.Dest)
	switch {
	case b.By == ByPrefix && a.Name != b.Name:
		return OtherMeaning, p.prefixConfidence(b), "it is taken as " + b.Name + " by abbreviation"
	case !renamed:
		return OtherMeaning, conditional(b), fmt.Sprintf("it stored %s and stores %s now", a.Option.Dest, b.Option.Dest)
	case b.Option.Deprecated == AliasOption:
		return Alias, Likely, deprecation(b)
	}
	return Same, Likely, fmt.Sprintf("the value it stores was renamed from %s to %s", a.Option.Dest, b.Option.Dest)
}

func (p *pair) stores(m Model, dest string) bool {
	return slices.ContainsFunc(m.Options, func(o Option) bool { return o.Dest == dest })
}

// value checks the words behind the flag. An empty verdict means that nothing
// is known against them.
func (p *pair) value(a, b Resolution, u Use) (verdict, confidence, detail string) {
	err := accepts(b, u)
	if err == nil {
		if b.Option.OpenChoices && !u.Symbolic && len(u.Values) > 0 && !slices.Contains(b.Option.Choices, u.Values[0]) {
			return CannotTell, Unknown, "the choices of the new version are not all known"
		}
		if u.Symbolic && a.Option != nil && !slices.Equal(a.Option.Choices, b.Option.Choices) {
			return CannotTell, Unknown, "its value " + u.Value + " is not fixed in the recipe and the choices differ"
		}
		return "", "", ""
	}
	confidence = conditional(b)
	detail = err.Error()
	if p.help && a.Option != nil && accepts(a, u) != nil {
		return CannotTell, Unknown, detail + "; by its help text the old version does not accept it either"
	}
	if a.Option != nil && accepts(a, u) != nil {
		confidence, detail = Likely, detail+"; the old version does not accept it either"
	}
	if b.By == ByPrefix && p.prefixConfidence(b) != Certain {
		confidence = Likely
	}
	return ValueRejected, confidence, detail
}

// accepts says whether an option takes the values as written; symbolic values
// pass every check of type and choice. Words behind a switch may belong to a
// positional, so they are not held against it.
func accepts(r Resolution, u Use) error {
	o := *r.Option
	if valueless(&o) {
		if u.Joined {
			return ignored(&o, u.Name, u.Value)
		}
		return nil
	}
	if u.Symbolic {
		o.Type, o.Choices = "", nil
	}
	n, ok := count(&o, strings.Repeat("A", len(u.Values)))
	if !ok {
		return missing(&o, u.Name)
	}
	_, err := values(&o, u.Values[:n])
	return err
}

// storedDifference compares what the same words store in the same place.
func storedDifference(a, b *Option, u Use) string {
	va, okA := stored(a, u)
	vb, okB := stored(b, u)
	if !okA || !okB || va == vb {
		return ""
	}
	fa, numA := parseFloat(va)
	fb, numB := parseFloat(vb)
	if numA && numB && fa == fb {
		return ""
	}
	return fmt.Sprintf("it stored %s in %s and stores %s now", va, a.Dest, vb)
}

func stored(o *Option, u Use) (string, bool) {
	switch o.Action {
	case "", "store":
	case "store_true", "store_false":
		return fmt.Sprint(o.Action == "store_true"), true
	case "on_off":
		return fmt.Sprint(!strings.HasPrefix(u.Name, "--no-")), true
	case "store_const":
		return o.Const, true
	default:
		return "", false
	}
	if u.Symbolic && (o.Type != "bool" || o.Nargs != "") {
		return "", false
	}
	n, ok := count(o, strings.Repeat("A", len(u.Values)))
	if !ok {
		return "", false
	}
	v, err := values(o, u.Values[:n])
	if err != nil {
		return "", false
	}
	return literal(v), true
}

// propose adds the smallest edit that keeps the old meaning, when the new
// version has an exact name for it that takes the same words.
func (p *pair) propose(a Resolution, u Use, f *Finding) {
	if a.Option == nil || a.Option.Deprecated == NoEffectOption || a.Option.Deprecated == ErrorOption || u.End <= u.Start {
		return
	}
	for i := range p.new.Options {
		o := &p.new.Options[i]
		if o.Dest != a.Option.Dest || o.Deprecated != "" || o.Positional() {
			continue
		}
		text, ok := p.spelling(a, o, u)
		if !ok || text == u.Name {
			continue
		}
		f.Edit = &recipe.Edit{Start: u.Start, End: u.End, Old: u.Name, New: text}
		f.EditFile = u.Location.File
		return
	}
}

// spelling is what stands for the old flag in the new version.
func (p *pair) spelling(a Resolution, o *Option, u Use) (string, bool) {
	name := o.Name()
	for _, n := range o.Names { // a name both versions know is the better one
		if r := p.oldTable.resolve(n); r.By == ByName && r.Option.Dest == o.Dest && strings.HasPrefix(n, "--") {
			name = n
			break
		}
	}
	if a.Option.Action == "store_const" && !valueless(o) {
		v, ok := parseLiteral(a.Option.Const)
		text := spell(v)
		if !ok || v == nil || !plainText(text) || accepts(Resolution{Option: o}, Use{Name: name, Values: []string{text}, Joined: true}) != nil {
			return "", false
		}
		return name + "=" + text, true
	}
	renamed := u
	renamed.Name = name
	was, okWas := stored(a.Option, u)
	is, okIs := stored(o, renamed)
	if valueless(a.Option) != valueless(o) || accepts(Resolution{Option: o}, renamed) != nil || okWas && okIs && was != is {
		return "", false
	}
	return name, true
}

// plainText reports whether the shell takes the text as it is.
func plainText(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/+-") == ""
}
