package bench

import (
	"fmt"
	"io"
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// hdrMetrics are the metrics of a histogram log. Each is an interval of its own
// with the tag c<concurrency>.<metric>.
var hdrMetrics = []string{"intended-first-text", "first-text", "text-itl", "tpot", "e2el", "intended-e2el"}

// Limits of a histogram: three digits, from a microsecond to ten hours.
const (
	hdrLowest  = int64(time.Microsecond)
	hdrHighest = int64(10 * time.Hour)
	hdrDigits  = 3
)

// writeHDR writes a histogram log of format 1.3, values in nanoseconds: one
// interval for each metric of each measurement.
func writeHDR(w io.Writer, rs []Result) error {
	log := hdr.NewHistogramLogWriter(w)
	if err := log.OutputLogFormatVersion(); err != nil {
		return fmt.Errorf("hdr: %w", err)
	}
	if len(rs) > 0 {
		if err := log.OutputStartTime(rs[0].Started.UnixMilli()); err != nil {
			return fmt.Errorf("hdr: %w", err)
		}
	}
	if err := log.OutputLegend(); err != nil {
		return fmt.Errorf("hdr: %w", err)
	}
	for _, r := range rs {
		for _, metric := range hdrMetrics {
			h, err := r.histogram(metric)
			if err == nil {
				err = log.OutputIntervalHistogram(h)
			}
			if err != nil {
				return fmt.Errorf("hdr: %s: %w", metric, err)
			}
		}
	}
	return nil
}

func (r Result) histogram(metric string) (*hdr.Histogram, error) {
	h := hdr.New(hdrLowest, hdrHighest, hdrDigits)
	h.SetTag(fmt.Sprintf("c%d.%s", r.Workload.Concurrency, metric))
	h.SetStartTimeMs(r.Started.UnixMilli())
	h.SetEndTimeMs(r.Ended.UnixMilli())
	for _, seconds := range r.sample(metric) {
		if err := h.RecordValue(int64(math.Round(1e9 * seconds))); err != nil {
			return nil, err
		}
	}
	return h, nil
}
