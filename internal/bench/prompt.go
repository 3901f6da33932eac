package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// words are common and short: most vocabularies hold each as one token.
var words = strings.Fields(`
time year people way day man thing woman life child world school state family student group country problem
hand part place case week company system program question work government number night point home water room
mother area money story fact month lot right study book eye job word business issue side kind head house
service friend father power hour game line end member law car city community name president team minute idea
body information back parent face others level office door health person art war history party result change
morning reason research girl guy moment air teacher force education foot boy age policy music market sense
nation plan college interest death course someone experience behind north south light river stone green table
paper glass summer winter garden window bridge letter engine coast island forest metal silver corner signal`)

// shortWords are the words that hardly any vocabulary cuts in two: the last
// tokens of a prompt are made of them, one each.
var shortWords = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) > 4 })

// maxShort is how many tokens at most are filled up with short words.
const maxShort = 16

// maxFits bounds the rounds in which one prompt is brought to its length.
const maxFits = 8

// writer makes prompts that no other request of the run shares a beginning
// with, but for a token by chance: the first word is of seed, phase and index.
type writer struct {
	seed  int64
	phase string                                              // "w" warm-up, "m" measured
	count func(ctx context.Context, text string) (int, error) // nil = count words
	ratio float64                                             // tokens per word, as seen so far
}

// shared writes what all prompts of a run begin with, in all of its phases,
// and returns its length in tokens as counted.
func (w *writer) shared(ctx context.Context, tokens int) (string, int, error) {
	if tokens == 0 {
		return "", 0, nil
	}
	own := writer{seed: w.seed, phase: "p", count: w.count}
	text, n, err := own.prompt(ctx, 0, tokens)
	return text + " ", n, err
}

// prompt writes request i's text, about tokens long, and returns its length in
// tokens as counted.
func (w *writer) prompt(ctx context.Context, i, tokens int) (string, int, error) {
	rnd := rand.New(rand.NewPCG(uint64(w.seed), uint64(i)<<8|uint64(w.phase[0])))
	text := []string{fmt.Sprintf("%08x-%s%x", rnd.Uint32(), w.phase, i)} // what differs comes first: some caches hold single tokens
	grow := func(to int) {
		for len(text) < to {
			text = append(text, words[rnd.IntN(len(words))])
		}
	}
	if w.count == nil {
		grow(tokens)
		return strings.Join(text, " "), max(tokens, 1), nil
	}
	if w.ratio == 0 {
		w.ratio = 1
	}
	grow(int(float64(tokens) / w.ratio))
	best, bestCount := "", 0
	for range maxFits {
		joined := strings.Join(text, " ")
		n, err := w.count(ctx, joined)
		if err != nil {
			return "", 0, err
		}
		if best == "" || distance(n, tokens) < distance(bestCount, tokens) {
			best, bestCount = joined, n
		}
		if n == tokens {
			break
		}
		if less := tokens - n; less > 0 && less <= maxShort {
			for range less {
				text = append(text, shortWords[rnd.IntN(len(shortWords))])
			}
			continue
		}
		to := w.fit(len(text), n, tokens)
		grow(to)
		text = text[:to]
	}
	return best, bestCount, nil
}

// fit is the number of words that the last count asks for: words that have n
// tokens shall have tokens. What is too long is cut a word too short rather
// than too long again, since short words fill up what is missing.
func (w *writer) fit(words, n, tokens int) int {
	w.ratio = max(float64(n)/float64(words), 0.01)
	step := int(float64(distance(n, tokens))/w.ratio) + 1
	if n > tokens {
		return max(words-step, 1)
	}
	return words + step
}

func distance(a, b int) int {
	if a > b {
		return a - b
	}
	return b - a
}
