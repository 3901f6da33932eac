package recipe

import (
	"fmt"

	"github.com/refit-bench/refit/internal/workspace"
)

// didYouMean ends a message with the known word that was probably meant, or
// adds nothing.
func didYouMean(word string, known []string) string {
	if len(word) < 3 || len(word) > 200 { // every two letters are near to some others
		return ""
	}
	if near := workspace.Closest(word, known); near != "" && near != word {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
