package workspace

import (
	"math"
	"testing"
)

func TestFloatText(t *testing.T) {
	for want, f := range map[string]float64{
		"0.0": 0, "-0.0": math.Copysign(0, -1), "1.0": 1, "0.0001": 1e-4, "9.999999999999999e-05": 9.999999999999999e-5, "1e-05": 1e-5,
		"1000000000000000.0": 1e15, "1e+16": 1e16, "9999999999999998.0": 9999999999999998, "0.1": 0.1, "-2.5e-07": -2.5e-7,
	} {
		if got, ok := FloatText(f); !ok || got != want {
			t.Errorf("%v: got %q %v, want %q", f, got, ok, want)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, ok := FloatText(f); ok {
			t.Errorf("%v: got %q, want nothing", f, got)
		}
	}
}

func TestASCII(t *testing.T) {
	for s, want := range map[string]string{
		"镜像<&>": `"\u955c\u50cf<&>"`, "\b\f\n\r\t\"\\": `"\b\f\n\r\t\"\\"`, "\x7f\x01": `"\u007f\u0001"`, "😀": `"\ud83d\ude00"`, "a\xff": `"a\ufffd"`, "": `""`,
	} {
		if got := ASCII(s); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}
