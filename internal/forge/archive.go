package forge

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// ErrArchive says that what an artifact holds is not an archive that may be
// read: broken, too large, or with an entry that is no plain file. Asking again
// changes nothing.
var ErrArchive = errors.New("unusable archive")

const (
	maxUnpacked = 256 << 20 // bytes of all files of an archive
	maxEntries  = 20_000
)

// archive fetches the zip of an artifact. GitHub answers with a signed address
// on another host: it is followed once, without the credential there.
func (c *Client) archive(ctx context.Context, id int64) ([]byte, error) {
	wire := &transport{client: c, next: c.wire.next, origin: c.wire.origin, token: c.token, limit: maxUnpacked, patience: downloadTimeout}
	client := &http.Client{Transport: wire, CheckRedirect: noRedirect}
	where := fmt.Sprintf("repos/%s/actions/artifacts/%d/zip", c.Repository, id)
	req, err := c.gh.NewRequest(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	c.wire.calls.Add(wire.calls.Load()) // the storage host has no limit of calls
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 3 {
		resp.Body.Close()
		next, err := c.follow(req.URL, resp.Header.Get("Location"))
		if err != nil {
			return nil, err
		}
		if req, err = http.NewRequestWithContext(ctx, http.MethodGet, next.String(), nil); err != nil {
			return nil, errors.New("redirect to an unusable address")
		}
		if resp, err = client.Do(req); err != nil {
			return nil, err
		}
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		return nil, fmt.Errorf("%s: %w", resp.Status, fs.ErrNotExist)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answer %s", resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// follow checks where an answer points: the forge itself, or any https address.
func (c *Client) follow(from *url.URL, location string) (*url.URL, error) {
	next, err := from.Parse(location)
	if err != nil || location == "" || next.User != nil {
		return nil, errors.New("redirect to an unusable address")
	}
	if origin(next) != c.wire.origin && next.Scheme != "https" {
		return nil, fmt.Errorf("redirect to %s not followed", origin(next))
	}
	return next, nil
}

// readZip returns the regular files of a zip archive. Anything that is not a
// plain relative path, links, devices, repeated names and archives above the
// limits are errors: an archive is taken whole or not at all.
func readZip(data []byte, limit int64) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("zip: %w", err)
	}
	if len(r.File) > maxEntries {
		return nil, fmt.Errorf("zip: %d entries, at most %d", len(r.File), maxEntries)
	}
	if err := checkSizes(r.File, limit); err != nil {
		return nil, err
	}
	files, folded := map[string][]byte{}, map[string]bool{}
	for _, f := range r.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := checkEntry(f, name, folder); err != nil {
			return nil, err
		}
		if folder {
			continue
		}
		if folded[strings.ToLower(name)] {
			return nil, fmt.Errorf("zip: %.100q occurs twice", f.Name)
		}
		folded[strings.ToLower(name)] = true
		content, err := readEntry(f, limit)
		if err != nil {
			return nil, fmt.Errorf("zip: %.100q: %w", f.Name, err)
		}
		limit -= int64(len(content))
		files[name] = content
	}
	return files, nil
}

// checkSizes refuses by what the headers say, before anything is unpacked. An
// entry that holds more than its header says is refused when it is read.
func checkSizes(entries []*zip.File, limit int64) error {
	left := uint64(limit)
	for _, f := range entries {
		if f.UncompressedSize64 > left {
			return fmt.Errorf("zip: its files are too large: more than %d bytes", limit)
		}
		left -= f.UncompressedSize64
	}
	return nil
}

func checkEntry(f *zip.File, name string, folder bool) error {
	mode := f.Mode()
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00:"):
		return fmt.Errorf("zip: %.100q is not a plain relative path", f.Name)
	case folder && !mode.IsDir(), !folder && !mode.IsRegular():
		return fmt.Errorf("zip: %.100q is not a regular file", f.Name)
	case f.Flags&1 != 0:
		return fmt.Errorf("zip: %.100q is encrypted", f.Name)
	}
	return nil
}

// readEntry unpacks one file; the size in the header is not trusted.
func readEntry(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errors.New("archive too large")
	}
	return content, err
}
