package result

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result/api"
)

// The benchmark types of the public API.
const (
	SingleTurn    = "single_turn"
	AgenticTraces = "agentic_traces"
)

// Published is a point under the names of the public API.
type Published struct {
	api.Config
	BenchmarkType string
	OffloadMode   string // "on" or "off"
	ISL, OSL      *int   // nil for agentic points
	Conc          int
	Display       string             // public model name
	Sizes         map[string]float64 // pp, dcp_size, pcp_size: they ride inside metrics
}

// plan is a planned row as far as it identifies what was measured.
type plan struct {
	Model        string `json:"model"`
	ModelPrefix  string `json:"model-prefix"`
	Precision    string `json:"precision"`
	Framework    string `json:"framework"`
	SpecDecoding string `json:"spec-decoding"`
	Runner       string `json:"runner"`
	ISL          *int   `json:"isl"`
	OSL          *int   `json:"osl"`
	Conc         single `json:"conc"`
	Disagg       *truth `json:"disagg"`
	Scenario     string `json:"scenario-type"`
	Offloading   string `json:"kv-offloading"`
	engine
	Prefill *role `json:"prefill"`
	Decode  *role `json:"decode"`
}

type engine struct {
	TP     int   `json:"tp"`
	PP     int   `json:"pp"`
	DCP    int   `json:"dcp-size"`
	PCP    int   `json:"pcp-size"`
	EP     int   `json:"ep"`
	DPAttn truth `json:"dp-attn"`
}

// single is an integer, or a list of one: rows of several nodes list concurrencies.
type single int

func (s *single) UnmarshalJSON(src []byte) error {
	var list []int
	if len(src) > 0 && src[0] == '[' {
		if err := json.Unmarshal(src, &list); err != nil {
			return err
		}
		if len(list) != 1 {
			return fmt.Errorf("conc: want one concurrency, got %d", len(list))
		}
		*s = single(list[0])
		return nil
	}
	return json.Unmarshal(src, (*int)(s))
}

type role struct {
	Workers int `json:"num-worker"`
	engine
}

// truth is a boolean that may be spelled as text.
type truth bool

func (t *truth) UnmarshalJSON(src []byte) error {
	switch strings.ToLower(strings.Trim(string(src), `"`)) {
	case "true":
		*t = true
	case "false", "null", "", "none":
		*t = false
	default:
		return fmt.Errorf("%s is not a boolean", src)
	}
	return nil
}

// PublishedAs names a plan row in the terms of the public API. Not disaggregated
// means one engine, mirrored in both roles.
func PublishedAs(row matrix.Row) (Published, error) {
	src, err := json.Marshal(row)
	if err != nil {
		return Published{}, fmt.Errorf("plan row: %w", err)
	}
	var p plan
	if err := json.Unmarshal(src, &p); err != nil {
		return Published{}, fmt.Errorf("plan row: %w", err)
	}
	if p.Runner == "" || p.Framework == "" || p.Conc <= 0 || (p.Model == "" && p.ModelPrefix == "") {
		return Published{}, fmt.Errorf("plan row: model, runner, framework and conc are required")
	}
	out := Published{BenchmarkType: SingleTurn, OffloadMode: "off", ISL: p.ISL, OSL: p.OSL, Conc: int(p.Conc),
		Display: DisplayName(p.ModelPrefix, p.Model)}
	if strings.HasPrefix(p.Scenario, "agentic") {
		out.BenchmarkType, out.ISL, out.OSL = AgenticTraces, nil, nil
	}
	if p.Offloading != "" && p.Offloading != "none" {
		out.OffloadMode = "on"
	}
	out.Config = p.config()
	one := p.engine
	if p.Prefill != nil {
		one = p.Prefill.engine
	}
	out.Sizes = map[string]float64{"pp": atLeastOne(one.PP), "dcp_size": atLeastOne(one.DCP), "pcp_size": atLeastOne(one.PCP)}
	return out, nil
}

func (p plan) config() api.Config {
	framework, disagg := frameworkName(p.Framework)
	if p.Disagg != nil {
		disagg = bool(*p.Disagg)
	}
	c := api.Config{Hardware: hardwareName(p.Runner), Framework: framework, Model: ModelKey(p.ModelPrefix, p.Model),
		Precision: precisionName(p.Precision), SpecMethod: specName(p.SpecDecoding), Disagg: disagg}
	prefill, decode := role{engine: p.engine}, role{engine: p.engine}
	if p.Prefill != nil && p.Decode != nil {
		c.IsMultinode, prefill, decode = true, *p.Prefill, *p.Decode
	}
	c.PrefillTP, c.PrefillEP, c.PrefillDPAttention, c.PrefillNumWorkers = prefill.TP, max(prefill.EP, 1), bool(prefill.DPAttn), prefill.Workers
	c.DecodeTP, c.DecodeEP, c.DecodeDPAttention, c.DecodeNumWorkers = decode.TP, max(decode.EP, 1), bool(decode.DPAttn), decode.Workers
	c.NumPrefillGPU, c.NumDecodeGPU = prefill.gpus(), decode.gpus()
	return c
}

// gpus are the devices of a role; EP and DCP share those of TP, PP and PCP.
func (r role) gpus() int {
	return r.TP * max(r.PP, 1) * max(r.PCP, 1) * max(r.Workers, 1)
}

func atLeastOne(n int) float64 { return float64(max(n, 1)) }
