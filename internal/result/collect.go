package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CollectBenchmarks joins aggregate files (path to bytes) into agg_bmk.json:
// every *.json is appended as it is, in path order. One bad file is an error.
func CollectBenchmarks(files map[string][]byte) ([]byte, error) {
	rows := []any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".json" {
			continue
		}
		v, err := decodeOrdered(files[name])
		if err == nil {
			_, err = encodeIndented(v) // alone, so that the error names the file
		}
		if err != nil {
			return nil, fmt.Errorf("collect benchmarks: %s: %w", name, err)
		}
		rows = append(rows, v)
	}
	return encodeIndented(rows)
}

// CollectEvals joins eval sets (path to bytes; a set is the root or a direct
// child folder with meta_env.json) into agg_eval_all.json, one row per task.
// Of several result files of one concurrency the newest by name counts; files
// that do not parse are left out.
func CollectEvals(files map[string][]byte) ([]byte, error) {
	rows := []any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir := path.Dir(name)
		if path.Base(name) != "meta_env.json" || strings.Contains(dir, "/") {
			continue
		}
		meta, err := decodeObject(files[name])
		if err != nil {
			continue
		}
		for _, found := range evalResults(files, dir, meta) {
			added := evalRows(found, meta)
			if _, err := encodeIndented(added); err != nil {
				return nil, fmt.Errorf("collect evals: %s: %w", found.file, err)
			}
			rows = append(rows, added...)
		}
	}
	out, err := encodeIndented(rows)
	if err != nil {
		return nil, fmt.Errorf("collect evals: %w", err)
	}
	return out, nil
}

// harness is one result file of the accuracy harness.
type harness struct {
	file string
	conc any // of a batched set, else nil
	doc  object
}

var (
	evalStamp = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}(\.[0-9]+)?`)
	evalConc  = regexp.MustCompile(`_conc([0-9]+)(_[0-9]+)?\.json$`)
)

// evalResults picks the result files of a set: the newest, or the newest per
// completed concurrency when the set is batched.
func evalResults(files map[string][]byte, dir string, meta object) []harness {
	_, batched := list(meta, "eval_concs")
	newest := map[int]harness{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Dir(name) != dir || path.Ext(name) != ".json" || path.Base(name) == "meta_env.json" {
			continue
		}
		doc, err := decodeObject(files[name])
		if _, ok := doc.get("lm_eval_version"); err != nil || !ok {
			continue
		}
		h, conc := harness{file: name, doc: doc}, 0
		if batched {
			if conc = suffixConc(name); conc == 0 || !completed(meta, conc) {
				continue
			}
			h.conc = conc
		}
		if old, ok := newest[conc]; !ok || evalStamp.FindString(name) >= evalStamp.FindString(old.file) {
			newest[conc] = h
		}
	}
	var out []harness
	for _, conc := range slices.Sorted(maps.Keys(newest)) {
		out = append(out, newest[conc])
	}
	return out
}

// suffixConc is the concurrency in a batched result's name, 0 when there is none.
func suffixConc(name string) int {
	m := evalConc.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func completed(meta object, conc int) bool {
	done, ok := list(meta, "completed_eval_concs")
	return !ok || slices.ContainsFunc(done, func(v any) bool { return v == json.Number(strconv.Itoa(conc)) })
}

func list(o object, key string) ([]any, bool) {
	v, _ := o.get(key)
	l, ok := v.([]any)
	return l, ok
}
