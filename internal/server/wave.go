package server

import (
	"context"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/result/api"
)

// WaveOptions are what a plan may be told beside the workspace.
type WaveOptions struct {
	Images   string   // file or address of latest-images; "" is the workspace's own results
	Releases string   // file or address of framework-releases; "" takes the lanes of the images
	Seed     uint64   // of the shuffle
	Earlier  []string // other spellings of policy.prefix
}

// WaveSources is what a wave of this workspace is planned from. The clusters
// are asked now, the feeds when they are needed.
func (p *Parts) WaveSources(ctx context.Context, o WaveOptions) (candidate.WaveSources, error) {
	from := candidate.WaveSources{
		Images: (&api.Client{Base: p.Address.Dashboard}).ImageFeed, Seed: o.Seed, Earlier: o.Earlier,
	}
	if o.Images != "" {
		from.Images = api.Source{Name: o.Images}.ImageFeed
	}
	if o.Releases != "" {
		from.Releases = api.Source{Name: o.Releases}.ReleaseFeed
	}
	var err error
	from.Capacity, err = p.Clusters(ctx)
	return from, err
}
