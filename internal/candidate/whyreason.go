package candidate

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/run"
)

// whyRows are the things that keep a sweep from starting, in the order in
// which they are told. Source: changelog specification, section 4.
var whyRows = []func(sweepFacts) []Reason{
	sweepFacts.sweeps, sweepFacts.closed, sweepFacts.base, sweepFacts.foreign, sweepFacts.labels, sweepFacts.draft,
	sweepFacts.skip, sweepFacts.conflict, sweepFacts.entries, sweepFacts.gated, sweepFacts.credential,
}

// again is how to make a fresh event once the obstacle is gone: most repairs
// start nothing by themselves.
const again = "take the sweep label off and put it on again"

// reasons applies every row. Where none holds, that is the reason.
func (f sweepFacts) reasons() []Reason {
	var all []Reason
	for _, row := range whyRows {
		all = append(all, row(f)...)
	}
	if len(all) == 0 && f.lain != nil {
		return []Reason{idleAt(*f.lain)}
	}
	if len(all) == 0 {
		return because("event", "nothing stands in the way, and opening, reopening and marking ready start no sweep", again)
	}
	return all
}

func because(name, what, do string) []Reason { return []Reason{{name, what, do}} }

// sweeps are those that exist: of this head, or of an earlier one.
func (f sweepFacts) sweeps() []Reason {
	var out []Reason
	for _, r := range f.runs {
		what := fmt.Sprintf("run %d of this head", r.ID)
		switch {
		case r.HeadSHA != f.pull.HeadSHA:
			continue
		case r.Status != "completed":
			return because("sweep", what+" is "+r.Status, "wait for it to end")
		case r.Conclusion == "skipped":
			continue // it ran no sweep: the other rows say why
		case r.Conclusion == "success":
			return because("sweep", what+" ended with success", "nothing; to measure again, "+again)
		case len(out) == 0:
			out = because("sweep", what+" ended with "+r.Conclusion, "read its log; to measure again, "+again)
		}
	}
	if len(out) == 0 && strings.Contains(f.message, run.SkipMark) {
		return f.earlier()
	}
	return out
}

// earlier is the measurement that a head which starts no sweep may rest on.
func (f sweepFacts) earlier() []Reason {
	for _, r := range f.runs {
		if r.Conclusion == "success" {
			return because("sweep", fmt.Sprintf("run %d measured the earlier head %.12s with success", r.ID, r.HeadSHA), "nothing, while the points, the image and the files of the family are the same")
		}
	}
	return nil
}

func (f sweepFacts) closed() []Reason {
	switch {
	case f.pull.Merged:
		return because("closed", "it is merged", "look for the sweep of the push to "+f.branch)
	case f.pull.State != "open":
		return because("closed", "it is closed", "reopen it, then "+again)
	}
	return nil
}

func (f sweepFacts) base() []Reason {
	if f.pull.BaseRef == f.branch {
		return nil
	}
	return because("base", "it aims at "+f.pull.BaseRef+", and sweeps are for "+f.branch, "change its base to "+f.branch+", then "+again)
}

func (f sweepFacts) foreign() []Reason {
	if !f.fork() {
		return nil
	}
	what := "its head is in " + f.pull.HeadRepo + ", and other repositories get no runners"
	if f.pull.HeadRepo == "" {
		what = "the repository of its head is gone"
	}
	return because("fork", what, "push the branch to "+f.repository+" and open a pull request from there")
}

// labels: exactly one primary label starts a sweep.
func (f sweepFacts) labels() []Reason {
	a := f.asked()
	switch {
	case len(a.Primary) > 1:
		return because("label", "it has more than one sweep label ("+strings.Join(a.Primary, ", ")+")", "leave one of them on")
	case len(a.Primary) == 1:
		return nil
	case len(a.Modifiers) > 0:
		return because("label", "it has no sweep label, and "+strings.Join(a.Modifiers, ", ")+" starts none by itself", "put "+f.label+" on")
	}
	return because("label", "it has no sweep label", "put "+f.label+" on")
}

