package matrix

import (
	"encoding/json"
	"testing"
)

func TestRowKeepsOrderAndText(t *testing.T) {
	src := `{"z":1,"a":"<&>é","list":[1,"x",null,{"b":true,"a":[]}],"big":12345678901234567890,"float":1.50,"none":null}`
	var r Row
	if err := json.Unmarshal([]byte(src), &r); err != nil {
		t.Fatal(err)
	}
	out, err := r.MarshalJSON()
	if err != nil || string(out) != src {
		t.Errorf("there and back: got %s, %v", out, err)
	}
	c := r.Clone()
	list, _ := c.Get("list")
	list.([]any)[0] = int64(9)
	c.Set("z", 2)
	c.Delete("a", "absent")
	if again, _ := r.MarshalJSON(); string(again) != src {
		t.Errorf("the original changed with its clone: %s", again)
	}
	if c.Int("z") != 2 || c.Has("a") || c.Has("none") || c.Str("z") != "" || c.Bool("list") {
		t.Errorf("clone: got %v", c)
	}
}

func TestRowRefuses(t *testing.T) {
	for _, src := range []string{`[]`, `1`, `{"a":1,"a":2}`, `{"b":{"a":1,"a":2}}`, `null`} {
		var r Row
		if err := json.Unmarshal([]byte(src), &r); err == nil {
			t.Errorf("Unmarshal(%s): got no error", src)
		}
	}
	if err := new(Row).UnmarshalJSON([]byte(`{"a":`)); err == nil {
		t.Error("half a row was accepted")
	}
}

func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":1.0}]}`))
	f.Add([]byte(`{"model":"m","runner":"r","conc":4,"exp-name":"x","image":"a:b","prefill":null}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		var r, again Row
		if json.Unmarshal(src, &r) != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%s does not read back: %v", text, err)
		}
		if !again.Equal(r) {
			t.Errorf("%s reads back as another row", text)
		}
		if k, err := Key(r); err == nil {
			if l, err := Key(again); err != nil || l != k || len(k) != 64 {
				t.Errorf("%s: key %q, of the same row again %q, %v", text, k, l, err)
			}
		}
		_, _ = Key(r)
		_, _ = Fingerprint(r)
	})
}
