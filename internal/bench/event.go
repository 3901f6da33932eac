package bench

// event is what one message of a stream says, read in one pass over its bytes
// without decoding them. Slices point into the message.
type event struct {
	done       bool   // [DONE]
	choices    bool   // a non-empty choices array
	text       []byte // generated text as it stands in JSON, escapes included
	reasoning  bool   // text came from a reasoning field
	delta      bool   // a choice of a chat's stream
	finished   bool   // a choice says why it ends
	usage      bool
	prompt     int64 // usage.prompt_tokens, -1 = absent
	completion int64 // usage.completion_tokens, -1 = absent
	cached     int64 // usage.prompt_tokens_details.cached_tokens, -1 = absent
	timed      bool  // the message carries timings
	timings    Timings
	sent       int64  // sent_ns, 0 = absent
	failure    []byte // the value of a non-null error key
	malformed  bool
}

// parseEvent reads one JSON message. Anything that is not a JSON object with
// balanced brackets is malformed.
func parseEvent(b []byte) event {
	var s shape
	s.learn(b)
	return s.event
}

// scope says which keys of an object are of interest.
type scope int

const (
	scopeOther scope = iota
	scopeTop
	scopeChoice
	scopeDelta
	scopeUsage
	scopePromptDetails
	scopeTimings
)

// object reads an object; what its keys mean depends on the scope.
func (w *walker) object(s scope) {
	for key, more := w.open(); more; key, more = w.next() {
		w.member(s, key)
	}
}

// member reads the value behind a key.
func (w *walker) member(s scope, key []byte) {
	switch s {
	case scopeTop:
		w.topMember(key)
	case scopeChoice:
		switch string(key) {
		case "text":
			w.text(false)
		case "delta", "message":
			w.ev.delta = w.ev.delta || string(key) == "delta"
			w.value(scopeDelta)
		case "finish_reason":
			w.reason()
		default:
			w.value(scopeOther)
		}
	case scopeDelta:
		switch string(key) {
		case "content":
			w.text(false)
		case "reasoning_content", "reasoning":
			w.text(true)
		default:
			w.value(scopeOther)
		}
	case scopeUsage:
		switch string(key) {
		case "prompt_tokens":
			w.ev.prompt = w.integer(holePrompt)
		case "completion_tokens":
			w.ev.completion = w.integer(holeCompletion)
		case "prompt_tokens_details":
			w.value(scopePromptDetails)
		default: // a total, for one, grows with every message
			w.integer(holeNumber)
		}
	case scopePromptDetails:
		if string(key) == "cached_tokens" {
			w.ev.cached = w.integer(holeCached)
			return
		}
		w.value(scopeOther)
	case scopeTimings:
		w.timing(key)
	default:
		w.value(scopeOther)
	}
}

// timing reads one figure of the server's own clock. Figures of no interest,
// rates among them, follow from the others.
func (w *walker) timing(key []byte) {
	t := &w.ev.timings
	switch string(key) {
	case "cache_n":
		t.Cached = int(max(w.integer(holeNumber), 0))
	case "prompt_n":
		t.Prompted = int(max(w.integer(holeNumber), 0))
	case "predicted_n":
		t.Predicted = int(max(w.integer(holeNumber), 0))
	case "prompt_ms":
		t.Prompt = w.milliseconds()
	case "predicted_ms":
		t.Decode = w.milliseconds()
	default:
		w.value(scopeOther)
	}
}

func (w *walker) topMember(key []byte) {
	switch string(key) {
	case "choices":
		w.choices()
	case "usage":
		w.ev.usage = w.peek() == '{'
		w.value(scopeUsage)
	case "timings":
		w.ev.timed = w.peek() == '{'
		w.value(scopeTimings)
	case "sent_ns":
		if n := w.integer(holeSent); n > 0 {
			w.ev.sent = n
		}
	case "created": // a clock's second in some servers
		w.integer(holeNumber)
	case "error":
		w.failureOr(key)
	default:
		w.value(scopeOther)
	}
}

func (w *walker) choices() {
	if w.peek() != '[' {
		w.value(scopeOther)
		return
	}
	w.array(scopeChoice)
	// An empty array leaves nothing between its brackets.
}

// text takes a string value as generated text. Null and other kinds are none.
func (w *walker) text(reasoning bool) {
	if w.peek() != '"' {
		w.value(scopeOther)
		return
	}
	if s := w.string(); len(s) > 0 && len(w.ev.text) == 0 {
		w.ev.text, w.ev.reasoning = s, reasoning
		end := w.i - 1
		w.shape.add(holeText, end-len(s), end)
	}
}

// reason reads a finish reason: a text that is not empty, or an object.
func (w *walker) reason() []byte {
	v := w.raw()
	w.ev.finished = w.ev.finished || len(v) > len(`""`) && (v[0] == '"' || v[0] == '{')
	return v
}
