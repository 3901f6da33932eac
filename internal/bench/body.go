package bench

import (
	"fmt"
	"net/url"
	"strings"
)

// ask is what one request is made of.
type ask struct {
	text  string        // the prompt
	ids   []int         // the prompt as token ids, in place of text
	turns []chatMessage // a conversation, in place of text; chat only
	model string        // in place of the target's; empty = that
	input int           // tokens of the prompt
	most  int           // output tokens
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// wireRequest is a whole HTTP/1.1 request.
func wireRequest(t Target, w Workload, a ask) ([]byte, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", t.URL, err)
	}
	body, err := requestBody(t, w, a)
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\n", strings.TrimSuffix(u.EscapedPath(), "/")+endpoint(t), u.Host)
	b.WriteString("Content-Type: application/json\r\nAccept: text/event-stream\r\nAccept-Encoding: identity\r\n")
	if t.Token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", t.Token)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return []byte(b.String()), nil
}

// requestBody is the JSON that the target's API is asked with, its keys in the
// reference's order.
func requestBody(t Target, w Workload, a ask) ([]byte, error) {
	if a.model == "" {
		a.model = t.Model
	}
	o := t.protocol().body(t, w, a)
	return []byte(o.String()), o.err
}

func completionBody(_ Target, w Workload, a ask) object {
	var o object
	o.str("model", a.model)
	if a.ids != nil {
		o.integers("prompt", a.ids)
	} else {
		o.str("prompt", a.text)
	}
	o.float("temperature", 0)
	o.integer("best_of", max(w.BestOf, 1))
	o.integer("max_tokens", a.most)
	if w.LogProbs != nil {
		o.integer("logprobs", *w.LogProbs)
	} else {
		o.null("logprobs")
	}
	streamed(&o, w)
	return o
}

func chatBody(_ Target, w Workload, a ask) object {
	turns := a.turns
	if turns == nil {
		turns = []chatMessage{{"user", a.text}}
	}
	var o object
	o.str("model", a.model)
	messages := make([]string, len(turns))
	for i, turn := range turns {
		var m object
		m.str("role", turn.Role)
		m.str("content", turn.Content)
		messages[i] = m.String()
	}
	o.raw("messages", list(messages))
	o.float("temperature", 0)
	o.integer("max_completion_tokens", a.most)
	streamed(&o, w)
	return o
}

// streamed are the last keys of both OpenAI bodies.
func streamed(o *object, w Workload) {
	o.flag("stream", true)
	var usage object
	usage.flag("include_usage", true)
	o.object("stream_options", &usage)
	if w.IgnoreEOS {
		o.flag("ignore_eos", true)
	}
	extra(o, w)
}

// extra adds the caller's own keys; one that is there already is replaced.
func extra(o *object, w Workload) {
	for _, pair := range w.ExtraBody {
		o.raw(pair[0], pair[1])
	}
}

func sglangBody(_ Target, w Workload, a ask) object {
	var o, sampling object
	if a.ids != nil {
		o.integers("input_ids", a.ids)
	} else {
		o.str("text", a.text)
	}
	sampling.float("temperature", 0)
	sampling.integer("max_new_tokens", a.most)
	if w.IgnoreEOS {
		sampling.flag("ignore_eos", true)
	}
	o.object("sampling_params", &sampling)
	o.flag("stream", true)
	extra(&o, w)
	return o
}

// tgiBody has no greedy decoding (temperature 0 is refused there) and no
// ignore_eos: an answer may be shorter than asked for.
func tgiBody(_ Target, w Workload, a ask) object {
	var o, parameters object
	o.str("inputs", a.text)
	parameters.integer("best_of", max(w.BestOf, 1))
	parameters.integer("max_new_tokens", a.most)
	parameters.flag("do_sample", true)
	parameters.float("temperature", 0.01)
	parameters.float("top_p", 0.99)
	parameters.integer("truncate", a.input)
	o.object("parameters", &parameters)
	extra(&o, w)
	return o
}

func tensorrtBody(_ Target, w Workload, a ask) object {
	var o object
	o.flag("accumulate_tokens", true)
	o.str("text_input", a.text)
	o.float("temperature", 0)
	o.float("top_p", 1)
	o.integer("max_tokens", a.most)
	o.flag("stream", true)
	if w.IgnoreEOS {
		o.integer("min_length", a.most)
	}
	extra(&o, w)
	return o
}

func miiBody(_ Target, w Workload, a ask) object {
	var o object
	o.str("prompt", a.text)
	o.integer("max_tokens", a.most)
	o.float("temperature", 0.01)
	o.float("top_p", 1)
	extra(&o, w)
	return o
}

// probe is the body of a request for one token, not streamed, to one of the
// two OpenAI endpoints.
func probe(t Target, text string) []byte {
	var o object
	o.str("model", t.Model)
	if t.API == Chat {
		var m object
		m.str("role", "user")
		m.str("content", text)
		o.raw("messages", list([]string{m.String()}))
	} else {
		o.str("prompt", text)
	}
	o.integer("max_tokens", 1)
	return []byte(o.String())
}
