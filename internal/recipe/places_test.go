package recipe

import "testing"

const placed = `# a comment
one:
  image: a/b:v1
  scenarios:
    fixed-seq-len:
    - isl: 16
      search-space:
      - { tp: 1, ep: null, conc-list: [1, 2] }
      - tp: 2
        conc-list:
        - 4
        - 8
`

func TestPlaces(t *testing.T) {
	p, err := ReadPlaces([]byte(placed), "configs/x-master.yaml")
	if err != nil {
		t.Fatal(err)
	}
	block := []string{"one", "scenarios", "fixed-seq-len", "0"}
	search := func(rest ...string) []string {
		return append(append(append([]string{}, block...), "search-space"), rest...)
	}
	for _, c := range []struct {
		name string
		path []string
		want Place
		ok   bool
	}{
		{"key", []string{"one"}, Place{Line: 2}, true},
		{"field", []string{"one", "image"}, Place{Line: 3}, true},
		{"item", block, Place{Line: 6}, true},
		{"in-flow-mapping", search("0", "tp"), Place{Line: 8}, true},
		{"null", search("0", "ep"), Place{Line: 8, Null: true}, true},
		{"item-of-block-list", search("1", "conc-list", "1"), Place{Line: 12}, true},
		{"absent-field", search("1", "ep"), Place{}, false},
		{"beyond-the-list", search("2"), Place{}, false},
		{"no-index", search("x"), Place{}, false},
		{"below-a-scalar", []string{"one", "image", "0"}, Place{}, false},
	} {
		if got, ok := p.Find(c.path...); got != c.want || ok != c.ok {
			t.Errorf("%s: got %+v %t, want %+v %t", c.name, got, ok, c.want, c.ok)
		}
	}
	if got := p.At(search("1", "conc-list", "0")...); got != "configs/x-master.yaml:11" {
		t.Errorf("At: got %q", got)
	}
	if got := p.At("two"); got != "" {
		t.Errorf("At of what is not there: got %q", got)
	}
}

func TestPlacesOfAnEmptyFile(t *testing.T) {
	p, err := ReadPlaces(nil, "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Find("one"); ok {
		t.Error("an empty file has a field")
	}
	if _, err := ReadPlaces([]byte("a: [1\n"), "x.yaml"); err == nil {
		t.Error("a broken file was read")
	}
}
