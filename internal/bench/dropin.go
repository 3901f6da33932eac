package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// dropIn are the reference's flags that are of the requests and of the raw
// file, and what refit has beside them.
type dropIn struct {
	dataset   bool   // one was named
	served    string // name in the requests
	tokenizer string // how the reference would load its tokenizer
	ownGate   bool
	template  bool
	dsv4      bool
	detailed  bool
	profile   bool
	logProbs  int
	extra     string
}

func (d *dropIn) flags(f *pflag.FlagSet, w *Workload) {
	f.StringVar(&d.served, "served-model-name", "", "name in the requests, when it differs")
	f.StringVar(&d.tokenizer, "tokenizer-mode", "auto", "auto, slow or mistral: it makes no difference, tokens are counted by the server")
	f.IntVar(&w.SharedPrefix, "random-prefix-len", 0, "same as --shared-prefix")
	f.IntVar(&w.Workers, "random-num-workers", 0, "workers among which the reference would cut the making of --prompts texts")
	f.IntVar(&w.Workers, "num-workers", 0, "same as --random-num-workers")
	f.BoolVar(&d.ownGate, "own-gate", false, "fail by refit's own reading of the streams alone, as with refit's own flags; else the reference client's must pass too")
	f.BoolVar(&d.template, "use-chat-template", false, "measure on the chat endpoint, where the server applies its template (the reference renders it itself, for the completions endpoint); the prompt is shorter by the template's tokens")
	f.BoolVar(&d.dsv4, "dsv4", false, "refused: see --use-chat-template")
	f.IntVar(&w.BestOf, "best-of", 1, "answers from which the server chooses")
	f.IntVar(&d.logProbs, "logprobs", -1, "log probabilities for each token; -1 = none")
	f.StringSliceVar(&w.Models, "lora-modules", nil, "names of adapters: one is drawn for each request")
	f.BoolVar(&d.detailed, "save-detailed", false, "put each request's TTFT, ITLs, text and error into the raw result file")
	f.BoolVar(&d.profile, "server-profile", false, "have the server profile the run; the reference's --profile without a value")
	f.StringVar(&w.Prompts, "prompts", Words, "words (unique), ids (the reference's token ids) or texts (the reference's texts)")
	f.IntVar(&w.Vocabulary, "vocab-size", 0, "token ids of the model; 0 = the server is asked")
	f.StringVar(&d.extra, "extra-body", "", "JSON object with keys for the end of every request body")
	f.DurationVar(&w.Deadline, "request-timeout", 6*time.Hour, "longest request")
}

// settle turns the flags into the workload.
func (d *dropIn) settle(f *pflag.FlagSet, w *Workload) error {
	switch {
	case d.dsv4:
		return errors.New("--dsv4 renders the prompt with a Python tokenizer, which is not used here: give --use-chat-template, and the server applies its own template")
	case !slices.Contains([]string{"auto", "slow", "mistral"}, d.tokenizer):
		return fmt.Errorf("--tokenizer-mode %s loads a Python tokenizer, which is not used here: leave it out, and tokens are counted by the server (/tokenize, usage)", d.tokenizer)
	case !slices.Contains([]string{Words, IDs, Texts}, w.Prompts):
		return fmt.Errorf("prompts %q are none of %s, %s, %s", w.Prompts, Words, IDs, Texts)
	case d.template && w.Prompts == IDs:
		return errors.New("--use-chat-template has the server make tokens out of text: it cannot be had with --prompts ids")
	case w.Vocabulary < 0 || w.Vocabulary > math.MaxInt32:
		return fmt.Errorf("--vocab-size %d is no number of token ids", w.Vocabulary)
	case w.BestOf < 1:
		return fmt.Errorf("--best-of %d must be positive", w.BestOf)
	case d.logProbs < -1:
		return fmt.Errorf("--logprobs %d must not be negative", d.logProbs)
	case w.Deadline <= 0:
		return fmt.Errorf("--request-timeout %v must be positive", w.Deadline)
	}
	w.LogProbs = nil
	if f.Changed("logprobs") && d.logProbs >= 0 {
		w.LogProbs = &d.logProbs
	}
	w.KeepTexts, w.Profile = d.detailed, d.profile
	var err error
	w.ExtraBody, err = pairsOf(d.extra)
	return err
}

// pairsOf are the keys and values of a JSON object, in its order.
func pairsOf(object string) ([][2]string, error) {
	if object == "" {
		return nil, nil
	}
	bad := fmt.Errorf("--extra-body %q: want a JSON object", object)
	d := json.NewDecoder(strings.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, bad
	}
	var pairs [][2]string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, bad
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, bad
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return nil, bad
		}
		pairs = append(pairs, [2]string{key.(string), compact.String()})
	}
	if _, err := d.Token(); err != nil || d.InputOffset() != int64(len(strings.TrimRight(object, " \t\r\n"))) {
		return nil, bad
	}
	return pairs, nil
}

// lists are the flags behind which the reference takes several words.
var lists = []string{"--goodput", "--metadata", "--lora-modules"}

// referenceArgs spells the reference's arguments as pflag reads them: a flag
// with several words becomes several flags, and --profile without lengths
// behind it becomes --server-profile.
func referenceArgs(args []string) []string {
	var spelled []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		follows := func(n int) bool { return i+n < len(args) && !strings.HasPrefix(args[i+n], "-") }
		switch {
		case arg == "--":
			return append(spelled, args[i:]...)
		case arg == "--profile" && !follows(1):
			spelled = append(spelled, "--server-profile")
		case slices.Contains(lists, arg) && follows(1):
			for follows(1) {
				spelled = append(spelled, arg+"="+args[i+1])
				i++
			}
		default:
			spelled = append(spelled, arg)
		}
	}
	return spelled
}
