package report

import "testing"

func FuzzParseRecord(f *testing.F) {
	for _, s := range []string{
		"<!-- refit-report:7:0123456789abcdef-0123456789abcdef:baseline\n{}\n-->\ntext", "<!-- refit-outcome:p0123456789ab:0123456789abcdef-0123456789abcdef\n{\"a\":1}\n-->\n",
		"<!-- refit-report:7\n", "a comment", "<!-- refit-cleanup:7:0123456789abcdef-0123456789abcdef\n{ }\n-->\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, ok, err := ParseRecord("refit", body)
		if err != nil || !ok {
			return
		}
		// Whatever the JSON of a record is, reading it ends in a value or an error.
		ParseBaseline(r.JSON)
		ParseAttempt(r.JSON)
		ParseReceipt(r.JSON)
		ParseCleanup(r.JSON)
	})
}

func FuzzRecords(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"version":1}`, `[]`, `{"points":null}`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseBaseline(data)
		ParseAttempt(data)
		ParseReceipt(data)
		ParseCleanup(data)
	})
}
