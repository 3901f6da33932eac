package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fileList serves the files of a pull request, so many in all, as GitHub does:
// in pages, at most 3,000. Pages from broken on fail; 0 is none.
func fileList(total, broken int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		if broken > 0 && n >= broken {
			http.Error(w, `{"message":"gone"}`, http.StatusGone)
			return
		}
		var files []map[string]string
		for i := (n - 1) * 100; i < min(total, 3000, n*100); i++ {
			f := map[string]string{"filename": fmt.Sprintf("f%04d", i), "status": "modified"}
			if i == 5 {
				f["status"], f["previous_filename"] = "renamed", "before"
			}
			files = append(files, f)
		}
		if n*100 < min(total, 3000) {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?per_page=100&page=%d>; rel="next"`, r.Host, r.URL.Path, n+1))
		}
		json.NewEncoder(w).Encode(files)
	}
}

func TestRenameCountsBothNames(t *testing.T) {
	c, _ := serve(t, fileList(7, 0))
	got, err := c.ChangedFiles(t.Context(), 1)
	want := []string{"f0000", "f0001", "f0002", "f0003", "f0004", "f0005", "before", "f0006"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// GitHub lists 3,000 files at most: a list of so many may lack some. What is
// known of it is returned beside the error.
func TestThreeThousandFilesAreIncomplete(t *testing.T) {
	for total, complete := range map[int]bool{2999: true, 3000: false, 5000: false} {
		c, _ := serve(t, fileList(total, 0))
		got, err := c.ChangedFiles(t.Context(), 1)
		if (err == nil) != complete || len(got) != min(total, 3000)+1 {
			t.Errorf("%d files: got %d names, %v", total, len(got), err)
		}
		if !complete && !strings.Contains(err.Error(), "files of pull 1: list of files may be incomplete") {
			t.Errorf("%d files: got %v", total, err)
		}
	}
}

func TestFailedPageMakesTheListOfFilesIncomplete(t *testing.T) {
	c, _ := serve(t, fileList(250, 3))
	got, err := c.ChangedFiles(t.Context(), 1)
	if err == nil || len(got) != 201 || got[200] != "f0199" {
		t.Errorf("got %d names, %v, want those of two pages and an error", len(got), err)
	}
}
