// Package gate judges evidence. It is handed keys, rows, comparisons and facts
// about a workflow run, and answers pass, fail or unknown, always with a
// reason. It reads nothing, keeps nothing and has no clock.
package gate

import (
	"fmt"
	"strings"
)

// Answer is what a gate says about the evidence it was handed.
type Answer string

// The three answers. Unknown means that the evidence cannot decide; it is not
// a no, and it is never a yes.
const (
	Pass    Answer = "pass"
	Fail    Answer = "fail"
	Unknown Answer = "unknown"
)

// Verdict is the answer of one gate and why. Reason is one line and never
// empty; for a pass it says what was covered.
type Verdict struct {
	Gate   string `json:"gate"`
	Answer Answer `json:"answer"`
	Reason string `json:"reason"`
}

// String spells the verdict as one line: "coverage: pass: 5 of 5 points".
func (v Verdict) String() string {
	return fmt.Sprintf("%s: %s: %s", v.Gate, v.Answer, v.Reason)
}

// All is the judgement over several gates: fail when any failed, else unknown
// when any is unknown, else pass. Its reason carries every reason of the
// deciding answer. No gates at all is unknown, because nothing was looked at.
func All(vs []Verdict) Verdict {
	answer := Pass
	for _, v := range vs {
		if v.Answer == Fail {
			answer = Fail
			break
		}
		if v.Answer != Pass {
			answer = Unknown
		}
	}
	if len(vs) == 0 {
		return Verdict{"all", Unknown, "no gate was asked"}
	}
	var reasons []string
	for _, v := range vs {
		if v.Answer == answer || (answer == Unknown && v.Answer != Pass) {
			reasons = append(reasons, v.Gate+": "+v.Reason)
		}
	}
	return Verdict{"all", answer, strings.Join(reasons, "; ")}
}
