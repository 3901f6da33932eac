package candidate

import "fmt"

// Refused says that a rule does not allow what was asked for: calling again
// does not help, what the message names has to change first.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

func refuse(format string, args ...any) error {
	return &Refused{Reason: fmt.Sprintf(format, args...)}
}
