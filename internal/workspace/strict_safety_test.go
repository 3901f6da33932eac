package workspace

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type strictInner struct {
	Deep []strictLeaf `json:"deep"`
}

type strictLeaf struct {
	N int `json:"n"`
}

type strictForm struct {
	strictInner
	Name   string                `json:"name"`
	Open   map[string]strictLeaf `json:"open,omitempty"`
	Raw    json.RawMessage       `json:"raw,omitempty"`
	Any    any                   `json:"any,omitempty"`
	Hidden string                `json:"-"`
}

func TestDecodeStrict(t *testing.T) {
	const good = `{"name":"a","deep":[{"n":1}],"open":{"x":{"n":2},"X":{"n":3}},"raw":{"k":[{}]},"any":null}`
	var v strictForm
	if err := DecodeStrict([]byte(good), &v); err != nil || v.Deep[0].N != 1 || v.Open["X"].N != 3 {
		t.Errorf("DecodeStrict: got %+v, %v", v, err)
	}
	for name, c := range map[string]struct{ src, want string }{
		"empty":              {" ", "empty"},
		"trailing":           {good + "{}", "more than one"},
		"unknown":            {`{"nome":"a"}`, "unknown"},
		"hidden":             {`{"Hidden":"a"}`, "unknown"},
		"repeated":           {`{"name":"a","name":"b"}`, `key "name" is repeated`},
		"other case":         {`{"Name":"a"}`, `unknown key "Name"`},
		"both cases":         {`{"name":"a","NAME":"b"}`, `unknown key "NAME"`},
		"embedded":           {`{"deep":[{"n":1},{"n":1,"n":2}]}`, `key "deep[1].n" is repeated`},
		"inside a map":       {`{"open":{"x":{"N":1}}}`, `unknown key "open.x.N"`},
		"repeated in a map":  {`{"open":{"x":{"n":1},"x":{"n":2}}}`, `key "open.x" is repeated`},
		"inside kept text":   {`{"raw":{"a":[{"b":1,"b":2}]}}`, `key "raw.a[0].b" is repeated`},
		"inside of anything": {`{"any":{"a":1,"\u0061":2}}`, `key "any.a" is repeated`},
	} {
		if err := DecodeStrict([]byte(c.src), new(strictForm)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// What is accepted means the same to a reader that matches keys by the letter,
// takes the first of two, and reads to the end.
func FuzzDecodeStrict(f *testing.F) {
	for _, s := range []string{`{"name":"a","deep":[{"n":1}]}`, `{"open":{"x":{"n":1}}}`, `{"raw":[1,{"a":2}],"any":{}}`, `null`, `{"NAME":""}`, `{"name":1}`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var v strictForm
		if DecodeStrict(src, &v) != nil {
			return
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again strictForm
		if err := DecodeStrict(text, &again); err != nil {
			t.Fatalf("DecodeStrict(%s): %v", text, err)
		}
		var whole map[string]json.RawMessage
		if bytes.Equal(bytes.TrimSpace(src), []byte("null")) {
			return
		}
		if err := json.Unmarshal(src, &whole); err != nil {
			t.Fatalf("DecodeStrict(%q) took what is no object: %v", src, err)
		}
		var name string
		if raw, ok := whole["name"]; ok && json.Unmarshal(raw, &name) == nil && name != v.Name {
			t.Errorf("DecodeStrict(%q): got name %q, want %q", src, v.Name, name)
		}
		if again.Name != v.Name || !reflect.DeepEqual(again.Open, v.Open) && len(v.Open) > 0 {
			t.Errorf("DecodeStrict(%s): got %+v, want %+v", text, again, v)
		}
	})
}
