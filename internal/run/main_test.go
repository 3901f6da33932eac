package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
)

// The test binary stands in for two programs: for refit, which jobs start
// again and again, and for the engine that lies in the test's image.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "job", "bench", "eval":
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			if err := asRefit(ctx, os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, "refit:", err)
				os.Exit(1)
			}
			return
		case "engine":
			asEngine(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

func asRefit(ctx context.Context, args []string) error {
	switch {
	case args[0] == "bench":
		return bench.Command(ctx, args[1:], os.Stdout, os.Stderr)
	case args[0] == "eval":
		return EvalCommand(ctx, args[1:], os.Stdout, os.Stderr)
	case args[1] == "wait-ready":
		return WaitReadyCommand(ctx, args[2:], os.Stdout, os.Stderr)
	}
	job, err := LoadJob(args[2])
	if err != nil {
		return err
	}
	return Execute(ctx, job, Deps{Refit: os.Args[0], Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Grace: 5 * time.Second})
}

// asEngine is a small honest engine. Flags: --port N, --fail MESSAGE (to say
// it on start and end), --wrong N (answer every nth question wrongly).
func asEngine(args []string) {
	flags := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	if why := flags["--fail"]; why != "" {
		fmt.Fprintln(os.Stderr, why)
		os.Exit(2)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Prompt string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		fmt.Fprintf(w, `{"count":%d}`, len(strings.Fields(in.Prompt)))
	})
	mux.HandleFunc("POST /v1/completions", complete)
	mux.HandleFunc("POST /v1/chat/completions", answer)
	if err := http.ListenAndServe("127.0.0.1:"+flags["--port"], mux); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func complete(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt    string
		MaxTokens int `json:"max_tokens"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	out := bufio.NewWriter(w)
	for range in.MaxTokens {
		fmt.Fprint(out, "data: {\"choices\":[{\"text\":\" w\"}]}\n\n")
		out.Flush()
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(out, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", len(strings.Fields(in.Prompt)), in.MaxTokens)
	out.Flush()
}

// answer adds the two numbers of the question's last "a + b".
func answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in struct{ Messages []struct{ Content string } }
	_ = json.Unmarshal(body, &in)
	sum := 0
	for _, word := range strings.FieldsFunc(in.Messages[len(in.Messages)-1].Content, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil {
			sum += n
		}
	}
	if sum == 13 { // the engine's only mistake
		sum++
	}
	text, _ := json.Marshal(fmt.Sprintf("#### %d", sum))
	fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`, text)
}
