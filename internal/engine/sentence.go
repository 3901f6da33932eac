package engine

import "strings"

// sentence says a finding in one sentence, as strongly as its confidence allows.
func sentence(f Finding, detail string) string {
	text := word(f.Confidence, f.Verdict, f.Name)
	if detail != "" {
		text += ": " + strings.Join(strings.Fields(detail), " ")
	}
	switch {
	case f.Edit == nil:
	case f.Edit.New == "":
		text += "; leaving it out keeps the old meaning"
	default:
		text += "; " + f.Edit.New + " keeps the old meaning"
	}
	if f.Condition != "" {
		text += "; condition: " + f.Condition
	}
	return text
}

// word combines name, verdict and confidence: is, should be, may.
func word(confidence, verdict, name string) string {
	does, be := predicate(verdict)
	switch {
	case confidence == Unknown:
		if verdict == DefaultMoved {
			return "the default of " + name + " is written differently, whether its value moved is not decidable from source"
		}
		return name + " is not decidable from source"
	case confidence == Certain:
		return name + " " + does
	case confidence == Likely:
		return name + " should " + be
	}
	return name + " may " + be
}

func predicate(verdict string) (does, be string) {
	switch verdict {
	case Rejected:
		return "is rejected", "be rejected"
	case AmbiguousName:
		return "is rejected as ambiguous", "be rejected as ambiguous"
	case ValueRejected:
		return "is rejected for its value", "be rejected for its value"
	case OtherMeaning:
		return "is accepted with another meaning", "be accepted with another meaning"
	case NoEffect:
		return "is accepted without effect", "be accepted without effect"
	case DefaultMoved:
		return "has another default", "have another default"
	case Alias:
		return "is accepted under an old or shortened name", "be accepted under an old or shortened name"
	case Warned:
		return "is accepted with a warning, as before", "be accepted with a warning, as before"
	case Same:
		return "shows no difference", "show no difference"
	}
	return "is " + verdict, "be " + verdict
}
