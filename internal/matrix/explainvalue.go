package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// values explains a plan row field by field, objects member by member.
func (x explainer) values(row Row) []Value {
	var out []Value
	for _, name := range row.Names() {
		v, _ := row.Get(name)
		if pool, ok := v.(Row); ok && (name == "prefill" || name == "decode") {
			for _, member := range pool.Names() {
				mv, _ := pool.Get(member)
				out = append(out, x.worker(name, member, mv))
			}
			continue
		}
		e := x.value(name)
		e.Name, e.Value = name, v
		out = append(out, e)
	}
	return out
}

// value is the origin of a field, by where the schema has it.
func (x explainer) value(name string) Value {
	switch name {
	case "image", "model", "model-prefix", "precision", "framework", "runner":
		return Value{From: Written, At: x.src.Master.At(x.inEntry(name)...)}
	case "isl", "osl":
		return Value{From: Written, At: x.src.Master.At(x.inBlock(name)...)}
	case "disagg":
		return x.orDefault(x.inEntry(name), "false", "where the family does not write it")
	case "router", "kv-p2p-transfer":
		if own, ok := x.src.Master.Find(x.inSearch(name)...); ok && !own.Null {
			return Value{From: Written, At: x.src.Master.At(x.inSearch(name)...)}
		}
		return Value{From: Written, At: x.src.Master.At(x.inEntry(name)...), How: "the family's, for entries without one of their own"}
	case "scenario-type":
		return Value{From: Written, At: x.src.Master.At(x.inEntry("scenarios", x.scenario)...)}
	case "conc":
		return x.conc()
	}
	if rule, ok := searchDefaults[name]; ok {
		return x.orDefault(x.inSearch(name), rule.value, rule.when)
	}
	return x.derived(name)
}

// searchDefaults are the fields of a search-space entry and what the schema
// says where they are absent. Source: recipes specification, sections 2.3 and 2.4.
var searchDefaults = map[string]struct{ value, when string }{
	"tp":                 {},
	"pp":                 {"1", "where the entry does not write it"},
	"dcp-size":           {"1", "where the entry does not write it"},
	"pcp-size":           {"1", "where the entry does not write it"},
	"ep":                 {"1", "where the entry does not write it or writes null"},
	"dp-attn":            {"false", "where the entry does not write it or writes null"},
	"spec-decoding":      {"none", "where the entry does not write it"},
	"kv-offloading":      {"none", "where an entry of workers does not write it"},
	"kv-offload-backend": {},
}

// worker explains a member of prefill or decode.
func (x explainer) worker(pool, name string, v any) Value {
	rule, when := "1", "where the worker does not write it"
	if name == "additional-settings" {
		rule, when = "empty", "where the worker does not write it or writes null"
	}
	e := x.orDefault(x.inSearch(pool, name), rule, when)
	e.Name, e.Value = pool+"."+name, v
	return e
}

// orDefault is a field that is written, or else the schema's default.
func (x explainer) orDefault(path []string, value, when string) Value {
	place, ok := x.src.Master.Find(path...)
	e := Value{From: Written, At: x.src.Master.At(path...)}
	if !ok || place.Null {
		e.From, e.How = Default, value+" "+when
	}
	return e
}

// conc is one of a list, or a step of a range.
func (x explainer) conc() Value {
	c := x.point.Conc()
	if list := x.search.List; len(list) > 0 {
		i := slices.Index(list, c)
		return Value{From: Written, At: x.src.Master.At(x.inSearch("conc-list", fmt.Sprint(i))...),
			How: fmt.Sprintf("number %d of %d of conc-list", i+1, len(list))}
	}
	steps := Concurrencies(x.search)
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = fmt.Sprint(s)
	}
	start, _ := x.src.Master.Find(x.inSearch("conc-start")...)
	end, _ := x.src.Master.Find(x.inSearch("conc-end")...)
	how := fmt.Sprintf("conc-start %d (line %d) doubled up to conc-end %d (line %d), the end always included: %s",
		x.search.Start, start.Line, x.search.End, end.Line, strings.Join(words, " "))
	return Value{From: Derived, At: x.src.Master.At(x.inSearch("conc-start")...), How: how}
}
