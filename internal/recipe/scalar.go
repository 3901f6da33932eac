package recipe

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Each reader below takes a field's node, which may be nil for an absent
// field, and records a mistake when it is not what the schema wants.

func (d *document) str(n *yaml.Node, path string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || oldBoolean(n) {
		d.fail(n, path, "want a string, got %s%s", describe(n), quoteHint(n))
		return ""
	}
	return n.Value
}

// oldBoolean finds words that YAML 1.1, which other readers of these files
// follow, takes for true or false where they stand without quotes.
func oldBoolean(n *yaml.Node) bool {
	if n.Style != 0 || len(n.Value) > len("off") {
		return false
	}
	switch n.Value {
	case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}

// quoteHint helps with 0.3 or true where a string is wanted.
func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return " without quotes"
	}
	return ""
}

func (d *document) text(n *yaml.Node, path string) string {
	s := d.str(n, path)
	if n != nil && s == "" && n.Tag == "!!str" {
		d.fail(n, path, "must not be empty")
	}
	return s
}

func (d *document) boolean(n *yaml.Node, path string) bool {
	if n == nil {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		d.fail(n, path, "want true or false, got %s", describe(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// integer accepts decimal integers, with _ between digits as YAML 1.1 has it.
func (d *document) integer(n *yaml.Node, path string, absent int) int {
	if n == nil {
		return absent
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		d.fail(n, path, "want an integer, got %s", describe(n))
		return absent
	}
	digits := strings.ReplaceAll(strings.TrimPrefix(n.Value, "+"), "_", "")
	if s := strings.TrimPrefix(digits, "-"); len(s) > 1 && s[0] == '0' {
		d.fail(n, path, "want a decimal integer, got %s", describe(n))
		return absent
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v > math.MaxInt32 || v < math.MinInt32 {
		d.fail(n, path, "integer %s is out of range", describe(n))
		return absent
	}
	return int(v)
}

func (d *document) positive(n *yaml.Node, path string, absent int) int {
	before := len(d.mistakes)
	v := d.integer(n, path, absent)
	if n != nil && len(d.mistakes) == before && v <= 0 {
		d.fail(n, path, "must be greater than 0, got %d", v)
		return max(absent, 1)
	}
	return v
}

var fraction = regexp.MustCompile(`^(0?\.[0-9]{1,18}|0|1|1\.0{1,18}|1\.)$`)

// share reads a number in (0, 1] and keeps its decimal text.
func (d *document) share(n *yaml.Node, path string) string {
	if n == nil {
		return ""
	}
	ok := n.Kind == yaml.ScalarNode && (n.Tag == "!!float" || n.Tag == "!!int")
	if !ok || !fraction.MatchString(n.Value) || strings.Trim(n.Value, "0.") == "" {
		d.fail(n, path, "want a decimal number greater than 0 and at most 1, got %s", describe(n))
		return ""
	}
	return strings.TrimSuffix(n.Value, ".")
}

// texts reads a list of strings.
func (d *document) texts(n *yaml.Node, path string) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range d.sequence(n, path) {
		out = append(out, d.str(item, path))
	}
	return out
}

// null says whether n is absent or an explicit null.
func null(n *yaml.Node) bool { return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
