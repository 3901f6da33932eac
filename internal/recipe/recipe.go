// Package recipe holds the catalogue of a workspace: master files, runners, the
// performance changelog, and byte-preserving edits of them. It reads text and
// returns values; it knows nothing of points, results or forges.
package recipe

// Catalogue is every recipe family of a workspace, in file order, with the runners.
type Catalogue struct {
	Families []Family
	Runners  Runners
}

// Family is one config key of one master file.
type Family struct {
	ID    string // "configs/x-master.yaml:key"
	File  string // path of the master file inside the workspace
	Key   string
	Line  int // 1-based line of the key
	Entry Entry
}

// Entry is the checked content of a family.
type Entry struct {
	Image, Model, ModelPrefix, Runner, Precision, Framework string
	Multinode, Disagg                                       bool
	Router                                                  *Component // default of every search-space entry
	Transfer                                                string     // kv-p2p-transfer, "" when absent
	Fixed                                                   []FixedBlock
	Agentic                                                 []AgenticBlock
}

// Component is a named and versioned piece of software beside the engine.
type Component struct {
	Name    string
	Version string // "" only where the schema makes it optional
}

// FixedBlock is one fixed-seq-len block.
type FixedBlock struct {
	Line     int
	ISL, OSL int
	Search   []Search
}

// AgenticBlock is one agentic-coding block.
type AgenticBlock struct {
	Line            int
	DRAMUtilization string // decimal text as written, "" when absent
	Search          []Search
}

// Search is one search-space entry: a topology and its concurrencies.
type Search struct {
	Line, Column         int
	TP, PP, DCP, PCP, EP int
	DPAttention          bool
	Prefill, Decode      *Worker // both set in multi-node entries
	SpecDecoding         string  // none, mtp or draft_model
	Router               *Component
	RouterSet            bool   // the entry writes router, possibly as null
	Transfer             string // kv-p2p-transfer, "" when absent or null
	Offload              string // kv-offloading: none or dram
	Backend              *Component
	Start, End           int   // range; zero when List is used
	List                 []int // as written, order and repeats kept
}

// Worker is one pool of a multi-node deployment.
type Worker struct {
	Workers              int
	TP, PP, DCP, PCP, EP int
	DPAttention          bool
	Hardware             string
	Settings             []string // additional-settings
	Written              []string // field names in the order they were written
}

// Runners is runners.yaml: machines by label, and facts of their hardware.
type Runners struct {
	Labels   map[string][]string
	Hardware map[string]Hardware
}

// Hardware is what one node of a label offers a job.
type Hardware struct {
	MemoryMiB   int // host memory usable by one job
	GPUsPerNode int
}