// excludesDrafts finds a condition of a workflow that leaves drafts out.
var excludesDrafts = regexp.MustCompile(`!\s*github\.event\.pull_request\.draft|pull_request\.draft\s*(==\s*'?false|!=\s*'?true)`)

// draft: a labelled pull request sweeps in either state, unless the policy or
// the repository's own workflow says otherwise.
func (f sweepFacts) draft() []Reason {
	const do = "mark it ready for review, then " + again
	switch {
	case !f.pull.Draft || f.drafts == "always":
		return nil
	case f.drafts == "never":
		return because("draft", "it is a draft, and policy.sweeps-on-draft is never", do)
	case !f.embedded && excludesDrafts.Match(uncommented(f.source)):
		return because("draft", "it is a draft, and "+f.workflow+" leaves drafts out", do)
	}
	return nil
}

func (f sweepFacts) skip() []Reason {
	if !strings.Contains(f.message, run.SkipMark) {
		return nil
	}
	return because("skip", "the message of its head commit says "+run.SkipMark, "push a commit whose message does not")
}

func (f sweepFacts) conflict() []Reason {
	switch {
	case f.pull.State != "open" || f.clean:
		return nil
	case !f.merges:
		return because("conflict", "the forge does not know yet whether it conflicts with "+f.pull.BaseRef, "ask again in a few seconds")
	}
	return because("conflict", "it conflicts with "+f.pull.BaseRef+", and no event starts anything then",
		"merge "+f.pull.BaseRef+" into it; `refit changelog resolve` settles the changelog")
}

// entries: the changelog says what is swept.
func (f sweepFacts) entries() []Reason {
	switch {
	case f.fork():
		return nil // not looked at
	case f.unlisted != nil:
		return because("changelog", fmt.Sprintf("its files could not all be listed (%v)", f.unlisted), "see in the browser that it changes "+f.changelog)
	case !f.touched:
		return because("changelog", "it does not change "+f.changelog, "add an entry with `refit changelog add`, and push it")
	case f.invalid != nil:
		return because("changelog", fmt.Sprintf("the change of %s is not valid (%v)", f.changelog, f.invalid), "correct it; `refit changelog check --base "+f.branch+fmt.Sprintf(" --pull %d` says more", f.pull.Number))
	}
	return nil
}

// gated: the workflow file is there and reacts to the events that ask for a sweep.
func (f sweepFacts) gated() []Reason {
	text := uncommented(f.source)
	switch {
	case f.source == nil:
		return because("workflow", f.workflow+" is not on "+f.branch, "put it there, or change executor.sweep")
	case f.embedded:
		return nil
	case !bytes.Contains(text, []byte("pull_request")) || !bytes.Contains(text, []byte("labeled")):
		return because("workflow", f.workflow+" does not react to labels of pull requests", "give it the pull_request types labeled, unlabeled and synchronize")
	}
	return nil
}

// credential: what a workflow run's own token does starts no other run.
func (f sweepFacts) credential() []Reason {
	switch {
	case f.embedded:
		return nil
	case slices.Contains([]string{"", forge.ActionsLogin}, f.login):
		return because("credential", "the credential used here is that of a workflow run (GITHUB_TOKEN), whose labels and pushes start nothing", realToken)
	case f.pull.Author == forge.ActionsLogin:
		return because("credential", "it was opened with the GITHUB_TOKEN of a workflow run, whose events start nothing", "with another credential, "+again)
	}
	return nil
}

// uncommented is YAML without the lines and ends of lines that are comments.
func uncommented(src []byte) []byte {
	var out []byte
	for line := range bytes.Lines(src) {
		if at := bytes.Index(line, []byte("#")); at == 0 || at > 0 && (line[at-1] == ' ' || line[at-1] == '\t') {
			line = append(bytes.Clone(line[:at]), '\n')
		}
		out = append(out, line...)
	}
	return out
}
