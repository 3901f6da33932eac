package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// asked are the keys of a raw file that say what was measured. All others that
// a row needs are figures.
var asked = []string{"model_id", "max_concurrency", "num_prompts"}

// oneReading decodes a raw file and keeps the figures of one reading of the
// streams. refit's own load client leaves two of them: the reference's in the
// file's own keys, which drop-in consumers go by, and its own under
// refit.reading, in the same keys. Then the file's own are not looked at: where
// a server sends usage beside its last choice, as llama.cpp does, they have no
// token at all. Other files have one reading, and refit's older ones too.
func oneReading(raw []byte) (object, error) {
	in, err := decodeObject(raw)
	if err != nil {
		return nil, fmt.Errorf("raw file: %w", err)
	}
	own, _ := in.get("refit")
	refit, _ := own.(object)
	value, two := refit.get("reading")
	if !two {
		return in, nil
	}
	reading, ok := value.(object)
	if !ok {
		return nil, errors.New("raw file: refit.reading is not an object")
	}
	one := object{}
	for _, key := range asked {
		if v, ok := in.get(key); ok {
			one.set(key, v)
		}
	}
	for _, m := range reading {
		one.set(m.key, m.value)
	}
	return one, nil
}

// Counts are the requests of a raw file, by the reading that its figures are of.
type Counts struct {
	Requests  int // sent
	Completed int
	Conc      int // at a time, 0 = without a cap
}

// CountsOf reads the counts of a raw file.
func CountsOf(raw []byte) (Counts, error) {
	in, err := oneReading(raw)
	if err != nil {
		return Counts{}, err
	}
	requests, err1 := whole(in, "num_prompts")
	completed, err2 := whole(in, "completed")
	if err1 != nil || err2 != nil || completed < 0 || completed > requests {
		return Counts{}, errors.New("num_prompts and completed do not fit together")
	}
	conc := 0
	if v, ok := in.get("max_concurrency"); ok && v != nil {
		if conc, err = whole(in, "max_concurrency"); err != nil {
			return Counts{}, err
		}
	}
	return Counts{Requests: requests, Completed: completed, Conc: conc}, nil
}

// whole is a whole number of the file.
func whole(in object, key string) (int, error) {
	v, _ := in.get(key)
	spelled, _ := v.(json.Number)
	n, err := strconv.Atoi(string(spelled))
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number", key)
	}
	return n, nil
}
