package eval

import (
	"strconv"
	"strings"
)

// Meta is where a score was made: the deployment of the server that was asked.
type Meta struct {
	Multinode    bool
	Framework    string
	Precision    string
	SpecDecoding string
	Fingerprint  string
	Shape        Shape
	Conc         int
	Prefill      Role
	Decode       Role
	Model        string
	ModelPrefix  string
	Hardware     string
	InputLength  string // texts in the file: "0" when unknown
	OutputLength string
}

// Shape is how a deployment is split.
type Shape struct {
	TP, PP, DCP, PCP, EP int
	DPAttention          bool
}

// Role is one pool of a deployment.
type Role struct {
	Shape
	Workers int
}

// MetaFromEnv reads the environment contract of a job. Both roles of a
// single-node job have its own shape and one worker.
func MetaFromEnv(env map[string]string) Meta {
	e := environment(env)
	shape := Shape{e.number("TP", 1), e.number("PP_SIZE", 1), e.number("DCP_SIZE", 1), e.number("PCP_SIZE", 1), e.number("EP_SIZE", 1), e.flag("DP_ATTENTION")}
	precision := e.text("PRECISION", "")
	if precision == "" {
		precision = precisionOf(env["RESULT_FILENAME"], env["FRAMEWORK"])
	}
	return Meta{
		Multinode:    e.flag("IS_MULTINODE"),
		Framework:    e.text("FRAMEWORK", "unknown"),
		Precision:    precision,
		SpecDecoding: e.text("SPEC_DECODING", "unknown"),
		Fingerprint:  e.text("RECIPE_FINGERPRINT", ""),
		Shape:        shape,
		Conc:         e.conc(),
		Prefill:      e.role("PREFILL", shape),
		Decode:       e.role("DECODE", shape),
		Model:        e.text("MODEL_NAME", e.text("MODEL", "unknown")),
		ModelPrefix:  e.text("MODEL_PREFIX", "unknown"),
		Hardware:     e.text("RUNNER_TYPE", "unknown"),
		InputLength:  e.text("ISL", "0"),
		OutputLength: e.text("OSL", "0"),
	}
}

// precisionOf finds the precision in a result name
// "..._{precision}_{framework}_tp...".
func precisionOf(result, framework string) string {
	before, _, ok := strings.Cut(result, "_"+framework+"_tp")
	name := before[strings.LastIndexByte(before, '_')+1:]
	if !ok || framework == "" || name == "" || name == before {
		return "unknown"
	}
	return name
}

type environment map[string]string

func (e environment) text(name, absent string) string {
	if v := e[name]; v != "" {
		return v
	}
	return absent
}

func (e environment) number(name string, absent int) int {
	n, err := strconv.Atoi(e[name])
	if err != nil {
		return absent
	}
	return n
}

func (e environment) flag(name string) bool {
	switch strings.ToLower(e[name]) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// conc is the number of questions in flight: the first of a list.
func (e environment) conc() int {
	fields := strings.Fields(e["EVAL_CONCURRENT_REQUESTS"])
	if len(fields) > 0 {
		if n, err := strconv.Atoi(fields[0]); err == nil {
			return n
		}
	}
	return e.number("CONC", 1)
}

// role reads one pool; an expert-parallel size of one with the pool's
// expert-parallel flag on stands for its tensor-parallel size.
func (e environment) role(name string, absent Shape) Role {
	r := Role{Workers: e.number(name+"_NUM_WORKERS", 1)}
	r.TP = e.number(name+"_TP", absent.TP)
	r.PP = e.number(name+"_PP_SIZE", absent.PP)
	r.DCP = e.number(name+"_DCP_SIZE", absent.DCP)
	r.PCP = e.number(name+"_PCP_SIZE", absent.PCP)
	r.EP = e.number(name+"_EP", absent.EP)
	r.DPAttention = absent.DPAttention
	if e[name+"_DP_ATTN"] != "" {
		r.DPAttention = e.flag(name + "_DP_ATTN")
	}
	if r.EP == 1 && e.flag(name+"_ENABLE_EP") {
		r.EP = r.TP
	}
	return r
}

// object is meta_env.json.
func (m Meta) object() object {
	out := object{
		{"is_multinode", m.Multinode},
		{"framework", m.Framework},
		{"precision", m.Precision},
		{"spec_decoding", m.SpecDecoding},
		{"recipe_fingerprint", m.Fingerprint},
		{"tp", m.Shape.TP},
		{"pp", m.Shape.PP},
		{"dcp_size", m.Shape.DCP},
		{"pcp_size", m.Shape.PCP},
		{"conc", m.Conc},
		{"ep", m.Shape.EP},
		{"dp_attention", m.Shape.DPAttention},
	}
	for _, r := range []struct {
		prefix string
		role   Role
	}{{"prefill_", m.Prefill}, {"decode_", m.Decode}} {
		out = append(out,
			member{r.prefix + "tp", r.role.TP},
			member{r.prefix + "pp", r.role.PP},
			member{r.prefix + "dcp_size", r.role.DCP},
			member{r.prefix + "pcp_size", r.role.PCP},
			member{r.prefix + "ep", r.role.EP},
			member{r.prefix + "dp_attention", r.role.DPAttention},
			member{r.prefix + "num_workers", r.role.Workers})
	}
	return append(out,
		member{"model", m.Model},
		member{"infmax_model_prefix", m.ModelPrefix},
		member{"hw", m.Hardware},
		member{"isl", m.InputLength},
		member{"osl", m.OutputLength})
}
