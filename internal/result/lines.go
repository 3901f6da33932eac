package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/refit-bench/refit/internal/workspace"
)

// The kinds of a Line.
const (
	KindRow  = "row"
	KindEval = "eval"
)

// Limits of a rows file.
const (
	maxLineBytes = 64 << 20
	maxFileBytes = 512 << 20
	maxLines     = 100_000
)

// Line is one line of rows.jsonl: exactly one of Row and Eval is set, as Kind says.
type Line struct {
	Kind string   `json:"kind"`
	Row  *Row     `json:"row,omitempty"`
	Eval *EvalRow `json:"eval,omitempty"`
}

// WriteLines writes one JSON object per line. It refuses a line that ReadLines
// would refuse, so a file that was written can be read.
func WriteLines(w io.Writer, lines []Line) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i, l := range lines {
		if err := l.check(); err != nil {
			return fmt.Errorf("write rows: line %d: %w", i+1, err)
		}
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("write rows: line %d: %w", i+1, err)
		}
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}

// ReadLines reads what WriteLines wrote. Unknown keys, non-finite numbers,
// incomplete rows and oversized input are errors that name the line.
func ReadLines(r io.Reader) ([]Line, error) {
	s := bufio.NewScanner(io.LimitReader(r, maxFileBytes+1))
	s.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	var lines []Line
	size := 0
	for s.Scan() {
		n := len(lines) + 1
		size += len(s.Bytes()) + 1
		if n > maxLines || size > maxFileBytes {
			return nil, fmt.Errorf("read rows: line %d: more than %d lines or %d bytes", n, maxLines, maxFileBytes)
		}
		var l Line
		if err := workspace.DecodeStrict(s.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("read rows: line %d: %w", n, err)
		}
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("read rows: line %d: %w", n, err)
		}
		lines = append(lines, l)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read rows: line %d: %w", len(lines)+1, err)
	}
	return lines, nil
}
