package candidate

import "testing"

// Source: lifecycle specification, section 6.
func TestRunTitle(t *testing.T) {
	c := Candidate{ID: "4ccb0a08e646958b-af00168b432f68fb", Parent: "17961065662"}
	if got, want := c.RunTitle("refit"), "e2e Test - refit-17961065662-4ccb0a08e646958b-af00168b432f68fb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Attempt = 2
	if got, want := c.RunTitle("refit"), "e2e Test - refit-17961065662-4ccb0a08e646958b-af00168b432f68fb-2"; got != want {
		t.Errorf("a later attempt: got %q, want %q", got, want)
	}
}
