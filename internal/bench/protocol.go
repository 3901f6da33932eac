package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// APIs that a Target may name.
const (
	Completions  = "completions"   // OpenAI's text completions; also when empty
	Chat         = "chat"          // OpenAI's chat completions: the server applies its template
	SGLang       = "sglang"        // SGLang's own /generate
	TGI          = "tgi"           // text-generation-inference's /generate_stream
	TensorRT     = "tensorrt-llm"  // Triton's generate_stream with the TensorRT-LLM ensemble
	DeepSpeedMII = "deepspeed-mii" // one JSON answer, no stream
)

// protocol is how one API is asked and how its answer is read.
type protocol struct {
	path    string                             // where it is when the target names no path
	suffix  []string                           // a path must end in one of these; nil = any
	body    func(Target, Workload, ask) object // of one request
	ids     bool                               // takes a prompt as token ids
	dialect *dialect                           // of the answer; nil = OpenAI's
}

var protocols = map[string]protocol{
	Completions:  {path: "/v1/completions", suffix: []string{"completions", "profile"}, body: completionBody, ids: true},
	Chat:         {path: "/v1/chat/completions", suffix: []string{"chat/completions"}, body: chatBody},
	SGLang:       {path: "/generate", suffix: []string{"generate"}, body: sglangBody, ids: true, dialect: &sglangDialect},
	TGI:          {path: "/generate_stream", suffix: []string{"generate_stream"}, body: tgiBody, dialect: &tgiDialect},
	TensorRT:     {path: "/v2/models/ensemble/generate_stream", suffix: []string{"generate_stream"}, body: tensorrtBody, dialect: &tensorrtDialect},
	DeepSpeedMII: {path: "/generate", body: miiBody, dialect: &miiDialect},
}

// apiNames are the APIs in a fixed order, for messages.
func apiNames() string { return strings.Join(slices.Sorted(maps.Keys(protocols)), ", ") }

// protocol is the target's; settle has checked its name.
func (t Target) protocol() protocol {
	if t.API == "" {
		return protocols[Completions]
	}
	return protocols[t.API]
}

// endpoint is the path that a target's requests go to.
func endpoint(t Target) string {
	if t.Path != "" {
		return t.Path
	}
	return t.protocol().path
}

// checkAPI refuses an API nobody knows and a path that is of another one. A
// wrong path would fail every request of a run.
func (t Target) checkAPI() error {
	p, known := protocols[t.API]
	if t.API == "" {
		p, known = protocols[Completions], true
	}
	if !known {
		return fmt.Errorf("api %q is none of %s", t.API, apiNames())
	}
	fits := func(suffix string) bool { return strings.HasSuffix(t.Path, suffix) }
	if t.Path != "" && len(p.suffix) > 0 && !slices.ContainsFunc(p.suffix, fits) {
		return fmt.Errorf("endpoint %s does not end in %s, which is where this kind of server is asked", t.Path, strings.Join(p.suffix, " or "))
	}
	if t.Path != "" && (!strings.HasPrefix(t.Path, "/") || strings.ContainsAny(t.Path, " \r\n#")) {
		return fmt.Errorf("endpoint %q is no path: want /v1/completions or the like", t.Path)
	}
	return nil
}

// backends are the names of the reference's back-ends, and refit's own
// "sglang-native", with the API that each speaks.
var backends = map[string]string{
	"vllm": Completions, "lmdeploy": Completions, "openai": Completions, "scalellm": Completions, "sglang": Completions,
	"openai-chat": Chat, "tgi": TGI, "tensorrt-llm": TensorRT, "deepspeed-mii": DeepSpeedMII, "sglang-native": SGLang,
}

func backendNames() string { return strings.Join(slices.Sorted(maps.Keys(backends)), ", ") }
