// Package report turns typed records into pages. It owns units, arithmetic,
// matching and layout: nobody else calculates a delta. A record is checked when
// it is parsed or validated; rendering a checked record cannot fail, reads no
// clock and knows no forge or store.
package report

// Policy is what a workspace decides about its reports.
type Policy struct {
	Prefix    string // of markers: "refit"
	Title     string // before a pull request's title: "[refit] "
	Repairs   int    // budget shown in "Repair N/5"; 0 means 5
	Bilingual bool   // add the Chinese block
	// RunURL is the address of a workflow run's attempt; nil leaves runs unlinked.
	RunURL func(run int64, attempt int) string
}
