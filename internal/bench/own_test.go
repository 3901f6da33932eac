package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseProfile(t *testing.T) {
	check := func(s string, in, out int) {
		t.Helper()
		gotIn, gotOut, err := parseProfile(s)
		if (err == nil) != (in > 0) || gotIn != in || gotOut != out {
			t.Errorf("%q: got %d, %d, %v; want %d, %d", s, gotIn, gotOut, err, in, out)
		}
	}
	check("128x32", 128, 32)
	check("1k1k", 1024, 1024)
	check("8k1k", 8192, 1024)
	check("8kx1k", 8192, 1024)
	check("1024x1k", 1024, 1024)
	for _, bad := range []string{"", "x", "128", "1k", "12832", "128x", "x32", "0x32", "128x0", "128x32x1", "1M1M", "-1x5", "99999999999999999999x1", "99999999kx1"} {
		check(bad, 0, 0)
	}
}

func TestOwnFlags(t *testing.T) {
	o, err := parse([]string{"--url", "http://127.0.0.1:8080/v1/", "--profile", "1k1k", "--conc", "1,2,4"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var asked [][2]int
	for _, w := range o.works() {
		asked = append(asked, [2]int{w.Concurrency, w.Requests})
		if w.InputTokens != 1024 || w.OutputTokens != 1024 || !w.IgnoreEOS {
			t.Errorf("workload %+v", w)
		}
	}
	if want := [][2]int{{1, 10}, {2, 20}, {4, 40}}; !slices.Equal(asked, want) || o.target.URL != "http://127.0.0.1:8080" {
		t.Errorf("got %v at %s, want %v", asked, o.target.URL, want)
	}
	if o.work.Seed == 0 {
		t.Error("a second run would send the same prompts")
	}
	o, err = parse([]string{"--url", "http://h", "--max-concurrency", "3", "--num-prompts", "7", "--ignore-eos=false", "--random-input-len", "5", "--seed", "0"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if ws := o.works(); len(ws) != 1 || ws[0].Concurrency != 3 || ws[0].Requests != 7 || ws[0].IgnoreEOS || ws[0].InputTokens != 5 || ws[0].Seed != 0 {
		t.Errorf("the reference's flags beside --url: got %+v", ws)
	}
}

func TestOwnUsageErrors(t *testing.T) {
	check := func(want string, args ...string) {
		t.Helper()
		err := Command(context.Background(), args, io.Discard, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want a usage error with %q", args, err, want)
		}
	}
	check("--url and --base-url say the same", "--url", "http://a", "--base-url", "http://b")
	check("--conc and --max-concurrency", "--conc", "1", "--max-concurrency", "2")
	check("--profile and --random-output-len", "--profile", "1k1k", "--random-output-len", "2")
	check("--chat and --backend", "--chat", "--backend", "vllm")
	check(`profile "8k"`, "--profile", "8k")
	check("concurrency 0 must be positive", "--conc", "1,0")
	check("names one file, but 2 concurrencies", "--conc", "1,2", "--result-filename", "x.json")
}

// measured runs the command and returns both its outputs.
func measured(t *testing.T, h *honest, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	target := h.start(t)
	var out, conversation bytes.Buffer
	err = Command(context.Background(), append([]string{"--url", target.URL, "--profile", "8x3", "--requests", "4"}, args...), &out, &conversation)
	return out.String(), conversation.String(), err
}

func TestOwnTable(t *testing.T) {
	h := &honest{answer: full, models: []string{"tiny.gguf"}, loading: 2}
	out, conversation, err := measured(t, h, "--conc", "1,2", "--seed", "7")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(lines[0], "tiny.gguf at http://127.0.0.1:") || !strings.HasSuffix(lines[0], ", completions, 8 input and 3 output tokens, seed 7, times in ms") {
		t.Errorf("title %q", lines[0])
	}
	if got, want := strings.Fields(lines[1]), strings.Fields("conc requests req/s output tok/s TTFT p50 p99 TPOT p50 p99 ITL p99 errors client"); !slices.Equal(got, want) {
		t.Errorf("head %q", lines[1])
	}
	for i, conc := range []string{"1", "2"} {
		f := strings.Fields(lines[2+i])
		if len(f) != 11 || f[0] != conc || f[1] != "4" || f[9] != "0" || len(lines[2+i]) != len(lines[1]) {
			t.Errorf("line %q", lines[2+i])
		}
	}
	if !strings.Contains(conversation, "not ready (503 Loading model); waiting, 0s of 1m0s") {
		t.Errorf("conversation: %s", conversation)
	}
}

func TestOwnJSONIsOneLineAConcurrency(t *testing.T) {
	out, _, err := measured(t, &honest{answer: full, models: []string{"m"}}, "--conc", "1,3", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var concs []int
	for line := range strings.Lines(out) {
		var r struct {
			Conc    int    `json:"max_concurrency"`
			Model   string `json:"model_id"`
			Prompts int    `json:"num_prompts"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Model != "m" || r.Prompts != 4 {
			t.Errorf("got %+v", r)
		}
		concs = append(concs, r.Conc)
	}
	if !slices.Equal(concs, []int{1, 3}) {
		t.Errorf("concurrencies %v", concs)
	}
}

func TestOwnSavesAFileForEach(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := measured(t, &honest{answer: full, models: []string{"m"}}, "--conc", "1,2", "--save-result", "--result-dir", dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 || !strings.Contains(files[0].Name(), "openai-infqps-concurrency1-m-") || !strings.Contains(files[1].Name(), "concurrency2-m-") {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestModelIsAskedFor(t *testing.T) {
	_, _, err := measured(t, &honest{answer: full, models: []string{"a", "b\x1b[2J"}})
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "has 2 models: say which with --model: a, b") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("two models: %v", err)
	}
	if _, _, err := measured(t, &honest{answer: full}); err == nil || !strings.Contains(err.Error(), "/v1/models: 404 404 page not found: say which model with --model") {
		t.Errorf("no list: %v", err)
	}
	if out, _, err := measured(t, &honest{answer: full, models: []string{"a", "b"}}, "--model", "b"); err != nil || !strings.HasPrefix(out, "b at ") {
		t.Errorf("a chosen model: %v %s", err, out)
	}
}

func TestChatWhereThereAreNoCompletions(t *testing.T) {
	delta := llamaDelta(`{"content":"x"}`, "null") + "\n\n"
	h := &honest{models: []string{"m"}, noText: true, answer: script(llamaDelta(`{"role":"assistant","content":null}`, "null")+"\n\n", delta, delta, delta, usage(8, 3), "data: [DONE]\n\n")}
	out, conversation, err := measured(t, h, "--conc", "1")
	if err != nil || !strings.Contains(out, ", chat, 8 input") || !strings.Contains(conversation, "no completions at http://127.0.0.1:") {
		t.Errorf("got %v\n%s%s", err, out, conversation)
	}
	h.noText = false
	if out, conversation, err := measured(t, h, "--conc", "1", "--chat"); err != nil || !strings.Contains(out, ", chat, 8 input") || strings.Contains(conversation, "no completions") {
		t.Errorf("--chat: got %v\n%s%s", err, out, conversation)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	check := func(url, want string, args ...string) {
		t.Helper()
		err := Command(context.Background(), append([]string{"--url", url, "--wait", "0"}, args...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	check("http://127.0.0.1:1", "http://127.0.0.1:1: nothing answers (connection refused) (waited 0s, see --wait)")
	check((&honest{answer: full, loading: 1 << 20}).start(t).URL, "not ready (503 Loading model) (waited 0s")
	check((&honest{answer: full, models: []string{}}).start(t).URL, "the server has 0 models")
}

// All that can be said of a server whose requests fail is said: the line of
// the table, then the error.
func TestOwnFailure(t *testing.T) {
	h := &honest{models: []string{"m"}, answer: func(w http.ResponseWriter, _ int, _ completion) { http.Error(w, "busy", http.StatusTooManyRequests) }}
	out, _, err := measured(t, h, "--conc", "1,2")
	if err == nil || !strings.Contains(err.Error(), "4 of 4 requests failed, limit 5 %: status: 429 Too Many Requests: busy") {
		t.Errorf("got %v", err)
	}
	if got := strings.Fields(strings.Split(out, "\n")[3]); len(got) != 11 || got[0] != "2" || got[4] != "-" || got[9] != "4" || got[10] != Unhealthy {
		t.Errorf("table:\n%s", out)
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[time.Duration]string{0: "0s", 1234567: "1.23ms", 21628438920: "21.6s", 999 * time.Microsecond: "999µs", -1234567: "-1.23ms"} {
		if got := short(in).String(); got != want {
			t.Errorf("short(%d): got %s, want %s", in, got, want)
		}
	}
}

// A server that is still loading may have a tokenizer: its prompts are not
// counted in words.
func TestTokenizerOfALoadingServer(t *testing.T) {
	target := (&honest{answer: full, loading: 1}).start(t)
	_, err := Run(context.Background(), target, small(), nil)
	if err == nil || !strings.Contains(err.Error(), "/tokenize: 503 Loading model") {
		t.Errorf("got %v", err)
	}
}
