package main

import (
	"io"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// text is output for people. Names, reasons and messages of others are in it,
// so nothing that could move the cursor or reorder a line gets through. Each
// Write holds whole characters.
type text struct{ w io.Writer }

// Write writes the printable part of p.
func (t text) Write(p []byte) (int, error) {
	if _, err := io.WriteString(t.w, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// printable keeps line ends and what a line of a terminal may show.
func printable(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = workspace.Printable(line)
	}
	return strings.Join(lines, "\n")
}
