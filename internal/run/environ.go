package run

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/matrix"
)

// rangeRatio is fixed in every sweep.
const rangeRatio = "0.8"

// evalRoom is what an eval-only engine's context has beyond the workload.
const evalRoom = 256

// contract is the environment that a single-node recipe is promised. It is one
// list for every executor: what is not here does not reach the recipe.
func contract(j Job, port int) map[string]string {
	r := j.Row
	one := func(name string) string { return strconv.Itoa(max(r.Int(name), 1)) }
	gpus := max(r.Int("tp"), 1) * max(r.Int("pp"), 1) * max(r.Int("pcp-size"), 1)
	env := map[string]string{
		"MODEL": r.Str("model"), "MODEL_PREFIX": r.Str("model-prefix"), "IMAGE": j.Image, "FRAMEWORK": r.Str("framework"),
		"PRECISION": r.Str("precision"), "EXP_NAME": r.Str("exp-name"), "RECIPE_FINGERPRINT": j.Fingerprint,
		"TP": one("tp"), "PP_SIZE": one("pp"), "DCP_SIZE": one("dcp-size"), "PCP_SIZE": one("pcp-size"), "EP_SIZE": one("ep"),
		"DP_ATTENTION": strconv.FormatBool(r.Bool("dp-attn")), "GPU_COUNT": strconv.Itoa(gpus), "CONC": strconv.Itoa(r.Int("conc")),
		"SPEC_DECODING": cmp.Or(r.Str("spec-decoding"), "none"), "DISAGG": strconv.FormatBool(r.Bool("disagg")),
		"RUN_EVAL": strconv.FormatBool(j.Eval), "EVAL_ONLY": strconv.FormatBool(j.Eval && !j.Throughput),
		"RANDOM_RANGE_RATIO": rangeRatio, "RESULT_FILENAME": j.Name, "RESULT_DIR": filepath.Join(j.Checkout, "results"),
		"RUNNER_NAME": j.Provenance.Runner, "RUNNER_TYPE": r.Str("runner"), "PORT": strconv.Itoa(port),
		"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": filepath.Join(j.home(), "pycache"),
	}
	if j.Weights != "" {
		env["MODEL_PATH"] = j.Weights
	}
	scenario(env, r)
	if e := r.Row("router"); r.Has("router") {
		env["ROUTER_METADATA"] = compact(e)
	}
	return env
}

func scenario(env map[string]string, r matrix.Row) {
	if r.Str("scenario-type") == matrix.Agentic {
		env["SCENARIO_TYPE"], env["SCENARIO_SUBDIR"], env["IS_AGENTIC"] = matrix.Agentic, "agentic/", "1"
		env["DURATION"] = strconv.Itoa(r.Int("duration"))
		env["KV_OFFLOADING"] = cmp.Or(r.Str("kv-offloading"), "none")
		env["TOTAL_CPU_DRAM_GB"] = strconv.Itoa(r.Int("total-cpu-dram-gb"))
		if b := r.Row("kv-offload-backend"); r.Has("kv-offload-backend") {
			env["KV_OFFLOAD_BACKEND"], env["KV_OFFLOAD_BACKEND_METADATA"] = b.Str("name"), compact(b)
		}
		return
	}
	env["SCENARIO_TYPE"], env["SCENARIO_SUBDIR"], env["IS_AGENTIC"] = matrix.Fixed, "fixed_seq_len/", "0"
	env["ISL"], env["OSL"] = strconv.Itoa(r.Int("isl")), strconv.Itoa(r.Int("osl"))
	env["MAX_MODEL_LEN"] = strconv.Itoa(r.Int("max-model-len"))
	env["EVAL_MAX_MODEL_LEN"] = strconv.Itoa(max(r.Int("isl")+r.Int("osl")+evalRoom, r.Int("max-model-len")))
}

func compact(r matrix.Row) string {
	b, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	return string(b)
}

// home is the job's own folder for everything a program keeps at home.
func (j Job) home() string { return filepath.Join(filepath.Dir(j.Checkout), "home") }

func (j Job) temp() string { return filepath.Join(filepath.Dir(j.Checkout), "tmp") }

// environment is all that the recipe's process gets: the contract, what the
// image and jobs.env bring, and nothing of this process but the folders where
// bash and its tools are.
func (j Job) environment(contract map[string]string, refit, mark string) []string {
	env := map[string]string{}
	for _, kv := range j.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	for name, value := range contract {
		env[name] = value
	}
	env["PATH"] = joinPaths(env["PATH"], os.Getenv("PATH"))
	env["HOME"], env["TMPDIR"], env["LANG"] = j.home(), j.temp(), "C.UTF-8"
	env["REFIT"], env["REFIT_DIED"], env[markName] = refit, j.deathFile(), mark
	env["REFIT_EVAL_TASK"], env["REFIT_EVAL_DATA"], env["REFIT_EVAL_SHA256"] = j.EvalTask, j.EvalData, j.EvalSHA256
	env[secretsVariable] = strings.Join(j.secretNames(), ",")
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func joinPaths(first, second string) string {
	return strings.Trim(first+":"+second, ":")
}
