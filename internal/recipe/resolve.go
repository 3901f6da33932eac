package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/refit-bench/refit/internal/workspace"
)

// Resolve merges a changelog that a pull request and the main branch both
// extended: the bytes of main, then what the pull request adds, with its link.
// base is their common ancestor. Every byte of main survives. Source: changelog
// specification, section 3.
func Resolve(base, pull, main []byte, rule LinkRule, name string) ([]byte, error) {
	c, err := Changes(base, pull, name)
	if err != nil {
		return nil, fmt.Errorf("the pull request's side: %w", err)
	}
	if err := rule.Check(c); err != nil {
		return nil, fmt.Errorf("the pull request's side: %w", err)
	}
	entries, err := ParseChangelog(main, name)
	if err != nil {
		return nil, fmt.Errorf("main's side: %w", err)
	}
	var out []byte
	var want []ChangelogEntry
	switch {
	case len(c.Additions) > 0:
		out, want, err = appended(pull, main, entries, c.Additions, rule)
	case len(c.Corrections) > 0:
		out, err = corrected(base, main, entries, c.Corrections, name)
	default:
		err = errors.New("the pull request changes nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	again, err := Changes(main, out, name)
	if err == nil {
		err = rule.Check(again)
	}
	if err == nil && len(want)+len(again.Additions) > 0 && !reflect.DeepEqual(again.Additions, want) {
		err = fmt.Errorf("%s: an entry would not read back as the pull request has it", name)
	}
	if err != nil {
		return nil, fmt.Errorf("the resolved file: %w", err)
	}
	return out, nil
}

// appended puts the pull request's new entries behind main's bytes. What main
// has already, whoever brought it, is left out. The entries that are added are
// returned too, as the result must read.
func appended(pull, main []byte, entries, additions []ChangelogEntry, rule LinkRule) (out []byte, added []ChangelogEntry, err error) {
	there := map[string]bool{}
	for _, e := range entries {
		there[signature(e)] = true
	}
	blocks := entryBlocks(pull)
	blocks = blocks[len(blocks)-len(additions):]
	out = bytes.Clone(main)
	if len(main) > 0 && !bytes.HasSuffix(main, []byte("\n\n")) {
		out = append(out, '\n')
	}
	for i, e := range additions {
		if there[signature(e)] {
			continue
		}
		block, err := withLink(blocks[i], rule.Own())
		if err != nil {
			return nil, nil, fmt.Errorf("entry for %s: %w", e.ConfigKeys[0], err)
		}
		if len(added) > 0 {
			out = append(out, '\n')
		}
		out = append(out, block...)
		e.PRLink = rule.Own()
		added = append(added, e)
	}
	if len(added) == 0 {
		return nil, nil, errors.New("main has every entry of the pull request already: take main's file")
	}
	return out, added, nil
}

// corrected makes the pull request's link corrections on main.
func corrected(base, main []byte, entries []ChangelogEntry, corrections []Correction, name string) ([]byte, error) {
	old, err := ParseChangelog(base, name)
	if err != nil {
		return nil, err
	}
	out, blocks, made := bytes.Clone(main), entryOffsets(main), 0
	for i := len(corrections) - 1; i >= 0; i-- { // from the end, so that offsets stay
		k := corrections[i]
		if k.Entry > len(entries) {
			return nil, fmt.Errorf("entry %d is not on main: its link cannot be corrected there", k.Entry)
		}
		was, is := old[k.Entry-1], entries[k.Entry-1]
		link := is.PRLink
		was.PRLink, is.PRLink = "", ""
		switch {
		case !reflect.DeepEqual(was, is):
			return nil, fmt.Errorf("entry %d is another one on main: its link cannot be corrected there", k.Entry)
		case link == k.New:
			continue
		case link != k.Old:
			return nil, fmt.Errorf("entry %d has link %q on main, not %q: somebody else corrected it", k.Entry, cut(link, maxLink), cut(k.Old, maxLink))
		}
		end := len(out)
		if k.Entry < len(blocks) {
			end = blocks[k.Entry]
		}
		block, err := withLink(out[blocks[k.Entry-1]:end], k.New)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", k.Entry, err)
		}
		out = append(bytes.Clone(out[:blocks[k.Entry-1]]), append(block, out[end:]...)...)
		made++
	}
	if made == 0 {
		return nil, errors.New("main has every correction of the pull request already: take main's file")
	}
	return out, nil
}

// Canonicalize gives the entries that head adds to base, and that still hold a
// placeholder, the link of their pull request. History keeps its placeholders.
func Canonicalize(base, head []byte, rule LinkRule, name string) ([]byte, error) {
	c, err := Changes(base, head, name)
	if err == nil {
		err = rule.Check(c)
	}
	if err != nil {
		return nil, err
	}
	if len(c.Additions) == 0 {
		return head, nil
	}
	starts := entryOffsets(head)
	starts = append(starts[len(starts)-len(c.Additions):], len(head))
	out := bytes.Clone(head[:starts[0]])
	for i, e := range c.Additions {
		block := head[starts[i]:starts[i+1]]
		if e.PRLink != rule.Own() {
			if block, err = withLink(block, rule.Own()); err != nil {
				return nil, fmt.Errorf("%s: entry for %s: %w", name, e.ConfigKeys[0], err)
			}
		}
		out = append(out, block...)
	}
	again, err := Changes(base, out, name)
	if err != nil {
		return nil, fmt.Errorf("the canonicalized file: %w", err)
	}
	for i, e := range again.Additions {
		was := c.Additions[i]
		was.PRLink = rule.Own()
		if !reflect.DeepEqual(e, was) {
			return nil, fmt.Errorf("%s: entry for %s: its link cannot be replaced without changing more", name, was.ConfigKeys[0])
		}
	}
	return out, nil
}

// signature is what an entry says, its link left out.
func signature(e ChangelogEntry) string {
	e.PRLink = ""
	text, err := workspace.Canonical(e)
	if err != nil {
		return fmt.Sprintf("%+v", e) // cannot be: an entry is strings, flags and a number
	}
	return string(text)
}

// entryBlocks are the bytes of each entry, from its first line to its last that
// is not blank.
func entryBlocks(src []byte) [][]byte {
	starts := append(entryOffsets(src), len(src))
	blocks := make([][]byte, len(starts)-1)
	for i := range blocks {
		block := src[starts[i]:starts[i+1]]
		for {
			cut := bytes.LastIndexByte(bytes.TrimSuffix(block, []byte("\n")), '\n') + 1
			if cut == 0 || len(bytes.TrimSpace(block[cut:])) > 0 {
				break
			}
			block = block[:cut]
		}
		blocks[i] = block
	}
	return blocks
}

var linkStart = []byte("  pr-link:")

// withLink replaces the first link line of an entry's bytes.
func withLink(block []byte, link string) ([]byte, error) {
	for at := 0; at < len(block); {
		end := at + bytes.IndexByte(block[at:], '\n') + 1
		if end == at {
			end = len(block)
		}
		if bytes.HasPrefix(block[at:], linkStart) {
			out := append(bytes.Clone(block[:at]), linkStart...)
			out = append(out, " "+link+"\n"...)
			return append(out, block[end:]...), nil
		}
		at = end
	}
	return nil, errors.New("no line begins with two spaces and pr-link")
}
