package recipe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// probe is one change of a valid file, and what a reader of it must be told.
type probe struct {
	name     string
	old, new []string // pairs of texts, each of which stands once in the file
	want     string   // every mistake, in order; "" = accepted
}

// Each probe changes one thing of a valid file. The archives in
// testdata/probes hold that file and its probes:
//
//	== name
//	- text that is taken out
//	+ text that is put there
//	! line:column: the mistake, one a line; no such line means accepted
func TestProbes(t *testing.T) {
	archives, err := filepath.Glob("testdata/probes/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	refused, accepted := 0, 0
	for _, file := range archives {
		base, probes := readProbes(t, file)
		kind := strings.TrimSuffix(filepath.Base(file), ".txt")
		if err := parseProbe(kind, base); err != nil {
			t.Fatalf("%s: the file that is changed: %v", kind, err)
		}
		for _, p := range probes {
			t.Run(kind+"/"+p.name, func(t *testing.T) { p.check(t, kind, base) })
			if p.want == "" {
				accepted++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d probes: %d refused, %d accepted", refused+accepted, refused, accepted)
	if refused < 150 || accepted < 40 {
		t.Errorf("%d probes refused and %d accepted, want at least 150 and 40: none may be lost", refused, accepted)
	}
}

func (p probe) check(t *testing.T, kind, base string) {
	src := base
	for i, old := range p.old {
		if n := strings.Count(src, old); n != 1 {
			t.Fatalf("%q stands there %d times, want once", old, n)
		}
		src = strings.Replace(src, old, p.new[i], 1)
	}
	got := ""
	if err := parseProbe(kind, src); err != nil {
		got = err.Error()
	}
	if got != p.want {
		t.Errorf("got\n%s\nwant\n%s", got, p.want)
	}
}

// parseProbe reads a file as what its archive is named after.
func parseProbe(kind, src string) error {
	var err error
	switch kind {
	case "runners":
		_, err = ParseRunners([]byte(src), "f")
	case "changelog":
		_, err = ParseChangelog([]byte(src), "f")
	default:
		_, err = ParseMaster([]byte(src), "f")
	}
	return err
}

// readProbes reads an archive. A probe without + takes whole lines out.
func readProbes(t *testing.T, file string) (base string, probes []probe) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil || len(archive.Files) != 2 {
		t.Fatalf("%s: %d files, %v, want base and probes", file, len(archive.Files), err)
	}
	names := map[string]bool{}
	for text := range strings.SplitSeq(string(archive.Files[1].Data), "\n== ") {
		name, body, _ := strings.Cut(strings.TrimPrefix(text, "== "), "\n")
		p, err := readProbe(name, body)
		if err == nil && names[name] {
			err = fmt.Errorf("the name stands there twice")
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", file, name, err)
		}
		names[name] = true
		probes = append(probes, p)
	}
	return string(archive.Files[0].Data), probes
}

func readProbe(name, body string) (probe, error) {
	p := probe{name: name}
	var out, in, want []string
	hunk := func() {
		if len(out) > 0 {
			old, new := strings.Join(out, "\n"), strings.Join(in, "\n")
			if in == nil {
				old += "\n"
			}
			p.old, p.new, out, in = append(p.old, old), append(p.new, new), nil, nil
		}
	}
	for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
		mark, text, _ := strings.Cut(line, " ")
		switch mark {
		case "-":
			if in != nil {
				hunk()
			}
			out = append(out, text)
		case "+":
			in = append(in, text)
		case "!":
			want = append(want, "f:"+text)
		default:
			return p, fmt.Errorf("%q begins with none of - + !", line)
		}
	}
	hunk()
	p.want = strings.Join(want, "\n")
	if len(p.old) == 0 {
		return p, fmt.Errorf("it changes nothing")
	}
	return p, nil
}

// Changed bytes in a file that a test names must be where they are looked for.
func TestProbesAreRead(t *testing.T) {
	p, err := readProbe("two", "- a\n- b\n+ c\n- d\n! 1:2: x\n! 3:4: y\n")
	if err != nil || fmt.Sprint(p.old, p.new) != "[a\nb d\n] [c ]" || p.want != "f:1:2: x\nf:3:4: y" {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := readProbe("none", "! 1:2: x\n"); err == nil {
		t.Error("a probe that changes nothing was read")
	}
	if _, err := os.Stat("testdata/probes/single-fixed.txt"); err != nil {
		t.Error(err)
	}
}
