package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAnAnswerThatFitsIsWhole(t *testing.T) {
	raw, cut, err := bound(map[string]any{"list": []int{1, 2}, "text": strings.Repeat("x", maxText+1)}, maxResult)
	if err != nil || len(cut) != 0 || !strings.Contains(string(raw), `"list":[1,2]`) || len(raw) < maxText {
		t.Errorf("got %.80s, cut %v, %v", raw, cut, err)
	}
}

func TestALargeAnswerIsCutAndSaysWhere(t *testing.T) {
	type item struct {
		Name  string `json:"name"`
		Lines []int  `json:"lines"`
	}
	var items []item
	for i := range 300 {
		items = append(items, item{fmt.Sprint("item ", i), slices.Repeat([]int{i}, 40)})
	}
	v := map[string]any{"items": items, "log": strings.Repeat("é", maxText+7), "exact": json.Number("12345678901234567890")}
	raw, cut, err := bound(v, 10<<10)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 10<<10 {
		t.Errorf("%d bytes, want at most %d", len(raw), 10<<10)
	}
	var got struct {
		Items []item      `json:"items"`
		Log   string      `json:"log"`
		Exact json.Number `json:"exact"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	n := len(got.Items)
	want := []string{fmt.Sprintf("items: the first %d of up to 300 elements", n), fmt.Sprintf("items[].lines: the first %d of up to 40 elements", n),
		"log: the first 4000 of up to 4007 characters"}
	if n == 0 || n >= 40 || !slices.Equal(cut, want) || got.Items[0].Name != "item 0" || got.Exact != "12345678901234567890" {
		t.Errorf("%d items, exact %s, cut %q; want %q", n, got.Exact, cut, want)
	}
}

func TestAListThatIsTheAnswerIsNamedSo(t *testing.T) {
	_, cut, err := bound(slices.Repeat([]string{strings.Repeat("x", 100)}, 1000), 10<<10)
	if err != nil || len(cut) != 1 || !strings.HasPrefix(cut[0], "result: the first 64 of up to 1000 elements") {
		t.Errorf("cut %q, %v", cut, err)
	}
}

func TestAnAnswerWithoutListsToShortenIsRefused(t *testing.T) {
	many := map[string]int{}
	for i := range 2000 {
		many[fmt.Sprint("key ", i)] = i
	}
	if _, _, err := bound(many, 10<<10); err == nil || !strings.Contains(err.Error(), "no lists to shorten: ask for less") {
		t.Errorf("got %v", err)
	}
}

func TestOnlySomeCutsAreNamed(t *testing.T) {
	v := map[string][]int{}
	for i := range 50 {
		v[fmt.Sprintf("list%02d", i)] = slices.Repeat([]int{7}, 1000)
	}
	_, cut, err := bound(v, 10<<10)
	if err != nil || len(cut) != maxCuts+1 || cut[maxCuts] != "and 30 further places" {
		t.Errorf("cut %q, %v; want 20 places and how many more", cut, err)
	}
}
