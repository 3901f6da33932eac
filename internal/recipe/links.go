package recipe

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// LinkRule says which links a changelog may gain.
type LinkRule struct {
	Repository string // "https://host/owner/name"
	Pull       int    // the pull request that makes the change; 0 on the main branch
}

// maxLink is how much of a link a message shows: its end tells what is wrong.
const maxLink = 200

var pullNumber = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)

// Check refuses foreign and premature links: an addition names its own pull
// request or a placeholder, on the main branch any pull request; a correction
// names any pull request.
func (l LinkRule) Check(c Change) error {
	var errs []error
	for i, e := range c.Additions {
		place := c.File
		if i < len(c.Lines) {
			place += ":" + strconv.Itoa(c.Lines[i])
		}
		switch {
		case l.Pull > 0 && e.PRLink != l.Own() && e.PRLink != "XXX" && e.PRLink != l.Repository+"/pull/XXX":
			errs = append(errs, fmt.Errorf("%s: entry for %s: pr-link %q must be XXX or %s", place, abridged(e.ConfigKeys[0]), cut(e.PRLink, maxLink), l.Own()))
		case l.Pull == 0 && !l.canonical(e.PRLink):
			errs = append(errs, fmt.Errorf("%s: entry for %s: pr-link %q must be %s/pull/<number>", place, abridged(e.ConfigKeys[0]), cut(e.PRLink, maxLink), l.Repository))
		}
	}
	for _, k := range c.Corrections {
		if !l.canonical(k.New) {
			errs = append(errs, fmt.Errorf("%s:%d: entry %d: pr-link %q must be %s/pull/<number>", c.File, k.Line, k.Entry, cut(k.New, maxLink), l.Repository))
		}
	}
	return errors.Join(errs...)
}

// Own is the link of the pull request that makes the change.
func (l LinkRule) Own() string { return fmt.Sprintf("%s/pull/%d", l.Repository, l.Pull) }

func (l LinkRule) canonical(link string) bool {
	n, ok := strings.CutPrefix(link, l.Repository+"/pull/")
	return ok && pullNumber.MatchString(n)
}
