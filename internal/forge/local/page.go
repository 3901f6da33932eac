package local

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// page cuts out the page that the request asks for and writes its Link header.
func page[T any](c call, all []T) ([]T, string) {
	query := c.URL.Query()
	per, n := within(query.Get("per_page"), 30, 100), within(query.Get("page"), 1, 1<<30)
	last := max(1, (len(all)+per-1)/per)
	link := func(to int, rel string) string {
		query.Set("page", strconv.Itoa(to))
		return fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.links.base, c.URL.EscapedPath(), query.Encode(), rel)
	}
	var links []string
	if n > 1 {
		links = append(links, link(n-1, "prev"), link(1, "first"))
	}
	if n < last {
		links = append(links, link(n+1, "next"), link(last, "last"))
	}
	from := min(len(all), (n-1)*per)
	return all[from:min(len(all), from+per)], strings.Join(links, ", ")
}

func within(text string, fallback, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fallback
	}
	return min(n, most)
}

// listing answers with one page, each thing on it in its wire form.
func listing[T, W any](c call, all []T, wire func(T) W) (answer, error) {
	part, link := page(c, all)
	return answer{status: http.StatusOK, body: each(part, wire), link: link}, nil
}

func each[T, W any](all []T, wire func(T) W) []W {
	list := make([]W, 0, len(all))
	for _, x := range all {
		list = append(list, wire(x))
	}
	return list
}
