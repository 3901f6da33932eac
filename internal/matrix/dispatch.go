package matrix

import (
	"fmt"
	"slices"
)

// Published are the throughput buckets that the published workflows dispatch.
var Published = []string{"1k1k", "8k1k", "agentic"}

// Dispatched is a plan's JSON form without the throughput buckets that no
// published workflow dispatches. left names them: "single_node/256_64 (3 jobs)".
// Evals stand in buckets without lengths and are all dispatched. Source: recipes
// specification, section 7.
func Dispatched(plan Row) (rest Row, left []string) {
	rest = plan.changed()
	for _, kind := range []string{"single_node", "multi_node"} {
		buckets := rest.Row(kind).changed()
		for _, name := range buckets.Names() {
			if !slices.Contains(Published, name) {
				left = append(left, fmt.Sprintf("%s/%s (%d jobs)", kind, name, len(list(buckets, name))))
				buckets.Delete(name)
			}
		}
		rest.Set(kind, buckets)
	}
	return rest, left
}
