package candidate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/image"
)

// asked is a Help that remembers which programs of which images it was asked for.
type asked struct {
	programs []string
	err      error
}

func (a *asked) help(_ context.Context, img image.Image, program []string) ([]byte, error) {
	a.programs = append(a.programs, img.Ref.Repository+":"+img.Ref.Tag+" "+strings.Join(program, " "))
	return fmt.Appendf(nil, "  --port N   of %s (default: 8080)\n", img.Ref.Tag), a.err
}

// Both sides are read in the same way: a source against a help text would
// show everything that the help text leaves out as gone.
func TestSourcesOfTheSameKind(t *testing.T) {
	dir := t.TempDir()
	layout := filepath.Join(dir, "images")
	if err := images(layout); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"toy/bare:v1.0.0-box", "toy/bare:v2.0.0-box"} {
		ref, err := image.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := image.Build(layout, image.Spec{Ref: ref, Created: at, Layers: []image.Layer{{Files: []image.File{{Path: "x", Mode: 0o644}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	const labelled, labelled2, bare, bare2 = "toy/loom:v1.0.0-box", "toy/loom:v2.0.0-box", "toy/bare:v1.0.0-box", "toy/bare:v2.0.0-box"
	broken := errors.New("no answer")
	program := []string{"loomserve", "serve"}
	for _, c := range []struct {
		name, before, after string
		help                *asked
		program             []string
		read, from          string
		asked               []string
		wrong               string
	}{
		{name: "labels", before: labelled, after: labelled2, help: &asked{}, program: program, read: engine.FromSource, from: "usr/lib/loom"},
		{name: "labels-without-an-executor", before: labelled, after: labelled2, read: engine.FromSource, from: "usr/lib/loom"},
		{name: "no-labels", before: bare, after: bare2, help: &asked{}, program: program, read: engine.FromHelp, from: "loomserve serve --help",
			asked: []string{bare + " loomserve serve", bare2 + " loomserve serve"}},
		{name: "label-lost", before: labelled, after: bare2, help: &asked{}, program: program, read: engine.FromHelp, from: "loomserve serve --help",
			asked: []string{labelled + " loomserve serve", bare2 + " loomserve serve"}},
		{name: "no-executor", before: labelled, after: bare2, program: program,
			wrong: "image toy/bare:v2.0.0-box has no label io.refit.engine.source: cannot tell where its engine's source is, and no executor is here to ask it for --help"},
		{name: "program-not-fixed", before: bare, after: bare2, help: &asked{},
			wrong: "image toy/bare:v1.0.0-box has no label io.refit.engine.source, and the recipe does not fix which program it starts: nothing can be asked for --help"},
		{name: "no-answer", before: bare, after: bare2, help: &asked{err: broken}, program: program, wrong: "image " + bare + " has no label io.refit.engine.source, and its --help says nothing: no answer", asked: []string{bare + " loomserve serve"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Shepherd{Images: image.Library{Layout: layout}, Cache: image.Cache{Dir: filepath.Join(dir, "cache")}}
			if c.help != nil {
				s.Help = c.help.help
			}
			before, after, err := s.sources(t.Context(), c.before, c.after, c.program)
			if err != nil && c.wrong == "" && errors.Is(err, engine.ErrNoReader) {
				t.Skip("this build reads no Python source: ", err)
			}
			if got := fmt.Sprint(err); c.wrong != "" && got != c.wrong || c.wrong == "" && err != nil {
				t.Fatalf("got error %v, want %q", err, c.wrong)
			}
			if c.help != nil && !slices.Equal(c.help.programs, c.asked) {
				t.Errorf("asked %q, want %q", c.help.programs, c.asked)
			}
			if c.wrong != "" {
				return
			}
			for _, got := range []struct {
				told
				name string
			}{{before, c.before}, {after, c.after}} {
				side := got.side
				if side.Read != c.read || side.From != c.from || side.Image != got.name || side.Digest == "" {
					t.Errorf("side %+v, want %s from %s", side, c.read, c.from)
				}
				if _, ok := got.model.Option("--port"); c.read == engine.FromHelp && (!ok || got.model.Source != engine.FromHelp) {
					t.Errorf("%s: the model is not that of the help text", got.name)
				}
			}
		})
	}
}

// What a help text does not show may be accepted all the same: it is the smoke
// run that tells, so that the candidate goes on.
func TestAHelpTextBlocksNobody(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	s.Images.Layout = filepath.Join(w.dir, "unlabelled")
	texts := map[string]string{"v1.0.0-box": "  --graph-max-batch N   most rows\n", "v2.0.0-box": ""}
	for tag := range texts {
		ref, err := image.Parse("toy/loom:" + tag)
		w.must(err)
		_, err = image.Build(s.Images.Layout, image.Spec{Ref: ref, Created: at, Layers: []image.Layer{{Files: []image.File{{Path: tag, Mode: 0o644}}}}})
		w.must(err)
	}
	s.Help = func(_ context.Context, img image.Image, program []string) ([]byte, error) {
		if got := strings.Join(program, " "); got != "loom-serve" {
			t.Errorf("asked %q, want loom-serve", got)
		}
		return []byte("  --model-path P   model\n  --port N   where\n" + texts[img.Ref.Tag]), nil
	}
	told := ""
	s.Tell = func(e Event) {
		if e.Step == "inspect" && e.Mark == "done" {
			told = e.Detail
		}
	}
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	st, err := s.Rehearse(t.Context(), c)
	w.must(err)
	if st.State != Ready {
		t.Errorf("state: got %s (%s), want ready", st.State, st.Reason)
	}
	if want := "3 flags read, 3 findings, 0 edits proposed, read from --help"; told != want {
		t.Errorf("inspect: got %q, want %q", told, want)
	}
}

func TestInspectedSaysHowItWasRead(t *testing.T) {
	in := Inspected{Comparison: engine.Comparison{FlagsRead: 2}}
	if got, want := in.String(), "2 flags read, 0 findings, 0 edits proposed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in.Comparison.New.Read = engine.FromHelp
	if got, want := in.String(), "2 flags read, 0 findings, 0 edits proposed, read from --help"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
