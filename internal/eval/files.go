package eval

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// asked is what a score must remember to write its files.
type asked struct {
	config  Config
	prompts [][]message
}

// filters are the two readings of an answer, in the order of the files.
var filters = []struct {
	name  string
	apply func(string) string
}{{"strict-match", Strict}, {"flexible-extract", Flexible}}

// WriteFiles leaves results_<time>.json, samples_<task>_<time>.jsonl and
// meta_env.json in dir, spelled as the reference harness spells them. Only the
// score that Run returned can be written.
func (s Score) WriteFiles(dir string, meta Meta) error {
	if len(s.asked.prompts) != len(s.Answers) || len(s.Answers) == 0 {
		return errors.New("eval files: this score does not know its questions")
	}
	stamp := strings.ReplaceAll(s.Ended.Format("2006-01-02T15:04:05.000000"), ":", "-")
	samples, hashes, err := s.samples()
	if err != nil {
		return fmt.Errorf("eval samples: %w", err)
	}
	results, err := spell(s.results(hashes), "  ")
	if err != nil {
		return fmt.Errorf("eval results: %w", err)
	}
	env, err := spell(meta.object(), "  ")
	if err != nil {
		return fmt.Errorf("eval meta_env: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"samples_" + s.Task + "_" + stamp + ".jsonl", samples},
		{"results_" + stamp + ".json", results},
		{"meta_env.json", append(env, '\n')},
	} {
		if err := workspace.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return fmt.Errorf("eval files: %w", err)
		}
	}
	return nil
}

// samples are all answers by the first filter, then all by the second, one on a
// line; hashes is the three hashes of every line, one after the other.
func (s Score) samples() (lines []byte, hashes string, err error) {
	var out, all bytes.Buffer
	for _, f := range filters {
		for i, a := range s.Answers {
			sample, h, err := s.sample(i, a, f.name, f.apply(a.Response))
			if err != nil {
				return nil, "", fmt.Errorf("question %d: %w", i, err)
			}
			line, err := spell(sample, "")
			if err != nil {
				return nil, "", fmt.Errorf("question %d: %w", i, err)
			}
			out.Write(line)
			out.WriteByte('\n')
			all.WriteString(h)
		}
	}
	return out.Bytes(), all.String(), nil
}

func (s Score) sample(i int, a Answer, filter, filtered string) (sample object, hashes string, err error) {
	doc := object{{"question", s.asked.config.Questions[i].Question}, {"answer", s.asked.config.Questions[i].Answer}}
	docText, err := spell(doc, "  ")
	if err != nil {
		return nil, "", err
	}
	chat, err := spell(chatList(s.asked.prompts[i]), "")
	if err != nil {
		return nil, "", err
	}
	match := 0.0
	if Equal(filtered, a.Target) {
		match = 1
	}
	docHash, promptHash, targetHash := digest(docText), digest(chat), digest([]byte(a.Target))
	return object{
		{"doc_id", a.DocID},
		{"doc", doc},
		{"target", a.Target},
		{"arguments", object{{"gen_args_0", object{{"arg_0", []string{string(chat)}}, {"arg_1", s.generation()}}}}},
		{"resps", []any{[]string{a.Response}}},
		{"filtered_resps", []string{filtered}},
		{"filter", filter},
		{"metrics", []string{"exact_match"}},
		{"doc_hash", docHash},
		{"prompt_hash", promptHash},
		{"target_hash", targetHash},
		{"exact_match", match},
	}, docHash + promptHash + targetHash, nil
}

func chatList(messages []message) []any {
	out := make([]any, len(messages))
	for i, m := range messages {
		out[i] = object{{"role", m.Role}, {"content", m.Content}}
	}
	return out
}

func (s Score) generation() object {
	return object{
		{"until", stops}, {"do_sample", false}, {"max_tokens", s.asked.config.MaxTokens}, {"temperature", 0}, {"top_p", 1},
	}
}

func (s Score) results(hashes string) object {
	c := s.asked.config
	task := func(v any) object { return object{{s.Task, v}} }
	return object{
		{"results", task(s.scores())},
		{"group_subtasks", task([]string{})},
		{"configs", task(s.taskConfig())},
		{"versions", task(3.0)},
		{"n-shot", task(c.Shots)},
		{"higher_is_better", task(object{{"exact_match", true}})},
		{"n-samples", task(object{{"original", s.Samples}, {"effective", s.Samples}})},
		{"config", s.runConfig()},
		{"git_hash", nil},
		{"date", float64(s.Started.UnixMicro()) / 1e6},
		{"pretty_env_info", ""},
		{"transformers_version", nil},
		{"lm_eval_version", nil},
		{"upper_git_hash", nil},
		{"task_hashes", task(digest([]byte(hashes)))},
		{"model_source", "refit"},
		{"model_name", ""},
		{"model_name_sanitized", ""},
		{"system_instruction", nil},
		{"system_instruction_sha", nil},
		{"fewshot_as_multiturn", true},
		{"chat_template", nil},
		{"chat_template_sha", nil},
		{"start_time", float64(s.Started.UnixMicro()) / 1e6},
		{"end_time", float64(s.Ended.UnixMicro()) / 1e6},
		{"total_evaluation_time_seconds", fmt.Sprint(s.Ended.Sub(s.Started).Round(time.Microsecond).Seconds())},
	}
}

func (s Score) scores() object {
	return object{
		{"alias", s.Task},
		{"exact_match,strict-match", s.Score},
		{"exact_match_stderr,strict-match", stdErr(s.StdErr, s.Samples)},
		{"exact_match,flexible-extract", s.Flexible},
		{"exact_match_stderr,flexible-extract", stdErr(StdErr(s.matches(Flexible), s.Samples), s.Samples)},
	}
}

// stdErr is "N/A" where one sample leaves it undefined.
func stdErr(v float64, samples int) any {
	if samples < 2 {
		return "N/A"
	}
	return v
}

func (s Score) taskConfig() object {
	take := func(f string) []any { return []any{object{{"function", f}}} }
	return object{
		{"task", s.Task},
		{"output_type", "generate_until"},
		{"num_fewshot", s.asked.config.Shots},
		{"metric_list", []any{object{{"metric", "exact_match"}, {"aggregation", "mean"}, {"higher_is_better", true}}}},
		{"filter_list", []any{
			object{{"name", filters[0].name}, {"filter", take("regex")}},
			object{{"name", filters[1].name}, {"filter", take("regex")}},
		}},
		{"generation_kwargs", s.generation()},
		{"repeats", 1},
		{"metadata", object{{"version", 3.0}, {"model", s.asked.config.Target.Model}}},
	}
}

func (s Score) runConfig() object {
	c := s.asked.config
	return object{
		{"model", "local-chat-completions"},
		{"model_args", object{{"model", c.Target.Model}, {"num_concurrent", c.Concurrency}}},
		{"batch_size", 1},
		{"limit", nil},
		{"gen_kwargs", object{{"max_tokens", c.MaxTokens}, {"temperature", 0}, {"top_p", 1}}},
		{"bootstrap_iters", 100000},
		{"random_seed", 0},
		{"numpy_seed", fewShotSeed},
		{"torch_seed", fewShotSeed},
		{"fewshot_seed", fewShotSeed},
	}
}
