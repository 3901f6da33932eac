package bench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Timings are a request as the server's own clock saw it, in the `timings`
// object of llama.cpp's answers. Prompt runs from the moment the prompt's
// processing begins in a slot, after any wait for one, until the first token is
// sampled; Decode from there until the last token is sampled, so that it holds
// one step less than there are tokens and is nothing for a single token.
type Timings struct {
	Cached    int           // prompt tokens found in the prefix cache
	Prompted  int           // prompt tokens processed
	Predicted int           // tokens generated, an end-of-text token among them
	Prompt    time.Duration // prompt_ms
	Decode    time.Duration // predicted_ms
}

// agreeWithin is how far a reading of the client may be from the server's, as
// a part of it. Less than agreeGap apart is no disagreement: threads take turns.
const (
	agreeWithin = 0.02
	agreeGap    = time.Millisecond
)

// ServerAgreement compares the client's readings of requests with the
// server's own. Two figures have the same meaning on both sides and are
// compared as relative differences: the number of output tokens, and the time
// from the first to the last token. The server's clock reads when a token is
// sampled, the client's when its message is read, so their difference is only
// what delivery of the first and of the last token differ by: a first token that
// is handed over late, by either side, makes the client's time shorter and the
// wait of that request longer by as much. Tokens are those of the answer's
// usage, or counted in its text.
//
// The time to the first token has no counterpart: the client's begins with the
// request, the server's with the prompt's turn. Of these the difference is
// shown, as the wait, and counted where it is impossible.
type ServerAgreement struct {
	Requests        int           `json:"requests"`          // completed, with timings in the answer
	TokensDiffer    int           `json:"tokens_differ"`     // of them with other numbers of tokens
	TokensMaxDiff   float64       `json:"tokens_max_diff"`   // relative
	Decodes         int           `json:"decodes"`           // requests whose decode time can be compared
	Merged          int           `json:"merged"`            // cannot: several tokens in one message hide when the first one came
	DecodeMaxDiff   float64       `json:"decode_max_diff"`   // relative
	DecodeMedian    float64       `json:"decode_median"`     // relative difference
	DecodeMaxGap    time.Duration `json:"decode_max_gap_ns"` // largest absolute difference
	DecodeOutside   int           `json:"decode_outside"`    // further apart than 2 %
	WaitMedian      time.Duration `json:"wait_median_ns"`    // first text minus the server's prompt time: queue, running batch, delivery
	WaitMax         time.Duration `json:"wait_max_ns"`
	FirstImpossible int           `json:"first_impossible"` // first text before the server had its first token
}

// agreement compares the requests of a run, nil when no answer had timings.
func (r Result) agreement() *ServerAgreement {
	var a ServerAgreement
	var decodes, waits []float64
	for _, q := range r.Requests {
		if q.Error != "" || q.Server == nil {
			continue
		}
		a.Requests++
		a.tokens(q)
		if q.FirstText > 0 {
			wait := q.FirstText - q.Server.Prompt
			waits = append(waits, wait.Seconds())
			if wait < 0 {
				a.FirstImpossible++
			}
		}
		if d, ok := a.decode(q); ok {
			decodes = append(decodes, d)
		}
	}
	if a.Requests == 0 {
		return nil
	}
	a.Decodes = len(decodes)
	if len(decodes) > 0 {
		a.DecodeMaxDiff, a.DecodeMedian = slices.Max(decodes), Describe(decodes, nil).Median
	}
	if len(waits) > 0 {
		a.WaitMax = time.Duration(math.Round(1e9 * slices.Max(waits)))
		a.WaitMedian = time.Duration(math.Round(1e9 * Describe(waits, nil).Median))
	}
	return &a
}

func (a *ServerAgreement) tokens(q Request) {
	if q.OutputTokens == q.Server.Predicted && q.TokensFrom != "" {
		return
	}
	a.TokensDiffer++
	a.TokensMaxDiff = max(a.TokensMaxDiff, apart(float64(q.OutputTokens), float64(q.Server.Predicted)))
}

// decode is the relative difference of the two decode times. An end-of-text
// token has no message with text of its own.
func (a *ServerAgreement) decode(q Request) (difference float64, ok bool) {
	if q.Server.Predicted < 2 || q.Server.Decode <= 0 || q.FirstText == 0 {
		return 0, false
	}
	if texts := len(q.TextITLs) + 1; texts < q.Server.Predicted-1 {
		a.Merged++
		return 0, false
	}
	difference = apart(q.Decode.Seconds(), q.Server.Decode.Seconds())
	gap := (q.Decode - q.Server.Decode).Abs()
	if difference > agreeWithin && gap > agreeGap {
		a.DecodeOutside++
	}
	a.DecodeMaxGap = max(a.DecodeMaxGap, gap)
	return difference, true
}

// apart is the difference of two figures as a part of the second.
func apart(ours, theirs float64) float64 {
	if theirs == 0 {
		if ours == 0 {
			return 0
		}
		return 1
	}
	return math.Abs(ours-theirs) / theirs
}

// Agree says whether every figure that can be compared is within 2 %.
func (a ServerAgreement) Agree() bool {
	return a.TokensMaxDiff <= agreeWithin && a.DecodeOutside == 0 && a.FirstImpossible == 0
}

// String is the comparison in a sentence.
func (a ServerAgreement) String() string {
	tokens := "tokens equal"
	if a.TokensDiffer > 0 {
		tokens = fmt.Sprintf("tokens differ in %d by at most %.1f %%", a.TokensDiffer, 100*a.TokensMaxDiff)
	}
	if a.Decodes == 0 {
		return fmt.Sprintf("no decode time to compare, %s, %d requests", tokens, a.Requests)
	}
	verb := "agree within"
	if !a.Agree() {
		verb = "disagree by up to"
	}
	s := fmt.Sprintf("client and server %s %.1f %% on decode time (median %.1f %%, at most %v), %s, %d requests", verb,
		100*a.DecodeMaxDiff, 100*a.DecodeMedian, short(a.DecodeMaxGap), tokens, a.Requests)
	if a.DecodeOutside > 0 {
		s += fmt.Sprintf("; %d decode times further apart than %.0f %%", a.DecodeOutside, 100*agreeWithin)
	}
	if a.Merged > 0 {
		s += fmt.Sprintf("; %d not compared, several tokens to a message", a.Merged)
	}
	if a.FirstImpossible > 0 {
		s += fmt.Sprintf("; %d first tokens earlier than the server made them", a.FirstImpossible)
	}
	return s
}
