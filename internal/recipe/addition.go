package recipe

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// checkAddition holds added bytes to the form that merges without conflict and
// that tools find entries and links in: base unchanged in front, one empty line
// between entries, none at the end, no spaces at line ends, each link on one
// line. History, which is not held to it, has examples of all of these.
func checkAddition(base []byte, head snapshot, added int) error {
	if !bytes.HasPrefix(head.src, base) {
		return fmt.Errorf("%s:%d: bytes of the history were changed: take them from the base", head.name, differingLine(base, head.src))
	}
	blocks := entryBlocks(head.src)
	first := len(blocks) - added
	want := "\n" + entryStart
	if len(base) == 0 || bytes.HasSuffix(base, []byte("\n\n")) {
		want = entryStart
	}
	var errs []error
	if !bytes.HasPrefix(head.src[len(base):], []byte(want)) {
		errs = append(errs, head.fail(len(base), "exactly one empty line must stand before an added entry"))
	}
	for i := first; i < len(blocks); i++ {
		errs = append(errs, head.checkBlock(i, blocks[i]))
		after := head.starts[i] + len(blocks[i])
		switch {
		case i+1 < len(blocks) && string(head.src[after:head.starts[i+1]]) != "\n":
			errs = append(errs, head.fail(after, "exactly one empty line must stand before an added entry"))
		case i+1 == len(blocks) && after < len(head.src):
			errs = append(errs, head.fail(after, "the file must not end with an empty line"))
		}
	}
	return errors.Join(errs...)
}

// checkBlock checks the lines of an added entry.
func (s snapshot) checkBlock(i int, block []byte) error {
	var errs []error
	at := s.starts[i]
	if !linkOnOneLine(block, s.entries[i].PRLink) {
		errs = append(errs, s.fail(at, "pr-link must stand on a line of its own that begins with two spaces"))
	}
	for line := range bytes.Lines(block) {
		if text := bytes.TrimSuffix(line, []byte("\n")); bytes.HasSuffix(text, []byte(" ")) {
			errs = append(errs, s.fail(at, "spaces at the end of the line: remove them"))
		}
		at += len(line)
	}
	return errors.Join(errs...)
}

// fail is a mistake at a byte of the file.
func (s snapshot) fail(at int, rule string) error {
	return fmt.Errorf("%s:%d: %s", s.name, lineAt(s.src, at), rule)
}

// linkOnOneLine says whether the first link line of an entry's bytes, which is
// the one that tools replace, holds its whole link.
func linkOnOneLine(block []byte, link string) bool {
	for line := range bytes.Lines(block) {
		if bytes.HasPrefix(line, linkStart) {
			var read map[string]string
			return yaml.Unmarshal(line, &read) == nil && read["pr-link"] == link
		}
	}
	return false
}
