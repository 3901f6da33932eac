package bench

// writeLoad writes what a raw file says of the load's shape and of what only
// shows with it. Keys, one value a request where it is a list:
//
//	partial                 the run was stopped: requests that had not ended have failed as interrupted
//	spacing                 of the requests at a rate: gamma or constant; null without a rate
//	intended_s              when it should have been sent: by the schedule, or when its place was free
//	queued_s                from its release to a free place under the concurrency cap
//	lag_s                   from there until it was sent: the client's own delay
//	ended_s                 its place was free again; 0 = never sent
//	session, turn           of a trace; not there without one
//	intended_first_text     statistics of the first text from the intended time
//	intended_e2el           statistics of the whole answer from there
//	steady                  throughput between ramp and drain; null when the cap was never reached, its tokens when nobody counted them
//	goodput                 by corrected times; null without limits
//	percentile_bounds       percentiles with what they are below of at 95 % confidence; null = too few requests
func (r Result) writeLoad(o *object, meta RawMeta) {
	o.flag("partial", r.Partial)
	if r.Workload.Rate > 0 {
		o.str("spacing", r.Workload.Spacing)
	} else {
		o.null("spacing")
	}
	r.writeSchedule(o)
	writeStats(o, "intended_first_text", r.Stats("intended-first-text", DefaultPercentiles), DefaultPercentiles)
	writeStats(o, "intended_e2el", r.Stats("intended-e2el", DefaultPercentiles), DefaultPercentiles)
	if s := r.Steady(); s != nil {
		o.object("steady", s.object())
	} else {
		o.null("steady")
	}
	if len(meta.SLO) > 0 {
		o.object("goodput", r.Goodput(meta.SLO).object(meta.SLO))
	} else {
		o.null("goodput")
	}
	var bounds object
	bounds.float("confidence", confidence)
	for _, m := range [][2]string{{"first_text_ms", "first-text"}, {"tpot_ms", "tpot"}, {"e2el_ms", "e2el"},
		{"intended_first_text_ms", "intended-first-text"}, {"intended_e2el_ms", "intended-e2el"}} {
		r.writeBounds(&bounds, m[0], m[1])
	}
	o.object("percentile_bounds", &bounds)
}

func (r Result) writeSchedule(o *object) {
	var intended, queued, lag, ended []float64
	var session, turn []int
	for _, q := range r.Requests {
		intended = append(intended, q.Intended.Seconds())
		queued = append(queued, q.Queued.Seconds())
		lag = append(lag, q.Lag.Seconds())
		ended = append(ended, q.Ended.Seconds())
		session, turn = append(session, q.Session), append(turn, q.Turn)
	}
	o.floats("intended_s", intended)
	o.floats("queued_s", queued)
	o.floats("lag_s", lag)
	o.floats("ended_s", ended)
	if r.Workload.Trace != nil {
		o.integers("session", session)
		o.integers("turn", turn)
	}
}
