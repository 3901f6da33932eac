package report

import (
	"net/url"
	"strings"
	"unicode"
)

// escape makes any text safe inside a Markdown line or table cell: it shows
// the same characters and can open no markup, no second cell, no second line
// and no mention of a person. Underscores inside words stay as they are,
// because they open nothing.
func escape(s string) string {
	rs := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	var b strings.Builder
	for i, r := range rs {
		switch {
		case hidden(r):
			b.WriteByte(' ')
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("@<!-- -->")
		case r == '_' && wordAt(rs, i-1) && wordAt(rs, i+1):
			b.WriteRune(r)
		case strings.ContainsRune("\\`*_[]|~#", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden tells the characters that end a line or that nobody sees: controls,
// separators, and format characters, which may turn the direction of a text.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

func wordAt(rs []rune, i int) bool {
	return i >= 0 && i < len(rs) && (unicode.IsLetter(rs[i]) || unicode.IsDigit(rs[i]))
}

// code shows text as it is, in a code span that a table cell may hold.
func code(s string) string {
	s = strings.Map(func(r rune) rune {
		if hidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if s == "" {
		return ""
	}
	if strings.ContainsAny(s, "`|\\") || strings.TrimSpace(s) != s {
		return escape(s)
	}
	return "`" + s + "`"
}

// link is a Markdown link, or the bare text when the address is not plain http.
func link(text, address string) string {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return escape(text)
	}
	safe := strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\\", "%5C", "|", "%7C", "`", "%60", "\n", "", "\r", "", "\t", "")
	return "[" + escape(text) + "](" + safe.Replace(address) + ")"
}
