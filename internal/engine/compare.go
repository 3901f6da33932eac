package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// Verdicts, worst first. They differ in what the program would do.
const (
	Rejected      = "rejected"
	AmbiguousName = "ambiguous"
	ValueRejected = "value-rejected"
	OtherMeaning  = "other-meaning"
	NoEffect      = "no-effect"
	DefaultMoved  = "default-moved"
	RuleChanged   = "rule-changed"
	PinMoved      = "pin-moved"
	CannotTell    = "cannot-tell"
	Alias         = "alias"
	Warned        = "warned"
	Same          = "same"
)

// Confidences, strongest first.
const (
	Certain  = "certain"
	Likely   = "likely"
	Possible = "possible"
	Unknown  = "cannot tell"
)

// Finding is one thing that was compared. Kind is flag, default or variable.
// Old and New say what it was and what it is; Evidence places begin with "old "
// or "new ". Edit replaces bytes of EditFile, when the old meaning still has
// an exact name or what is gone can be left out.
type Finding struct {
	Kind       string       `json:"kind"`
	Name       string       `json:"name"`
	Old        string       `json:"old,omitempty"`
	New        string       `json:"new,omitempty"`
	Verdict    string       `json:"verdict"`
	Confidence string       `json:"confidence"`
	Condition  string       `json:"condition,omitempty"`
	Recipe     string       `json:"recipe,omitempty"`
	Evidence   []string     `json:"evidence,omitempty"`
	Edit       *recipe.Edit `json:"edit,omitempty"`
	EditFile   string       `json:"edit-file,omitempty"`
	Candidates []string     `json:"candidates,omitempty"`
	Message    string       `json:"message"`
}

// Side names one of the two versions, and says out of what its model was read.
// The caller fills it in.
type Side struct {
	Image   string `json:"image,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Version string `json:"version,omitempty"`
	Commit  string `json:"commit,omitempty"`
	Read    string `json:"read,omitempty"` // FromSource or FromHelp
	From    string `json:"from,omitempty"` // the folder of the source, or the command that printed the help
}

// Comparison is what a move from one version to another does to a launch.
// Findings are ordered worst first and end with what stays the same. NotRead
// lists everything the statement "no difference found" does not cover.
type Comparison struct {
	Old           Side      `json:"old"`
	New           Side      `json:"new"`
	Findings      []Finding `json:"findings"`
	FlagsRead     int       `json:"flags-read"`
	VariablesRead int       `json:"variables-read"`
	NotRead       []string  `json:"not-read,omitempty"`
}

// Compare judges every flag and exported variable of the launch against both
// models, and the defaults that moved for options the launch does not set. When
// a model was read from a help text, nothing is certain.
func Compare(old, new Model, l Launch) Comparison {
	help := old.Source == FromHelp || new.Source == FromHelp
	if help {
		new = aligned(old, new)
	}
	p := &pair{old: old, new: new, launch: l, help: help, oldTable: old.table(), newTable: new.table()}
	c := Comparison{FlagsRead: len(l.Uses), VariablesRead: len(l.Exports)}
	for _, u := range l.Uses {
		c.Findings = append(c.Findings, p.flag(u))
	}
	c.Findings = append(c.Findings, p.defaults()...)
	found, outside := p.variables()
	c.Findings = append(c.Findings, found...)
	c.NotRead = append(c.NotRead, outside...)
	c.Findings = append(c.Findings, p.variableDefaults()...)
	if help {
		hearsay(c.Findings)
	}
	if len(l.Notices) > 0 {
		soften(c.Findings)
	}
	slices.SortStableFunc(c.Findings, worstFirst)
	c.NotRead = slices.Concat(l.Notices, l.NotRead, c.NotRead, prefixed("old ", old.Notes), prefixed("new ", new.Notes))
	return c
}

// soften lowers what is certain about the source: the script changes the
// installed engine, so that another source runs.
func soften(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; f.Confidence == Certain && f.Verdict != Same {
			f.weaken("the recipe changes the installed engine before the launch")
		}
	}
}

// weaken makes a finding likely instead of certain, and says why.
func (f *Finding) weaken(why string) {
	f.Message = strings.Replace(f.Message, word(Certain, f.Verdict, f.Name), word(Likely, f.Verdict, f.Name), 1) + "; " + why
	f.Confidence = Likely
}

func prefixed(prefix string, notes []string) []string {
	var all []string
	for _, n := range notes {
		all = append(all, prefix+n)
	}
	return all
}

func worstFirst(a, b Finding) int {
	return cmp.Or(cmp.Compare(rank(a.Verdict), rank(b.Verdict)), cmp.Compare(confidenceRank(a.Confidence), confidenceRank(b.Confidence)))
}

func rank(verdict string) int {
	return slices.Index([]string{Rejected, AmbiguousName, ValueRejected, OtherMeaning, NoEffect, DefaultMoved, RuleChanged, PinMoved, CannotTell, Alias, Warned, Same}, verdict)
}

func confidenceRank(c string) int {
	return slices.Index([]string{Certain, Likely, Possible, Unknown}, c)
}

// Certain reports whether the new version certainly refuses to start with the
// launch: a flag that is always given is certainly rejected or ambiguous, or
// its value certainly refused.
func (c Comparison) Certain() bool {
	return slices.ContainsFunc(c.Findings, Finding.Refused)
}

// Refused says whether the new version certainly does not start because of
// this finding, whatever else is the case.
func (f Finding) Refused() bool {
	return f.Confidence == Certain && f.Condition == "" && rank(f.Verdict) <= rank(ValueRejected)
}

// Differences are the findings that are not the same.
func (c Comparison) Differences() []Finding {
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Verdict == Same })
}

// FileEdit is one proposed change of a recipe file.
type FileEdit struct {
	File   string      `json:"file"`
	Edit   recipe.Edit `json:"edit"`
	Reason string      `json:"reason"`
}

// Edits lists the proposed changes, each once, in order of place.
func (c Comparison) Edits() []FileEdit {
	var all []FileEdit
	for _, f := range c.Findings {
		if f.Edit == nil {
			continue
		}
		e := FileEdit{File: f.EditFile, Edit: *f.Edit, Reason: f.Message}
		if !slices.ContainsFunc(all, func(have FileEdit) bool { return have.File == e.File && have.Edit == e.Edit }) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b FileEdit) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Edit.Start, b.Edit.Start), cmp.Compare(a.Edit.End, b.Edit.End))
	})
	return withoutOverlap(all)
}

// withoutOverlap joins neighbours that both take the comma between them along.
func withoutOverlap(sorted []FileEdit) []FileEdit {
	var out []FileEdit
	for _, e := range sorted {
		if n := len(out) - 1; n >= 0 && out[n].File == e.File && e.Edit.Start < out[n].Edit.End && out[n].Edit.New == "" && e.Edit.New == "" {
			last := &out[n]
			if more := e.Edit.End - last.Edit.End; more > 0 {
				last.Edit.Old += e.Edit.Old[len(e.Edit.Old)-more:]
				last.Edit.End = e.Edit.End
			}
			last.Reason += "; " + e.Reason
			continue
		}
		out = append(out, e)
	}
	return out
}
