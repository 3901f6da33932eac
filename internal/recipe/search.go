package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

func (d *document) fixedBlock(n *yaml.Node, path string, e *Entry) (b FixedBlock) {
	m := d.mapping(n, path)
	if m == nil {
		return b
	}
	b.Line = n.Line
	b.ISL = d.integer(m.need("isl"), m.at("isl"), 0)
	b.OSL = d.integer(m.need("osl"), m.at("osl"), 0)
	if list := m.need("search-space"); list != nil {
		for _, s := range d.sequence(list, m.at("search-space")) {
			b.Search = append(b.Search, d.search(s, m.at("search-space"), e, false))
		}
	}
	m.done()
	return b
}

func (d *document) agenticBlock(n *yaml.Node, path string, e *Entry) (b AgenticBlock) {
	m := d.mapping(n, path)
	if m == nil {
		return b
	}
	b.Line = n.Line
	b.DRAMUtilization = d.share(m.take("dram-utilization"), m.at("dram-utilization"))
	offloads := false
	if list := m.need("search-space"); list != nil {
		for _, item := range d.sequence(list, m.at("search-space")) {
			s := d.search(item, m.at("search-space"), e, true)
			offloads = offloads || s.Offload == "dram"
			b.Search = append(b.Search, s)
		}
	}
	if offloads && !m.has("dram-utilization") {
		d.fail(n, path, "dram-utilization is needed where kv-offloading is dram")
	}
	m.done()
	return b
}

// search reads one search-space entry of either scenario and node kind.
func (d *document) search(n *yaml.Node, path string, e *Entry, agentic bool) (s Search) {
	m := d.mapping(n, path)
	if m == nil {
		return s
	}
	s.Line, s.Column = n.Line, n.Column
	workers := d.workerShape(m, e.Multinode)
	if workers {
		s.Prefill = d.worker(m.need("prefill"), m.at("prefill"))
		s.Decode = d.worker(m.need("decode"), m.at("decode"))
		d.hardwarePair(m, s)
		if agentic { // accepted and without effect, as in the published files' schema
			d.integer(dropNull(m.take("ep")), m.at("ep"), 1)
			d.boolean(dropNull(m.take("dp-attn")), m.at("dp-attn"))
		}
	} else {
		d.topology(m, &s)
	}
	if workers || e.Multinode {
		s.Transfer = d.text(dropNull(m.take("kv-p2p-transfer")), m.at("kv-p2p-transfer"))
	}
	s.SpecDecoding = d.specDecoding(m.take("spec-decoding"), m.at("spec-decoding"))
	s.RouterSet = m.has("router")
	s.Router = d.component(m.take("router"), m.at("router"), true)
	d.concurrency(m, &s)
	if agentic {
		d.offload(m, &s, !workers)
	}
	m.done()
	return s
}

// workerShape says whether the entry is read as a pair of workers, which
// multi-node entries are. One that has the other shape is a single mistake; its
// fields are then read as what they are.
func (d *document) workerShape(m *mapping, multinode bool) bool {
	workers := m.has("prefill") || m.has("decode")
	switch {
	case multinode && !workers && m.has("tp"):
		d.fail(m.node, m.path, "tp is the shape of multinode: false, but multinode is true: write prefill and decode")
		return false
	case !multinode && workers && !m.has("tp"):
		d.fail(m.node, m.path, "prefill and decode are the shape of multinode: true, but multinode is false: write tp")
		return true
	}
	return multinode
}

// topology reads the parallel sizes of a single-node entry.
func (d *document) topology(m *mapping, s *Search) {
	s.TP = d.integer(m.need("tp"), m.at("tp"), 0)
	s.PP = d.positive(m.take("pp"), m.at("pp"), 1)
	s.DCP = d.positive(m.take("dcp-size"), m.at("dcp-size"), 1)
	s.PCP = d.positive(m.take("pcp-size"), m.at("pcp-size"), 1)
	s.EP = d.integer(dropNull(m.take("ep")), m.at("ep"), 1)
	s.DPAttention = d.boolean(dropNull(m.take("dp-attn")), m.at("dp-attn"))
	d.divides(m, s.TP, s.DCP)
}

// divides checks that decode context parallelism reuses whole TP groups. A tp
// that could not be read is 0, which every size divides.
func (d *document) divides(m *mapping, tp, dcp int) {
	if tp%dcp != 0 {
		d.fail(m.node, m.path, "tp %d is not divisible by dcp-size %d", tp, dcp)
	}
}

