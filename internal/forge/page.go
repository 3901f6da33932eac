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
	all, err := somePages(list)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// somePages is pages, and returns what it has when one fails.
func somePages[T any](list func(github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	var all []T
	options := github.ListOptions{Page: 1, PerPage: pageSize}
	for range maxPages {
		items, resp, err := list(options)
		if err != nil {
			return all, err
		}
		all = append(all, items...)
		if resp.NextPage <= options.Page {
			return all, nil
		}
		options.Page = resp.NextPage
	}
	return all, errors.New("too many pages")
}
