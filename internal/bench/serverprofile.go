package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// profiled measures, with the server's profiler on where the workload asks for
// it. Both calls carry the body of the first request, as the reference's do;
// the one that stops the profiler is within the measured duration. stopped is
// what measure ended with, err that nothing was measured: a profiler that could
// not be stopped is a reason in the receipt.
func (s side) profiled(ctx context.Context, w Workload, ps []plan, measure func() (Result, []*exchange, error)) (r Result, xs []*exchange, stopped, err error) {
	if !w.Profile || len(ps) == 0 {
		r, xs, stopped = measure()
		return r, xs, stopped, nil
	}
	_, body, _ := bytes.Cut(ps[0].wire, []byte("\r\n\r\n"))
	more := append(bytes.Clone(bytes.TrimSuffix(body, []byte{'}'})), `, "num_steps": 1, "merge_profiles": true, "profile_by_stage": true}`...)
	patient := *s.http // a profile may take minutes to be written
	patient.Timeout = w.Deadline
	slow := side{target: s.target, http: &patient}
	if err := slow.profiler(ctx, "/start_profile", more); err != nil {
		return r, nil, nil, err
	}
	r, xs, stopped = measure()
	began := time.Now()
	if ctx.Err() != nil { // a run that was stopped has left it on, and somebody waits
		err = s.profiler(context.WithoutCancel(ctx), "/stop_profile", body)
	} else {
		err = slow.profiler(ctx, "/stop_profile", body)
	}
	if err != nil {
		r.Health = r.Health.sick("%v", err)
		return r, xs, stopped, nil
	}
	r.Duration += time.Since(began)
	r.Ended = time.Now()
	return r, xs, stopped, nil
}

func (s side) profiler(ctx context.Context, path string, body []byte) error {
	status, answer, err := s.ask(ctx, http.MethodPost, path, body)
	switch {
	case err != nil:
		return fmt.Errorf("profile: %w", err)
	case status != http.StatusOK:
		return fmt.Errorf("profile: %s: %s", path, refusal(status, answer))
	}
	return nil
}
