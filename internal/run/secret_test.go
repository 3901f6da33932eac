package run

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	drawn    = "q7Zr2LmX9vTbK4wYpN8s"                     // letters and digits
	drawnHex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b" // as keys of some services are
	webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsb2FkIn0.4Zp0dXmYk2s"
)

func TestWhatIsASecret(t *testing.T) {
	check := func(variable, want string) {
		t.Helper()
		name, value, _ := strings.Cut(variable, "=")
		j := Job{Env: []string{variable}}
		if got := string(j.hideSecrets([]byte(value))); got != want {
			t.Errorf("%s: told as %q, want %q", name, got, want)
		}
	}
	hiddenWhole := []string{
		"HF_TOKEN=swordfish", "DB_PASSWORD=123456", "API_KEY=four", "MIRROR_AUTH=user:swordfish", "REGISTRY_AUTH_BEARER=swordfish",
		"A=hf_abcdefghijklmnop", "A=ghp_abcdefghijklmnop", "A=gho_abcdefghijklmnop", "A=ghs_abcdefghijklmnop", "A=github_pat_11ABCDEF_abcdef",
		"A=sk-abcdefghijklmnop", "A=sk-proj-abcdef-ghijklmnop", "A=glpat-abcdefghijklmnop", "A=AKIAIOSFODNN7EXAMPLE", "A=xoxb-123456789012-abcdef",
		"A=" + webToken, "A=" + drawn, "A=" + drawnHex, "A=" + strings.ToUpper(drawnHex), "A=kT8/pQ2+vR5zX9wL3mN7/bC1eY4=",
		"A=123e4567-e89b-12d3-a456-426614174000", "A=p3q9x7k2m5n8r4t6w1z0b3d5",
	}
	for _, v := range hiddenWhole {
		check(v, hidden)
	}
	for variable, want := range map[string]string{
		"DATASET=https://user:swordfish@host/x":              "https://user:***@host/x",
		"DATASET=https://user:sword@fish!@host/x":            "https://user:***@host/x",
		"DATASET=https://user:pw@host/x":                     "https://***host/x",
		"DATASET=https://" + drawn + "@host/x":               "https://***@host/x",
		"DATASET=https://host/x?part=1&sig=swordfish":        "https://host/x?part=1&sig=***",
		"DATASET=https://host/x?X-Sum-Signature=" + drawnHex: "https://host/x?X-Sum-Signature=***",
		"PROXY=http=http://user:swordfish@host:3128":         "http=http://user:***@host:3128",
		"HEADER=Authorization: Bearer " + drawn:              "Authorization: Bearer ***",
		"OPTIONS=--user me --login=" + drawn + " --fast":     "--user me --login=*** --fast",
		"OPTIONS=--login=hf_abcdefghijklmnop":                "--login=***",
		`DOCKER={"auth":"` + drawn + `"}`:                    `{"auth":"***"}`,
	} {
		check(variable, want)
	}
	for _, v := range []string{
		"TOKENIZERS_PARALLELISM=false", "TOKENIZER_MODE=slow-and-safe", "MAX_NUM_BATCHED_TOKENS=16384", "USE_AUTH_TOKEN=true", "AUTHOR=somebody", "COMPASS=northwest",
		"MODEL=meta-llama/Llama-3.1-70B-Instruct-FP8", "MODEL=deepseek-ai/DeepSeek-R1-0528-NVFP4-v2", "HF_HOME=/mnt/nvme0/shared/models/hub-2026-11",
		"LD_LIBRARY_PATH=/usr/local/cuda-12.8/lib64:/opt/rocm-6.4.1/lib", "ADDRESS=https://host:8443/v1/models?page=2", "IMAGE=registry.example:5000/lab/engine:v1.0.0-cu128",
		"DIGEST=sha256:" + strings.Repeat("9f86d081", 8), "NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3", "VISIBLE=0,1,2,3,4,5,6,7", "A=", "SEED=12345678901234567890123",
		"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:512", "TOKEN=abc",
	} {
		_, value, _ := strings.Cut(v, "=")
		check(v, value)
	}
}

// What names the job is in every record and no secret, whatever it looks like.
func TestIdentityOfAJobIsPublic(t *testing.T) {
	j := job("/j")
	j.Provenance.Head, j.Env = drawnHex, []string{"COMMIT=" + drawnHex, "OTHER=" + strings.Repeat("0a1b2c3d4e", 4)}
	if got, want := string(j.hideSecrets([]byte(drawnHex+" 0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e"))), drawnHex+" ***"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := j.secretNames(); !slices.Equal(got, []string{"OTHER"}) {
		t.Errorf("got %q, want OTHER alone", got)
	}
}

