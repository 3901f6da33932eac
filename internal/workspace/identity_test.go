package workspace

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestIdentityVectors(t *testing.T) {
	check := func(v any, want string) {
		t.Helper()
		if got := Identity(v)[:len(want)]; got != want {
			t.Errorf("Identity(%v): got %s, want %s", v, got, want)
		}
	}
	check("configs/nvidia-master.yaml:dsr1-fp4-gb300-dynamo-sglang", "4ccb0a08e646958b")
	check("configs/amd-master.yaml:dsr1-fp8-mi325x-sglang", "9d94bebbcc742ac8")
	check([]string{"lmsysorg/sglang:v0.5.19-rocm700-mi30x", "v0.5.20"}, "af00168b432f68fb")
	const mixed = "3cb44a5b744839b6a14c0fc52766053e9a2d7bd0c5ab5a775fbd7fcfb8a9e8e9"
	check(map[string]any{"b": 1, "a": "镜像<&>", "c": []any{1.5, 2, nil, true}, "d": 1e-7, "e": 1e16}, mixed)
	var read any
	d := json.NewDecoder(strings.NewReader(`{"b":1,"a":"镜像<&>","c":[1.5,2,null,true],"d":1e-7,"e":1e16}`))
	d.UseNumber()
	if err := d.Decode(&read); err != nil {
		t.Fatal(err)
	}
	check(read, mixed)
}

func TestCanonical(t *testing.T) {
	type pair struct {
		B int    `json:"b"`
		A string `json:"a"`
	}
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"nothing":                {nil, `null`},
		"mixed":                  {map[string]any{"b": 1, "a": "镜像<&>", "d": 1e-7, "e": 1e16}, `{"a":"\u955c\u50cf<&>","b":1,"d":1e-07,"e":1e+16}`},
		"whole-float":            {1.0, `1.0`},
		"small-but-plain":        {0.0001, `0.0001`},
		"small-with-exponent":    {0.00001234, `1.234e-05`},
		"large-but-plain":        {1234567890123456.0, `1234567890123456.0`},
		"exponent-of-3-digits":   {-1e300, `-1e+300`},
		"shortest":               {0.30000000000000004, `0.30000000000000004`},
		"negative-zero":          {math.Copysign(0, -1), `-0.0`},
		"number-zero":            {json.Number("-0"), `0`},
		"number-whole-exponent":  {json.Number("1E2"), `100.0`},
		"number-beyond-64-bits":  {json.Number("123456789012345678901234567890"), `123456789012345678901234567890`},
		"surrogate-pair":         {"😀", `"\ud83d\ude00"`},
		"control-and-delete":     {"\x00\n\r\t\b\f\x1f\x7f\u2028/", `"\u0000\n\r\t\b\f\u001f\u007f\u2028/"`},
		"quote-and-backslash":    {`"\`, `"\"\\"`},
		"keys-by-code-point":     {map[string]int{"z": 1, "é": 2, "Z": 3, "": 4}, `{"":4,"Z":3,"z":1,"\u00e9":2}`},
		"struct":                 {pair{1, "<"}, `{"a":"<","b":1}`},
		"list-of-struct-pointer": {[]*pair{{2, "x"}, nil}, `[{"a":"x","b":2},null]`},
		"raw-message":            {json.RawMessage(`{"b": 1.50, "a": []}`), `{"a":[],"b":1.5}`},
	} {
		got, err := Canonical(c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("Canonical(%s): got %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"nan":             {map[string]any{"x": math.NaN()}, "canonical json: NaN is no json number"},
		"infinity":        {math.Inf(-1), "canonical json: -Inf is no json number"},
		"number-overflow": {json.Number("1e400"), "canonical json: number 1e400 is out of range"},
		"number-word":     {json.Number("null"), `canonical json: "null" is no number`},
		"not-utf-8":       {"\xff", `canonical json: text "\xff" is not utf-8`},
		"bytes":           {[]byte("x"), "canonical json: a []uint8 is neither text nor a list"},
		"function":        {func() {}, "canonical json: a func() has no json form"},
		"number-keys":     {map[int]int{1: 1}, "canonical json: a map[int]int has keys that are no text"},
		"cycle":           {loop, "canonical json: nested deeper than 1000"},
	} {
		if got, err := Canonical(c.in); err == nil || err.Error() != c.want {
			t.Errorf("Canonical(%s): got %s, %v, want error %s", name, got, err, c.want)
		}
	}
}
