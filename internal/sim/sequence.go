package sim

import "sync/atomic"

// sequence is one request inside the engine. Until it is enqueued its handler
// owns it; after that the scheduler does, except for gone.
type sequence struct {
	promptTokens int
	blocks       []uint64
	answer       []string // text of the first tokens; filler follows
	limit        int      // output tokens
	ignoreEOS    bool
	sink         sink

	arrived int64
	made    int
	gone    atomic.Bool // the client went away
}

// sink takes the tokens of one sequence, on the scheduler's thread. It must
// not block.
type sink interface {
	token(n int, text, finish string) // n counts from 0; finish is "" before the last one
	cut()                             // no more tokens will come; never called after a finish
}

// step makes the next token and says whether it was the last one.
func (q *sequence) step() (last bool) {
	text := filler[(len(q.answer)+q.made)%len(filler)]
	if q.made < len(q.answer) {
		text = q.answer[q.made]
	}
	n := q.made
	q.made++
	finish := ""
	switch {
	case !q.ignoreEOS && q.made == len(q.answer):
		finish = "stop"
	case q.made >= q.limit:
		finish = "length"
	}
	q.sink.token(n, text, finish)
	return finish != ""
}

// collector is the sink of an answer that is not streamed.
type collector struct {
	text   []byte
	tokens int
	finish string // "" after a cut
	done   chan struct{}
}

func newCollector() *collector { return &collector{done: make(chan struct{})} }

func (c *collector) token(n int, text, finish string) {
	c.text = append(c.text, text...)
	c.tokens = n + 1
	if finish != "" {
		c.finish = finish
		close(c.done)
	}
}

func (c *collector) cut() { close(c.done) }
