package bench

import (
	"context"
	"errors"
	"fmt"
)

// Prompts that a Workload may have.
const (
	Words = "words" // English words, no two prompts with the same beginning
	IDs   = "ids"   // the reference's token ids, as they are: exact lengths without a tokenizer
	Texts = "texts" // the reference's texts: its token ids, turned into text by the server
)

// sheet is what a phase of a run sends.
type sheet struct {
	asks      []ask
	rest      *Twister // the generator behind all draws: arrivals come from it
	tokenized bool     // input lengths are tokens, not words
}

// prompts makes the n requests of a phase.
func (s side) prompts(ctx context.Context, w Workload, phase string, n int) (sheet, error) {
	vocabulary, err := s.vocabulary(ctx, w)
	if err != nil {
		return sheet{}, err
	}
	drawn := w
	if phase == warming {
		drawn.Seed++ // other lengths and other prompts than the measured ones
	}
	d := draw(drawn, n, vocabulary)
	d.moved(w.Seed, vocabulary)
	d.prefix = draw(w, 0, vocabulary).prefix // but the same prefix
	var made sheet
	switch w.Prompts {
	case IDs:
		made = idPrompts(d, vocabulary)
	case Texts:
		made, err = s.textPrompts(ctx, d, w, vocabulary)
	default:
		made, err = s.wordPrompts(ctx, d, w, phase)
	}
	if err != nil {
		return sheet{}, err
	}
	made.rest = d.rest
	for i := range made.asks {
		made.asks[i].input += w.Template
	}
	if len(w.Models) > 0 {
		for i, m := range drawModels(w.Seed, w.Models, n) {
			made.asks[i].model = m
		}
	}
	return made, nil
}

// vocabulary is the number of token ids, 0 when nobody knows it and nothing
// that is sent depends on it. Arrivals do: they come behind the draws of ids.
func (s side) vocabulary(ctx context.Context, w Workload) (int, error) {
	needed := w.Prompts == IDs || w.Prompts == Texts
	if w.Vocabulary > 0 || !needed && w.Rate == 0 && w.SharedPrefix == 0 {
		return w.Vocabulary, nil
	}
	n := s.askVocabulary(ctx)
	if n == 0 && needed {
		return 0, fmt.Errorf("prompts of kind %s are drawn from the token ids, and the server does not say how many there are: give --vocab-size", w.Prompts)
	}
	return n, nil
}

// idPrompts are the reference's token ids. Where two prompts would begin with
// the same id, and share a part of the prefix cache, the later one begins
// behind it.
func idPrompts(d dataset, vocabulary int) sheet {
	made := sheet{tokenized: true}
	taken := make(map[int]bool, len(d.offsets))
	for i := range d.offsets {
		for range vocabulary {
			if first := (d.offsets[i] + i) % vocabulary; !taken[first] {
				taken[first] = true
				break
			}
			d.offsets[i]++
		}
		ids := d.ids(i, vocabulary)
		made.asks = append(made.asks, ask{ids: ids, input: len(ids), most: d.out[i]})
	}
	return made
}

// wordPrompts are words, counted by the server where it can.
func (s side) wordPrompts(ctx context.Context, d dataset, w Workload, phase string) (sheet, error) {
	wr := &writer{seed: w.promptSeed(), phase: phase, count: s.count}
	if _, err := s.count(ctx, "one two three"); err != nil {
		if !errors.Is(err, errNoTokenizer) {
			return sheet{}, err
		}
		wr.count = nil
	}
	made := sheet{tokenized: wr.count != nil}
	prefix, prefixTokens, err := wr.shared(ctx, w.SharedPrefix)
	if err != nil {
		return sheet{}, fmt.Errorf("shared prefix: %w", err)
	}
	for i := range d.in {
		text, tokens, err := wr.prompt(ctx, i, d.in[i])
		if err != nil {
			return sheet{}, fmt.Errorf("prompt %d: %w", i, err)
		}
		made.asks = append(made.asks, ask{text: prefix + text, input: prefixTokens + tokens, most: d.out[i]})
	}
	return made, nil
}

// maxTurns bounds the rounds in which one of the reference's texts is brought
// to its length.
const maxTurns = 10

// textPrompts are the reference's texts, as the server's tokenizer makes them.
func (s side) textPrompts(ctx context.Context, d dataset, w Workload, vocabulary int) (sheet, error) {
	made := sheet{tokenized: true}
	fillers := d.fillers(w.Workers)
	share := (len(d.in) + len(fillers) - 1) / len(fillers)
	for i := range d.in {
		text, tokens, err := s.textOf(ctx, d.ids(i, vocabulary), vocabulary, fillers[i/share])
		if err != nil {
			return sheet{}, fmt.Errorf("prompt %d: %w", i, err)
		}
		made.asks = append(made.asks, ask{text: text, input: tokens, most: d.out[i]})
	}
	return made, nil
}

// textOf turns ids into a text of as many tokens: a text does not always
// become the tokens again that it was made of. What is missing is filled up
// with random ids, what is too much is cut off.
func (s side) textOf(ctx context.Context, ids []int, vocabulary int, filler *Twister) (text string, tokens int, err error) {
	target := len(ids)
	if text, err = s.detokenize(ctx, ids); err != nil {
		return "", 0, err
	}
	for range maxTurns {
		if ids, err = s.tokenize(ctx, text); err != nil || len(ids) == target {
			return text, target, err
		}
		for len(ids) < target {
			ids = append(ids, filler.between(0, vocabulary-1))
		}
		if text, err = s.detokenize(ctx, ids[:target]); err != nil {
			return "", 0, err
		}
	}
	tokens, err = s.count(ctx, text)
	return text, tokens, err
}
