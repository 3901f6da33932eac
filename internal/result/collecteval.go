package result

import (
	"encoding/json"
	"strconv"
	"strings"
)

// evalRows makes the aggregate rows of one result file, one per task.
func evalRows(h harness, meta object) []any {
	tasks, _ := h.doc.get("results")
	byTask, _ := tasks.(object)
	var rows []any
	for _, t := range byTask {
		values, _ := t.value.(object)
		row := evalIdentity(h, meta, t.key)
		row = append(row, evalScores(h, values, t.key)...)
		rows = append(rows, row)
	}
	return rows
}

func evalIdentity(h harness, meta object, task string) object {
	text := func(key string) string { return orUnknown(meta.str(key)) }
	tp, ep := metaInt(meta, "tp", metaInt(meta, "prefill_tp", 0)), metaInt(meta, "ep", metaInt(meta, "prefill_ep", 0))
	conc := any(metaInt(meta, "conc", 0))
	if h.conc != nil {
		conc = h.conc
	}
	multi := metaTrue(meta, "is_multinode")
	dp := metaWord(meta, "dp_attention", "none")
	prefillDP, decodeDP := metaWord(meta, "prefill_dp_attention", dp), metaWord(meta, "decode_dp_attention", dp)
	if multi && prefillDP != decodeDP {
		dp = "prefill=" + prefillDP + ",decode=" + decodeDP
	}
	return object{
		{"is_multinode", multi}, {"model_prefix", text("infmax_model_prefix")}, {"model", evalModel(h.doc, meta, task)},
		{"hw", upperUnlessUnknown(text("hw"))}, {"framework", strings.ToLower(text("framework"))}, {"precision", strings.ToLower(text("precision"))},
		{"spec_decoding", text("spec_decoding")}, {"isl", metaInt(meta, "isl", 0)}, {"osl", metaInt(meta, "osl", 0)}, {"tp", tp}, {"ep", ep},
		{"prefill_tp", metaInt(meta, "prefill_tp", tp)}, {"prefill_ep", metaInt(meta, "prefill_ep", ep)}, {"prefill_num_workers", metaInt(meta, "prefill_num_workers", 1)},
		{"decode_tp", metaInt(meta, "decode_tp", tp)}, {"decode_ep", metaInt(meta, "decode_ep", ep)}, {"decode_num_workers", metaInt(meta, "decode_num_workers", 1)},
		{"conc", conc}, {"dp_attention", dp}, {"prefill_dp_attention", prefillDP}, {"decode_dp_attention", decodeDP}, {"task", task},
	}
}

func evalModel(doc, meta object, task string) string {
	if m := doc.str("model_name"); m != "" {
		return m
	}
	configs, _ := doc.get("configs")
	byTask, _ := configs.(object)
	config, _ := byTask.get(task)
	c, _ := config.(object)
	metadata, _ := c.get("metadata")
	if md, ok := metadata.(object); ok && md.str("model") != "" {
		return md.str("model")
	}
	return orUnknown(meta.str("model"))
}

// evalScores reads the metric of the task under its strict and flexible filters.
func evalScores(h harness, values object, task string) object {
	configs, _ := h.doc.get("configs")
	byTask, _ := configs.(object)
	config, _ := byTask.get(task)
	c, _ := config.(object)
	metric, filters := "exact_match", filterNames(c)
	if metrics, ok := list(c, "metric_list"); ok && len(metrics) > 0 {
		if first, ok := metrics[0].(object); ok && first.str("metric") != "" {
			metric = first.str("metric")
		}
	}
	found := object{{"em_strict", nil}, {"em_strict_se", nil}, {"em_flexible", nil}, {"em_flexible_se", nil}}
	put := func(kind, suffix string) {
		if v, ok := values.get(metric + suffix); ok {
			found.set(kind, v)
		}
		if v, ok := values.get(metric + "_stderr" + suffix); ok {
			found.set(kind+"_se", v)
		}
	}
	for _, f := range filters {
		switch {
		case strings.Contains(f, "strict"), strings.Contains(f, "resolved"):
			put("em_strict", ","+f)
		case strings.Contains(f, "flex"), strings.Contains(f, "extract"):
			put("em_flexible", ","+f)
		}
	}
	if len(filters) == 0 {
		put("em_strict", "")
	}
	samples := sampleCount(h.doc, task)
	out := append(found, object{{"n_eff", samples}, {"source", h.file}}...)
	return append(out, scoreOf(found, values)...)
}

// scoreOf picks the strict score, else the accuracy, else null.
func scoreOf(found, values object) object {
	if v, _ := found.get("em_strict"); v != nil {
		se, _ := found.get("em_strict_se")
		return object{{"score", v}, {"score_name", "em_strict"}, {"score_se", se}}
	}
	for _, suffix := range []string{"", ",none"} {
		if v, ok := values.get("acc" + suffix); ok {
			se, _ := values.get("acc_stderr" + suffix)
			return object{{"score", v}, {"score_name", "accuracy"}, {"score_se", se}}
		}
	}
	return object{{"score", nil}, {"score_name", nil}, {"score_se", nil}}
}

// filterNames are the filters a task's configuration declares.
func filterNames(config object) []string {
	var out []string
	filters, _ := list(config, "filter_list")
	for _, f := range filters {
		if o, ok := f.(object); ok && o.str("name") != "" {
			out = append(out, o.str("name"))
		}
	}
	return out
}

func sampleCount(doc object, task string) any {
	all, _ := doc.get("n-samples")
	byTask, _ := all.(object)
	counts, _ := byTask.get(task)
	c, _ := counts.(object)
	v, _ := c.get("effective")
	return v
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func upperUnlessUnknown(s string) string {
	if s == "unknown" {
		return s
	}
	return strings.ToUpper(s)
}

// metaInt reads an integer that may be spelled as text.
func metaInt(meta object, key string, fallback int) int {
	v, _ := meta.get(key)
	var text string
	switch v := v.(type) {
	case json.Number:
		text = string(v)
	case string:
		text = strings.TrimSpace(v)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return fallback
	}
	return n
}

func metaTrue(meta object, key string) bool {
	v, _ := meta.get(key)
	b, _ := v.(bool)
	s, _ := v.(string)
	return b || isTrue(s)
}

// metaWord reads a flag as a lower-case word.
func metaWord(meta object, key, fallback string) string {
	switch v, _ := meta.get(key); v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		if v != "" {
			return strings.ToLower(v)
		}
	}
	return fallback
}
