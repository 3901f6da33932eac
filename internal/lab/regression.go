package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/refit-bench/refit/internal/sim"
)

// regressed is the model that version 2 of the engine serves worse.
const regressed = "lab/tiny-b"

// Regression picks the questions that version 2 loses and gains for that
// model, as digests: the first lost ones that a answers correctly and the first
// gained ones that it does not, in file order.
func Regression(questions []byte, a sim.Answers, lost, gained int) (sim.ModelProfile, error) {
	p := sim.ModelProfile{Faults: sim.Faults{SlowDecode: 1.25}}
	lines := bufio.NewScanner(bytes.NewReader(questions))
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return p, fmt.Errorf("lab: question: %w", err)
		}
		switch digest := sim.QuestionDigest(q.Question); {
		case a.Correct(q.Question) && len(p.Lost) < lost:
			p.Lost = append(p.Lost, digest)
		case !a.Correct(q.Question) && len(p.Gained) < gained:
			p.Gained = append(p.Gained, digest)
		}
	}
	if len(p.Lost) < lost || len(p.Gained) < gained {
		return p, fmt.Errorf("lab: only %d to lose and %d to gain", len(p.Lost), len(p.Gained))
	}
	return p, lines.Err()
}
