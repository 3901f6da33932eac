package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
)

// Change is what a changelog gained between two snapshots: added entries, or
// corrected links of old ones, never both.
type Change struct {
	File        string
	Additions   []ChangelogEntry
	Corrections []Correction
	Lines       []int // of File, 1-based, where each addition begins
}

// Correction is a new link at an existing entry, counted from 1.
type Correction struct {
	Entry    int
	Line     int // where the entry begins, 1-based
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
	var old snapshot
	if len(base) > 0 {
		var err error
		if old, err = readChangelog(base, name); err != nil {
			return Change{}, fmt.Errorf("base: %w", err)
		}
	}
	now, err := readChangelog(head, name)
	if err != nil {
		return Change{}, err
	}
	c, err := compareEntries(old, now)
	if err != nil {
		return Change{}, err
	}
	switch {
	case len(c.Additions) > 0:
		err = checkAddition(base, now, len(c.Additions))
	case len(c.Corrections) > 0:
		err = checkCorrection(base, head, name, len(c.Corrections))
	case !bytes.Equal(base, head):
		err = fmt.Errorf("%s:%d: history was reformatted: take these bytes from the base, only additions at the end are allowed", name, differingLine(base, head))
	}
	if err != nil {
		return Change{}, err
	}
	return c, nil
}

// compareEntries compares by position.
func compareEntries(old, now snapshot) (Change, error) {
	c := Change{File: now.name}
	if len(now.entries) < len(old.entries) {
		return c, fmt.Errorf("%s: only %d of the history's %d entries left: it must not shrink, take the base's file and add to its end",
			now.name, len(now.entries), len(old.entries))
	}
	for i, was := range old.entries {
		is := now.entries[i]
		if was.PRLink != is.PRLink {
			c.Corrections = append(c.Corrections, Correction{i + 1, now.line(i), was.PRLink, is.PRLink})
			is.PRLink = was.PRLink
		}
		if !reflect.DeepEqual(was, is) {
			return c, fmt.Errorf("%s:%d: entry %d was changed: history is immutable, add an entry at the end instead", now.name, now.line(i), i+1)
		}
	}
	c.Additions = now.entries[len(old.entries):]
	for i := range c.Additions {
		c.Lines = append(c.Lines, now.line(len(old.entries)+i))
	}
	if len(c.Additions) > 0 && len(c.Corrections) > 0 {
		k := c.Corrections[0]
		return c, fmt.Errorf("%s:%d: entry %d has a corrected link: corrections and additions need separate changes", now.name, k.Line, k.Entry)
	}
	return c, nil
}

// checkCorrection allows nothing but the corrected link lines to differ.
func checkCorrection(base, head []byte, name string, corrections int) error {
	old, now := bytes.SplitAfter(base, []byte("\n")), bytes.SplitAfter(head, []byte("\n"))
	if len(old) != len(now) {
		return fmt.Errorf("%s: a link correction must keep the number of lines, %d before and %d now", name, len(old)-1, len(now)-1)
	}
	changed := 0
	var errs []error
	for i := range old {
		if bytes.Equal(old[i], now[i]) {
			continue
		}
		changed++
		if !bytes.HasPrefix(old[i], linkStart) || !bytes.HasPrefix(now[i], linkStart) {
			errs = append(errs, fmt.Errorf("%s:%d: a link correction must change pr-link lines alone", name, i+1))
		}
	}
	if len(errs) == 0 && changed != corrections {
		errs = append(errs, fmt.Errorf("%s: %d lines differ for %d corrected links", name, changed, corrections))
	}
	return errors.Join(errs...)
}

// differingLine is the first line in which two texts differ.
func differingLine(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return lineAt(a, i)
}
