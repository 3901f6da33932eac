package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// question is one line of a GSM8K file.
type question struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// questionsSeed is the seed of the lab's own questions.
const questionsSeed = 20260901

// Questions writes n different one-step arithmetic questions in GSM8K's file
// format. The same seed gives the same bytes.
func Questions(n int, seed uint64) []byte { return questions(n, seed, draw) }

// Sums writes n of the 81 sums of two digits, for a model that can do no more.
func Sums(n int, seed uint64) []byte {
	return questions(n, seed, func(r *rand.Rand) question {
		x, y := 1+r.IntN(9), 1+r.IntN(9)
		return question{fmt.Sprintf("What is %d plus %d?", x, y), fmt.Sprintf("%d plus %d is %d.\n#### %d", x, y, x+y, x+y)}
	})
}

func questions(n int, seed uint64, draw func(*rand.Rand) question) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	asked := map[string]bool{}
	for len(asked) < n {
		q := draw(r)
		if asked[q.Question] {
			continue
		}
		asked[q.Question] = true
		if err := encoder.Encode(q); err != nil {
			panic("lab: a question did not become JSON: " + err.Error())
		}
	}
	return out.Bytes()
}

// draw makes one question; results are never negative.
func draw(r *rand.Rand) question {
	x, y := 10+r.IntN(90), 10+r.IntN(90)
	switch r.IntN(3) {
	case 0:
		return arithmetic(x, "plus", "+", y, x+y)
	case 1:
		x, y = max(x, y), min(x, y)
		return arithmetic(x, "minus", "-", y, x-y)
	}
	y = 2 + y%8
	return arithmetic(x, "times", "*", y, x*y)
}

func arithmetic(x int, word, sign string, y, result int) question {
	return question{
		Question: fmt.Sprintf("What is %d %s %d?", x, word, y),
		Answer:   fmt.Sprintf("%d %s %d is <<%d%s%d=%d>>%d.\n#### %d", x, word, y, x, sign, y, result, result, result),
	}
}
