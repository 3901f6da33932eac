package candidate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func aQuestion() Question {
	q := Question{Kind: Review, Candidate: Candidate{ID: "4ccb0a08e646958b-af00168b432f68fb", Family: family, Base: strings.Repeat("a", 40),
		OldImage: oldImage, NewImage: newImage, Parent: "7"}, Commit: strings.Repeat("a", 40), Ask: "Is it right?",
		Decisions: []Option{{proceed, "go on"}, {unsure, "stop"}},
		Choices:   []Choice{{ID: "e1", What: "rename", Proposed: true}, {ID: "e2", What: "leave out"}}, Evidence: []string{"candidate.json"}}
	return q.asked()
}

func TestAnswersAreReadStrictly(t *testing.T) {
	q := aQuestion()
	text := func(more string) string {
		return fmt.Sprintf(`{"version": 1, "question": %q, %s}`, q.ID, more)
	}
	for name, c := range map[string]struct{ answer, wrong string }{
		"good":               {text(`"decision": "proceed", "reason": "fine"`), ""},
		"choices":            {text(`"decision": "proceed", "reason": "fine", "choices": ["e2"]`), ""},
		"no-choices":         {text(`"decision": "proceed", "reason": "fine", "choices": []`), ""},
		"unknown-key":        {text(`"decision": "proceed", "reason": "fine", "confidence": 1`), "confidence"},
		"other-case":         {text(`"decision": "proceed", "Reason": "fine"`), "Reason"},
		"repeated-key":       {text(`"decision": "proceed", "decision": "uncertain", "reason": "fine"`), "repeated"},
		"no-reason":          {text(`"decision": "proceed"`), "reason"},
		"blank-reason":       {text(`"decision": "proceed", "reason": " "`), "reason"},
		"long-reason":        {text(`"decision": "proceed", "reason": "` + strings.Repeat("x", 501) + `"`), "reason"},
		"other-decision":     {text(`"decision": "incompatible", "reason": "fine"`), "decision"},
		"validated":          {text(`"decision": "validated", "reason": "fine"`), "decision"},
		"unknown-choice":     {text(`"decision": "proceed", "reason": "fine", "choices": ["e3"]`), "choices"},
		"repeated-choice":    {text(`"decision": "proceed", "reason": "fine", "choices": ["e1", "e1"]`), "choices"},
		"choice-of-no-use":   {text(`"decision": "uncertain", "reason": "fine", "choices": ["e1"]`), "takes none"},
		"text-for-list":      {text(`"decision": "proceed", "reason": "fine", "choices": "e1"`), "choices"},
		"another-version":    {strings.Replace(text(`"decision": "proceed", "reason": "fine"`), "1", "2", 1), "version"},
		"another-question":   {strings.Replace(text(`"decision": "proceed", "reason": "fine"`), q.ID, strings.Repeat("0", 16), 1), "question"},
		"two-values":         {text(`"decision": "proceed", "reason": "fine"`) + "{}", "more than one JSON value"},
		"nothing":            {"", "empty"},
		"words":              {"I would proceed.", "invalid character"},
		"list":               {"[]", "cannot unmarshal"},
		"null":               {"null", "null"},
		"cut":                {`{"version": 1`, "unexpected EOF"},
		"instruction-inside": {text(`"decision": "proceed", "reason": "fine", "run": "rm -r ."`), "run"},
	} {
		_, err := q.ParseAnswer([]byte(c.answer))
		if (err == nil) != (c.wrong == "") || err != nil && (!errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: got %v, want %q", name, err, c.wrong)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has several lines: %q", name, err)
		}
	}
}

func TestWithoutChoicesAnAnswerChoosesNothing(t *testing.T) {
	q := aQuestion()
	q.Choices = nil
	q = q.asked()
	if _, err := q.ParseAnswer(fmt.Appendf(nil, `{"version": 1, "question": %q, "decision": "proceed", "reason": "x", "choices": ["e1"]}`, q.ID)); err == nil {
		t.Error("a choice of a question without choices was taken")
	}
}

func TestTheIdentityOfAQuestionIsWhatItAsks(t *testing.T) {
	q := aQuestion()
	other := q
	other.Choices = other.Choices[:1]
	if q.ID == other.asked().ID {
		t.Error("another list of choices has the same identity")
	}
	again := q
	again.Wrong = "the last answer was empty"
	if again.asked().ID != q.ID {
		t.Error("asked once more it has another identity")
	}
}

// fitsSchema says what a schema refuses of a value.
func fitsSchema(t *testing.T, name string, data []byte) error {
	t.Helper()
	schema, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := mismatch(schema, data)
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}

func TestQuestionsFitTheirSchema(t *testing.T) {
	w := newWorld(t)
	w.breaks = failing(1)
	j := &judge{}
	j.answer = func(q Question, n int) (Answer, error) {
		if q.Kind == Again {
			return decides(giveUp).answer(q, n)
		}
		return decides(proceed).answer(q, n)
	}
	s := w.judged(j)
	c, _ := w.upgrade(s)
	_, err := s.Again(t.Context(), c)
	w.must(err)
	if len(j.asked) != 2 {
		t.Fatalf("%d questions, want a review and the one after the failed run", len(j.asked))
	}
	for _, q := range j.asked {
		data, err := json.Marshal(q)
		w.must(err)
		if err := fitsSchema(t, "judgement", data); err != nil {
			t.Errorf("%s: %v", q.Kind, err)
		}
		narrow, err := q.AnswerSchema()
		w.must(err)
		answer := fmt.Appendf(nil, `{"version": 1, "question": %q, "decision": %q, "reason": "x"}`, q.ID, q.Decisions[0].Word)
		if err := fitsSchema(t, "answer", answer); err != nil {
			t.Errorf("%s: an answer by the general schema: %v", q.Kind, err)
		}
		if wrong, err := mismatch(narrow, answer); wrong != nil || err != nil {
			t.Errorf("%s: an answer by its own schema: %v, %v", q.Kind, wrong, err)
		}
	}
}

func TestReceiptsFitTheirSchema(t *testing.T) {
	w := newWorld(t)
	w.upgrade(w.shepherd("bot-token"))
	for _, r := range w.ledger.receipts {
		data, err := json.Marshal(r)
		w.must(err)
		if err := fitsSchema(t, "receipt", data); err != nil {
			t.Errorf("%s: %v", r.Step, err)
		}
		for _, spoil := range []string{`"by":`, `"subject":`, `"at":`} {
			if err := fitsSchema(t, "receipt", []byte(strings.Replace(string(data), spoil, `"x":`, 1))); err == nil {
				t.Errorf("%s: without %s it fits", r.Step, spoil)
			}
		}
	}
}

func TestEverySchemaHasAName(t *testing.T) {
	for _, name := range SchemaNames() {
		src, err := Schema(name)
		var doc struct {
			Dialect string `json:"$schema"`
			Title   string `json:"title"`
			Strict  *bool  `json:"additionalProperties"`
		}
		if err == nil {
			err = json.Unmarshal(src, &doc)
		}
		if err != nil || doc.Title != name || doc.Dialect != "https://json-schema.org/draft/2020-12/schema" || doc.Strict == nil || *doc.Strict {
			t.Errorf("%s: %v, title %q, dialect %q, additional properties %v", name, err, doc.Title, doc.Dialect, doc.Strict)
		}
	}
	if _, err := Schema("ledger"); err == nil || !strings.Contains(err.Error(), `no schema "ledger": there are outcome, baseline, report, cleanup, receipt, judgement, answer`) {
		t.Errorf("another name: got %v", err)
	}
}
