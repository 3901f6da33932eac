package report

import "encoding/json"

// MarshalJSON writes empty lists as [], never as null.
func (b Baseline) MarshalJSON() ([]byte, error) {
	type wire Baseline
	b.Sources, b.Points, b.Evals = list(b.Sources), list(b.Points), list(b.Evals)
	return json.Marshal(wire(b))
}

// MarshalJSON writes empty lists as [], never as null.
func (a Attempt) MarshalJSON() ([]byte, error) {
	type wire Attempt
	a.Points, a.Evals = list(a.Points), list(a.Evals)
	return json.Marshal(wire(a))
}

// MarshalJSON writes empty lists as [], never as null.
func (a Author) MarshalJSON() ([]byte, error) {
	type wire Author
	a.Models, a.Delegates = list(a.Models), list(a.Delegates)
	return json.Marshal(wire(a))
}

// MarshalJSON writes empty lists as [], never as null.
func (r Receipt) MarshalJSON() ([]byte, error) {
	type wire Receipt
	r.RunIDs = list(r.RunIDs)
	return json.Marshal(wire(r))
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
