package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// outsideKey are the plan fields that do not tell points apart: the image that
// is being exchanged, names derived from others, and scheduling.
var outsideKey = []string{"image", "exp-name", "recipe-fingerprint", "priority", "queue-token", "skip-queue-pr"}

// Key is the identity of a point inside its family: that of its plan
// throughput row without image, names and scheduling. A plan row of any mode
// gives the key of the point that it measures; a row that measures several
// concurrencies has no key.
func Key(row Row) (string, error) {
	text, err := KeyText(row)
	if err != nil {
		return "", err
	}
	return digest(text), nil
}

// KeyText is the text whose hash is the key.
func KeyText(row Row) ([]byte, error) {
	concs := row.concs()
	if row.Has("eval-conc") {
		concs = []int{row.Int("eval-conc")}
	}
	if len(concs) != 1 || concs[0] <= 0 {
		return nil, fmt.Errorf("key of row %q: want one concurrency, got %d", row.Str("exp-name"), len(concs))
	}
	if row.Str("model") == "" || row.Str("runner") == "" {
		return nil, errors.New("key of a row: it names no model or no runner")
	}
	r := throughput(row)
	r.Delete(outsideKey...)
	r.Set("conc", concs[0])
	text, err := workspace.Canonical(r.plain())
	if err != nil {
		return nil, fmt.Errorf("key of row %q: %w", row.Str("exp-name"), err)
	}
	return text, nil
}

// throughput undoes eval marking: the row as a run without evals has it.
func throughput(row Row) Row {
	r := row.without("eval-conc")
	if r.agentic() {
		r.Delete("run-eval", "eval-only", "eval-all-concs")
		return r
	}
	for _, name := range []string{"run-eval", "eval-only", "eval-all-concs"} {
		if _, ok := r.Get(name); ok {
			r.Set(name, false)
		}
	}
	return r
}

// FingerprintText is the text whose hash is the recipe fingerprint.
func FingerprintText(generatorRow Row) ([]byte, error) {
	r := throughput(generatorRow)
	r.Delete("conc", "exp-name", "recipe-fingerprint", "eval-only", "eval-all-concs")
	text, err := workspace.Canonical(r.plain())
	if err != nil {
		return nil, fmt.Errorf("fingerprint of row %q: %w", generatorRow.Str("exp-name"), err)
	}
	return text, nil
}

// Fingerprint identifies the recipe of a row, image included, over all its
// concurrencies. It needs the row as the generator emits it: a plan row has
// lost the difference between absent and empty settings.
func Fingerprint(generatorRow Row) (string, error) {
	text, err := FingerprintText(generatorRow)
	if err != nil {
		return "", err
	}
	return digest(text), nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// plain is the row as maps and lists, for the canonical spelling.
func (r Row) plain() map[string]any {
	m := make(map[string]any, len(r.fields))
	for _, f := range r.fields {
		m[f.name] = plainOf(f.value)
	}
	return m
}

func plainOf(v any) any {
	switch v := v.(type) {
	case Row:
		return v.plain()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainOf(v[i])
		}
		return out
	}
	return v
}

// canonical is a row, without some of its fields, as a map key: equal rows,
// whatever their order, have equal keys. It is no spelling that anybody else
// reads.
func canonical(r Row, without ...string) string {
	return string(appendSorted(make([]byte, 0, 1024), r, without...))
}

func appendSorted(b []byte, v any, without ...string) []byte {
	switch v := v.(type) {
	case Row:
		order := make([]int, 0, 32)
		for i, f := range v.fields {
			if !slices.Contains(without, f.name) {
				order = append(order, i)
			}
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(v.fields[i].name, v.fields[j].name) })
		b = append(b, '{')
		for _, i := range order {
			b = strconv.AppendQuote(b, v.fields[i].name)
			b = append(b, ':')
			b = append(appendSorted(b, v.fields[i].value), ',')
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(appendSorted(b, item), ',')
		}
		return append(b, ']')
	case string:
		return strconv.AppendQuote(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	}
	return fmt.Append(b, v) // bool, nil, a number that is no int64
}
