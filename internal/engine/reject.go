package engine

// Kinds of RejectError.
const (
	Unrecognized  = "unrecognized"
	Ambiguous     = "ambiguous"
	InvalidChoice = "invalid-choice"
	InvalidValue  = "invalid-value"
	MissingValue  = "missing-value"
	IgnoredValue  = "ignored-value" // a value was given to an option that takes none
	Required      = "required"
	Gone          = "deprecated" // declared only to say that it is gone
	HelpAsked     = "help"       // not an error of the user: the program prints help and ends
	Broken        = "broken"     // the source declares one option text twice: no run can start
)

// RejectError says why an argument list would end the program before it
// serves. Message has argparse's wording.
type RejectError struct {
	Kind       string   `json:"kind"`
	Token      string   `json:"token,omitempty"`      // the argument at fault, as given
	Candidates []string `json:"candidates,omitempty"` // option texts an ambiguous argument could mean
	Message    string   `json:"message"`
}

func (e *RejectError) Error() string { return e.Message }
