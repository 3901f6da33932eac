package api

import "context"

// ImageFeed reads and validates a document of latest-images. Every error is a
// *FeedError.
func (s Source) ImageFeed(ctx context.Context) (ImageFeed, error) {
	src, err := s.Read(ctx)
	if err != nil {
		return ImageFeed{}, &FeedError{LatestImagesInvalid, err}
	}
	return ParseImageFeed(src)
}

// ReleaseFeed reads and validates a document of framework-releases. Every error
// is a *FeedError.
func (s Source) ReleaseFeed(ctx context.Context) (FrameworkReleases, error) {
	src, err := s.Read(ctx)
	if err != nil {
		return nil, &FeedError{FrameworkReleasesInvalid, err}
	}
	return ParseReleaseFeed(src)
}
