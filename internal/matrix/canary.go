package matrix

// Canary takes the cheapest job out of a plan's JSON form: the single-node row
// of fixed lengths with the lowest concurrency that is no eval's. It runs first,
// and the others only when it succeeded. rest is the plan without it. Without a
// candidate there is no canary, and the plan stays as it is. Source: recipes
// specification, section 6.
func Canary(plan Row) (canary Row, rest Row, found bool) {
	names := []string{"1k1k", "8k1k"}
	for _, name := range names {
		for _, v := range list(plan.Row("single_node"), name) {
			r, ok := v.(Row)
			if ok && !r.Bool("run-eval") && (!found || r.Int("conc") < canary.Int("conc")) {
				canary, found = r, true
			}
		}
	}
	if !found {
		return Row{}, plan, false
	}
	rest = plan.Clone()
	single := rest.Row("single_node")
	for _, name := range names {
		left, cut := []any{}, false
		for _, v := range list(single, name) {
			if r, ok := v.(Row); ok && !cut && r.Equal(canary) {
				cut = true
				continue
			}
			left = append(left, v)
		}
		single.Set(name, left)
	}
	rest.Set("single_node", single)
	return canary, rest, true
}

func list(r Row, name string) []any {
	v, _ := r.Get(name)
	l, _ := v.([]any)
	return l
}