func (d *document) worker(n *yaml.Node, path string) *Worker {
	if n == nil {
		return nil
	}
	m := d.mapping(n, path)
	if m == nil {
		return nil
	}
	w := &Worker{Written: m.written()}
	w.Workers = d.integer(m.need("num-worker"), m.at("num-worker"), 0)
	w.TP = d.integer(m.need("tp"), m.at("tp"), 0)
	w.PP = d.positive(m.take("pp"), m.at("pp"), 1)
	w.DCP = d.positive(m.take("dcp-size"), m.at("dcp-size"), 1)
	w.PCP = d.positive(m.take("pcp-size"), m.at("pcp-size"), 1)
	w.EP = d.integer(m.need("ep"), m.at("ep"), 1)
	w.DPAttention = d.boolean(m.need("dp-attn"), m.at("dp-attn"))
	w.Hardware = d.text(dropNull(m.take("hardware")), m.at("hardware"))
	w.Settings = d.texts(dropNull(m.take("additional-settings")), m.at("additional-settings"))
	d.divides(m, w.TP, w.DCP)
	m.done()
	return w
}

func (d *document) hardwarePair(m *mapping, s Search) {
	if s.Prefill != nil && s.Decode != nil && (s.Prefill.Hardware == "") != (s.Decode.Hardware == "") {
		d.fail(m.node, m.path, "hardware must be set for both prefill and decode or for neither")
	}
}

func (d *document) specDecoding(n *yaml.Node, path string) string {
	if n == nil {
		return "none"
	}
	return d.oneOf(n, path, "none", "mtp", "draft_model")
}

// oneOf reads a string that must be one of the given words.
func (d *document) oneOf(n *yaml.Node, path string, words ...string) string {
	for _, w := range words {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Value == w {
			return w
		}
	}
	d.fail(n, path, "want %s, got %s%s", strings.Join(words, " or "), describe(n), didYouMean(n.Value, words))
	return words[0]
}

// offload reads where the KV cache goes when the accelerator is full.
func (d *document) offload(m *mapping, s *Search, required bool) {
	s.Offload = "none"
	before := len(d.mistakes)
	n := m.take("kv-offloading")
	switch {
	case n != nil:
		s.Offload = d.oneOf(n, m.at("kv-offloading"), "none", "dram")
	case required:
		d.fail(m.node, m.path, "kv-offloading is missing")
	}
	unread := len(d.mistakes) > before
	backend := m.take("kv-offload-backend")
	s.Backend = d.component(backend, m.at("kv-offload-backend"), false)
	switch {
	case s.Offload == "dram" && null(backend):
		d.fail(m.node, m.path, "kv-offload-backend is needed where kv-offloading is dram")
	case s.Offload == "none" && !null(backend) && !unread:
		d.fail(backend, m.at("kv-offload-backend"), "not allowed without kv-offloading: dram")
	}
}

// concurrency reads a range or a list, never both. Half a range beside a list
// has no effect, as in the published files' schema.
func (d *document) concurrency(m *mapping, s *Search) {
	start, end, list := m.take("conc-start"), m.take("conc-end"), m.take("conc-list")
	switch {
	case list != nil && start != nil && end != nil:
		d.fail(list, m.at("conc-list"), "not allowed beside conc-start and conc-end")
	case list != nil:
		d.positive(start, m.at("conc-start"), 1)
		d.positive(end, m.at("conc-end"), 1)
		for _, c := range d.sequence(list, m.at("conc-list")) {
			s.List = append(s.List, d.positive(c, m.at("conc-list"), 1))
		}
		if list.Kind == yaml.SequenceNode && len(s.List) == 0 {
			d.fail(list, m.at("conc-list"), "must not be empty")
		}
	case start == nil || end == nil:
		d.fail(m.node, m.path, "needs conc-start and conc-end, or conc-list")
	default:
		s.Start = d.positive(start, m.at("conc-start"), 1)
		s.End = d.positive(end, m.at("conc-end"), s.Start)
		if s.Start > s.End {
			d.fail(start, m.at("conc-start"), "%d is greater than conc-end %d", s.Start, s.End)
		}
	}
}

// dropNull treats an explicit null as an absent field, where the schema says so.
func dropNull(n *yaml.Node) *yaml.Node {
	if null(n) {
		return nil
	}
	return n
}
