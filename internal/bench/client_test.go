package bench

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestActive(t *testing.T) {
	s := time.Second
	r := Result{Duration: 10 * s, Requests: []Request{
		{Sent: 0, Ended: 4 * s, Connect: time.Millisecond},
		{Sent: 1 * s, Ended: 3 * s, Connect: 3 * time.Millisecond},
		{Sent: 3 * s, Ended: 5 * s}, // in the place of the one before
		{Sent: 4 * s, Ended: 10 * s, Connect: 2 * time.Millisecond},
		{Error: "interrupted: before it was sent", ErrorKind: interrupted},
	}}
	got := *r.active()
	want := ClientHealth{Opened: 3, ConnectP50: 2 * time.Millisecond, ConnectP99: 2980 * time.Microsecond, ConnectMax: 3 * time.Millisecond, InFlightMax: 2}
	if math.Abs(got.InFlightMean-1.4) > 1e-12 { // 4 + 2 + 2 + 6 of 10 seconds
		t.Errorf("mean in flight %v, want 1.4", got.InFlightMean)
	}
	if got.InFlightMean = 0; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPauses(t *testing.T) {
	since := pausesFrom()
	runtime.GC()
	runtime.GC()
	if p := since(); p.Collections < 2 || p.PauseTotal <= 0 || p.PauseMax <= 0 || p.PauseMax > p.PauseTotal {
		t.Errorf("two collections: got %+v", p)
	}
}

func TestDoubted(t *testing.T) {
	ms := time.Millisecond
	sound := func() Health {
		return Health{Verdict: Healthy, MeanITL: 10 * ms, ReadDelayP99: ms, DelaySource: fromServer, Samples: 1000, Requests: 10, Client: &ClientHealth{}}
	}
	ports := 5000
	for name, c := range map[string]struct {
		change func(*Health)
		want   string
	}{
		"nothing":                {func(h *Health) {}, ""},
		"delay at the limit":     {func(h *Health) { h.ReadDelayP99 = 1000 * time.Microsecond }, ""},
		"delay above it":         {func(h *Health) { h.ReadDelayP99 = 1500 * time.Microsecond }, "p99 read delay 1.5ms is 15.0 % of the mean gap 10ms"},
		"busy":                   {func(h *Health) { h.ClientCPU = 0.6 }, "client used 0.60 cores"},
		"half busy":              {func(h *Health) { h.ClientCPU = 0.5 }, ""},
		"long pause":             {func(h *Health) { h.Client.PauseMax = 6 * ms }, "stopped the client for 6ms"},
		"half a gap":             {func(h *Health) { h.Client.PauseMax = 5 * ms }, ""},
		"samples missing":        {func(h *Health) { h.Client.Dropped = 20 }, "20 of 1020 messages have no read delay"},
		"few samples missing":    {func(h *Health) { h.Client.Dropped = 10 }, ""},
		"descriptors nearly out": {func(h *Health) { h.Headroom = &Headroom{Connections: 1000, Descriptors: 1050, Ports: &ports} }, "1000 connections at a time, and room for 1050"},
		"room enough":            {func(h *Health) { h.Headroom = &Headroom{Connections: 1000, Descriptors: 1200, Ports: &ports} }, ""},
	} {
		h := sound()
		c.change(&h)
		got := h.doubted()
		if c.want == "" && (got.Verdict != Healthy || len(got.Reasons) > 0) ||
			c.want != "" && (got.Verdict != Suspect || len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0], c.want)) {
			t.Errorf("%s: got %s %q, want %q", name, got.Verdict, got.Reasons, c.want)
		}
	}
	sick := sound()
	sick.Verdict, sick.Client.PauseMax = Unhealthy, 6*ms
	if got := sick.doubted(); got.Verdict != Unhealthy || len(got.Reasons) != 1 {
		t.Errorf("an unhealthy client with a doubt: got %s %q", got.Verdict, got.Reasons)
	}
}

func TestUsable(t *testing.T) {
	for verdict, want := range map[string]bool{Healthy: true, Suspect: true, Unhealthy: false, Unknown: false, "": false} {
		if got := (Health{Verdict: verdict}).Usable(); got != want {
			t.Errorf("%q: usable %v, want %v", verdict, got, want)
		}
	}
}

// The receipt in a raw file has the keys of its JSON form, and a record of
// before the client's own figures were kept is read.
func TestReceiptIsReadBack(t *testing.T) {
	h := Health{Verdict: Suspect, Reasons: []string{"r"}, DelaySource: fromKernel,
		Client: &ClientHealth{Opened: 2, ConnectP99: 5, InFlightMean: 1.5, InFlightMax: 2, Dropped: 3, Pauses: Pauses{Collections: 4, PauseTotal: 9, PauseMax: 7}}}
	got, err := HealthOf([]byte(`{"refit": {"health": ` + h.object().String() + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Client == nil || *got.Client != *h.Client || got.Verdict != Suspect {
		t.Errorf("got %+v, want %+v", got.Client, h.Client)
	}
	old, err := HealthOf([]byte(`{"refit": {"health": {"verdict": "healthy", "reasons": [], "samples": 5}}}`))
	if err != nil || old.Client != nil || old.Samples != 5 || !old.Usable() {
		t.Errorf("an old record: got %+v, %v", old, err)
	}
	spelled, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var a, b struct{ Client map[string]any }
	if json.Unmarshal(spelled, &a) != nil || json.Unmarshal([]byte(h.object().String()), &b) != nil || len(a.Client) != len(b.Client) {
		t.Errorf("keys of the client: %v and %v", a.Client, b.Client)
	}
	for key := range a.Client {
		if _, ok := b.Client[key]; !ok {
			t.Errorf("the raw file has no %q", key)
		}
	}
}
