package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var sum = regexp.MustCompile(`(\d{1,9}) (plus|minus|times) (\d{1,9})`)

// QuestionLine returns the line of a prompt that asks for arithmetic, without
// the word "Question:" in front of it; "" when there is none. With several,
// the last counts.
func QuestionLine(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "Question:"))
		if sum.MatchString(line) {
			return line
		}
	}
	return ""
}

// QuestionDigest is the name of a question line in Answers.Lost and Gained:
// its SHA-256 in hex.
func QuestionDigest(line string) string {
	d := sha256.Sum256([]byte(line))
	return hex.EncodeToString(d[:])
}

// Correct says whether the question is answered correctly.
func (a Answers) Correct(line string) bool {
	digest := QuestionDigest(line)
	if slices.Contains(a.Lost, digest) {
		return false
	}
	return slices.Contains(a.Gained, digest) || a.draw(line) < a.Accuracy
}

// draw is a number in [0, 1) that depends on nothing but seed and question.
func (a Answers) draw(line string) float64 {
	d := sha256.Sum256([]byte(strconv.FormatInt(a.Seed, 10) + "\n" + line))
	return float64(binary.BigEndian.Uint64(d[:])>>11) / (1 << 53)
}

// Reply answers the question line in GSM8K's form, ending in "#### N" and not
// longer than 24 tokens; "" when the line asks nothing.
func (a Answers) Reply(line string) string {
	m := sum.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	x, _ := strconv.ParseInt(m[1], 10, 64)
	y, _ := strconv.ParseInt(m[3], 10, 64)
	result := map[string]int64{"plus": x + y, "minus": x - y, "times": x * y}[m[2]]
	if !a.Correct(line) {
		result += 1 + int64(a.draw(line+"\nby how much")*9)
	}
	return fmt.Sprintf("%d %s %d is %d.\n#### %d", x, m[2], y, result, result)
}
