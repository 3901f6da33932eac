package bench

import (
	"testing"
	"time"
)

func TestDelays(t *testing.T) {
	us := int64(time.Microsecond)
	near := func(got, want time.Duration) bool { return (got - want).Abs() <= want/500 }
	d := &delays{trusted: true}
	for i := range int64(1000) { // 1 to 1000 us, and nine messages without a stamp
		d.event(1, 1+(i+1)*us)
	}
	for range 9 {
		d.event(0, 5)
	}
	s := d.summary()
	if s.source != fromServer || s.samples != 1000 || s.dropped != 9 || !near(s.p50, 500*time.Microsecond) || !near(s.p99, 990*time.Microsecond) || d.future() {
		t.Errorf("server's stamps: got %+v, future %v", s, d.future())
	}
	d.event(100*us, 50*us) // read before it was sent
	if !d.future() {
		t.Error("a stamp 50 us behind its read was not noticed")
	}
	d = &delays{}
	d.event(1, 2)
	if s := d.summary(); s != (delaySummary{source: fromNobody}) {
		t.Errorf("stamps of another clock: got %+v", s)
	}
	d.arrival(time.Now().Add(-time.Hour).UnixNano()) // longer than is recorded
	d.arrival(0)
	if s := d.summary(); s.source != fromKernel || s.samples != 1 || s.dropped != 1 || s.p99 < 59*time.Second {
		t.Errorf("kernel's stamps: got %+v", s)
	}
}
