package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// letters is a server whose tokens are letters: id 1 is "b". The text "bb" is
// one token, 26, so that texts do not always become the ids that they were
// made of.
type letters struct {
	mu      sync.Mutex
	prompts []json.RawMessage
	models  []string
}

const lettersVocabulary = 27

func (l *letters) ids(text string) []int {
	var ids []int
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "bb") {
			ids = append(ids, 26)
			i++
			continue
		}
		ids = append(ids, int(text[i]-'a'))
	}
	return ids
}

func (l *letters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt json.RawMessage
		Tokens []int
		Model  string
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch r.URL.Path {
	case "/v1/models":
		fmt.Fprintf(w, `{"data":[{"id":"m","meta":{"n_vocab":%d}}]}`, lettersVocabulary)
	case "/tokenize":
		var text string
		_ = json.Unmarshal(body.Prompt, &text)
		ids := l.ids(text)
		_ = json.NewEncoder(w).Encode(map[string]any{"count": len(ids), "tokens": ids})
	case "/detokenize":
		var text strings.Builder
		for _, id := range body.Tokens {
			if id == 26 {
				text.WriteString("bb")
				continue
			}
			text.WriteByte(byte('a' + id))
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"prompt": text.String()})
	case "/v1/completions":
		l.mu.Lock()
		l.prompts, l.models = append(l.prompts, body.Prompt), append(l.models, body.Model)
		l.mu.Unlock()
		say(w, token("x"), usage(4, 1), "data: [DONE]\n\n")
	default:
		http.NotFound(w, r)
	}
}

