package bench

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// progressLines tells how far a measurement is: on a terminal in one line that
// is written again and again, elsewhere a line at every quarter of the way.
func progressLines(w io.Writer, work Workload) func(Progress) {
	if isTerminal(w) {
		return liveLine(w, work)
	}
	told := 0
	return func(p Progress) {
		if quarter := 4 * p.Done / p.Total; quarter > told {
			told = quarter
			fmt.Fprintf(w, "%s\n", progressText(work, p))
		}
	}
}

// redrawEach is how often the line on a terminal changes.
const redrawEach = 200 * time.Millisecond

// liveLine is ended when the measurement is: what follows has a line for itself.
func liveLine(w io.Writer, work Workload) func(Progress) {
	drawn := -redrawEach
	return func(p Progress) {
		if p.Over {
			fmt.Fprintf(w, "\r\x1b[K%s\n", progressText(work, p))
			return
		}
		if p.Elapsed-drawn >= redrawEach {
			drawn = p.Elapsed
			fmt.Fprintf(w, "\r\x1b[K%s", progressText(work, p))
		}
	}
}

func progressText(work Workload, p Progress) string {
	s := fmt.Sprintf("%s: %d of %d requests", work.name(), p.Done, p.Total)
	if p.Failed > 0 {
		s += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Done < p.Total {
		s += fmt.Sprintf(", %d in flight", p.Running)
	}
	if seconds := p.Elapsed.Seconds(); p.Tokens > 0 && seconds > 0 {
		s += fmt.Sprintf(", %.0f tok/s", p.Tokens/seconds)
	}
	if p.TTFT > 0 {
		s += fmt.Sprintf(", TTFT %v", short(p.TTFT))
	}
	if p.Left > 0 {
		s += fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return s
}

// name is how a measurement is called in lines that are told.
func (w Workload) name() string {
	if w.Concurrency > 0 {
		return fmt.Sprintf("c%d", w.Concurrency)
	}
	if w.Rate > 0 {
		return fmt.Sprintf("%g req/s", w.Rate)
	}
	return "no cap"
}

// all tells several at once; nil ones are left out.
func all(told ...func(Progress)) func(Progress) {
	return func(p Progress) {
		for _, tell := range told {
			if tell != nil {
				tell(p)
			}
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
