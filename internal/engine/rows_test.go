package engine

// row is one row of the table of command-line behaviour: options as declared,
// arguments, and either what is stored or how it is refused. Where several
// spellings of one row behave alike, each is a row of its own.
type row struct {
	name    string
	options []Option
	args    []string
	want    map[string]string // stored values; nil when refused
	kind    string            // of the refusal
	token   string
	names   []string // candidates
}

func opt(name string, edit ...func(*Option)) Option {
	o := Option{Names: []string{name}, Dest: destination([]string{name})}
	for _, e := range edit {
		e(&o)
	}
	return o
}

func typed(t string) func(*Option)       { return func(o *Option) { o.Type = t } }
func acting(a string) func(*Option)      { return func(o *Option) { o.Action = a } }
func counted(n string) func(*Option)     { return func(o *Option) { o.Nargs = n } }
func defaulting(d string) func(*Option)  { return func(o *Option) { o.Default = d } }
func choosing(c ...string) func(*Option) { return func(o *Option) { o.Choices = c } }
func storing(dest string) func(*Option)  { return func(o *Option) { o.Dest = dest } }
func also(names ...string) func(*Option) {
	return func(o *Option) { o.Names = append(o.Names, names...) }
}
func must(o *Option)                    { o.Required = true }
func constantOf(c string) func(*Option) { return func(o *Option) { o.Const = c } }
func held(kv ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

func rows() []row { return append(nameRows(), valueRows()...) }

// nameRows are about finding the option and about single values.
func nameRows() []row {
	lane := []Option{opt("--lane-count", typed("int"))}
	tile := []Option{opt("--tile-depth-decode", typed("int")), opt("--tile-depth-prefill", typed("int"))}
	night := []Option{opt("--night", acting("store_true"))}
	pair := []Option{opt("--night", acting("on_off"))}
	paint := []Option{opt("--paint", choosing("red", "blue"))}
	num := []Option{opt("--i", typed("int"))}
	float := []Option{opt("--f", typed("float"))}
	text := []Option{opt("--s")}
	negative := []Option{opt("--i", typed("int")), opt("-1", acting("store_true"), storing("one"))}
	return []row{
		{name: "01-two-tokens", options: lane, args: []string{"--lane-count", "4"}, want: held("lane_count", "4")},
		{name: "01-equals", options: lane, args: []string{"--lane-count=4"}, want: held("lane_count", "4")},
		{name: "02-underscore-for-dash", options: lane, args: []string{"--lane_count", "4"}, kind: Unrecognized, token: "--lane_count"},
		{name: "03-dash-for-underscore", options: []Option{opt("--lane_count", typed("int"))}, args: []string{"--lane-count", "4"}, kind: Unrecognized, token: "--lane-count"},
		{name: "04-ambiguous-prefix", options: tile, args: []string{"--tile-depth", "8"}, kind: Ambiguous, token: "--tile-depth", names: []string{"--tile-depth-decode", "--tile-depth-prefill"}},
		{name: "05-unique-prefix", options: tile, args: []string{"--tile-depth-d", "8"}, want: held("tile_depth_decode", "8")},
		{name: "05-unique-prefix-equals", options: tile, args: []string{"--tile-depth-d=8"}, want: held("tile_depth_decode", "8")},
		{name: "06-removed-switch-abbreviates", options: []Option{opt("--skip-map-cache", acting("store_true"))}, args: []string{"--skip-map"}, want: held("skip_map_cache", "true")},
		{name: "07-never-declared", options: []Option{opt("--tp-size", typed("int"))}, args: []string{"--tp", "8"}, want: held("tp_size", "8")},
		{name: "07-until-a-second-one", options: []Option{opt("--tp-size", typed("int")), opt("--tp-rank", typed("int"))}, args: []string{"--tp", "8"}, kind: Ambiguous, token: "--tp", names: []string{"--tp-size", "--tp-rank"}},
		{name: "08-three-names-of-one", options: []Option{opt("--width", also("--width-size", "--wide"))}, args: []string{"--wi", "3"}, kind: Ambiguous, token: "--wi", names: []string{"--width", "--width-size", "--wide"}},
		{name: "09-exact-beats-prefix", options: []Option{opt("--lane", typed("int")), opt("--lane-count", typed("int"))}, args: []string{"--lane", "3"}, want: held("lane", "3")},
		{name: "10-switch", options: night, args: []string{"--night"}, want: held("night", "true")},
		{name: "11-switch-with-value", options: night, args: []string{"--night=true"}, kind: IgnoredValue, token: "--night=true"},
		{name: "12-word-behind-switch", options: night, args: []string{"--night", "true"}, kind: Unrecognized, token: "true"},
		{name: "12-word-for-a-positional", options: append([]Option{opt("model", counted("?"))}, night...), args: []string{"--night", "true"}, want: held("night", "true", "model", "true")},
		{name: "13-no-form-undeclared", options: night, args: []string{"--no-night"}, kind: Unrecognized, token: "--no-night"},
		{name: "14-pair-off", options: pair, args: []string{"--no-night"}, want: held("night", "false")},
		{name: "14-pair-off-abbreviated", options: pair, args: []string{"--no-nig"}, want: held("night", "false")},
		{name: "15-pair-with-value", options: pair, args: []string{"--night=1"}, kind: IgnoredValue, token: "--night=1"},
		{name: "16-pair-last-wins", options: pair, args: []string{"--no-night", "--night"}, want: held("night", "true")},
		{name: "17-invalid-choice", options: paint, args: []string{"--paint", "green"}, kind: InvalidChoice, token: "green"},
		{name: "18-default-outside-choices", options: []Option{opt("--paint", choosing("red"), defaulting(`"gold"`))}, want: held("paint", "gold")},
		{name: "19-int-fraction", options: num, args: []string{"--i", "1.5"}, kind: InvalidValue, token: "1.5"},
		{name: "19-int-exponent", options: num, args: []string{"--i", "1e3"}, kind: InvalidValue, token: "1e3"},
		{name: "19-int-suffix", options: num, args: []string{"--i", "4k"}, kind: InvalidValue, token: "4k"},
		{name: "20-float-exponent", options: float, args: []string{"--f", "1e3"}, want: held("f", "1000.0")},
		{name: "21-negative-int", options: num, args: []string{"--i", "-1"}, want: held("i", "-1")},
		{name: "21-negative-int-beside-such-option", options: negative, args: []string{"--i", "-1"}, kind: MissingValue, token: "--i"},
		{name: "22-negative-exponent", options: float, args: []string{"--f", "-1e3"}, kind: MissingValue, token: "--f"},
		{name: "22-negative-exponent-equals", options: float, args: []string{"--f=-1e3"}, want: held("f", "-1000.0")},
		{name: "23-dashes-as-value", options: text, args: []string{"--s", "--weird"}, kind: MissingValue, token: "--s"},
		{name: "23-dashes-as-value-equals", options: text, args: []string{"--s=--weird"}, want: held("s", "--weird")},
		{name: "24-space-makes-a-value", options: text, args: []string{"--s", "--two words"}, want: held("s", "--two words")},
		{name: "25-empty-equals", options: text, args: []string{"--s="}, want: held("s", "")},
		{name: "25-empty-token", options: text, args: []string{"--s", ""}, want: held("s", "")},
		{name: "26-no-value", options: lane, args: []string{"--lane-count"}, kind: MissingValue, token: "--lane-count"},
	}
}

// valueRows are about several values, defaults, aliases and short names.
func valueRows() []row {
	lane := []Option{opt("--lane-count", typed("int"))}
	num := []Option{opt("--i", typed("int"))}
	stops := []Option{opt("--stops", typed("int"), counted("+"))}
	load := []Option{opt("--load", counted("?"), constantOf(`"all"`), defaulting(`"none"`))}
	alias := []Option{opt("--new", typed("int"), defaulting("5")), opt("--old", typed("int"), storing("new"), defaulting(Suppressed))}
	lc := []Option{opt("-lc", typed("int"))}
	return []row{
		{name: "27-list", options: stops, args: []string{"--stops", "1", "2", "3"}, want: held("stops", "[1, 2, 3]")},
		{name: "28-list-equals", options: stops, args: []string{"--stops=1", "2"}, kind: Unrecognized, token: "2"},
		{name: "29-list-with-comma", options: stops, args: []string{"--stops", "1,2"}, kind: InvalidValue, token: "1,2"},
		{name: "30-list-twice", options: stops, args: []string{"--stops", "1", "--stops", "2"}, want: held("stops", "[2]")},
		{name: "31-list-swallows-model", options: []Option{opt("model", counted("?")), opt("--stops", counted("+"))}, args: []string{"--stops", "a", "b", "MODEL"}, want: held("stops", `["a", "b", "MODEL"]`)},
		{name: "32-optional-value-left-out", options: load, args: []string{"--load"}, want: held("load", "all")},
		{name: "32-optional-value-absent", options: load, want: held("load", "none")},
		{name: "32-optional-value-given", options: load, args: []string{"--load", "x"}, want: held("load", "x")},
		{name: "33-twice", options: lane, args: []string{"--lane-count", "1", "--lane-count", "2"}, want: held("lane_count", "2")},
		{name: "34-append", options: []Option{opt("--mw", acting("append"))}, args: []string{"--mw", "a", "--mw", "b"}, want: held("mw", `["a", "b"]`)},
		{name: "34-extend", options: []Option{opt("--mw", acting("extend"), counted("+"))}, args: []string{"--mw", "a", "--mw", "b", "c"}, want: held("mw", `["a", "b", "c"]`)},
		{name: "34-append-to-default", options: []Option{opt("--mw", acting("append"), defaulting(`["z"]`))}, args: []string{"--mw", "a"}, want: held("mw", `["z", "a"]`)},
		{name: "35-type-bool", options: []Option{opt("--b", typed("bool"))}, args: []string{"--b", "False"}, want: held("b", "true")},
		{name: "35-type-bool-empty", options: []Option{opt("--b", typed("bool"))}, args: []string{"--b="}, want: held("b", "false")},
		{name: "36-text-default-converted", options: []Option{opt("--i", typed("int"), defaulting(`"07"`))}, want: held("i", "7")},
		{name: "36-text-default-wrong", options: []Option{opt("--i", typed("int"), defaulting(`"x"`))}, kind: InvalidValue, token: "x"},
		{name: "36-number-default-kept", options: []Option{opt("--i", typed("int"), defaulting("0.5"))}, want: held("i", "0.5")},
		{name: "37-alias-absent", options: alias, want: held("new", "5")},
		{name: "37-alias-old", options: alias, args: []string{"--old", "9"}, want: held("new", "9")},
		{name: "37-alias-old-then-new", options: alias, args: []string{"--old", "9", "--new", "3"}, want: held("new", "3")},
		{name: "38-alias-registered-first", options: []Option{opt("--old", typed("int"), storing("new")), opt("--new", typed("int"), defaulting("5"))}, want: held()},
		{name: "39-declared-twice", options: []Option{opt("--x"), opt("--x", storing("y"))}, kind: Broken, token: "--x"},
		{name: "40-short", options: lc, args: []string{"-lc", "4"}, want: held("lc", "4")},
		{name: "40-short-equals", options: lc, args: []string{"-lc=4"}, want: held("lc", "4")},
		{name: "40-short-joined", options: lc, args: []string{"-lc4"}, kind: Unrecognized, token: "-lc4"},
		{name: "40-one-letter-joined", options: []Option{opt("-l", typed("int"))}, args: []string{"-l4"}, want: held("l", "4")},
		{name: "40-switches-together", options: []Option{opt("-a", acting("store_true")), opt("-b")}, args: []string{"-abx"}, want: held("a", "true", "b", "x")},
		{name: "43-required-absent", options: []Option{opt("--lane-count", must)}, kind: Required, token: "--lane-count"},
		{name: "43-positional-absent", options: []Option{opt("model")}, kind: Required, token: "model"},
		{name: "double-dash", options: []Option{opt("model"), opt("--s")}, args: []string{"--", "--s"}, want: held("model", "--s")},
		{name: "count", options: []Option{opt("-v", acting("count"), defaulting("0"))}, args: []string{"-vv"}, want: held("v", "2")},
		{name: "two-values", options: []Option{opt("--box", counted("2"), typed("int"))}, args: []string{"--box", "1", "2"}, want: held("box", "[1, 2]")},
		{name: "one-of-two-values", options: []Option{opt("--box", counted("2"), typed("int"))}, args: []string{"--box", "1"}, kind: MissingValue, token: "--box"},
		{name: "star-empty", options: []Option{opt("--any", counted("*"))}, args: []string{"--any"}, want: held("any", "[]")},
		{name: "store-const", options: []Option{opt("--fast", acting("store_const"), constantOf(`"f"`), storing("speed"))}, args: []string{"--fast"}, want: held("speed", "f")},
		{name: "store-false", options: []Option{opt("--no-cache", acting("store_false"), storing("cache"))}, want: held("cache", "true")},
		{name: "int-underscore", options: num, args: []string{"--i", "1_000"}, want: held("i", "1000")},
		{name: "int-choice", options: []Option{opt("--level", typed("int"), choosing("1", "2"))}, args: []string{"--level", "02"}, want: held("level", "2")},
		{name: "help-takes-part-in-prefixes", options: []Option{opt("--hello")}, args: []string{"--hel", "x"}, kind: Ambiguous, token: "--hel", names: []string{"--help", "--hello"}},
	}
}
