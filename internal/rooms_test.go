package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/refit-bench/refit/internal/"

// rooms are read from the map itself, so that the map cannot be wrong.
func rooms(t *testing.T) map[string]int {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+)   *\S`).FindAllStringSubmatch(string(src), -1) {
		order[m[1]] = len(order)
	}
	return order
}

func TestMapNamesEveryRoom(t *testing.T) {
	order := rooms(t)
	if len(order) != 18 {
		t.Errorf("the map has %d rooms, the ceiling and the count are 18: %v", len(order), order)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		seen[e.Name()] = true
		if _, ok := order[e.Name()]; !ok {
			t.Errorf("room %s is not on the map", e.Name())
		}
	}
	for room := range order {
		if !seen[room] {
			t.Errorf("the map names room %s, which does not exist", room)
		}
	}
}

func TestRoomsImportOnlyEarlierRooms(t *testing.T) {
	order := rooms(t)
	checked := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		from, _, inside := strings.Cut(filepath.ToSlash(path), "/")
		if !inside {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range file.Imports {
			target, err := strconv.Unquote(imp.Path.Value)
			if err != nil || !strings.HasPrefix(target, module) {
				continue
			}
			to, _, _ := strings.Cut(strings.TrimPrefix(target, module), "/")
			checked++
			if to != from && order[to] > order[from] {
				t.Errorf("%s: room %s imports the later room %s", path, from, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("no import between rooms was checked: the walk found nothing")
	}
}

// The README shows the same map.
func TestReadmeShowsTheMap(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+   *\S.*)$`).FindAllStringSubmatch(string(doc), -1) {
		if !strings.Contains(string(readme), "\n"+m[1]+"\n") {
			t.Errorf("README.md lacks the line %q of the map", m[1])
		}
	}
}
