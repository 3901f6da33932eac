package report

import (
	"bytes"
	"html"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// HTML renders the Markdown of a record for our own pages. No HTML of the
// input passes but the bare tags of collapsed sections, and of links only
// those that goldmark holds for safe: it is fit for text by anybody.
func HTML(markdown string) string {
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&tags{}, 100))),
	)
	var b bytes.Buffer
	if err := md.Convert([]byte(markdown), &b); err != nil {
		return "<pre>" + html.EscapeString(markdown) + "</pre>" // a bytes.Buffer does not fail; stay readable
	}
	return balanced(b.String())
}

// tags renders raw HTML: bare tags of collapsed sections as they are, comments
// not at all, anything else as text.
type tags struct{ markup.Config }

func (t *tags) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, t.block)
	r.Register(ast.KindRawHTML, t.inline)
}

func (t *tags) block(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	b := n.(*ast.HTMLBlock)
	if entering {
		for i := range b.Lines().Len() {
			line := b.Lines().At(i)
			_, _ = w.Write(passed(line.Value(source)))
		}
	} else if b.HasClosure() {
		_, _ = w.Write(passed(b.ClosureLine.Value(source)))
	}
	return ast.WalkContinue, nil
}

func (t *tags) inline(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		raw := n.(*ast.RawHTML)
		for i := range raw.Segments.Len() {
			segment := raw.Segments.At(i)
			_, _ = w.Write(passed(segment.Value(source)))
		}
	}
	return ast.WalkSkipChildren, nil
}

var (
	comment    = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	sectionTag = regexp.MustCompile(`</?(?:details|summary)>`)
)

// passed escapes raw HTML but for the tags that may pass.
func passed(raw []byte) []byte {
	raw = comment.ReplaceAll(raw, nil)
	var out bytes.Buffer
	at := 0
	for _, m := range sectionTag.FindAllIndex(raw, -1) {
		out.WriteString(html.EscapeString(html.UnescapeString(string(raw[at:m[0]]))))
		out.Write(raw[m[0]:m[1]])
		at = m[1]
	}
	out.WriteString(html.EscapeString(html.UnescapeString(string(raw[at:]))))
	return out.Bytes()
}

// balanced closes sections that the text left open and drops ends of sections
// that were never opened, so that a report cannot swallow the page around it.
func balanced(page string) string {
	open := map[string]int{}
	page = sectionTag.ReplaceAllStringFunc(page, func(tag string) string {
		if name := tag[1 : len(tag)-1]; tag[1] != '/' {
			open[name]++
		} else if open[name[1:]] == 0 {
			return ""
		} else {
			open[name[1:]]--
		}
		return tag
	})
	for _, name := range []string{"summary", "details"} {
		for ; open[name] > 0; open[name]-- {
			page += "</" + name + ">"
		}
	}
	return page
}
