package report

import "time"

// Fleet is what `refit status` shows: the images that a catalogue runs, oldest
// first, with the families on each.
type Fleet struct {
	At     time.Time    `json:"at"`
	Sum    FleetSum     `json:"summary"`
	Images []FleetImage `json:"images"`
	Notes  []string     `json:"notes"` // what could not be told, and why
}

// FleetSum counts what a fleet shows.
type FleetSum struct {
	Families int `json:"families"`
	Images   int `json:"images"`
	Points   int `json:"points"`
	Behind   int `json:"behind"`  // images with a newer tag in their lane
	Unknown  int `json:"unknown"` // images of which that is not known
	Open     int `json:"open-candidates"`
	Hidden   int `json:"hidden-families,omitempty"` // left out by a filter
}

// AgeSource says what an image's age is counted from.
type AgeSource string

// The sources of an age, the best first.
const (
	AgeBuild   AgeSource = "build"   // the image says when it was built
	AgeTag     AgeSource = "tag"     // the tag holds a date
	AgeRecipe  AgeSource = "recipe"  // the first commit that set it in one of its families
	AgeUnknown AgeSource = "unknown" // none of these
)

// Lane says how an image stands in its lane.
type Lane string

// The standings of an image.
const (
	LaneNewest  Lane = "newest"
	LaneBehind  Lane = "behind"
	LaneUnknown Lane = "unknown"
)

// FleetImage is one image and the families that run it.
type FleetImage struct {
	Image    string        `json:"image"`
	Since    *time.Time    `json:"since"`    // nil = unknown
	AgeDays  *int          `json:"age-days"` // whole days, nil = unknown
	AgeFrom  AgeSource     `json:"age-from"`
	AtLeast  bool          `json:"at-least,omitempty"` // the history ends before: it may be older
	Lane     Lane          `json:"lane"`
	Newest   string        `json:"newest,omitempty"` // the newest tag of the lane, when it is another
	Reason   string        `json:"reason,omitempty"` // why Lane is unknown
	Families []FleetFamily `json:"families"`
}

// FleetFamily is a family on its image.
type FleetFamily struct {
	Family string           `json:"family"` // config key
	File   string           `json:"file"`
	Line   int              `json:"line"`             // of its image
	Set    *time.Time       `json:"set,omitempty"`    // when a commit set the image, nil = unknown or not committed
	Commit string           `json:"commit,omitempty"` // that commit
	Points int              `json:"points"`
	Open   []FleetCandidate `json:"open,omitempty"` // candidates without an outcome, newest first
}

// FleetCandidate is an open candidate of a family.
type FleetCandidate struct {
	ID       string `json:"id"`
	NewImage string `json:"new-image"`
	Step     string `json:"step"`
	State    string `json:"state"`
	Pull     int    `json:"pull,omitempty"`
}
