package recipe

import (
	"fmt"
	"math/big"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Priorities is the policy by which a queue orders jobs (ci-priority.yaml).
// Every number is an exact decimal. Source: recipes specification, section 9.
type Priorities struct {
	Base                          *big.Rat
	Event                         map[string]*big.Rat
	MultiNode, Agentic, Eval      *big.Rat
	Precision, Spec, Model        map[string]*big.Rat
	Framework                     []Prefixed // in file order: the first that fits counts
	Checklist, Patchwork          *big.Rat
	SkipQueue                     string // label
	ChecklistLabels               []string
	PatchworkLabels, PatchworkNot []string // labels that ask for the patchwork score, and that waive it
}

// Prefixed is an adjustment of frameworks that are called Prefix, or whose
// names begin with it and a hyphen.
type Prefixed struct {
	Prefix string
	Add    *big.Rat
}

// ParsePriorities reads ci-priority.yaml strictly. Errors start with file:line:column.
func ParsePriorities(src []byte, name string) (Priorities, error) {
	var p Priorities
	root, err := parseRoot(src, name)
	if err != nil {
		return p, err
	}
	if root == nil {
		return p, fmt.Errorf("%s:1: version is missing", name)
	}
	d := &document{name: name}
	m := d.mapping(root, "")
	if m == nil {
		return p, d.err()
	}
	if n := m.need("version"); n != nil && n.Value != "1" {
		d.fail(n, "version", "%s is not known, only 1 is", describe(n))
	}
	p.Base = d.decimal(m.need("base-score"), "base-score")
	d.adjustments(m.need("adjustments"), &p)
	d.queueLabels(m.need("labels"), &p)
	m.done()
	return p, d.err()
}

func (d *document) adjustments(n *yaml.Node, p *Priorities) {
	if n == nil {
		return
	}
	m := d.mapping(n, "adjustments")
	if m == nil {
		return
	}
	p.MultiNode = d.decimal(m.need("multi-node"), m.at("multi-node"))
	p.Agentic = d.decimal(m.need("agentic"), m.at("agentic"))
	p.Eval = d.decimal(m.need("eval-only"), m.at("eval-only"))
	for _, t := range []struct {
		name string
		into *map[string]*big.Rat
	}{{"event", &p.Event}, {"precision", &p.Precision}, {"spec-decoding", &p.Spec}, {"model-prefix", &p.Model}} {
		*t.into = map[string]*big.Rat{}
		for _, a := range d.table(m.need(t.name), m.at(t.name)) {
			(*t.into)[a.Prefix] = a.Add
		}
	}
	p.Framework = d.table(m.need("framework-prefix"), m.at("framework-prefix"))
	m.done()
}

// table is a mapping of names to decimals, in file order.
func (d *document) table(n *yaml.Node, at string) []Prefixed {
	if n == nil {
		return nil
	}
	m := d.mapping(n, at)
	if m == nil {
		return nil
	}
	var out []Prefixed
	for _, k := range m.keys {
		out = append(out, Prefixed{k.Value, d.decimal(m.value(k.Value), m.at(k.Value))})
	}
	return out
}

func (d *document) queueLabels(n *yaml.Node, p *Priorities) {
	if n == nil {
		return
	}
	m := d.mapping(n, "labels")
	if m == nil {
		return
	}
	inner := func(name string, read func(*mapping)) {
		n := m.need(name)
		if n == nil {
			return
		}
		if in := d.mapping(n, m.at(name)); in != nil {
			read(in)
			in.done()
		}
	}
	inner("skip-queue", func(in *mapping) { p.SkipQueue = d.str(in.need("name"), in.at("name")) })
	inner("checklist-complete", func(in *mapping) {
		p.ChecklistLabels = d.someTexts(in.need("names"), in.at("names"))
		p.Checklist = d.decimal(in.need("adjustment"), in.at("adjustment"))
	})
	inner("patchwork", func(in *mapping) {
		p.PatchworkLabels = d.someTexts(in.need("names"), in.at("names"))
		p.Patchwork = d.decimal(in.need("score"), in.at("score"))
		p.PatchworkNot = d.someTexts(in.need("waived-by"), in.at("waived-by"))
	})
	m.done()
}

var decimalForm = regexp.MustCompile(`^-?[0-9]{1,9}(\.[0-9]{1,9})?$`)

// decimal reads a number by its text, so that no digit is lost.
func (d *document) decimal(n *yaml.Node, at string) *big.Rat {
	if n == nil {
		return new(big.Rat)
	}
	v, ok := new(big.Rat).SetString(n.Value)
	if n.Kind != yaml.ScalarNode || n.Style != 0 || !decimalForm.MatchString(n.Value) || !ok {
		d.fail(n, at, "want a decimal number such as 0.75, got %s", describe(n))
		return new(big.Rat)
	}
	return v
}
