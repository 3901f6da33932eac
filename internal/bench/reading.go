package bench

import (
	"fmt"
	"time"
)

// Reading is what the reference client would have made of a request, where
// that may be something else than what refit makes of it. The legacy keys of a
// raw file are computed from it; the same keys under refit.reading are computed
// from what refit makes of the stream. These are the differences, and where
// else the corrected value is:
//
//	what arrives                          the reference              refit
//	comment, event, id or retry line      fails the request          is part of the grammar
//	"data:" without a space               fails the request          is part of the grammar
//	line over 128 KiB                     fails the request          limit 4 MiB
//	error object in the stream            is passed over             fails the request (stream)
//	body that ends without [DONE], a      success                    fails the request (cut)
//	finish reason, or usage of its own
//	chat without any token                success, TTFT 0            fails the request (stream)
//	usage beside choices                  is passed over: 0 tokens   is taken
//	no usage at all                       0 tokens                   counted by the server, else unknown
//	first message has no text             sets TTFT                  refit.first_text: first message with text
//	message without text                  ends a gap                 refit.text_itl: gaps between texts
//	usage message of a chat               extends E2EL               refit.decode_s ends with the last token
//	TGI, TensorRT-LLM, DeepSpeed-MII      0 tokens                   TGI: its own count; else unknown
//
// Where the corrected value has a key of its own, refit.reading keeps the
// reference's definition: rows are compared with published ones, whose TTFT,
// ITL and E2EL are those. Both fail a line of JSON that no "data:" stands in
// front of, which the reference would take.
//
// Of what is sent, the help of `refit bench` says what differs, in the legacy
// keys too.
type Reading struct {
	Error   string        // empty = success
	TTFT    time.Duration // 0 for a request that failed before its first message
	Latency time.Duration // 0 for a failed request
	Gaps    int           // it counted so many of the request's ITLs
	Tokens  int           // -1 = to be counted out of the text
}

// maxReferenceLine is the longest line that the reference reads.
const maxReferenceLine = 128 << 10

// reading follows the reference through a stream, beside the exchange, whose
// stamps it shares.
type reading struct {
	failure string // it gave up: why
	first   int64  // then: the first message so far
	gaps    int    // then: the gaps so far
	tokens  int64  // of the last message with usage and no choices; 0 = none came, -1 = it had no count
}

// gaveUp says that the reference reads no further.
func (x *exchange) gaveUp(format string, args ...any) {
	if x.ref.failure == "" {
		x.ref = reading{failure: fmt.Sprintf(format, args...), first: x.first, gaps: len(x.itls), tokens: x.ref.tokens}
	}
}

// refers looks at a line as the reference does, before anything is made of it.
// data says that it is a data line.
func (x *exchange) refers(line []byte, data bool) {
	switch {
	case len(line) > maxReferenceLine:
		x.gaveUp("line of %d bytes", len(line))
	case data && (len(line) < 6 || line[5] == ' '):
	case !blank(line):
		x.gaveUp("line is not JSON: %s", start(line))
	}
}

func blank(line []byte) bool {
	for _, c := range line {
		if c > ' ' {
			return false
		}
	}
	return true
}

// reading is the reference's record of the finished exchange, nil where there
// is no reference for this API. It changes nothing: others than the measuring
// thread ask for it too.
func (x *exchange) reading() *Reading {
	if x.dialect != nil && x.dialect.own {
		return nil
	}
	seen := x.ref
	if seen.failure == "" && x.choices == 0 && !x.chat {
		seen.failure, seen.first, seen.gaps = "no message with choices arrived", x.first, len(x.itls)
	}
	ref := &Reading{Error: seen.failure, Tokens: int(seen.tokens)}
	first := x.first
	if ref.Error != "" {
		first, ref.Gaps, ref.Tokens = seen.first, seen.gaps, 0
	} else {
		ref.Gaps = len(x.itls)
		if x.marker > 0 {
			ref.Latency = time.Duration(x.marker - x.sent)
		}
	}
	if first > 0 {
		ref.TTFT = time.Duration(first - x.sent)
	}
	if x.dialect != nil && x.dialect.whole { // there is no first token to be seen
		ref.TTFT = 0
	}
	return ref
}

// reference is the result as the reference client would have it.
func (r Result) reference() Result {
	requests := make([]Request, len(r.Requests))
	for i, q := range r.Requests {
		requests[i] = q.reference()
	}
	r.Requests = requests
	return r
}

func (q Request) reference() Request {
	ref := q.Reference
	if ref == nil {
		return q
	}
	counted := q.OutputTokens
	known := q.TokensFrom != ""
	q.Error, q.TTFT, q.Latency = ref.Error, ref.TTFT, ref.Latency
	q.ITLs = q.ITLs[:min(ref.Gaps, len(q.ITLs))]
	q.OutputTokens, q.TokensFrom = ref.Tokens, "usage"
	if ref.Tokens < 0 {
		q.OutputTokens, q.TokensFrom = counted, "count"
		if !known {
			q.OutputTokens, q.TokensFrom = 0, ""
		}
	}
	return q
}

// counted marks a result without throughput.
func (h Health) counted(r Result) Health {
	if doubt := r.uncounted(); doubt != "" {
		h = h.sick("%s", doubt)
	}
	return h
}

// uncounted says whose tokens nobody knows, by either reading; empty = nobody's.
func (r Result) uncounted() string {
	n := r.Totals(nil).Unknown
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("nobody counted the output tokens of %d requests", n)
}

// legacyDoubts are the differences between the legacy keys' sums and those of
// refit.reading: who publishes the legacy ones should know of them. They say
// nothing against the client, nor against a row that has the others.
func (r Result) legacyDoubts() []string {
	mine, theirs := r.Totals(nil), r.reference().Totals(nil)
	switch {
	case mine.Completed < theirs.Completed:
		return []string{fmt.Sprintf("the legacy keys have %d completed requests, %d of %d were: the reference's client takes failures of this kind for success", theirs.Completed, mine.Completed, len(r.Requests))}
	case mine.Completed > theirs.Completed:
		return []string{fmt.Sprintf("the legacy keys have %d completed requests, %d of %d were: the reference's client cannot read what this server sends", theirs.Completed, mine.Completed, len(r.Requests))}
	case mine.Unknown == 0 && theirs.Unknown == 0 && mine.OutputTokens != theirs.OutputTokens:
		return []string{fmt.Sprintf("the legacy keys have %d output tokens, the server sent %d", theirs.OutputTokens, mine.OutputTokens)}
	}
	return nil
}
