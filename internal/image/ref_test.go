package image

import (
	"strings"
	"testing"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParse(t *testing.T) {
	for in, want := range map[string]Ref{
		"lmsysorg/sglang:v0.5.19-rocm700-mi30x":                 {"", "lmsysorg/sglang", "v0.5.19-rocm700-mi30x", ""},
		"docker.io/lmsysorg/sglang:v0.5.20":                     {"", "lmsysorg/sglang", "v0.5.20", ""},
		"docker://registry-1.docker.io#lmsysorg/sglang:v0.5.20": {"", "lmsysorg/sglang", "v0.5.20", ""},
		"nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc24":         {"nvcr.io", "nvidia/tensorrt-llm/release", "1.3.0rc24", ""},
		"nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc24":         {"nvcr.io", "nvidia/tensorrt-llm/release", "1.3.0rc24", ""},
		"localhost/lab/simengine:v1.0.0-cpu":                    {"localhost", "lab/simengine", "v1.0.0-cpu", ""},
		"127.0.0.1:5000/lab/simengine:v1.0.0-cpu":               {"127.0.0.1:5000", "lab/simengine", "v1.0.0-cpu", ""},
		"[::1]:5000/lab/simengine:v1":                           {"[::1]:5000", "lab/simengine", "v1", ""},
		"host:5000#lab/simengine:v1":                            {"host:5000", "lab/simengine", "v1", ""},
		"lab/simengine@" + someDigest:                           {"", "lab/simengine", "", someDigest},
		"lab/simengine:v1@" + someDigest:                        {"", "lab/simengine", "v1", someDigest},
		"lab/simengine:latest@" + someDigest:                    {"", "lab/simengine", "latest", someDigest},
		"docker://nvcr.io#nvidia/x:" + someDigest:               {"nvcr.io", "nvidia/x", "", someDigest},
		"host:5000/x@" + someDigest:                             {"host:5000", "x", "", someDigest},
		"ubuntu:24.04":                                          {"", "ubuntu", "24.04", ""},
		"docker.io/library/ubuntu:24.04":                        {"", "ubuntu", "24.04", ""},
		"rocm/7.0:rocm7.0_ubuntu_22.04":                         {"", "rocm/7.0", "rocm7.0_ubuntu_22.04", ""},
	} {
		got, err := Parse(in)
		if err != nil || got != want {
			t.Errorf("Parse(%s): got %+v, %v, want %+v", in, got, err, want)
			continue
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("Parse(%s): got %+v, %v, want %+v", got, again, err, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "is no repository",
		"lab/simengine":             "neither tag nor digest",
		"lab/simengine:latest":      "latest names a moment",
		"lab/simengine:":            `"" is no tag`,
		"lab/simengine:-v1":         `"-v1" is no tag`,
		"Lab/simengine:v1":          `"Lab/simengine" is no repository`,
		"lab//simengine:v1":         "is no repository",
		"lab/../simengine:v1":       "is no repository",
		"lab/simengine:v1\n":        "is no tag",
		"lab/simengine:v1 ":         "is no tag",
		"#lab/simengine:v1":         "no registry before #",
		"-x.y/lab/simengine:v1":     `"-x.y" is no registry`,
		"lab/simengine@sha256:0123": "is no digest",
		"lab/simengine:v1@":         "is no digest",
		"lab/simengine:" + strings.Repeat("v", 129): "is no tag",
	} {
		if got, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got %+v, %v, want an error with %q", in, got, err, want)
		}
	}
}

func TestRefLike(t *testing.T) {
	ref := Ref{"nvcr.io", "nvidia/x", "1.0", ""}
	if got := ref.Like("nvcr.io#nvidia/x:0.9"); got != "nvcr.io#nvidia/x:1.0" {
		t.Errorf("Like(enroot): got %s", got)
	}
	if got := ref.Like("nvcr.io/nvidia/x:0.9"); got != "nvcr.io/nvidia/x:1.0" {
		t.Errorf("Like(docker): got %s", got)
	}
	if got := (Ref{"", "lab/x", "1.0", ""}).Like("a#b:1"); got != "lab/x:1.0" {
		t.Errorf("Like without registry: got %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("nvcr.io#a/b:c@sha256:d")
	f.Fuzz(func(t *testing.T, s string) {
		if ref, err := Parse(s); err == nil {
			if again, err := Parse(ref.String()); err != nil || again != ref {
				t.Errorf("Parse(%q) = %+v, but Parse(%q) = %+v, %v", s, ref, ref, again, err)
			}
		}
	})
}
