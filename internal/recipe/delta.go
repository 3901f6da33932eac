package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Change is what a changelog gained between two snapshots: added entries, or
// corrected links of old ones, never both.
type Change struct {
	Additions   []ChangelogEntry
	Corrections []Correction
}

// Correction is a new link at an existing entry, counted from 1.
type Correction struct {
	Entry    int
	Old, New string
}

// Delta returns the entries that head adds to base. History must be there
// unchanged, byte for byte, and something must be added. An empty base is an
// empty history.
func Delta(base, head []byte, name string) ([]ChangelogEntry, error) {
	c, err := Changes(base, head, name)
	if err != nil {
		return nil, err
	}
	if len(c.Additions) == 0 {
		if len(c.Corrections) > 0 {
			return nil, fmt.Errorf("%s: nothing is added, only links are corrected", name)
		}
		return nil, fmt.Errorf("%s: nothing is added", name)
	}
	return c.Additions, nil
}

// Changes compares two snapshots, entry by entry and byte by byte. Links are
// not judged here: that is LinkRule.Check.
func Changes(base, head []byte, name string) (Change, error) {
	var old []ChangelogEntry
	if len(base) > 0 {
		var err error
		if old, err = ParseChangelog(base, name); err != nil {
			return Change{}, fmt.Errorf("base: %w", err)
		}
	}
	now, err := ParseChangelog(head, name)
	if err != nil {
		return Change{}, err
	}
	c, err := compareEntries(old, now, name)
	if err != nil {
		return Change{}, err
	}
	switch {
	case len(c.Additions) > 0:
		err = checkAddition(base, head, name)
	case len(c.Corrections) > 0:
		err = checkCorrection(base, head, name, len(c.Corrections))
	case !bytes.Equal(base, head):
		err = fmt.Errorf("%s:%d: history was reformatted: only additions at the end are allowed", name, differingLine(base, head))
	}
	if err != nil {
		return Change{}, err
	}
	return c, nil
}

// compareEntries compares by position.
func compareEntries(old, now []ChangelogEntry, name string) (Change, error) {
	var c Change
	if len(now) < len(old) {
		return c, fmt.Errorf("%s: %d entries, %d before: history must not shrink", name, len(now), len(old))
	}
	for i, was := range old {
		is := now[i]
		if was.PRLink != is.PRLink {
			c.Corrections = append(c.Corrections, Correction{i + 1, was.PRLink, is.PRLink})
			is.PRLink = was.PRLink
		}
		if !reflect.DeepEqual(was, is) {
			return c, fmt.Errorf("%s: entry %d was changed: history is immutable", name, i+1)
		}
	}
	c.Additions = now[len(old):]
	if len(c.Additions) > 0 && len(c.Corrections) > 0 {
		return c, fmt.Errorf("%s: entry %d has a corrected link: corrections and additions need separate changes", name, c.Corrections[0].Entry)
	}
	return c, nil
}

// checkAddition holds added bytes to the form that merges without conflict:
// base unchanged in front, one empty line between entries, none at the end.
func checkAddition(base, head []byte, name string) error {
	if !bytes.HasPrefix(head, base) {
		return fmt.Errorf("%s:%d: bytes of the history were changed", name, differingLine(base, head))
	}
	rest := head[len(base):]
	want := "\n" + entryStart
	if len(base) == 0 || bytes.HasSuffix(base, []byte("\n\n")) {
		want = entryStart
	}
	if !bytes.HasPrefix(rest, []byte(want)) {
		return fmt.Errorf("%s:%d: exactly one empty line must stand before an added entry", name, lineAt(head, len(base)))
	}
	for i, at := range entryOffsets(rest) {
		before := rest[:at]
		if i > 0 && (!bytes.HasSuffix(before, []byte("\n\n")) || bytes.HasSuffix(before, []byte("\n\n\n"))) {
			return fmt.Errorf("%s:%d: exactly one empty line must stand before an added entry", name, lineAt(head, len(base)+at))
		}
	}
	if bytes.HasSuffix(head, []byte("\n\n")) {
		return fmt.Errorf("%s:%d: the file must not end with an empty line", name, lineAt(head, len(head)-1))
	}
	return nil
}

// checkCorrection allows nothing but the corrected link lines to differ.
func checkCorrection(base, head []byte, name string, corrections int) error {
	old, now := bytes.SplitAfter(base, []byte("\n")), bytes.SplitAfter(head, []byte("\n"))
	if len(old) != len(now) {
		return fmt.Errorf("%s: a link correction must keep the number of lines", name)
	}
	link := []byte("  pr-link:")
	changed := 0
	for i := range old {
		if bytes.Equal(old[i], now[i]) {
			continue
		}
		if !bytes.HasPrefix(old[i], link) || !bytes.HasPrefix(now[i], link) {
			return fmt.Errorf("%s:%d: a link correction must change pr-link lines alone", name, i+1)
		}
		changed++
	}
	if changed != corrections {
		return fmt.Errorf("%s: %d lines differ for %d corrected links", name, changed, corrections)
	}
	return nil
}

// differingLine is the first line in which two texts differ.
func differingLine(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return lineAt(a, i)
}

// LinkRule says which links a changelog may gain.
type LinkRule struct {
	Repository string // "https://host/owner/name"
	Pull       int    // the pull request that makes the change; 0 on the main branch
}

var pullNumber = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)

// Check refuses foreign and premature links: an addition names its own pull
// request or a placeholder, on the main branch any pull request; a correction
// names any pull request.
func (l LinkRule) Check(c Change) error {
	var errs []error
	for _, e := range c.Additions {
		own := l.Repository + "/pull/" + strconv.Itoa(l.Pull)
		switch {
		case l.Pull > 0 && e.PRLink != own && e.PRLink != "XXX" && e.PRLink != l.Repository+"/pull/XXX":
			errs = append(errs, fmt.Errorf("changelog entry for %s: pr-link %q must be XXX or %s", e.ConfigKeys[0], abridged(e.PRLink), own))
		case l.Pull == 0 && !l.canonical(e.PRLink):
			errs = append(errs, fmt.Errorf("changelog entry for %s: pr-link %q must be %s/pull/<number>", e.ConfigKeys[0], abridged(e.PRLink), l.Repository))
		}
	}
	for _, k := range c.Corrections {
		if !l.canonical(k.New) {
			errs = append(errs, fmt.Errorf("changelog entry %d: pr-link %q must be %s/pull/<number>", k.Entry, abridged(k.New), l.Repository))
		}
	}
	return errors.Join(errs...)
}

func (l LinkRule) canonical(link string) bool {
	n, ok := strings.CutPrefix(link, l.Repository+"/pull/")
	return ok && pullNumber.MatchString(n)
}
