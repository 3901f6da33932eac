package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twoReadings are the figures of a raw file, by both readings, in their order.
func twoReadings(t *testing.T, raw []byte) (keys, ownKeys []string, legacy, own map[string]string) {
	t.Helper()
	keys, legacy = topLevel(t, raw)
	_, refit := topLevel(t, []byte(legacy["refit"]))
	ownKeys, own = topLevel(t, []byte(refit["reading"]))
	return keys, ownKeys, legacy, own
}

// refit.reading has every figure of the legacy keys, in their order and
// spelling; where both read the same, all are equal.
func TestTwoReadingsHaveTheSameKeys(t *testing.T) {
	dir := t.TempDir()
	args := reference((&honest{answer: full}).start(t), dir, "--save-detailed", "--metric-percentiles", "50,99", "--goodput", "ttft:10000")
	if err := Command(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	keys, ownKeys, legacy, own := twoReadings(t, raw)
	from := slices.Index(keys, "completed")
	want := slices.DeleteFunc(slices.Clone(keys[from:len(keys)-1]), func(k string) bool {
		return slices.Contains([]string{"ttfts", "itls", "generated_texts", "errors"}, k)
	})
	if !slices.Equal(ownKeys, want) {
		t.Errorf("keys %v, want %v", ownKeys, want)
	}
	for _, key := range ownKeys {
		if own[key] != legacy[key] {
			t.Errorf("%s: %s by refit, %s by the reference, of a stream that both read alike", key, own[key], legacy[key])
		}
	}
}

// Where a server sends usage beside its last choice, the legacy keys are what
// the reference makes of it, and refit.reading has the tokens.
func TestUsageBesideTheLastChoiceInBothReadings(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, _ int, c completion) {
		for range c.MaxTokens {
			say(w, llamaText(" x")+"\n\n")
		}
		say(w, llamaFinish(llamaUsage(20, c.MaxTokens, 0))+"\n\n", "data: [DONE]\n\n")
	}}
	dir := t.TempDir()
	var said bytes.Buffer
	if err := Command(context.Background(), reference(h.start(t), dir), &said, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, legacy, own := twoReadings(t, raw)
	sum := 0
	_, out := lengths(0, 6, 20, 5, 0.8)
	for _, n := range out {
		sum += n
	}
	if legacy["total_output_tokens"] != "0" || legacy["mean_tpot_ms"] != "0.0" || legacy["output_throughput"] != "0.0" {
		t.Errorf("legacy: %s tokens, TPOT %s, want what the reference reads, none", legacy["total_output_tokens"], legacy["mean_tpot_ms"])
	}
	spelled, err := json.Marshal(sum)
	if err != nil || own["total_output_tokens"] != string(spelled) || own["mean_tpot_ms"] == "0.0" || own["output_throughput"] == "0.0" {
		t.Errorf("refit: %s tokens, TPOT %s, want %d", own["total_output_tokens"], own["mean_tpot_ms"], sum)
	}
	for _, key := range []string{"completed", "mean_ttft_ms", "p99_itl_ms", "median_e2el_ms", "request_throughput"} { // seen alike
		if own[key] != legacy[key] {
			t.Errorf("%s: %s by refit, %s by the reference", key, own[key], legacy[key])
		}
	}
	if want := "warning: the legacy keys have 0 output tokens, the server sent"; !strings.Contains(said.String(), want) {
		t.Errorf("summary has no %q:\n%s", want, said.String())
	}
}
