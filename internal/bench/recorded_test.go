package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/sim"
)

// simulated starts the simulated engine and returns its handler's address.
func simulated(t *testing.T) string {
	t.Helper()
	option := func(name, kind string) engine.Option {
		return engine.Option{Names: []string{"--" + name}, Dest: strings.ReplaceAll(name, "-", "_"), Type: kind, Default: "None"}
	}
	address := make(chan string, 1)
	server, err := sim.New(sim.Config{
		Profile: sim.Profile{Version: "1.0.0", Time: sim.TimeModel{StepBase: sim.Duration(time.Millisecond), MaxBatch: 64}, Answers: sim.Answers{Accuracy: 1}},
		Flags: engine.Model{Complete: true, Options: []engine.Option{
			{Names: []string{"--model-path"}, Dest: "model_path", Required: true}, option("port", "int"),
			{Names: []string{"--host"}, Dest: "host", Default: `"127.0.0.1"`},
			{Names: []string{"--disable-prefix-cache"}, Dest: "disable_prefix_cache", Action: "store_true", Default: "False"},
			option("context-length", "int"), option("max-running-requests", "int"), option("graph-max-batch-decode", "int"), option("graph-max-batch-prefill", "int"),
		}},
		Args: []string{"--model-path", "lab/tiny-a", "--port", "0"}, Log: io.Discard, Now: time.Now,
		Listen: func(a string) (net.Listener, error) {
			l, err := net.Listen("tcp", a)
			if err == nil {
				address <- l.Addr().String()
			}
			return l, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return "http://" + <-address
}

// tape passes requests on and keeps the answers' bodies, in the order of
// the requests.
type tape struct {
	to     string
	bodies []string
}

func (r *tape) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	out, err := http.NewRequestWithContext(in.Context(), in.Method, r.to+in.URL.Path, in.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header = in.Header.Clone()
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	var kept bytes.Buffer
	buf := make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = resp.Body.Read(buf)
		kept.Write(buf[:n])
		_, _ = w.Write(buf[:n])
		w.(http.Flusher).Flush()
	}
	if in.URL.Path == "/v1/completions" {
		r.bodies = append(r.bodies, kept.String())
	}
}

// legacyKeys are the keys of the raw file, in their order.
func legacyKeys() []string {
	keys := strings.Fields(`date backend model_id tokenizer_id best_of num_prompts note request_rate burstiness max_concurrency duration
		benchmark_start_time_unix benchmark_end_time_unix completed total_input_tokens total_output_tokens request_throughput request_goodput:
		output_throughput total_token_throughput input_lens output_lens ttfts itls generated_texts errors`)
	for _, family := range []string{"ttft", "tpot", "itl", "e2el"} {
		for _, statistic := range []string{"mean", "median", "std", "p50", "p90", "p99", "p99.9"} {
			keys = append(keys, statistic+"_"+family+"_ms")
		}
	}
	return append(keys, "benchmark_outcome", "refit")
}

// recordedFile is the part of a raw file that a reader computes the rest from.
type recordedFile struct {
	Duration   float64     `json:"duration"`
	Start      float64     `json:"benchmark_start_time_unix"`
	End        float64     `json:"benchmark_end_time_unix"`
	InputLens  []int       `json:"input_lens"`
	OutputLens []int       `json:"output_lens"`
	TTFTs      []float64   `json:"ttfts"`
	ITLs       [][]float64 `json:"itls"`
	Texts      []string    `json:"generated_texts"`
	Errors     []string    `json:"errors"`
	Refit      struct {
		E2ELs []float64 `json:"e2els_s"`
	} `json:"refit"`
}

// A recorded run against the simulated engine: the file is what a slow reader
// of the rules makes of the recorded bodies, key by key, and is spelled so.
func TestRecordedRun(t *testing.T) {
	rec := &tape{to: simulated(t)}
	front := httptest.NewServer(rec)
	defer front.Close()
	waitReady(t, front.URL)
	rec.bodies = nil
	dir := t.TempDir()
	args := reference(Target{URL: front.URL}, dir, "--max-concurrency", "1", "--num-warmups", "0", "--model", "lab/tiny-a", "--save-detailed",
		"--metadata", "note=é", "--metric-percentiles", "50,90,99,99.9", "--goodput", "ttft:10000", "tpot:10000")
	if err := Command(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file recordedFile
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	checkBodies(t, rec.bodies, file)
	keys, values := topLevel(t, raw)
	if !slices.Equal(keys, legacyKeys()) {
		t.Fatalf("keys %v\nwant %v", keys, legacyKeys())
	}
	for key, want := range literalValues(file) {
		got, err := strconv.ParseFloat(values[key], 64)
		if err != nil || math.Abs(got-want) > 1e-9*math.Max(math.Abs(want), 1e-3) {
			t.Errorf("%s: %s, want %v", key, values[key], want)
		}
	}
	for key, want := range map[string]string{"backend": `"vllm"`, "model_id": `"lab/tiny-a"`, "tokenizer_id": `"lab/tiny-a"`, "best_of": "1", "num_prompts": "6",
		"note": `"\u00e9"`, "request_rate": `"inf"`, "burstiness": "1.0", "max_concurrency": "1", "completed": "6",
		"benchmark_outcome": `{"status": "passed", "requested": 6, "completed": 6, "failed": 0, "max_failure_rate": 0.05}`} {
		if values[key] != want {
			t.Errorf("%s: %s, want %s", key, values[key], want)
		}
	}
	checkSpelling(t, values)
}

// waitReady asks until the engine takes requests.
func waitReady(t *testing.T, url string) {
	t.Helper()
	s := newSide(Target{URL: url})
	defer s.close()
	if err := s.ready(context.Background(), time.Minute, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// checkBodies reads each recorded body by the letter.
func checkBodies(t *testing.T, bodies []string, file recordedFile) {
	t.Helper()
	if len(bodies) != 6 || len(file.TTFTs) != 6 {
		t.Fatalf("%d bodies and %d requests in the file, want 6", len(bodies), len(file.TTFTs))
	}
	in, out := lengths(0, 6, 20, 5, 0.8)
	for i, body := range bodies {
		want := readLiterally(false, strings.Split(body, "\n"))
		if !want.success || file.Errors[i] != "" || file.OutputLens[i] != want.tokens || len(file.ITLs[i]) != len(want.gaps) || file.Texts[i] != want.text {
			t.Errorf("request %d: error %q, %d tokens, %d gaps, text %q; the recorded body says %+v", i, file.Errors[i], file.OutputLens[i], len(file.ITLs[i]), file.Texts[i], want)
		}
		if file.OutputLens[i] != out[i] || file.InputLens[i] != in[i] {
			t.Errorf("request %d: %d in and %d out, want the reference's %d and %d", i, file.InputLens[i], file.OutputLens[i], in[i], out[i])
		}
	}
}

// literalValues are the file's figures by the formulas, from what it has of
// each request.
func literalValues(f recordedFile) map[string]float64 {
	var tpots, gaps []float64
	input, output := 0, 0
	for i := range f.TTFTs {
		input, output = input+f.InputLens[i], output+f.OutputLens[i]
		if n := f.OutputLens[i]; n > 1 {
			tpots = append(tpots, (f.Refit.E2ELs[i]-f.TTFTs[i])/float64(n-1))
		}
		gaps = append(gaps, f.ITLs[i]...)
	}
	n := float64(len(f.TTFTs))
	values := map[string]float64{"total_input_tokens": float64(input), "total_output_tokens": float64(output), "request_throughput": n / f.Duration,
		"request_goodput:": n / f.Duration, "output_throughput": float64(output) / f.Duration, "total_token_throughput": float64(input+output) / f.Duration}
	for family, sample := range map[string][]float64{"ttft": f.TTFTs, "tpot": tpots, "itl": gaps, "e2el": f.Refit.E2ELs} {
		sorted := slices.Sorted(slices.Values(sample))
		mean, square := 0.0, 0.0
		for _, v := range sorted {
			mean += v / float64(len(sorted))
		}
		for _, v := range sorted {
			square += (v - mean) * (v - mean) / float64(len(sorted))
		}
		values["mean_"+family+"_ms"], values["std_"+family+"_ms"] = 1000*mean, 1000*math.Sqrt(square)
		for name, p := range map[string]float64{"median": 50, "p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9} {
			h := float64(len(sorted)-1) * p / 100
			low := int(h)
			high := min(low+1, len(sorted)-1)
			values[name+"_"+family+"_ms"] = 1000 * (sorted[low] + (h-float64(low))*(sorted[high]-sorted[low]))
		}
	}
	return values
}

// topLevel is a raw file's keys in their order, and its values as spelled.
func topLevel(t *testing.T, raw []byte) ([]string, map[string]string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	values := map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys, values[key.(string)] = append(keys, key.(string)), string(value)
	}
	return keys, values
}

// checkSpelling holds every figure to the shortest text of its kind.
func checkSpelling(t *testing.T, values map[string]string) {
	t.Helper()
	whole := strings.Fields("best_of num_prompts max_concurrency completed total_input_tokens total_output_tokens")
	for key, text := range values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue // no figure
		}
		want := literalFloat(v)
		if slices.Contains(whole, key) {
			want = strconv.Itoa(int(v))
		}
		if text != want {
			t.Errorf("%s: spelled %s, want %s", key, text, want)
		}
	}
	for _, text := range strings.FieldsFunc(values["ttfts"]+values["itls"], func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
		if v, err := strconv.ParseFloat(text, 64); err != nil || text != literalFloat(v) {
			t.Errorf("a time is spelled %s, want %s", text, literalFloat(v))
		}
	}
}

// literalFloat is a float's shortest text: a point or an exponent always, an
// exponent below -4 and from 16 on.
func literalFloat(v float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	if n < -4 || n >= 16 {
		sign := "+"
		if n < 0 {
			sign, n = "-", -n
		}
		return mantissa + "e" + sign + strings.Repeat("0", max(0, 2-len(strconv.Itoa(n)))) + strconv.Itoa(n)
	}
	plain := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}
