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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/sim"
)

// The test binary stands in for two programs: for refit, which jobs start
// again and again, and for the engine that lies in the test's image.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "job", "bench", "eval":
			signal.Ignore(syscall.SIGXFSZ) // a limit on file sizes stands in for a full disk
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
		case "sim":
			os.Exit(sim.Main(context.Background(), os.Args[2:], sim.Env{Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now}))
		case "ci":
			if err := asCI(os.Args[2], os.Args[3]); err != nil {
				fmt.Fprintln(os.Stderr, "refit:", err)
				os.Exit(1)
			}
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

// asCI runs a dispatch in the folder of a lab.
func asCI(dir, event string) error {
	l := labAt(dir)
	c, err := l.workflow("e2e-tests", []byte(event), os.Stderr)
	if err != nil {
		return err
	}
	return c.Run(context.Background())
}

// asEngine is a small honest engine. Flags: --port N, --fail MESSAGE (to say
// it on start and end), --say MESSAGE (and nothing else), --stall PIPE (to write its process to the
// pipe when the first completion is asked for, and never to answer one), --usage beside (to send
// comments between the messages, and usage beside the last choice).
func asEngine(args []string) {
	flags := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	if why := flags["--fail"]; why != "" {
		fmt.Fprintln(os.Stderr, why)
		os.Exit(2)
	}
	if text := flags["--say"]; text != "" {
		fmt.Fprintln(os.Stderr, text)
		select {} // not ready, not dead
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Prompt string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		fmt.Fprintf(w, `{"count":%d}`, len(strings.Fields(in.Prompt)))
	})
	if path := flags["--stall"]; path != "" {
		fmt.Fprintln(os.Stderr, "ValueError: the log's own reason")
		mux.HandleFunc("POST /v1/completions", stall(path))
	} else if flags["--usage"] == "beside" {
		mux.HandleFunc("POST /v1/completions", completeBeside)
	} else {
		mux.HandleFunc("POST /v1/completions", complete)
	}
	mux.HandleFunc("POST /v1/chat/completions", answer)
	if err := http.ListenAndServe("127.0.0.1:"+flags["--port"], mux); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stall tells a named pipe that a request is here, and never answers it.
func stall(path string) http.HandlerFunc {
	var once sync.Once
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		once.Do(func() { _ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0) })
		<-r.Context().Done()
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

// completeBeside answers in a way that the reference client cannot read.
func completeBeside(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt    string
		MaxTokens int `json:"max_tokens"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	for range in.MaxTokens {
		fmt.Fprint(w, ": ping\n\ndata: {\"choices\":[{\"text\":\" w\",\"finish_reason\":null}]}\n\n")
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n",
		len(strings.Fields(in.Prompt)), in.MaxTokens)
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
