package result

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/refit-bench/refit/internal/matrix"
)

// A point of several nodes lists its one concurrency; it is published like any
// other. A row of several points is none.
func TestPointOfSeveralNodesIsPublished(t *testing.T) {
	row := func(conc string) (r matrix.Row) {
		t.Helper()
		text := fmt.Sprintf(`{"model":"lab/one","model-prefix":"one","precision":"fp8","framework":"dynamo-loom","spec-decoding":"none","runner":"x9","isl":8,"osl":4,
			"prefill":{"num-worker":2,"tp":4,"ep":1,"dp-attn":true},"decode":{"num-worker":1,"tp":8,"ep":8,"dp-attn":false},"conc":%s,"disagg":true}`, conc)
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	got, err := PublishedAs(row("[32]"))
	if err != nil || got.Conc != 32 || !got.IsMultinode || !got.Disagg || got.NumPrefillGPU != 8 || got.NumDecodeGPU != 8 || got.PrefillNumWorkers != 2 || got.Framework != "dynamo-loom" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, conc := range []string{"[]", "[1, 2]", `["4"]`, "0", "[0]"} {
		if got, err := PublishedAs(row(conc)); err == nil {
			t.Errorf("conc %s: got %+v, want an error", conc, got)
		}
	}
}
