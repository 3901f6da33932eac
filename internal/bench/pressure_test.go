package bench

import (
	"reflect"
	"testing"
	"time"
)

func TestParseStarved(t *testing.T) {
	const file = "some avg10=49.35 avg60=56.75 avg300=69.88 total=2255814255\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
	if got, ok := parseStarved([]byte(file)); !ok || got != 2255814255*time.Microsecond {
		t.Errorf("got %v %v, want 37m35.814255s", got, ok)
	}
	for _, bad := range []string{"", "full avg10=0.00 total=7\n", "some avg10=1.00\n", "some total=x\n"} {
		if got, ok := parseStarved([]byte(bad)); ok {
			t.Errorf("%q: got %v, want nothing", bad, got)
		}
	}
}

func TestSameHost(t *testing.T) {
	for target, want := range map[string]bool{
		"http://127.0.0.1:8888": true, "http://0.0.0.0:8888": true, "http://localhost:1": true, "http://[::1]:8888": true,
		"http://192.0.2.7:8888": false, "http://engine.invalid": false, "%": false,
	} {
		if got := sameHost(target); got != want {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
}

// A machine whose tasks wait for processors cannot clear a point, whoever of
// engine and client it was that waited.
func TestBusyHostIsUnhealthy(t *testing.T) {
	h := Health{Requests: 1, MeanITL: time.Millisecond, DelaySource: "server-stamp"}
	for share, want := range map[float64]string{0: Healthy, maxPressure: Healthy, maxPressure + 0.01: Unhealthy} {
		h.HostPressure = &share
		if got := h.judged(false); got.Verdict != want {
			t.Errorf("pressure %.2f: got %s %v, want %s", share, got.Verdict, got.Reasons, want)
		}
	}
}

// The raw file carries every figure of the receipt: what is read back is what
// was judged.
func TestReceiptSurvivesTheRawFile(t *testing.T) {
	share, hits := 0.0625, 17.0
	want := Health{Verdict: Healthy, Reasons: []string{"a"}, ReadDelayP50: 1, ReadDelayP99: 2, MeanITL: 3, ClientCPU: 0.5, Errors: 4, Requests: 5,
		Samples: 6, DelaySource: "kernel", HostPressure: &share, PrefixCacheHits: &hits}
	raw, err := Result{Health: want}.Raw(RawMeta{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := HealthOf(raw)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
