package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Found is a point and its family.
type Found struct {
	Family recipe.Family
	Point  Point
}

// Ambiguous is the error of a name that several points have.
type Ambiguous struct {
	Name   string
	Points []Found
}

// mostNamed bounds the points that a message lists.
const mostNamed = 20

// Error lists the points, the first of many.
func (a Ambiguous) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q names %d points; say which as FAMILY:KEY, KEY being the last word of its line:", a.Name, len(a.Points))
	for _, f := range a.Points[:min(mostNamed, len(a.Points))] {
		fmt.Fprintf(&b, "\n  %s  %s", f.Family.Key, f.Point.Label())
	}
	if more := len(a.Points) - mostNamed; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

var keyPrefix = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

// FindPoint finds the one point that a name means: a key or at least six
// digits of its beginning, an exp-name, a family, or FAMILY:CONC or FAMILY:KEY.
// conc, where it is not 0, is a concurrency that the point must have. Several
// points are an Ambiguous error.
func FindPoint(cat *recipe.Catalogue, ev EvalRule, name string, conc int) (Found, error) {
	all, err := findAll(cat, ev, name)
	if err != nil {
		return Found{}, err
	}
	if conc != 0 {
		had := all
		all = slices.DeleteFunc(slices.Clone(all), func(f Found) bool { return f.Point.Conc() != conc })
		if len(all) == 0 {
			return Found{}, fmt.Errorf("%q has no point of concurrency %d; it has %s", name, conc, concsOf(had))
		}
	}
	switch len(all) {
	case 0:
		return Found{}, fmt.Errorf("no point %q%s", name, meant(cat, name))
	case 1:
		return all[0], nil
	}
	return Found{}, Ambiguous{name, all}
}

// findAll lists what the name may mean, a family before anything else.
func findAll(cat *recipe.Catalogue, ev EvalRule, name string) ([]Found, error) {
	if f, ok := familyNamed(cat, name); ok {
		return pointsWhere(cat, ev, []recipe.Family{f}, func(Point) bool { return true })
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if f, ok := familyNamed(cat, name[:i]); ok {
			return findIn(cat, ev, f, name[i+1:])
		}
	}
	return pointsWhere(cat, ev, cat.Families, func(p Point) bool {
		return keyPrefix.MatchString(name) && strings.HasPrefix(p.Key, name) || p.Row.Str("exp-name") == name
	})
}

// findIn finds points of one family by concurrency or key.
func findIn(cat *recipe.Catalogue, ev EvalRule, f recipe.Family, which string) ([]Found, error) {
	conc, err := strconv.Atoi(which)
	isConc := err == nil && conc > 0
	if !isConc && !keyPrefix.MatchString(which) {
		return nil, fmt.Errorf("%q behind %s: want a concurrency, or at least 6 digits of a key", which, f.Key)
	}
	all, err := pointsWhere(cat, ev, []recipe.Family{f}, func(p Point) bool {
		return isConc && p.Conc() == conc || keyPrefix.MatchString(which) && strings.HasPrefix(p.Key, which)
	})
	if err != nil || len(all) > 0 {
		return all, err
	}
	had, err := pointsWhere(cat, ev, []recipe.Family{f}, func(Point) bool { return true })
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("family %s has no point %q; its concurrencies are %s", f.Key, which, concsOf(had))
}

func familyNamed(cat *recipe.Catalogue, name string) (recipe.Family, bool) {
	i := slices.IndexFunc(cat.Families, func(f recipe.Family) bool { return f.ID == name || f.Key == name })
	if i < 0 {
		return recipe.Family{}, false
	}
	return cat.Families[i], true
}

func pointsWhere(cat *recipe.Catalogue, ev EvalRule, families []recipe.Family, wanted func(Point) bool) ([]Found, error) {
	var out []Found
	for _, f := range families {
		points, _, err := Points(f, cat.Runners, ev)
		if err != nil {
			return nil, err
		}
		for _, p := range points {
			if wanted(p) {
				out = append(out, Found{f, p})
			}
		}
	}
	return out, nil
}

func concsOf(all []Found) string {
	var concs []int
	for _, f := range all {
		concs = append(concs, f.Point.Conc())
	}
	slices.Sort(concs)
	return spaced(slices.Compact(concs))
}

// meant suggests the family or exp-name that was probably meant.
func meant(cat *recipe.Catalogue, name string) string {
	if len(name) > 200 {
		return ""
	}
	family, _, _ := strings.Cut(name, ":")
	var known []string
	for _, f := range cat.Families {
		known = append(known, f.Key)
		for _, b := range f.Entry.Fixed {
			known = append(known, f.Entry.ModelPrefix+"_"+SequenceName(b.ISL, b.OSL))
		}
		for _, b := range f.Entry.Agentic {
			for _, s := range b.Search {
				for _, c := range Concurrencies(s) {
					known = append(known, agenticName(f.Entry, s, c))
				}
			}
		}
	}
	if near := workspace.Closest(family, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return "; a point is named by its key, its exp-name, a family or FAMILY:CONC"
}
