package bench

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The draws of the reference's dataset, one seed after the other.
func TestDatasetDraws(t *testing.T) {
	check := func(name string, w Workload, n, vocabulary int, want dataset) {
		t.Helper()
		got := draw(w, n, vocabulary)
		for _, part := range []struct {
			name      string
			got, want []int
		}{{"prefix", got.prefix, want.prefix}, {"inputs", got.in, want.in}, {"outputs", got.out, want.out}, {"offsets", got.offsets, want.offsets}} {
			if !slices.Equal(part.got, part.want) {
				t.Errorf("%s: %s %v, want %v", name, part.name, part.got, part.want)
			}
		}
	}
	check("1k1k", Workload{InputTokens: 1024, OutputTokens: 1024, RangeRatio: 0.8}, 10, 128256, dataset{
		in:      []int{991, 866, 936, 1011, 886, 1014, 922, 828, 840, 855},
		out:     []int{906, 889, 907, 959, 877, 1012, 858, 906, 993, 907},
		offsets: []int{101201, 124581, 82457, 93005, 104520, 6921, 38804, 67699, 70608, 37619},
	})
	check("8k1k", Workload{InputTokens: 8192, OutputTokens: 1024, RangeRatio: 0.8}, 4, 128256, dataset{
		in: []int{7237, 7112, 7769, 7388}, out: []int{1014, 922, 828, 840}, offsets: []int{55026, 112420, 80471, 80966},
	})
	check("seed 42", Workload{Seed: 42, InputTokens: 1024, OutputTokens: 1024, RangeRatio: 0.8}, 4, 129280, dataset{
		in: []int{921, 998, 911, 833}, out: []int{925, 890, 1007, 839}, offsets: []int{54886, 6265, 82386, 128214},
	})
	check("constant lengths consume no words", Workload{InputTokens: 1024, OutputTokens: 1024, RangeRatio: 1}, 4, 50257, dataset{
		in: []int{1024, 1024, 1024, 1024}, out: []int{1024, 1024, 1024, 1024}, offsets: []int{2732, 43567, 42613, 45891},
	})
	check("prefix", Workload{InputTokens: 100, OutputTokens: 20, RangeRatio: 0.5, SharedPrefix: 3}, 5, 1000, dataset{
		prefix: []int{684, 559, 629}, in: []int{50, 53, 53, 89, 59}, out: []int{13, 15, 12, 14, 17}, offsets: []int{70, 472, 600, 396, 314},
	})
}

func TestLengthsAreTruncated(t *testing.T) {
	check := func(most int, ratio float64, want int) {
		t.Helper()
		d := draw(Workload{InputTokens: most, OutputTokens: most, RangeRatio: ratio}, 40000, 0)
		if got := slices.Min(d.in); got != want {
			t.Errorf("%d x %v: shortest %d, want %d", most, ratio, got, want)
		}
	}
	check(1024, 0.8, 819)
	check(8192, 0.8, 6553)
	check(100, 0.29, 28)
}

func TestFillersHaveAGeneratorOfTheirOwn(t *testing.T) {
	for _, w := range []Workload{{InputTokens: 1024, OutputTokens: 1024, RangeRatio: 0.8}, {InputTokens: 8192, OutputTokens: 1024, RangeRatio: 0.8}} {
		n := 10
		if w.InputTokens == 8192 {
			n = 4
		}
		d := draw(w, n, 128256)
		if want := []uint32{2443250962, 1093594115, 1878467924, 2709361018}; !slices.Equal(d.rest.state[:4], want) {
			t.Errorf("%d requests: seed %v, want %v", n, d.rest.state[:4], want)
		}
		fillers := d.fillers(3)
		for k, seed := range []uint32{2130544807, 1101783030, 526670929} {
			if got, want := fillers[k].Word(), NewTwister(seed).Word(); got != want {
				t.Errorf("filler %d: first word %d, want that of seed %d", k, got, seed)
			}
		}
		if got, want := d.fillers(1)[0].Word(), NewTwisterOf(2443250962, 1093594115, 1878467924, 2709361018).Word(); got != want {
			t.Errorf("one worker: first word %d, want the separate generator's %d", got, want)
		}
	}
}

