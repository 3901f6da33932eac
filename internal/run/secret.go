package run

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// shortSecret is the length below which a value cannot be hidden: logs would
// be full of what looks like it.
const shortSecret = 4

// secrets are the texts of the job's environment that nobody may read in what
// the job leaves: whole values of variables with a secret's name, and of every
// other variable the parts that look like a secret themselves.
func (j Job) secrets() []string {
	var all []string
	for _, kv := range j.Env {
		all = append(all, j.secretsIn(kv)...)
	}
	return all
}

// secretNames are the variables of the job that hold one of its secrets.
func (j Job) secretNames() []string {
	var names []string
	for _, kv := range j.Env {
		if name, _, _ := strings.Cut(kv, "="); len(j.secretsIn(kv)) > 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// secretsIn are the secrets in one variable of the job. What names the job
// itself is in every record and none.
func (j Job) secretsIn(kv string) []string {
	public := []string{j.Provenance.Head, j.Digest, j.Key, j.Fingerprint, j.EvalSHA256}
	name, value, _ := strings.Cut(kv, "=")
	return slices.DeleteFunc(secretsOf(name, value), func(s string) bool { return slices.Contains(public, s) })
}

// secretsOf are the secrets in one variable.
func secretsOf(name, value string) []string {
	if harmless(name, value) {
		return nil
	}
	var found []string
	if secretName(name) && len(value) >= shortSecret {
		found = append(found, value)
		for line := range strings.Lines(value) { // of a key in several lines somebody may print one
			if line = strings.TrimSpace(line); len(line) >= 16 && len(line) < len(value) && !strings.HasPrefix(line, "-----") {
				found = append(found, line)
			}
		}
	}
	found = append(found, knownToken.FindAllString(value, -1)...)
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,;"'{}`, r) }) {
		found = append(found, inAddress(word)...)
		if random(word) {
			found = append(found, word)
		}
		if _, right, ok := strings.Cut(word, "="); ok && random(right) { // key=SECRET
			found = append(found, right)
		}
	}
	return found
}

// harmless are values that say nothing, and counts of tokens.
func harmless(name, value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "none", "null", "auto", "default", "disabled", "enabled":
		return true
	}
	return strings.HasPrefix(value, "sha256:") ||
		strings.Contains(strings.ToUpper(name), "TOKENS") && strings.Trim(value, "0123456789") == ""
}

// secretName says whether a variable is named like a secret. A tokenizer is
// none.
func secretName(name string) bool {
	upper := strings.ReplaceAll(strings.ToUpper(name), "TOKENIZER", "")
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	words := strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' })
	return slices.Contains(words, "AUTH") || slices.Contains(words, "AUTHORIZATION") || slices.Contains(words, "BEARER") || slices.Contains(words, "PASS")
}

// knownToken finds what well-known services hand out, and JSON web tokens.
var knownToken = regexp.MustCompile(`\b(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[a-z]-|nvapi-|npm_|pypi-)[A-Za-z0-9_\-]{12,}` +
	`|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[A-Za-z0-9_\-]{20,}` +
	`|\beyJ[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]*`)

// inAddress are the secrets of an address: a password, a user that is a token,
// values of the query. A password too short to be hidden alone is hidden with
// its user.
func inAddress(word string) []string {
	if _, rest, ok := strings.Cut(word, "="); ok && !strings.Contains(word[:len(word)-len(rest)], "://") && strings.Contains(rest, "://") {
		word = rest // option=address
	}
	scheme, rest, ok := strings.Cut(word, "://")
	if !ok || scheme == "" {
		return nil
	}
	var found []string
	// By hand, because url.Parse refuses what programs accept: a password
	// with a sign that should have been encoded.
	authority, _, _ := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		switch {
		case len(password) >= 6:
			found = append(found, password)
			if plain, err := url.PathUnescape(password); err == nil && plain != password {
				found = append(found, plain)
			}
		case password != "":
			found = append(found, user+":"+password+"@", user+":"+password)
		case random(user):
			found = append(found, user)
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(raw)
		if err == nil && len(value) >= 6 && !harmless(name, value) && (secretName(name) || signature(name) || random(value)) {
			found = append(found, value, raw)
		}
	}
	return found
}

// signature says whether a parameter of an address signs it.
func signature(name string) bool {
	low := strings.ToLower(name)
	return low == "sig" || low == "key" || strings.HasSuffix(low, "signature")
}

var (
	hexText  = regexp.MustCompile(`^(?:[0-9a-f]{20,}|[0-9A-F]{20,})$`)
	uuidText = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	safeText = regexp.MustCompile(`^[A-Za-z0-9+/_\-.~]{20,}={0,2}$`)
	longRun  = regexp.MustCompile(`[A-Za-z0-9]{20,}`)
)

// random says whether a word looks drawn rather than written: hexadecimal, or
// letters of both cases and digits that change from sign to sign. Names of
// models and paths have longer runs of one kind (measured on real ones: below
// 0.4 changes a pair; drawn base64: 0.62).
func random(word string) bool {
	if hexText.MatchString(word) || uuidText.MatchString(word) {
		return distinct(word) >= 6 && strings.ContainsAny(word, "0123456789") && strings.Trim(word, "0123456789") != ""
	}
	if !safeText.MatchString(word) || distinct(word) < 10 || !strings.ContainsAny(word, "0123456789") {
		return false
	}
	if changes(word) >= 0.4 {
		return true
	}
	return slices.ContainsFunc(longRun.FindAllString(word, -1), func(run string) bool { return strings.ContainsAny(run, "0123456789") && changes(run) >= 0.2 })
}

func distinct(word string) int {
	n := 0
	for i := range len(word) {
		if strings.IndexByte(word, word[i]) == i {
			n++
		}
	}
	return n
}

// changes is the share of neighbouring letters and digits that are of two
// kinds: upper case, lower case, digit.
func changes(word string) float64 {
	kind := func(c byte) int {
		switch {
		case c >= 'a' && c <= 'z':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		case c >= '0' && c <= '9':
			return 3
		}
		return 0
	}
	pairs, changed := 0, 0
	for i := 1; i < len(word); i++ {
		a, b := kind(word[i-1]), kind(word[i])
		if a == 0 || b == 0 {
			continue
		}
		pairs++
		if a != b {
			changed++
		}
	}
	if pairs < 8 {
		return 0
	}
	return float64(changed) / float64(pairs)
}

// squeezed is a text without line ends, which programs put in to wrap it.
func squeezed(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\n"), nil), []byte("\r"), nil)
}
