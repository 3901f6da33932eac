package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// replay is a generator row of one trace replay; conc is JSON.
func replay(tp int, conc string, seconds int) string {
	return fmt.Sprintf(`{"image":"lab/engine:v1","model":"lab/tiny","model-prefix":"lab","precision":"fp8","framework":"sim","runner":"cluster:cpu",`+
		`"tp":%d,"ep":1,"spec-decoding":"none","conc":%s,"kv-offloading":"none","duration":%d,"exp-name":%q,"scenario-type":"agentic-coding"}`, tp, conc, seconds, fmt.Sprintf("lab_tp%d_conc%s", tp, conc))
}

// ownedRows are rows of one config key.
func ownedRows(t testing.TB, key string, texts ...string) []owned {
	t.Helper()
	f := recipe.Family{ID: "m.yaml:" + key, File: "m.yaml", Key: key, Line: 3}
	var out []owned
	for _, text := range texts {
		out = append(out, owned{f, rowOf(t, text)})
	}
	return out
}

// shape is a row's size and concurrencies: "tp1 3600s c[4]".
func shape(rows []owned) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("tp%d %ds c%v", r.row.Int("tp"), r.row.Int("duration"), r.row.concs()))
	}
	return out
}

// What is added, of single rows and of lists. The numbers are those of the
// changelog specification, section 13.
func TestAddedRows(t *testing.T) {
	base := []string{replay(1, "4", 3600), replay(1, "8", 3600)}
	for _, c := range []struct {
		name       string
		base, head []string
		want       []string
	}{
		{"45-one-concurrency", base, append(slices.Clone(base), replay(1, "12", 3600)), []string{"tp1 3600s c[12]"}},
		{"45-a-list-each-once", []string{replay(1, "[8,16]", 3600)}, []string{replay(1, "[8,16,24,24]", 3600)}, []string{"tp1 3600s c[24]"}},
		{"45-a-new-recipe", base, append(slices.Clone(base), replay(8, "12", 3600), replay(8, "16", 3600)), []string{"tp8 3600s c[12]", "tp8 3600s c[16]"}},
		{"45-another-duration-beside", base, append(slices.Clone(base), replay(1, "4", 300)), []string{"tp1 300s c[4]"}},
		{"order-of-the-change", base, []string{replay(1, "2", 3600), replay(1, "8", 3600), replay(8, "1", 3600), replay(1, "4", 3600), replay(1, "1", 3600)},
			[]string{"tp1 3600s c[2]", "tp8 3600s c[1]", "tp1 3600s c[1]"}},
		{"list-split-in-two", []string{replay(1, "[8,16]", 3600)}, []string{replay(1, "[16]", 3600), replay(1, "[8,32]", 3600), replay(1, "[32,64]", 3600)},
			[]string{"tp1 3600s c[32]", "tp1 3600s c[64]"}},
		{"fields-in-another-order", []string{`{"tp":1,"conc":4,"duration":1,"image":"i"}`}, []string{`{"image":"i","duration":1,"tp":1,"conc":4}`, `{"image":"i","duration":1,"tp":1,"conc":5}`},
			[]string{"tp1 1s c[5]"}},
	} {
		got, err := addedRows("key-a", ownedRows(t, "key-a", c.base...), ownedRows(t, "key-a", c.head...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, shape(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A recipe that two config keys share is measured once: it is the same point.
func TestAddedRowsAcrossKeys(t *testing.T) {
	one, two := replay(1, "4", 3600), replay(1, "8", 3600)
	base := slices.Concat(ownedRows(t, "key-a", one), ownedRows(t, "key-b", one))
	got, err := addedRows("key-a, key-b", base, slices.Concat(ownedRows(t, "key-a", one, two), ownedRows(t, "key-b", two, one)))
	if err != nil || len(got) != 1 || got[0].family.Key != "key-a" || got[0].row.Int("conc") != 8 {
		t.Errorf("got %v, %v, want concurrency 8 of key-a alone", shape(got), err)
	}
}

func TestAddedRowsRefused(t *testing.T) {
	base := []string{replay(1, "4", 3600), replay(1, "8", 3600)}
	with := func(row, old, new string) string { return strings.Replace(row, old, new, 1) }
	more := replay(1, "12", 3600)
	for _, c := range []struct {
		name       string
		base, head []string
		want       string
	}{
		{"nothing-at-base", nil, base,
			"append-only: the base revision measures nothing of what the entries select of key-a: take append-only out of them"},
		{"nothing-added", base, base,
			"append-only: nothing is added to key-a: the base revision measures every point already; add a concurrency or a topology, or take append-only out of the entry"},
		{"45-the-duration-was-changed", base, []string{replay(1, "4", 300), replay(1, "8", 300)},
			"m.yaml:3: key-a: append-only: recipe AgentX TP1 EP1 of the base revision is gone (the nearest differs in duration 3600 -> 300): take append-only out of the entry, so that all of the curve is measured"},
		{"46-the-image-was-changed", base, []string{with(base[0], ":v1", ":v2"), with(base[1], ":v1", ":v2"), with(more, ":v1", ":v2")},
			"m.yaml:3: key-a: append-only: recipe AgentX TP1 EP1 of the base revision is gone (the nearest differs in image lab/engine:v1 -> lab/engine:v2): take append-only out of the entry, so that all of the curve is measured"},
		{"46-a-new-recipe-on-another-image", base, append(slices.Clone(base), with(replay(8, "4", 3600), ":v1", ":v2")),
			`m.yaml:3: key-a: append-only: AgentX TP8 EP1 has the image "lab/engine:v2", its curve at the base revision "lab/engine:v1": take append-only out of the entry, so that all of the curve is measured`},
		{"a-new-recipe-without-an-image", base, append(slices.Clone(base), with(replay(8, "4", 3600), `"lab/engine:v1"`, `null`)),
			`m.yaml:3: key-a: append-only: AgentX TP8 EP1 has the image "", its curve at the base revision "lab/engine:v1": take append-only out of the entry, so that all of the curve is measured`},
		{"47-a-concurrency-was-taken-away", base, []string{replay(1, "8", 3600), more},
			"m.yaml:3: key-a: append-only: AgentX TP1 EP1 is not measured at concurrency [4] any more, as the base revision does: keep it, or take append-only out of the entry"},
		{"a-curve-of-its-own", base, append(slices.Clone(base), with(more, "fp8", "fp4")),
			"m.yaml:3: key-a: append-only: AgentX TP1 EP1 begins a curve that the base revision does not have (the nearest differs in precision fp8 -> fp4): take append-only out of the entry"},
		{"offloading-is-a-curve-of-its-own", base, append(slices.Clone(base), with(more, `"kv-offloading":"none"`, `"kv-offloading":"dram"`)),
			"m.yaml:3: key-a: append-only: AgentX TP1 EP1 begins a curve that the base revision does not have (the nearest differs in offload false -> true): take append-only out of the entry"},
		{"a-curve-of-two-images", append(slices.Clone(base), with(replay(2, "4", 3600), ":v1", ":v2")), append(slices.Clone(base), with(replay(2, "4", 3600), ":v1", ":v2"), more),
			"m.yaml:3: key-a: append-only: AgentX TP1 EP1: the base revision measures this curve with several images (lab/engine:v1, lab/engine:v2), so that no image can be its own: take append-only out of the entry"},
		{"conc-is-a-text", base, append(slices.Clone(base), replay(1, `"12"`, 3600)), `m.yaml:3: key-a: row lab_tp1_conc"12": conc is 12: want an integer or a list of integers`},
		{"conc-is-an-empty-list", []string{replay(1, "[]", 3600)}, base, "base revision: m.yaml:3: key-a: row lab_tp1_conc[]: conc is []: want an integer or a list of integers"},
		{"conc-is-a-list-of-other-things", base, append(slices.Clone(base), replay(1, `[12,true]`, 3600)), "m.yaml:3: key-a: row lab_tp1_conc[12,true]: conc is [12,true]: want an integer or a list of integers"},
		{"conc-is-not-there", base, []string{`{"exp-name":"x"}`}, "m.yaml:3: key-a: row x: conc is none: want an integer or a list of integers"},
	} {
		_, err := addedRows("key-a", ownedRows(t, "key-a", c.base...), ownedRows(t, "key-a", c.head...))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// Everything that is wrong is told at once, the first of many.
func TestMistakesAreTold(t *testing.T) {
	var base, head []string
	for tp := 1; tp <= 12; tp++ {
		base = append(base, replay(tp, "4", 3600))
		head = append(head, replay(tp, "8", 3600))
	}
	_, err := addedRows("key-a", ownedRows(t, "key-a", base...), ownedRows(t, "key-a", head...))
	if err == nil {
		t.Fatal("got no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 9 || lines[8] != "and 4 more of this kind" || !strings.Contains(lines[7], "TP8") {
		t.Errorf("got %d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

// What tells curves apart, and what does not.
func TestCurves(t *testing.T) {
	fixed := `{"image":"i","model":"m","model-prefix":"p","precision":"fp8","framework":"f","runner":"r","isl":8,"osl":1,"tp":1,"spec-decoding":"none","disagg":false,"prefill":{"tp":1,"hardware":"x"},"decode":{"tp":1,"hardware":"y"}}`
	agentic := strings.Replace(fixed, `"isl":8,"osl":1,`, `"scenario-type":"agentic-coding","kv-offloading":"none",`, 1)
	for _, c := range []struct {
		row, old, new string
		same          bool
	}{
		{fixed, `"m"`, `"n"`, false}, {fixed, `"p"`, `"q"`, false}, {fixed, "fp8", "fp4", false}, {fixed, `"f"`, `"g"`, false}, {fixed, `"r"`, `"s"`, false},
		{fixed, `"disagg":false`, `"disagg":true`, false}, {fixed, `"isl":8`, `"isl":9`, false}, {fixed, `"osl":1`, `"osl":2`, false},
		{fixed, `"none"`, `"mtp"`, false}, {fixed, `"hardware":"x"`, `"hardware":"z"`, false}, {fixed, `"hardware":"y"`, `"hardware":"z"`, false},
		{fixed, `"i"`, `"j"`, true}, {fixed, `"tp":1`, `"tp":2`, true}, {fixed, `"disagg":false,`, ``, true},
		{agentic, `"spec-decoding":"none"`, `"spec-decoding":"mtp"`, true}, {agentic, `"kv-offloading":"none"`, `"kv-offloading":"dram"`, false},
		{agentic, `"kv-offloading":"none"`, `"isl":5`, true}, {agentic, `"scenario-type":"agentic-coding",`, ``, false},
	} {
		changed := strings.Replace(c.row, c.old, c.new, 1)
		if changed == c.row {
			t.Fatalf("%s is not in the row", c.old)
		}
		if same := canonical(curveOf(rowOf(t, c.row))) == canonical(curveOf(rowOf(t, changed))); same != c.same {
			t.Errorf("%s -> %s: same curve %v, want %v", c.old, c.new, same, c.same)
		}
	}
}

// One fingerprint for all concurrencies of a recipe, others for other recipes.
func TestFingerprintOfARecipe(t *testing.T) {
	print := func(text string) string {
		t.Helper()
		f, err := Fingerprint(rowOf(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := print(replay(1, "4", 3600))
	if two := print(replay(1, "8", 3600)); two != one || len(one) != 64 {
		t.Errorf("51: another concurrency: got %s and %s", one, two)
	}
	for name, text := range map[string]string{"tp": replay(2, "4", 3600), "duration": replay(1, "4", 300)} {
		if print(text) == one {
			t.Errorf("51: another %s has the same fingerprint", name)
		}
	}
}