func TestSpellingsOfASecret(t *testing.T) {
	const secret = `p"ss/wörd <&> +it's\n`
	j := Job{Env: []string{"TOKEN=" + secret}}
	inside := strings.Trim(strconv.QuoteToASCII(secret), `"`)
	for name, text := range map[string]string{
		"as it is":       secret,
		"shell":          `'p"ss/wörd <&> +it'\''s\n'`,
		"json":           `p\"ss/wörd <&> +it's\\n`,
		"json for pages": `p\"ss/wörd \u003c\u0026\u003e +it's\\n`,
		"json in ascii":  inside,
		"json in json":   `p\\\"ss/wörd <&> +it's\\\\n`,
		"query":          url.QueryEscape(secret),
		"path":           url.PathEscape(secret),
		"percent":        "p%22ss/w%C3%B6rd%20%3C%26%3E%20%2Bit%27s%5Cn",
		"percent, lower": "p%22ss%2fw%c3%b6rd%20%3c%26%3e%20%2bit%27s%5cn",
		"wrapped":        secret[:5] + "\n" + secret[5:9] + "\r\n" + secret[9:],
	} {
		if got := string(j.hideSecrets([]byte("said " + text + " here"))); !strings.HasPrefix(got, "said ") || !strings.HasSuffix(got, " here") || !strings.Contains(got, hidden) || len(got) > len("said '***' here") {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	for offset := range 3 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			text := enc.EncodeToString([]byte(strings.Repeat("x", offset) + secret + "\n"))
			got := string(j.hideSecrets([]byte(text)))
			if !strings.Contains(got, hidden) || len(got) > len(hidden)+8 {
				t.Errorf("base64 at %d: %q became %q", offset, text, got)
			}
		}
	}
	lines := Job{Env: []string{"TOKEN=" + strings.Repeat(drawn, 10)}}
	var wrapped bytes.Buffer
	for part := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat(drawn, 10)))), 76) {
		fmt.Fprintf(&wrapped, "%s\n", part)
	}
	if got := string(lines.hideSecrets(wrapped.Bytes())); len(got) > len(hidden)+4 {
		t.Errorf("base64 in lines became %q", got)
	}
}

// However a text is cut into writes, no secret is in what comes out, and
// everything else is.
func TestNoCutLeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab/+é\"\n")), 4, 12, -1), 1, 3).Draw(t, "secrets")
		// With and without the texts, so that real ones and near misses come.
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(secrets),
			rapid.Map(rapid.SampledFrom(secrets), func(s string) string { return s[:len(s)/2] }),
			rapid.Map(rapid.SampledFrom(secrets), func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "y")) }),
			rapid.Map(rapid.SampledFrom(secrets), url.QueryEscape),
			rapid.StringOfN(rapid.RuneFrom([]rune("ab/+é\"\n -")), 0, 8, -1),
		), 0, 8).Draw(t, "parts")
		text := strings.Join(parts, "")
		r := newRedactor(secrets)
		var got bytes.Buffer
		w := r.writer(&got)
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "write")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if whole := r.hide([]byte(text)); !bytes.Equal(got.Bytes(), whole) {
			t.Fatalf("in pieces %q, at once %q", got.Bytes(), whole)
		}
		for _, s := range r.spellings {
			if bytes.Contains(squeezed(got.Bytes()), s) {
				t.Fatalf("%q is in %q", s, got.Bytes())
			}
		}
		left := text
		for shown := range strings.SplitSeq(got.String(), hidden) { // in order, nothing invented
			at := strings.Index(left, shown)
			if at < 0 {
				t.Fatalf("%q is not in what was written: %q", shown, text)
			}
			left = left[at+len(shown):]
		}
	})
}

// The end of a log begins where its bytes are counted off, which may be in the
// middle of a secret.
func TestNoCutLogLeaks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := "first\n" + strings.Repeat(drawn+"\n", 3) + "last\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRedactor([]string{drawn})
	for most := range len(text) + 2 {
		got, err := r.tail(path, int64(most))
		if err != nil {
			t.Fatal(err)
		}
		for cut := range len(drawn) - 3 {
			if bytes.Contains(got, []byte(drawn[cut:])) {
				t.Fatalf("the last %d bytes: %q", most, got)
			}
		}
		if want := "last\n"; most >= len(want) && !bytes.HasSuffix(got, []byte(want)) {
			t.Fatalf("the last %d bytes: %q, want them to end with %q", most, got, want)
		}
	}
}

// A line that is told is clipped; what is left of a secret is one.
func TestNoClippedLineLeaks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	if err := os.WriteFile(path, []byte("RuntimeError: "+strings.Repeat("x", 375)+" "+drawn+drawn+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MIRROR", drawn+drawn)
	t.Setenv(secretsVariable, "MIRROR")
	l, err := newEngineLog(path, nil, inherited())
	if err != nil {
		t.Fatal(err)
	}
	if first, _ := l.firstError(); !strings.HasSuffix(first, "x ***") {
		t.Errorf("got %q, want it to end with the mark", first)
	}
}
