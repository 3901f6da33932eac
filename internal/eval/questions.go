package eval

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// Question is one document of a GSM8K file.
type Question struct {
	Question string `json:"question"`
	Answer   string `json:"answer"` // ends in "#### <number>"
}

const (
	maxFile      = 64 << 20
	maxLine      = 1 << 20
	maxQuestions = 200000
)

// LoadQuestions reads a GSM8K file: one JSON object with question and answer on
// a line. When sha256 is given (hex), the file must have that digest. Mistakes
// are named as "path:line: ...".
func LoadQuestions(path string, sha256 string) ([]Question, error) {
	data, err := workspace.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("questions: %w", err)
	}
	if got := digest(data); sha256 != "" && !strings.EqualFold(got, sha256) {
		return nil, fmt.Errorf("%s: its sha256 is %s, want %s", path, got, strings.ToLower(sha256))
	}
	return parseQuestions(path, data)
}

func parseQuestions(path string, data []byte) ([]Question, error) {
	var out []Question
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		q, err := parseQuestion(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if len(out) == maxQuestions {
			return nil, fmt.Errorf("%s:%d: more than %d questions", path, n, maxQuestions)
		}
		out = append(out, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no questions", path)
	}
	return out, nil
}

func parseQuestion(line []byte) (Question, error) {
	var q Question
	if err := json.Unmarshal(line, &q); err != nil {
		return q, err
	}
	switch {
	case strings.TrimSpace(q.Question) == "":
		return q, fmt.Errorf("question: missing")
	case Strict(q.Answer) == Invalid:
		return q, fmt.Errorf("answer: no \"#### <number>\" in it")
	}
	return q, nil
}

// Digest names a question: the SHA-256 of its text, in hex.
func Digest(question string) string { return digest([]byte(question)) }

func digest(data []byte) string {
	d := sha256.Sum256(data)
	return hex.EncodeToString(d[:])
}
