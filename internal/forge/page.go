package forge

import (
	"errors"

	"github.com/google/go-github/v89/github"
)

const (
	pageSize = 100
	maxPages = 300
)

// pages collects a list over all of its pages; a failed page fails the list.
func pages[T any](list func(github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	var all []T
	options := github.ListOptions{Page: 1, PerPage: pageSize}
	for range maxPages {
		items, resp, err := list(options)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if resp.NextPage <= options.Page {
			return all, nil
		}
		options.Page = resp.NextPage
	}
	return nil, errors.New("too many pages")
}
