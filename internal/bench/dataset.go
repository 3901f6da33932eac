package bench

// dataset is what the reference's generator says of a run's requests, before
// any text is made of it. All lengths are tokens.
type dataset struct {
	prefix  []int    // ids that every prompt begins with
	in, out []int    // of each request; in is without the prefix
	offsets []int    // first id of each prompt, less the request's index; nil without a vocabulary
	rest    *Twister // the generator as these draws left it: arrivals come next
}

// draw makes the draws in the reference's order: the prefix, all input
// lengths, all output lengths, all offsets. vocabulary is the number of token
// ids; 0 = not known, then there can be neither prefix nor offsets.
func draw(w Workload, n, vocabulary int) dataset {
	t := NewTwister(uint32(w.Seed))
	d := dataset{rest: t}
	if vocabulary > 0 {
		for range w.SharedPrefix {
			d.prefix = append(d.prefix, t.between(0, vocabulary-1))
		}
	}
	numbers := func(low, high int) []int {
		drawn := make([]int, n)
		for i := range drawn {
			drawn[i] = t.between(low, high)
		}
		return drawn
	}
	ratio := w.RangeRatio
	if ratio == 0 {
		ratio = 1
	}
	d.in = numbers(int(float64(w.InputTokens)*ratio), w.InputTokens)
	d.out = numbers(int(float64(w.OutputTokens)*ratio), w.OutputTokens)
	if vocabulary > 0 {
		d.offsets = numbers(0, vocabulary-1)
	}
	return d
}

// moved takes other ids for the prompts of a run that is measured once more, and
// of a further point of a sweep: the high half of the seed says which it is.
func (d dataset) moved(seed int64, vocabulary int) {
	if vocabulary == 0 {
		return
	}
	by := int(seed >> 32)
	by = (by%vocabulary*7919%vocabulary + vocabulary) % vocabulary
	for i := range d.offsets {
		d.offsets[i] += by
	}
}

// ids are the tokens of request i: the prefix, then a run of consecutive ids.
func (d dataset) ids(i, vocabulary int) []int {
	ids := append([]int{}, d.prefix...)
	for j := range d.in[i] {
		ids = append(ids, (d.offsets[i]+i+j)%vocabulary)
	}
	return ids
}

// fillers are the generators of the tokens that fill up a prompt which a
// tokenizer made shorter, one for each of the workers that the reference cuts
// its requests among. They are of their own, so that arrivals do not depend
// on them.
func (d dataset) fillers(workers int) []*Twister {
	own := NewTwisterOf(d.rest.state[:4]...)
	if workers <= 1 {
		return []*Twister{own}
	}
	fillers := make([]*Twister, workers)
	for k := range fillers {
		fillers[k] = NewTwister(uint32(own.between(0, 1<<31-1)))
	}
	return fillers
}

// drawModels chooses the model of each request among several, as the
// reference's language generator does: the top bits of a word, drawn again
// while they are too large.
func drawModels(seed int64, models []string, n int) []string {
	t := NewTwisterOf(uint32(seed))
	bits := 0
	for ; len(models)>>bits > 0; bits++ {
	}
	drawn := make([]string, n)
	for i := range drawn {
		k := int(t.Word() >> (32 - bits))
		for k >= len(models) {
			k = int(t.Word() >> (32 - bits))
		}
		drawn[i] = models[k]
	}
	return drawn
}
