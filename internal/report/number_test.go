package report

import "testing"

func ptr[T any](v T) *T { return &v }

func TestNumbers(t *testing.T) {
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	check("value", number(ptr(1025.49)), "1,025.49")
	check("one decimal", number(ptr(1048.5)), "1,048.5")
	check("whole", number(ptr(723.0)), "723")
	check("zero", number(ptr(0.0)), "0")
	check("rounds to whole", number(ptr(9.999)), "10")
	check("millions", number(ptr(1234567.891)), "1,234,567.89")
	check("hundred", number(ptr(100.0)), "100")
	check("unknown", number(nil), "N/A")
	check("score", percent(ptr(0.9538)), "95.38%")
	check("samples alone", samples(ptr(1319), nil), "1,319")
	check("samples equal", samples(ptr(1319), ptr(1319)), "1,319 each")
	check("samples differ", samples(ptr(1000), ptr(1319)), "1,319/1,000 (old/new)")
	check("samples unknown", samples(nil, ptr(5)), "N/A")
	check("points up", points(0.9568-0.956), "+0.08 pp")
	check("points none", points(-0.000001), "+0.00 pp")
	check("points down", points(-0.05), "-5.00 pp")
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new float64
		want     string
	}{
		{"throughput-lost", 24.91, 23.19, "-6.9%"},
		{"latency-up", 1025.49, 1332.28, "+29.9%"},
		{"equal", 5, 5, "+0%"},
		{"almost-equal-below", 100, 99.99, "+0%"},
		{"whole", 100, 98, "-2%"},
		{"doubled", 10, 20, "+100%"},
		{"gone", 10, 0, "-100%"},
	} {
		if got, ok := change(&c.old, &c.new); got != c.want || !ok {
			t.Errorf("%s: change(%v, %v): got %q %v, want %q", c.name, c.old, c.new, got, ok, c.want)
		}
	}
	for name, c := range map[string][2]*float64{
		"old-zero": {ptr(0.0), ptr(1.0)}, "old-unknown": {nil, ptr(1.0)}, "new-unknown": {ptr(1.0), nil},
	} {
		if got, ok := change(c[0], c[1]); ok || got != "N/A" {
			t.Errorf("%s: got %q %v, want N/A", name, got, ok)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]string{"8192/1024": "8k/1k", "1024/1000": "1k/1000", "256/64": "256/64", "AgentX": "AgentX", "0/1024": "0/1k"} {
		if got := short(in); got != want {
			t.Errorf("short(%s): got %s, want %s", in, got, want)
		}
	}
}
