package report

import (
	"math"
	"strconv"
	"strings"
)

// none is what a cell shows when a number is unknown.
const none = "N/A"

// number spells a value: two decimals, thousands separated, trailing zeros
// dropped: 1,025.49, 723, 0.
func number(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return none
	}
	return trim(grouped(strconv.FormatFloat(*v, 'f', 2, 64)))
}

// percent spells a fraction as a value with a percent sign: 0.9538 is 95.38%.
func percent(v *float64) string {
	if v == nil {
		return none
	}
	scaled := *v * 100
	return number(&scaled) + "%"
}

// change spells the relative change from old to new: +29.9%, -2%, +0%. It
// says false when there is nothing to divide by.
func change(old, new *float64) (string, bool) {
	if old == nil || new == nil || *old == 0 {
		return none, false
	}
	return fraction(*new / *old - 1), true
}

// fraction spells a relative change: 0.299 is +29.9%. There is no -0%.
func fraction(f float64) string {
	s := strconv.FormatFloat(f*100, 'f', 1, 64)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		s = "0"
	}
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return s + "%"
}

// points spells a difference of two fractions in percentage points: +0.08 pp.
func points(f float64) string {
	s := strconv.FormatFloat(f*100, 'f', 2, 64)
	if s == "-0.00" {
		s = "0.00"
	}
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return s + " pp"
}

// count spells a whole number with thousands separated.
func count(n int) string { return grouped(strconv.Itoa(n)) }

// samples spells how many questions stand behind a score, and behind the
// score it is compared with when there is one.
func samples(new, old *int) string {
	switch {
	case new == nil:
		return none
	case old == nil:
		return count(*new)
	case *old == *new:
		return count(*new) + " each"
	}
	return count(*old) + "/" + count(*new) + " (old/new)"
}

func grouped(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
