package candidate

import "time"

// Wave is what one look over feeds, families, refs, pull requests and capacity
// leaves: the families that may move, and of every other why not.
type Wave struct {
	Base       string     `json:"base"` // 40 hex: the commit it was planned from
	Seed       uint64     `json:"seed"` // of the shuffle
	At         time.Time  `json:"at"`
	Candidates []Proposal `json:"candidates"` // in the order in which select tries them
	Left       []LeftOut  `json:"left-out"`   // by family
	SetAside   []SetAside `json:"set-aside"`  // feed rows that are not valid, counted by reason
	Pulls      []OpenPull `json:"open-prs"`
}

// Proposal is one family that may move.
type Proposal struct {
	Candidate
	Observation Observation `json:"observation"`
	Signals     []Signal    `json:"signals"`
	Review      bool        `json:"needs-review"`
	Clusters    []string    `json:"clusters"` // the eligible clusters that can run it, sorted
	Files       []string    `json:"files"`    // what the family depends on, sorted: its master, runner file excluded unless its entry is in it, recipe, shared scripts
}

// Observation is the newest published row set of a family: evidence, never authority.
type Observation struct {
	Image string `json:"image"`
	Date  string `json:"date"`
}

// LeftOut is a family that does not move, and the reason a table shows.
type LeftOut struct {
	Family string `json:"family"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// SetAside counts the rows of a feed that are not valid for one reason.
type SetAside struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// OpenPull is an open pull request with its changed files; Incomplete says that
// the list may lack some: then it is never "no overlap".
type OpenPull struct {
	Number     int      `json:"number"`
	Title      string   `json:"title"`
	Head       string   `json:"head"`
	Author     string   `json:"author"`
	Draft      bool     `json:"draft"`
	Labels     []string `json:"labels"`
	Files      []string `json:"files"`
	Incomplete bool     `json:"incomplete"`
}