func (l *letters) measure(t *testing.T, w Workload) Result {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	w.Concurrency, w.OutputTokens = 1, 1
	r, err := Run(context.Background(), Target{URL: server.URL, Model: "m"}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPromptsOfIDs(t *testing.T) {
	l := &letters{}
	w := Workload{Requests: 4, InputTokens: 5, RangeRatio: 0.5, Prompts: IDs}
	r := l.measure(t, w)
	w.OutputTokens = 1
	d := draw(w, 4, lettersVocabulary)
	first := map[int]bool{}
	for i, q := range r.Requests {
		var ids []int
		if err := json.Unmarshal(l.prompts[i], &ids); err != nil {
			t.Fatalf("prompt %s: %v", l.prompts[i], err)
		}
		if len(ids) != d.in[i] || q.InputTokens != d.in[i] || first[ids[0]] {
			t.Errorf("prompt %d: %v, %d input tokens, want %d that begin as no other", i, ids, q.InputTokens, d.in[i])
		}
		first[ids[0]] = true
		for j := range ids[1:] {
			if ids[j+1] != (ids[j]+1)%lettersVocabulary {
				t.Errorf("prompt %d: %v is not consecutive", i, ids)
			}
		}
	}
	var got []int
	if _ = json.Unmarshal(l.prompts[0], &got); !slices.Equal(got, d.ids(0, lettersVocabulary)) {
		t.Errorf("first prompt %v, want the reference's %v", got, d.ids(0, lettersVocabulary))
	}
}

// A run that is measured again has the same lengths and other prompts.
func TestPromptsOfIDsMeasuredAgain(t *testing.T) {
	once, again := &letters{}, &letters{}
	w := Workload{Requests: 2, InputTokens: 5, Prompts: IDs}
	once.measure(t, w)
	w.Seed = 1 << 32
	again.measure(t, w)
	if string(once.prompts[0]) == string(again.prompts[0]) {
		t.Errorf("both runs sent %s", once.prompts[0])
	}
}

// Texts are brought to the length of their ids: what the tokenizer joins is
// filled up.
func TestPromptsOfTexts(t *testing.T) {
	l := &letters{}
	w := Workload{Requests: 6, InputTokens: 40, Prompts: Texts, SharedPrefix: 2}
	r := l.measure(t, w)
	w.OutputTokens = 1
	d := draw(w, 6, lettersVocabulary)
	for i, q := range r.Requests {
		var text string
		if err := json.Unmarshal(l.prompts[i], &text); err != nil {
			t.Fatal(err)
		}
		if n := len(l.ids(text)); n != 42 || q.InputTokens != 42 {
			t.Errorf("prompt %d: %q has %d tokens, recorded %d, want 42", i, text, n, q.InputTokens)
		}
		want := d.ids(i, lettersVocabulary)
		if got := l.ids(text); !slices.Equal(got[2:20], want[2:20]) && !strings.Contains(text, "bb") {
			t.Errorf("prompt %d: %v, want to begin as %v", i, got, want)
		}
	}
}

func TestTextIsFilledUp(t *testing.T) {
	server := httptest.NewServer(&letters{})
	defer server.Close()
	s := newSide(Target{URL: server.URL, Model: "m"})
	defer s.close()
	text, tokens, err := s.textOf(context.Background(), []int{1, 1, 2}, 26, NewTwister(0))
	filler := string(rune('a' + NewTwister(0).between(0, 25)))
	if want := "bbc" + filler; err != nil || text != want || tokens != 3 {
		t.Errorf("got %q, %d tokens, %v; want %q and 3", text, tokens, err, want)
	}
}

func TestVocabularyThatNobodyKnows(t *testing.T) {
	_, err := Run(context.Background(), (&honest{answer: full}).start(t), Workload{Requests: 1, Concurrency: 1, InputTokens: 1, OutputTokens: 1, Prompts: IDs}, nil)
	if err == nil || !strings.Contains(err.Error(), "give --vocab-size") {
		t.Errorf("got %v", err)
	}
}

func TestSharedPrefixOfWords(t *testing.T) {
	h := &honest{answer: full}
	w := small()
	w.SharedPrefix = 7
	r, err := Run(context.Background(), h.start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	prefix := strings.Join(strings.Fields(h.prompts[0])[:7], " ")
	rest := map[string]bool{}
	for _, p := range h.prompts {
		words := strings.Fields(p)
		if !strings.HasPrefix(p, prefix+" ") || rest[words[7]] {
			t.Errorf("prompt %q: want the prefix %q and a word of its own", p, prefix)
		}
		rest[words[7]] = true
	}
	in, _ := lengths(0, 6, 20, 5, 0.8)
	for i, q := range r.Requests {
		if q.InputTokens != 7+in[i] {
			t.Errorf("request %d: %d input tokens, want 7 and %d", i, q.InputTokens, in[i])
		}
	}
}

func TestModelsAreDrawn(t *testing.T) {
	l := &letters{}
	l.measure(t, Workload{Requests: 8, InputTokens: 3, Prompts: IDs, Models: []string{"a", "b", "c"}})
	if want := drawModels(0, []string{"a", "b", "c"}, 8); !slices.Equal(l.models, want) {
		t.Errorf("models %v, want %v", l.models, want)
	}
	// 1234 is the seed whose first draws among 7473 are published.
	names := make([]string, 7473)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	if got, want := drawModels(1234, names, 5), []string{"6374", "3610", "957", "61", "742"}; !slices.Equal(got, want) {
		t.Errorf("drew %v, want %v", got, want)
	}
	if got := drawModels(0, []string{"only"}, 2); !slices.Equal(got, []string{"only", "only"}) {
		t.Errorf("one model: drew %v", got)
	}
}

// Words are brought to exactly the length that was drawn, whatever a
// vocabulary makes of the longer ones.
func TestWordsHaveTheLengthThatWasDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cut := rapid.IntRange(4, 9).Draw(t, "longest token")
		counts := 0
		w := writer{seed: rapid.Int64().Draw(t, "seed"), phase: measuring, count: func(_ context.Context, text string) (int, error) {
			counts++
			n := 0
			for _, word := range strings.Fields(text) {
				n += (len(word) + cut - 1) / cut
			}
			return n, nil
		}}
		for i := range 3 {
			want := rapid.IntRange(8, 9000).Draw(t, "tokens")
			_, got, err := w.prompt(context.Background(), i, want)
			if err != nil || got != want {
				t.Fatalf("prompt %d: %d tokens, %v; want %d", i, got, err, want)
			}
		}
		if counts > 3*maxFits {
			t.Fatalf("counted %d times for 3 prompts", counts)
		}
	})
}

// The points of a sweep and what is measured again have seeds and prompts of
// their own, and the same lengths.
func TestPromptsOfASweepDiffer(t *testing.T) {
	o := options{work: Workload{Seed: 7}, own: own{asked: true, concs: []int{1, 2}, requests: 2}}
	first, second := o.works()[0], o.works()[1]
	if first.Seed != 7 || second.Seed != 7+1<<32 {
		t.Errorf("seeds %d and %d", first.Seed, second.Seed)
	}
	for _, kind := range []string{IDs, Texts} {
		sent := map[string]bool{}
		for _, seed := range []int64{first.Seed, second.Seed, first.Seed + 2<<32} {
			l := &letters{}
			r := l.measure(t, Workload{Requests: 1, InputTokens: 5, Prompts: kind, Seed: seed})
			if r.Requests[0].InputTokens != 5 || len(l.prompts) != 1 {
				t.Errorf("%s: %d prompts, %d tokens", kind, len(l.prompts), r.Requests[0].InputTokens)
			}
			sent[string(l.prompts[0])] = true
		}
		if len(sent) != 3 {
			t.Errorf("%s: three measurements sent %v", kind, sent)
		}
	}
}
