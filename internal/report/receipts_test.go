package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// receiptRecords parses comments of receipts: the index, and its parts by name.
func receiptRecords(t *testing.T, prefix string, comments []NamedComment) (index Record, part func(string) (Record, bool)) {
	t.Helper()
	parts := map[string]Record{}
	for _, c := range comments {
		r, ok, err := ParseRecord(prefix, c.Body)
		if err != nil || !ok || r.Name != c.Name || r.Kind != ReceiptKind || !r.AsWritten() {
			t.Fatalf("%s: found %v, %v, named %q, as written %v", c.Name, ok, err, r.Name, r.AsWritten())
		}
		if n := utf8.RuneCountInString(c.Body); n >= maxBody {
			t.Fatalf("%s has %d characters, want fewer than %d", c.Name, n, maxBody)
		}
		if r.ReceiptPart() {
			parts[r.Name] = r
		} else {
			index = r
		}
	}
	return index, func(name string) (Record, bool) { r, ok := parts[name]; return r, ok }
}

// noise is JSON that hardly gets smaller.
func noise(n int) json.RawMessage {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(digest(fmt.Append(nil, i)))
	}
	return json.RawMessage(`{"version":1,"text":"` + b.String() + `<>"}`)
}

// What fits is one comment; what does not is parts and, last, their index.
func TestReceiptRecordsOfAnySize(t *testing.T) {
	for size, want := range map[int]int{10: 1, 50_000: 1, 70_000: 2, 400_000: 6} {
		comments, err := testPolicy().ReceiptRecords("7", candidateID, "smoke", noise(size), "page")
		if err != nil || len(comments) < want || (want == 1) != (len(comments) == 1) {
			t.Fatalf("%d bytes: %d comments, %v; want %d at least", size, len(comments), err, want)
		}
		last := comments[len(comments)-1]
		if !strings.HasPrefix(last.Body, "<!-- refit-receipt:7:"+candidateID+":smoke-") || !strings.HasSuffix(last.Body, "\n-->\npage") {
			t.Errorf("%d bytes: the last comment begins %.80q", size, last.Body)
		}
		back, err := WholeReceipts(receiptRecords(t, "refit", comments))
		if want, _ := json.Marshal(noise(size)); err != nil || string(back) != string(want) {
			t.Errorf("%d bytes: %v, %d bytes came back, want %d", size, err, len(back), len(want))
		}
	}
}

func TestChangedReceiptsAreRefused(t *testing.T) {
	comments, err := testPolicy().ReceiptRecords("7", candidateID, "smoke", noise(200_000), "page")
	if err != nil {
		t.Fatal(err)
	}
	index, part := receiptRecords(t, "refit", comments)
	none := func(string) (Record, bool) { return Record{}, false }
	check := func(name string, index Record, part func(string) (Record, bool), want string) {
		t.Helper()
		if got, err := WholeReceipts(index, part); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %d bytes and %v, want %q", name, len(got), err, want)
		}
	}
	changed := func(change func(*Record)) func(string) (Record, bool) {
		return func(name string) (Record, bool) { r, ok := part(name); change(&r); return r, ok }
	}
	check("part-missing", index, none, "is missing")
	check("part-edited", index, changed(func(r *Record) {
		r.JSON = json.RawMessage(strings.Replace(string(r.JSON), `"data":"`, `"data":"AAAA`, 1))
	}), "was changed")
	check("part-of-another", index, changed(func(r *Record) { r.ID = "0123456789abcdef-0123456789abcdef" }), "was changed")
	check("parts-swapped", swapped(t, index), part, "is 2 of ")
	edited := index
	edited.JSON = json.RawMessage(strings.Replace(string(index.JSON), `"sha256":"`, `"sha256":"0`, 1))
	check("index-edited", edited, part, "was changed")
	edited.Name = "smoke-" + digest(edited.JSON)
	check("index-of-other-parts", edited, part, "its parts are not what was split")
}

// swapped is an index that names its parts in another order.
func swapped(t *testing.T, index Record) Record {
	t.Helper()
	var v receiptIndex
	if err := json.Unmarshal(index.JSON, &v); err != nil {
		t.Fatal(err)
	}
	v.Parts[0], v.Parts[1] = v.Parts[1], v.Parts[0]
	index.JSON, _ = json.Marshal(v)
	index.Name = "smoke-" + digest(index.JSON)
	return index
}

// Whatever a part holds, reading it ends in a value or an error.
func TestAnyPartEndsInAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, _ := json.Marshal(receiptPart{1, 1, rapid.StringMatching(`[A-Za-z0-9+/]{0,64}={0,2}`).Draw(t, "data")})
		p := Record{Kind: ReceiptKind, ID: candidateID, Name: "smoke-part-1-" + digest(data), JSON: data}
		list, _ := json.Marshal(receiptIndex{Parts: []string{p.Name}})
		index := Record{Kind: ReceiptKind, ID: candidateID, Name: "smoke-" + digest(list), JSON: list}
		if got, err := WholeReceipts(index, func(string) (Record, bool) { return p, true }); err == nil {
			t.Fatalf("%s came out as %q", data, got)
		}
	})
}

// The markers of another prefix are as the community publishes them, and are
// read back as records.
func TestRecordsOfThePublishedPrefix(t *testing.T) {
	for kind, c := range map[string]struct{ name, marker string }{
		"report":    {"run-35511687735-1", "<!-- klaud-report:35511600000:" + candidateID + ":run-35511687735-1\n"},
		"outcome":   {"", "<!-- klaud-outcome:35511600000:" + candidateID + "\n"},
		"cleanup":   {"", "<!-- klaud-cleanup:35511600000:" + candidateID + "\n"},
		ReceiptKind: {"smoke-0123456789ab", "<!-- klaud-receipt:35511600000:" + candidateID + ":smoke-0123456789ab\n"},
	} {
		published := c.marker + `{"family":"configs/amd-master.yaml:dsr1-fp8-mi325x-sglang"}` + "\n-->\n**Baseline**"
		r, ok, err := ParseRecord("klaud", published)
		if err != nil || !ok || r.Kind != kind || r.Name != c.name || r.Parent != "35511600000" || r.ID != candidateID {
			t.Errorf("%s: found %v, %v: %+v", kind, ok, err, r)
		}
		if _, ok, _ := ParseRecord("refit", published); ok {
			t.Errorf("%s: a record of another prefix is taken for one of ours", kind)
		}
		body, err := Policy{Prefix: "klaud"}.Record(kind, r.Parent, r.ID, r.Name, r.JSON, r.Markdown)
		if err != nil || body != published {
			t.Errorf("%s: written again: %q, %v, want %q", kind, body, err, published)
		}
	}
}
