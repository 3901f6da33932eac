package sim

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/engine"
)

// Settings are the flags the simulated engine obeys. A flag its source
// declares and this struct does not name is accepted and has no effect.
type Settings struct {
	ModelPath     string
	ServedName    string
	Host          string
	Port          int
	ContextLength int
	MaxRunning    int
	GraphMaxBatch int
	NoPrefixCache bool

	arguments string   // every declared argument with its effective value
	warnings  []string // of the argument parser
}

// Address is where the engine listens.
func (s Settings) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

func newSettings(m engine.Model, parsed engine.Parsed, p Profile) (Settings, error) {
	v := values{parsed: parsed.Values}
	s := Settings{
		ModelPath:     v.text("model_path", ""),
		Host:          v.text("host", "127.0.0.1"),
		Port:          v.number("port", 8000, 0, 65535),
		ContextLength: v.number("context_length", 32768, 1, math.MaxInt32),
		MaxRunning:    v.number("max_running_requests", p.Time.MaxBatch, 1, math.MaxInt32),
		GraphMaxBatch: v.number("graph_max_batch_decode", p.Time.MaxBatch, 0, math.MaxInt32),
		NoPrefixCache: v.text("disable_prefix_cache", "false") == "true",
		arguments:     v.arguments(m),
		warnings:      parsed.Warnings,
	}
	s.ServedName = v.text("served_model_name", s.ModelPath)
	return s, v.err
}

// values reads parsed flags by destination and keeps the first mistake.
type values struct {
	parsed map[string]string
	err    error
}

// text is the value of a destination, or the fallback when it has none.
func (v *values) text(dest, fallback string) string {
	if value, ok := v.parsed[dest]; ok {
		return value
	}
	return fallback
}

func (v *values) number(dest string, fallback, least, most int) int {
	text := v.text(dest, strconv.Itoa(fallback))
	n, err := strconv.Atoi(text)
	if (err != nil || n < least || n > most) && v.err == nil {
		v.err = fmt.Errorf("%s: %q is not a whole number from %d to %d", dest, text, least, most)
	}
	return n
}

// arguments lists every declared argument once, in source order, as Python
// prints the keywords of a class.
func (v *values) arguments(m engine.Model) string {
	var out []string
	seen := map[string]bool{}
	for _, o := range m.Options {
		if o.Action == "help" || seen[o.Dest] {
			continue
		}
		seen[o.Dest] = true
		value := "None"
		if text, ok := v.parsed[o.Dest]; ok {
			value = python(text, o)
		}
		out = append(out, o.Dest+"="+value)
	}
	return "ServerArgs(" + strings.Join(out, ", ") + ")"
}

// python is an argument's value as Python prints it.
func python(value string, o engine.Option) string {
	switch {
	case value == "true":
		return "True"
	case value == "false":
		return "False"
	case o.Type == "int", o.Type == "float", o.Nargs != "":
		return value
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(value) + "'"
}

// logArguments writes the effective arguments in the one line that readers of
// server logs look for.
func (s *Server) logArguments() {
	s.logf("simengine %s", s.config.Profile.Version)
	for _, w := range s.settings.warnings {
		s.logf("WARNING:  %s", w)
	}
	s.logf("server_args=%s", s.settings.arguments)
}
