package bench

// tokenGaps are the times between tokens in seconds, where the server counts
// them in every message: a message that brings several tokens makes as many
// equal gaps of the one before it. What came before a message without a new
// token is added to the gap of the next. Nil when the messages were not counted.
func (q Request) tokenGaps() []float64 {
	if q.TokenGains == nil {
		return nil
	}
	gaps := make([]float64, 0, len(q.TokenGains))
	waited := 0.0
	for i, n := range q.TokenGains {
		waited += q.TextITLs[i].Seconds()
		for range n {
			gaps = append(gaps, waited/float64(n))
		}
		if n > 0 {
			waited = 0
		}
	}
	return gaps
}

// counted says whether the server counted tokens in the messages of any
// request.
func (r Result) counted() bool {
	for _, q := range r.Requests {
		if q.Error == "" && q.TokenGains != nil {
			return true
		}
	}
	return false
}
