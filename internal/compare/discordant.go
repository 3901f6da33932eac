package compare

import (
	"slices"

	"github.com/refit-bench/refit/internal/eval"
)

// Discordant is a question that was answered right on one side only. Old and
// New are the filtered answers, Target the known one.
type Discordant struct {
	DocID      int    `json:"doc-id"`
	Target     string `json:"target"`
	Old        string `json:"old"`
	New        string `json:"new"`
	OldCorrect bool   `json:"old-correct"`
	NewCorrect bool   `json:"new-correct"`
}

const (
	mostDiscordant = 50
	mostAnswer     = 60 // runes; a broken engine may answer with digits without end
)

func discordant(o, n eval.Answer) Discordant {
	return Discordant{o.DocID, brief(n.Target), brief(o.Filtered), brief(n.Filtered), o.Correct, n.Correct}
}

func brief(text string) string {
	if runes := []rune(text); len(runes) > mostAnswer {
		return string(runes[:mostAnswer-1]) + "…"
	}
	return text
}

// shownFirst puts the lost before the gained and keeps what can be shown.
func shownFirst(lost, gained []Discordant) []Discordant {
	byQuestion := func(a, b Discordant) int { return a.DocID - b.DocID }
	slices.SortFunc(lost, byQuestion)
	slices.SortFunc(gained, byQuestion)
	all := append(lost, gained...)
	return all[:min(len(all), mostDiscordant)]
}
