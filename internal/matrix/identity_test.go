package matrix

import (
	"encoding/json"
	"strings"
	"testing"
)

// replayRow is a plan row of the family qwen3.5-fp8-h200-sglang-agentic-mtp,
// written out by hand from its catalogue entry.
func replayRow(t *testing.T, conc, offload string) Row {
	t.Helper()
	memory := `"kv-offloading":"none","total-cpu-dram-gb":0`
	if offload == "dram" {
		memory = `"kv-offloading":"dram","kv-offload-backend":{"name":"hicache"},"total-cpu-dram-gb":1234`
	}
	text := `{"image":"lmsysorg/sglang:v0.5.16-cu130","model":"Qwen/Qwen3.5-397B-A17B-FP8","model-prefix":"qwen3.5",` +
		`"precision":"fp8","framework":"sglang","runner":"cluster:h200-dgxc","tp":8,"pp":1,"dcp-size":1,"pcp-size":1,"ep":8,` +
		`"dp-attn":false,"spec-decoding":"mtp","conc":` + conc + `,` + memory + `,"duration":3600,` +
		`"exp-name":"qwen3.5_tp8_conc` + conc + `_kv` + offload + `_spec-mtp","scenario-type":"agentic-coding"}`
	var r Row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The suffixes of a published report come out of the plan rows.
func TestKeyOfPublishedPoints(t *testing.T) {
	for _, c := range []struct{ conc, offload, want string }{
		{"4", "none", "0a47d8"}, {"4", "dram", "984193"}, {"8", "dram", "c7c7aa"}, {"12", "dram", "1e97e7"},
	} {
		row := replayRow(t, c.conc, c.offload)
		key, err := Key(row)
		if err != nil || !strings.HasPrefix(key, c.want) || len(key) != 64 {
			t.Errorf("Key(c%s %s): got %s, %v; want %s...", c.conc, c.offload, key, err, c.want)
		}
	}
}

// Image, names, scheduling and eval fields do not change the key.
func TestKeyNormalises(t *testing.T) {
	row := replayRow(t, "4", "none")
	want, err := Key(row)
	if err != nil {
		t.Fatal(err)
	}
	row.Set("image", "another:v2")
	row.Set("exp-name", "other")
	row.Set("recipe-fingerprint", strings.Repeat("0", 64))
	row.Set("priority", "4.250")
	row.Set("queue-token", "x")
	row.Set("skip-queue-pr", 1)
	row.Set("run-eval", true)
	row.Set("eval-only", true)
	if got, err := Key(row); err != nil || got != want {
		t.Errorf("Key of the eval row: got %s, %v; want %s", got, err, want)
	}
	row.Set("conc", []int{4})
	if got, err := Key(row); err != nil || got != want {
		t.Errorf("Key of a list of one: got %s, %v; want %s", got, err, want)
	}
	row.Set("conc", []int{2, 4})
	if _, err := Key(row); err == nil || err.Error() != `key of row "other": want one concurrency, got 2` {
		t.Errorf("Key of two concurrencies: got %v", err)
	}
	row.Set("eval-conc", 4)
	if got, err := Key(row); err != nil || got != want {
		t.Errorf("Key by eval-conc: got %s, %v; want %s", got, err, want)
	}
	if _, err := Key(Row{}); err == nil {
		t.Error("Key of the empty row: got no error")
	}
}

// The same keys come out of the published catalogue.
func TestPointsOfPublishedReplay(t *testing.T) {
	c := catalogue(t, "inferencex")
	points, warnings, err := Points(family(t, c, "qwen3.5-fp8-h200-sglang-agentic-mtp"), c.Runners, DefaultEvals)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	var labels []string
	for _, p := range points {
		labels = append(labels, p.Label())
	}
	for _, want := range []string{"AgentX c4 TP8 EP8 0a47d8", "AgentX c4 TP8 EP8 984193", "AgentX c8 TP8 EP8 c7c7aa", "AgentX c12 TP8 EP8 1e97e7"} {
		if !strings.Contains(strings.Join(labels, "\n"), want) {
			t.Errorf("labels: got %v, want %s among them", labels, want)
		}
	}
}

func TestFingerprintVectors(t *testing.T) {
	c := catalogue(t, "inferencex")
	for key, want := range map[string]string{
		"dsr1-fp8-mi325x-sglang":                            "77d56d35c1892cac915df0b0d1bae4501439151c17a9beffd326d2a4f5097809",
		"dsv4-fp4-b200-vllm":                                "3f12e22ab5a493024e5798bc17f78ed5ded1a7ea4f92f8a47f81c5e741c363ec",
		"dsv4-fp4-b200-vllm-agentic-mtp":                    "3d6643e1f0bf6e78e32963d32ec6c6555088acf6fcaf821861e6d6891e77ce0d",
		"dsr1-fp4-mi355x-sglang-disagg":                     "7edc41802cb94af2ee1df20d621d3d20b33fbb1543ace6e191dcc5011738c002",
		"dsv4-fp4-mi355x-sglang-disagg-agentic-hicache-mtp": "3218e5a80099bf88c2011684c0391da6d91900354a95c210d296ba6f409d25fb",
		"glm5.1-fp8-b200-tilert":                            "2976900f670e1dc3aed339f86e49c3c14afddad25e8342cdb399c4b620ea892f",
	} {
		for _, mode := range []Mode{NoEvals, MarkEvals} {
			rows, err := GeneratorRows(family(t, c, key), c.Runners, DefaultEvals, mode)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Fingerprint(rows[0]); err != nil || got != want {
				t.Errorf("Fingerprint(%s, %s): got %s, %v; want %s", key, mode, got, err, want)
			}
		}
	}
}

func TestFingerprintOfFoundingFamily(t *testing.T) {
	c := catalogue(t, "seed-workspace")
	points, _, err := Points(c.Families[0], c.Runners, DefaultEvals)
	if err != nil || len(points) != 5 {
		t.Fatalf("Points: got %d, %v; want 5", len(points), err)
	}
	for _, p := range points {
		if p.Fingerprint != "f0fb10a4510df402df9e749143fd2ff5e34a4b65ff0ca025e03a79603076c85c" {
			t.Errorf("%s: got fingerprint %s", p.Label(), p.Fingerprint)
		}
	}
}

// The hashed text is sorted, compact and ASCII, and leaves out what differs
// between the points of a recipe.
func TestFingerprintText(t *testing.T) {
	var row Row
	src := `{"image":"lmsysorg/sglang:v0.5.12-rocm700-mi30x","model":"deepseek-ai/DeepSeek-R1-0528","model-prefix":"dsr1","precision":"fp8","framework":"sglang","runner":"mi325x","isl":8192,"osl":1024,"tp":8,"pp":1,"dcp-size":1,"pcp-size":1,"conc":8,"max-model-len":9472,"ep":1,"dp-attn":false,"spec-decoding":"none","exp-name":"dsr1_8k1k","disagg":false,"run-eval":true}`
	if err := json.Unmarshal([]byte(src), &row); err != nil {
		t.Fatal(err)
	}
	want := `{"dcp-size":1,"disagg":false,"dp-attn":false,"ep":1,"framework":"sglang","image":"lmsysorg/sglang:v0.5.12-rocm700-mi30x","isl":8192,"max-model-len":9472,"model":"deepseek-ai/DeepSeek-R1-0528","model-prefix":"dsr1","osl":1024,"pcp-size":1,"pp":1,"precision":"fp8","run-eval":false,"runner":"mi325x","spec-decoding":"none","tp":8}`
	if got, err := FingerprintText(row); err != nil || string(got) != want {
		t.Errorf("FingerprintText: got %s, %v; want %s", got, err, want)
	}
	row.Set("model", "镜像<&>")
	if got, _ := FingerprintText(row); !strings.Contains(string(got), `"model":"\u955c\u50cf<&>"`) {
		t.Errorf("FingerprintText: got %s, want escapes for non-ASCII only", got)
	}
}
