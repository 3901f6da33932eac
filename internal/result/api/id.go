package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MarshalJSON writes the id as a decimal string.
func (id ID) MarshalJSON() ([]byte, error) {
	return json.Marshal(strconv.FormatInt(int64(id), 10))
}

// UnmarshalJSON reads a decimal string or a number.
func (id *ID) UnmarshalJSON(src []byte) error {
	text := strings.Trim(string(src), `"`)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("id %s is not a 64-bit integer", src)
	}
	*id = ID(n)
	return nil
}

var runURL = regexp.MustCompile(`/actions/runs/([0-9]{1,19})(?:/attempts/([0-9]{1,9}))?$`)

// RunURL is the address of an attempt of a run under the address of the run.
func RunURL(run string, attempt int) string {
	return fmt.Sprintf("%s/attempts/%d", run, attempt)
}

// ParseRunURL reads the run and the attempt (0 when absent) out of a run's address.
func ParseRunURL(url string) (run int64, attempt int, ok bool) {
	m := runURL.FindStringSubmatch(url)
	if m == nil {
		return 0, 0, false
	}
	run, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || run <= 0 {
		return 0, 0, false
	}
	attempt, _ = strconv.Atoi(m[2])
	return run, attempt, true
}

// SameEngine compares everything but the GPU counts: they follow from the
// topology, and feeds disagree on how.
func (c Config) SameEngine(other Config) bool {
	c.NumPrefillGPU, c.NumDecodeGPU = other.NumPrefillGPU, other.NumDecodeGPU
	return c == other
}

// Fits says whether an evaluation's configuration is c. Old feeds leave out
// the prefill role; what is absent is not compared.
func (r EvaluationRow) Fits(c Config) bool {
	got := r.Config
	if got.PrefillTP == 0 {
		got.PrefillTP, got.PrefillEP, got.PrefillDPAttention = c.PrefillTP, c.PrefillEP, c.PrefillDPAttention
		got.PrefillNumWorkers, got.DecodeNumWorkers = c.PrefillNumWorkers, c.DecodeNumWorkers
		got.Disagg, got.IsMultinode = c.Disagg, c.IsMultinode
	}
	return got.SameEngine(c)
}
