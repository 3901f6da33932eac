package workspace

// Config is refit.yaml: what a workspace chooses. Every key is optional;
// ParseConfig fills in the defaults.
type Config struct {
	Version  int            `yaml:"version"`
	Layout   string         `yaml:"layout"`
	Forge    ForgeConfig    `yaml:"forge"`
	Executor ExecutorConfig `yaml:"executor"`
	Clusters string         `yaml:"clusters"`
	Images   ImagesConfig   `yaml:"images"`
	Results  ResultsConfig  `yaml:"results"`
	Ledger   string         `yaml:"ledger"`
	Evals    EvalsConfig    `yaml:"evals"`
	Jobs     JobsConfig     `yaml:"jobs"`
	Policy   PolicyConfig   `yaml:"policy"`
}

// ForgeConfig names the forge: the embedded one (local) or github. URL is the
// API of a server that speaks like GitHub, "" is github.com's. TokenFile holds
// the write credential; it is relative to the workspace's root.
type ForgeConfig struct {
	Kind         string `yaml:"kind"`
	URL          string `yaml:"url"`
	Repository   string `yaml:"repository"`
	Login        string `yaml:"login"`
	TokenFile    string `yaml:"token-file"`
	HandoffLabel string `yaml:"handoff-label"`
}

// ExecutorConfig says where jobs run. Targeted and Sweep are workflow file names.
type ExecutorConfig struct {
	Kind     string `yaml:"kind"`
	Targeted string `yaml:"targeted"`
	Sweep    string `yaml:"sweep"`
}

// ImagesConfig says where images come from: an OCI layout folder relative to
// the workspace root, or a registry.
type ImagesConfig struct {
	Kind string `yaml:"kind"`
	Path string `yaml:"path"`
}

// ResultsConfig says where published results are read from.
type ResultsConfig struct {
	Kind    string `yaml:"kind"`
	URL     string `yaml:"url"`
	DSNFile string `yaml:"dsn-file"`
}

// EvalsConfig says which points are evaluated, and with which questions.
// Lengths are "isl/osl" pairs.
type EvalsConfig struct {
	Lengths    []string   `yaml:"lengths"`
	Floor      int        `yaml:"floor"`
	Task       string     `yaml:"task"`
	Data       DataConfig `yaml:"data"`
	Thresholds string     `yaml:"thresholds"`
}

// DataConfig is a file of questions and, when given, its SHA-256 in hex.
type DataConfig struct {
	Path   string `yaml:"path"`
	SHA256 string `yaml:"sha256"`
}

// JobsConfig is what every job gets: names of environment variables that may
// pass, and the load client.
type JobsConfig struct {
	Env    []string `yaml:"env"`
	Client string   `yaml:"client"`
}

// PolicyConfig is how candidates are named, repaired and judged.
type PolicyConfig struct {
	Prefix            string            `yaml:"prefix"`
	Title             string            `yaml:"title"`
	SweepLabel        string            `yaml:"sweep-label"`
	SweepsOnDraft     string            `yaml:"sweeps-on-draft"`
	Repairs           int               `yaml:"repairs"`
	Rounds            int               `yaml:"rounds"`
	AllowOldImageRuns bool              `yaml:"allow-old-image-runs"`
	ForeignClient     bool              `yaml:"foreign-client"`
	Require           map[string]string `yaml:"require"`
	Bilingual         bool              `yaml:"bilingual"`
	Outcomes          map[string]string `yaml:"outcomes"`
}

// DefaultConfig is what an empty refit.yaml means. The caller owns the result.
func DefaultConfig() Config {
	return Config{
		Version:  1,
		Layout:   "inferencex",
		Forge:    ForgeConfig{Kind: "local", HandoffLabel: "handoff"},
		Executor: ExecutorConfig{Kind: "local", Targeted: "e2e-tests.yml", Sweep: "run-sweep.yml"},
		Clusters: "clusters.yaml",
		Images:   ImagesConfig{Kind: "layout", Path: ".refit/images"},
		Results:  ResultsConfig{Kind: "local"},
		Ledger:   "store",
		Evals:    EvalsConfig{Lengths: []string{"8192/1024"}, Floor: 16, Task: "gsm8k"},
		Jobs:     JobsConfig{Env: []string{}, Client: "refit"},
		Policy: PolicyConfig{
			Prefix: "refit", Title: "[refit] ", SweepLabel: "full-sweep-fail-fast", SweepsOnDraft: "auto",
			Repairs: 5, Rounds: 2, Require: map[string]string{}, Bilingual: true, Outcomes: map[string]string{},
		},
	}
}

// ParseConfig reads refit.yaml. It is strict: an unknown or repeated key, a
// value of the wrong type and a word outside its list are errors, each
// "name:line: key: rule", all of the file joined. Defaults are filled in; the
// settings list every effective value in the order of the file's schema.
func ParseConfig(src []byte, name string) (Config, []Setting, error) {
	c := DefaultConfig()
	d := decoder{name: name, origin: map[string]int{}}
	d.document(src, &c)
	if len(d.errs) == 0 {
		d.check(c)
	}
	if err := d.err(); err != nil {
		return Config{}, nil, err
	}
	return c, settings(c, name, d.origin), nil
}