func TestUniformDoubles(t *testing.T) {
	c := chance{Twister: NewTwister(0)}
	for i, want := range []float64{0.5488135039273248, 0.7151893663724195} {
		if got := c.uniform(); got != want {
			t.Errorf("double %d: %v, want %v", i, got, want)
		}
	}
}

func TestIDsAreConsecutive(t *testing.T) {
	w := Workload{InputTokens: 100, OutputTokens: 20, RangeRatio: 0.5, SharedPrefix: 3}
	d := draw(w, 5, 1000)
	ids := d.ids(1, 1000)
	if len(ids) != 3+53 || !slices.Equal(ids[:5], []int{684, 559, 629, 473, 474}) {
		t.Errorf("request 1 begins %v and has %d ids, want the prefix, 473, 474 and 56", ids[:5], len(ids))
	}
	if ids := d.ids(2, 610); ids[3] != 602 || ids[len(ids)-1] != (602+52)%610 {
		t.Errorf("request 2 runs from %d to %d, want it to wrap at the end of the vocabulary", ids[3], ids[len(ids)-1])
	}
}

// The numbers of prompts and warm-ups that belong to a concurrency.
func TestNumbersOfAConcurrency(t *testing.T) {
	o, err := parse([]string{"--url", "http://127.0.0.1:1", "--conc", "4"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w := o.works()[0].settled()
	if w.Requests != 40 || w.Warmups != 8 {
		t.Errorf("concurrency 4: %d prompts and %d warm-ups, want 40 and 8", w.Requests, w.Warmups)
	}
	o, err = parse([]string{"--model", "m", "--dataset-name", "random", "--max-concurrency", "4"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if w := o.works()[0].settled(); w.Requests != 1000 || w.Warmups != 0 {
		t.Errorf("the reference's flags: %d prompts and %d warm-ups, want its defaults 1000 and 0", w.Requests, w.Warmups)
	}
}

// Nobody is left without a file, whatever percentiles were asked for.
func TestPercentilesWithoutTheNinetyNinth(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT", "1")
	args := reference((&honest{answer: full}).start(t), dir, "--metric-percentiles", "50", "--metadata", "a=b=c", "params=7", "date=never")
	if err := Command(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"p50_ttft_ms": `, `"num_prompts": 6, "a": "b", "params": "7", "request_rate": "inf"`, `{"date": "never", "backend"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %.300s", want, raw)
		}
	}
	legacy, _, _ := strings.Cut(string(raw), `"refit": `)
	if strings.Contains(legacy, `"p99_ttft_ms"`) {
		t.Error("a percentile that was not asked for")
	}
	checkPyTorch(t, filepath.Join(dir, "r.pytorch.json"))
}

func checkPyTorch(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Benchmark struct{ Name string }
		Model     struct{ Name string }
		Metric    struct {
			Name   string
			Values []float64 `json:"benchmark_values"`
		}
	}
	if err := json.Unmarshal(raw, &records); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		if r.Benchmark.Name != "vLLM benchmark" || r.Model.Name != "m" || len(r.Metric.Values) != 1 {
			t.Errorf("record %+v", r)
		}
		names = append(names, r.Metric.Name)
	}
	want := []string{"mean_ttft_ms", "median_ttft_ms", "std_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
		"mean_itl_ms", "median_itl_ms", "std_itl_ms", "p99_itl_ms"}
	if !slices.Equal(names, want) {
		t.Errorf("records %v, want %v", names, want)
	}
}

func TestNoSuccess(t *testing.T) {
	r := Result{Duration: 1e9, Requests: []Request{{Error: "reset: x", ErrorKind: "reset", InputTokens: 5}}, Workload: Workload{Concurrency: 1}}
	raw, err := r.Raw(RawMeta{Backend: "vllm"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Families {
		for _, statistic := range []string{"mean_", "median_", "std_", "p90_", "p99_", "p99.9_"} {
			if want := `"` + statistic + name + `_ms": 0.0`; !strings.Contains(string(raw), want) {
				t.Errorf("no %s", want)
			}
		}
	}
	if !strings.Contains(string(raw), `"benchmark_outcome": {"status": "failed", "requested": 1, "completed": 0, "failed": 1`) || r.refused() == nil {
		t.Error("a run without a success passed the gate")
	}
}
