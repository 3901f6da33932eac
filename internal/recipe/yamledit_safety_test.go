package recipe

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// yamlMap is a mapping as it was generated: keys in order, each a text or a
// mapping again.
type yamlMap struct {
	keys   []string
	values []any
}

// plainMap is what a YAML library makes of it.
func (m yamlMap) plainMap() map[string]any {
	out := map[string]any{}
	for i, k := range m.keys {
		out[k] = m.values[i]
		if inner, ok := m.values[i].(yamlMap); ok {
			out[k] = inner.plainMap()
		}
	}
	return out
}

// paths lists the ways to every entry.
func (m yamlMap) paths() [][]string {
	var all [][]string
	for i, k := range m.keys {
		all = append(all, []string{k})
		if inner, ok := m.values[i].(yamlMap); ok {
			for _, p := range inner.paths() {
				all = append(all, append([]string{k}, p...))
			}
		}
	}
	return all
}

func drawMap(t *rapid.T, depth int) yamlMap {
	m := yamlMap{keys: rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}([-_][a-z0-9]{1,3})?`), 1, 4, rapid.ID[string]).Draw(t, "keys")}
	for range m.keys {
		if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nested") == 0 {
			m.values = append(m.values, drawMap(t, depth-1))
			continue
		}
		m.values = append(m.values, rapid.StringMatching(`v[a-z0-9/:.é日]{0,5}[a-z]`).Draw(t, "value"))
	}
	return m
}

// yamlWriter writes a mapping in one of the many ways.
type yamlWriter struct {
	t   *rapid.T
	end string
}

func (w yamlWriter) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "form") }

func (w yamlWriter) key(k string) string {
	return fmt.Sprintf(w.pick("%s", "%s", "'%s'", `"%s"`), k)
}

func (w yamlWriter) flow(m yamlMap) string {
	var parts []string
	for i, k := range m.keys {
		value := ""
		if inner, ok := m.values[i].(yamlMap); ok {
			value = w.flow(inner)
		} else {
			value = fmt.Sprintf(w.pick("%s", "'%s'", `"%s"`), m.values[i])
		}
		parts = append(parts, w.key(k)+": "+value)
	}
	return w.pick("{", "{ ", "{"+w.end+"    ") + strings.Join(parts, w.pick(", ", ",", " ,"+w.end+"      ")) + w.pick("}", " }", ",}")
}

func (w yamlWriter) block(m yamlMap, indent string) string {
	var b strings.Builder
	for i, k := range m.keys {
		b.WriteString(w.pick("", "", indent+"# é above"+w.end, w.end, "# left {"+w.end))
		b.WriteString(indent + w.key(k) + w.pick(":", " :", ": "))
		remark := w.pick("", "", " # behind", "\t# tab: x")
		inner, nested := m.values[i].(yamlMap)
		switch {
		case nested && w.pick("block", "flow") == "block":
			b.WriteString(remark + w.end + w.block(inner, indent+w.pick(" ", "  ", "    ")))
			continue
		case nested:
			b.WriteString(" " + w.flow(inner))
		default:
			fmt.Fprintf(&b, w.pick(" %s", "  %s", " '%s'", ` "%s"`, w.end+indent+"   %s"), m.values[i])
		}
		b.WriteString(remark + w.end)
	}
	return b.String()
}

// A YAML edit, in every way to write a file, changes what a YAML library reads
// as it says, and no byte outside of the entry.
func TestYAMLEditsAsTheLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t, 2)
		w := yamlWriter{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")}
		src := rapid.SampledFrom([]string{"", "\xef\xbb\xbf", "# top" + w.end}).Draw(t, "head") + w.block(m, "")
		path := rapid.SampledFrom(m.paths()).Draw(t, "path")
		what := rapid.SampledFrom([]string{"set", "rename", "drop"}).Draw(t, "what")
		y, err := EditYAML([]byte(src), "r.yaml")
		if err != nil {
			t.Fatalf("%v\n%q", err, src)
		}
		root, key := m.plainMap(), path[len(path)-1]
		home := root
		for _, k := range path[:len(path)-1] {
			home = home[k].(map[string]any)
		}
		value := home[key]
		_, nested := value.(map[string]any)
		switch what {
		case "set":
			err = y.Set("w:new", path...)
			home[key] = "w:new"
		case "rename":
			err = y.Rename("new-key", path...)
			home["new-key"] = home[key]
			delete(home, key)
		case "drop":
			err = y.Drop(path...)
			delete(home, key)
		}
		if err != nil {
			single := strings.Contains(err.Error(), "only entry of its mapping") && what == "drop" && len(home) == 0
			if !single && !(what == "set" && nested && strings.Contains(err.Error(), "want a single value")) {
				t.Fatalf("%s %s: %v\n%s", what, path, err, src)
			}
			return
		}
		got, err := y.Bytes()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", what, path, err, src)
		}
		var read map[string]any
		if err := yaml.Unmarshal(got, &read); err != nil || !reflect.DeepEqual(read, root) {
			t.Fatalf("%s %s: got %v, %v, want %v\n%s\n%s", what, path, read, err, root, src, got)
		}
		if e := y.Edits(); len(e) != 1 || string(got) != src[:e[0].Start]+e[0].New+src[e[0].End:] || what != "drop" && e[0].Old != key && e[0].Old != value {
			t.Fatalf("%s %s: edits %+v", what, path, e)
		}
	})
}

// A YAML file is edited as asked or refused with its place, and undone by the
// opposite edit.
func FuzzYAMLEdit(f *testing.F) {
	f.Add([]byte("a: {b: 1, c: 2}\n"), "a/b", "x", byte(0))
	f.Add([]byte("a:\n  b: |\n    # x\n  c: 2\n"), "a/b", "x", byte(1))
	f.Add([]byte("x: &x {k: 1}\na:\n  <<: *x\n  b: 'y'\n"), "a/b", "k", byte(2))
	f.Add([]byte("\xef\xbb\xbf? a\r\n: [\"é\", #\r\n ]\r\nb: !!str 1\u2028"), "a", "k", byte(1))
	f.Add([]byte(multinode), "backend/loom_config/prefill/sizes", "k", byte(1))
	f.Fuzz(func(t *testing.T, src []byte, path, text string, what byte) {
		y, err := EditYAML(src, "r.yaml")
		if err != nil {
			return
		}
		keys := strings.Split(path, "/")
		switch what % 3 {
		case 0:
			err = y.Set(text, keys...)
		case 1:
			err = y.Drop(keys...)
		case 2:
			err = y.Rename(text, keys...)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "r.yaml:") {
				t.Fatalf("an error without its place: %v", err)
			}
			return
		}
		got, err := y.Bytes()
		if err != nil {
			return
		}
		e := y.Edits()[0]
		if want := slices.Concat(src[:e.Start], []byte(e.New), src[e.End:]); !bytes.Equal(got, want) {
			t.Fatalf("more than %+v changed: %q to %q", e, src, got)
		}
		if what%3 == 2 && oneLine(keys[len(keys)-1]) == nil { // and back
			z, err := EditYAML(got, "r.yaml")
			if err != nil {
				t.Fatal(err)
			}
			last := len(keys) - 1
			if err := z.Rename(keys[last], append(slices.Clone(keys[:last]), text)...); err != nil {
				t.Fatalf("%q: back: %v", got, err)
			}
			if again, err := z.Bytes(); err != nil || !bytes.Equal(again, src) {
				t.Fatalf("%q: there and back is %q, %v", src, again, err)
			}
		}
	})
}
