package report

import (
	"fmt"
	"strings"
)

// evidence is the collapsed list of what was seen besides the numbers.
func evidence(e *Evidence) string {
	if e == nil {
		return ""
	}
	var items []string
	add := func(format string, args ...any) { items = append(items, "- "+fmt.Sprintf(format, args...)) }
	for _, j := range e.Jobs {
		add("%s: runner %s", escape(j.Name), escape(j.Runner))
	}
	if e.RequestsDone != nil || e.RequestsFailed != nil {
		add("Requests: %s done, %s failed", known(e.RequestsDone), known(e.RequestsFailed))
	}
	for _, a := range e.Arguments {
		add("Argument %s: recipe %s, effective %s (%s)", code(a.Name), orNone(code(a.Recipe)), orNone(code(a.Effective)), escape(a.Rule))
	}
	if e.FirstError != "" {
		add("First error line: %s", code(e.FirstError))
	}
	for _, b := range e.Benign {
		add("Benign: %s", code(b))
	}
	if e.Power != "" {
		add("Power: %s", escape(e.Power))
	}
	if len(items) == 0 {
		return ""
	}
	return details("Evidence / 证据", strings.Join(items, "\n"))
}

// preparedBy is the collapsed disclosure of who or what made the record.
func preparedBy(a Author) string {
	if a.Kind == "" {
		return ""
	}
	kinds := map[string]string{"person": "a person / 人工", "program": "a program / 程序", "agent": "an agent / 代理"}
	line := "Prepared by " + kinds[a.Kind]
	if len(a.Models) > 0 {
		line += "; models / 模型: " + escape(strings.Join(a.Models, ", "))
	}
	if len(a.Delegates) > 0 {
		line += "; delegates / 委派: " + escape(strings.Join(a.Delegates, ", "))
	}
	return details("Prepared by / 准备者", line+".")
}

func known(n *int) string {
	if n == nil {
		return "unknown"
	}
	return count(*n)
}

func orNone(s string) string {
	if s == "" {
		return "unset"
	}
	return s
}
