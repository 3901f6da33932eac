package bench

import (
	"strconv"
	"time"
)

// writeServer writes what the server itself said of each request, beside the
// client's readings that it is compared with. Requests without an answer of
// that kind have null. Keys, one value a request:
//
//	first_text_s                    first message with text
//	decode_s                        from there to the last message with choices
//	cached_tokens                   of the prompt, from the server's prefix cache
//	server_timings.prompt_n         prompt tokens processed
//	server_timings.prompt_ms        start of the prompt's turn to first token
//	server_timings.predicted_n      tokens generated
//	server_timings.predicted_ms     first token to last token
//
// server_timings is null when no answer had timings.
func (r Result) writeServer(o *object) {
	column := func(o *object, name string, value func(Request) (string, bool)) {
		spelled := make([]string, len(r.Requests))
		for i, q := range r.Requests {
			spelled[i] = "null"
			if v, ok := value(q); ok {
				spelled[i] = v
			}
		}
		o.raw(name, list(spelled))
	}
	column(o, "first_text_s", func(q Request) (string, bool) {
		return o.number("first_text_s", q.FirstText.Seconds()), q.FirstText > 0
	})
	column(o, "decode_s", func(q Request) (string, bool) {
		return o.number("decode_s", q.Decode.Seconds()), q.Error == "" && q.FirstText > 0
	})
	column(o, "cached_tokens", func(q Request) (string, bool) {
		if q.Cached == nil {
			return "", false
		}
		return strconv.Itoa(*q.Cached), true
	})
	if r.agreement() == nil {
		o.null("server_timings")
		return
	}
	var t object
	timed := func(name string, value func(Timings) string) {
		column(&t, name, func(q Request) (string, bool) {
			if q.Server == nil {
				return "", false
			}
			return value(*q.Server), true
		})
	}
	ms := func(d time.Duration) string { return t.number("ms", 1000*d.Seconds()) }
	timed("prompt_n", func(s Timings) string { return strconv.Itoa(s.Prompted) })
	timed("prompt_ms", func(s Timings) string { return ms(s.Prompt) })
	timed("predicted_n", func(s Timings) string { return strconv.Itoa(s.Predicted) })
	timed("predicted_ms", func(s Timings) string { return ms(s.Decode) })
	o.object("server_timings", &t)
}

// object spells the comparison with the keys of its JSON form.
func (a ServerAgreement) object() *object {
	var o object
	o.integer("requests", a.Requests)
	o.integer("tokens_differ", a.TokensDiffer)
	o.float("tokens_max_diff", a.TokensMaxDiff)
	o.integer("decodes", a.Decodes)
	o.integer("merged", a.Merged)
	o.float("decode_max_diff", a.DecodeMaxDiff)
	o.float("decode_median", a.DecodeMedian)
	o.integer("decode_max_gap_ns", int(a.DecodeMaxGap))
	o.integer("decode_outside", a.DecodeOutside)
	o.integer("wait_median_ns", int(a.WaitMedian))
	o.integer("wait_max_ns", int(a.WaitMax))
	o.integer("first_impossible", a.FirstImpossible)
	return &o
}

// object spells the engine's figures with the keys of their JSON form.
func (l EngineLoad) object() *object {
	var o object
	o.str("engine", l.Engine)
	o.optional("running_before", l.RunningBefore)
	o.optional("waiting_before", l.WaitingBefore)
	o.optional("running_after", l.RunningAfter)
	o.optional("waiting_after", l.WaitingAfter)
	o.optional("prompt_tokens", l.PromptTokens)
	return &o
}
