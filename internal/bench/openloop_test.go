package bench

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// stalling is a server that stands still for a second when request 5 comes,
// and has everybody wait who comes in that time.
func stalling(wait time.Duration) *honest {
	over := make(chan struct{})
	return &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		if n == 5 {
			time.AfterFunc(wait, func() { close(over) })
		}
		if n >= 5 {
			<-over
		}
		full(w, n, c)
	}}
}

// A stall is charged to every request that should have been sent during it,
// whether the client could send it or had no place for it.
func TestStallIsChargedFromTheIntendedTime(t *testing.T) {
	const stall, every = time.Second, 20 * time.Millisecond
	for _, cap := range []int{0, 1} {
		t.Run(fmt.Sprintf("cap %d", cap), func(t *testing.T) {
			w := Workload{Requests: 60, Concurrency: cap, Rate: 50, Spacing: Constant, InputTokens: 4, OutputTokens: 2}
			r, err := Run(context.Background(), stalling(stall).start(t), w, nil)
			if err != nil {
				t.Fatal(err)
			}
			began := 5 * every
			for k, q := range r.Requests {
				if q.Error != "" || q.Intended != time.Duration(k)*every || q.Sent != q.Intended+q.Queued+q.Lag {
					t.Fatalf("request %d: %+v, want it intended at %v", k, q, time.Duration(k)*every)
				}
				if missing := began + stall - q.Intended; k >= 5 && q.Late()+q.FirstText < missing {
					t.Errorf("request %d: first text %v after its time, the server stood still for %v of it", k, q.Late()+q.FirstText, missing)
				}
			}
			q := r.Requests[20]
			if cap == 0 && q.Queued != 0 || cap == 1 && q.Queued < stall/4 {
				t.Errorf("with a cap of %d a request waited %v for a place", cap, q.Queued)
			}
			legacy, own := r.Stats("ttft", []float64{90}), r.Stats("intended-first-text", []float64{90})
			if cap == 1 && legacy.Median > own.Median/2 {
				t.Errorf("median %v from the actual and %v from the intended time", legacy.Median, own.Median)
			}
		})
	}
}

// The draws of a seed are one stream: the arrivals come behind the lengths.
func TestOpenLoopSendsBySchedule(t *testing.T) {
	w := Workload{Requests: 8, Rate: 400, InputTokens: 20, OutputTokens: 5, RangeRatio: 0.8}
	r, err := Run(context.Background(), (&honest{answer: full}).start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	due := arrivals(draw(w, 8, 0).rest, 8, w.settled())
	for i, q := range r.Requests {
		if q.Intended != due[i] || q.Lag < 0 || q.Sent < due[i] {
			t.Errorf("request %d: intended %v, sent %v, want %v", i, q.Intended, q.Sent, due[i])
		}
	}
	s := r.Health.Schedule
	if s == nil || s.LagMax < s.LagP99 || s.LagP99 < s.LagP50 || s.LagMax <= 0 {
		t.Errorf("schedule %+v", s)
	}
	if h := r.Health.Headroom; h == nil || h.Connections != 8 || h.Descriptors < 8 {
		t.Errorf("headroom %+v", h)
	}
}

func TestLateClientIsUnhealthy(t *testing.T) {
	check := func(name string, rate float64, lag time.Duration, want string) {
		t.Helper()
		r := Result{Workload: Workload{Rate: rate}}
		for range 100 {
			r.Requests = append(r.Requests, Request{Lag: lag, Ended: time.Second, FirstText: 20 * time.Millisecond})
		}
		if h := (Health{Verdict: Healthy}).scheduled(r); h.Verdict != want || h.Schedule.LagP50 != lag {
			t.Errorf("%s: got %s %v, lag %v", name, h.Verdict, h.Reasons, h.Schedule.LagP50)
		}
	}
	check("in time", 10, 100*time.Microsecond, Healthy)
	check("late, but little of the first text's time", 10, 2*time.Millisecond, Healthy)
	check("late", 10, 5*time.Millisecond, Unhealthy)
	check("no schedule to keep", 0, 5*time.Millisecond, Healthy)
}

// In a closed loop every request is released at the start, and those without a
// place wait in the client.
func TestClosedLoopReportsTheQueue(t *testing.T) {
	w := Workload{Requests: 4, Concurrency: 1, InputTokens: 4, OutputTokens: 2}
	r, err := Run(context.Background(), (&honest{answer: full}).start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range r.Requests {
		if i == 0 && q.Queued != 0 || i > 0 && q.Queued != r.Requests[i-1].Ended {
			t.Errorf("request %d waited %v in the client, want until the one before had ended", i, q.Queued)
		}
		if q.Late() != q.Lag {
			t.Errorf("request %d: %v late, want the client's own %v", i, q.Late(), q.Lag)
		}
	}
}

// BenchmarkOpenLoop1000 reports by how much 1,000 requests a second are sent
// later than intended.
func BenchmarkOpenLoop1000(b *testing.B) {
	target := startPaced(b, "1ms")
	for b.Loop() {
		w := Workload{Requests: 5000, Rate: 1000, Spacing: Constant, Warmups: 16, InputTokens: 16, OutputTokens: 4}
		r, err := Run(context.Background(), target, w, nil)
		if err != nil {
			b.Fatal(err)
		}
		s := r.Health.Schedule
		b.ReportMetric(float64(s.LagP50)/1e3, "p50-µs")
		b.ReportMetric(float64(s.LagP99)/1e3, "p99-µs")
		b.ReportMetric(float64(s.LagMax)/1e3, "max-µs")
		b.ReportMetric(float64(r.Health.Errors), "errors")
		if s.LagP99 >= time.Millisecond {
			b.Errorf("99th percentile of the send times is %v late, want less than 1ms", s.LagP99)
		}
	}
}
