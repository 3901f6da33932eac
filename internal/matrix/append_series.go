package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// onCurves holds added rows to the curves that people see: each must lie on one
// that base has, and base must have measured that curve with one image alone,
// which is the row's. A curve of two images would compare what cannot be compared.
func onCurves(base, added []owned) error {
	images := map[string][]string{} // curve -> images at base
	var curves []Row
	for _, b := range base {
		c := curveOf(b.row)
		id := canonical(c)
		if images[id] == nil {
			curves = append(curves, c)
		}
		if image := b.row.Str("image"); !slices.Contains(images[id], image) {
			images[id] = append(images[id], image)
		}
	}
	var m mistakes
	for _, a := range added {
		c := curveOf(a.row)
		have := images[canonical(c)]
		workload, shape := described(a.row)
		image := a.row.Str("image")
		switch {
		case len(have) == 0:
			m.add(a.family, "%s %s begins a curve that the base revision does not have%s: take append-only out of the entry", workload, shape, nearestCurve(c, curves))
		case len(have) > 1:
			m.add(a.family, "%s %s: the base revision measures this curve with several images (%s), so that no image can be its own: take append-only out of the entry", workload, shape, strings.Join(have, ", "))
		case image == "" || image != have[0]:
			m.add(a.family, "%s %s has the image %q, its curve at the base revision %q: take append-only out of the entry, so that all of the curve is measured", workload, shape, image, have[0])
		}
	}
	return m.err()
}

// curveOf is what the points of one line of a chart have in common.
func curveOf(r Row) Row {
	var c Row
	for _, name := range []string{"model", "model-prefix", "precision", "framework", "runner"} {
		c.Set(name, r.Str(name))
	}
	c.Set("disagg", r.Bool("disagg"))
	if r.agentic() {
		c.Set("scenario", Agentic)
	} else {
		c.Set("scenario", Fixed)
		c.Set("isl", r.Int("isl"))
		c.Set("osl", r.Int("osl"))
		c.Set("spec-decoding", r.Str("spec-decoding"))
	}
	c.Set("offload", r.Has("kv-offloading") && r.Str("kv-offloading") != "none")
	for _, pool := range []string{"prefill", "decode"} {
		c.Set(pool+" hardware", r.Row(pool).Str("hardware"))
	}
	return c
}

func nearestCurve(c Row, curves []Row) string {
	var best []string
	for _, was := range curves {
		if d := changes(was, c); best == nil || len(d) < len(best) {
			best = d
		}
	}
	return nearestText(best)
}

// nearestText is "" where nothing is near.
func nearestText(changes []string) string {
	const most = 4
	switch {
	case len(changes) == 0:
		return ""
	case len(changes) > most:
		return fmt.Sprintf(" (the nearest differs in %s and %d more)", strings.Join(changes[:most], ", "), len(changes)-most)
	}
	return " (the nearest differs in " + strings.Join(changes, ", ") + ")"
}

// changes lists the fields in which two rows differ, as "tp 4 -> 8".
func changes(was, is Row, without ...string) []string {
	var out []string
	names := was.Names()
	for _, n := range is.Names() {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		if slices.Contains(without, n) {
			continue
		}
		a, b := valueOf(was, n), valueOf(is, n)
		inner, okA := a.(Row)
		outer, okB := b.(Row)
		switch {
		case okA && okB:
			for _, c := range changes(inner, outer) {
				out = append(out, n+"."+c)
			}
		case canonicalValue(a) != canonicalValue(b):
			out = append(out, n+" "+shown(a)+" -> "+shown(b))
		}
	}
	return out
}

func canonicalValue(v any) string { return string(appendSorted(nil, v)) }

// shown is a value in a message.
func shown(v any) string {
	const most = 80
	var b bytes.Buffer
	if text, ok := v.(string); ok && text != "" {
		b.WriteString(text)
	} else if v == nil {
		b.WriteString("none")
	} else if err := writeValue(&b, v); err != nil {
		b.WriteString("?")
	}
	if r := []rune(b.String()); len(r) > most {
		return string(r[:most]) + "..."
	}
	return b.String()
}
