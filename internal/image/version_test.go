package image

import "testing"

func TestLane(t *testing.T) {
	for tag, want := range map[string][2]string{
		"v0.5.20-rocm720-mi30x":              {"v0.5.20", "rocm720-mi30x"},
		"v1.0.0-cpu":                         {"v1.0.0", "cpu"},
		"v0.5.19-rocm700-mi30x":              {"v0.5.19", "rocm700-mi30x"},
		"v0.5.20.post1-cu130":                {"v0.5.20.post1", "cu130"},
		"v0.5.8.post1-cu130-runtime":         {"v0.5.8.post1", "cu130-runtime"},
		"v0.29.0rc1":                         {"v0.29.0rc1", ""},
		"v0.1.6-rc0":                         {"v0.1.6-rc0", ""},
		"1.3.0rc22.post1":                    {"1.3.0rc22.post1", ""},
		"1.3.0-dev.1-cuda13":                 {"1.3.0-dev.1", "cuda13"},
		"1.3.0-deepseek-v4-dev.1":            {"1.3.0", "deepseek-v4-dev.1"},
		"26.03-py3":                          {"26.03", "py3"},
		"v0.20.1-ubuntu2404":                 {"v0.20.1", "ubuntu2404"},
		"v1.0-a100":                          {"v1.0", "a100"},
		"v1.0a1":                             {"v1.0a1", ""},
		"v0.5.1-base":                        {"v0.5.1", "base"},
		"v0.5.20-rocm720-mi30x-20260918":     {"v0.5.20", "rocm720-mi30x-nightly"},
		"v0.29.0-385dce36":                   {"v0.29.0", "nightly"},
		"nightly-dev-20260918-abcdef1":       {"20260918-abcdef1", "nightly-dev"},
		"nightly-dev-cu13-20260815-a5ba081f": {"20260815-a5ba081f", "nightly-dev-cu13"},
		"nightly-dev-20260918-5027950":       {"20260918-5027950", "nightly-dev"},
		"nightly-dev-arm64-cu13.0.1-426e59f": {"426e59f", "nightly-dev-arm64-cu13.0.1"},
		"nightly_202608201032":               {"202608201032", "nightly"},
		"nightly-5e35a6f4f9bbc217c599692157ca985c894373f7":              {"5e35a6f4f9bbc217c599692157ca985c894373f7", "nightly"},
		"rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.3": {"0.1.3", "rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom"},
	} {
		version, lane, ok := Lane(tag)
		if !ok || version != want[0] || lane != want[1] {
			t.Errorf("Lane(%s): got %q, %q, %v, want %q", tag, version, lane, ok, want)
		}
	}
	for _, tag := range []string{"", "latest", "dev", "dev-nightly-0820", "kimi-k3", "nightly", "v1", "a b", "v0.99999999999999999999999.1"} {
		if version, lane, ok := Lane(tag); ok {
			t.Errorf("Lane(%q): got %q, %q, want nothing", tag, version, lane)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{
		"v0.5.9", "v0.5.10.dev1", "v0.5.10.dev20260908", "v0.5.10a1", "v0.5.10b1", "v0.5.10rc2", "v0.5.10rc2.post1",
		"v0.5.10-rc10", "v0.5.10", "v0.5.10.post", "v0.5.10.post1", "v0.5.10.post2", "v0.5.10.1", "v0.6", "v0.10.0", "v1.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			v, _ := ParseVersion(a)
			w, _ := ParseVersion(b)
			if got, ok := v.Compare(w); !ok || (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("Compare(%s, %s): got %d, %v", a, b, got, ok)
			}
		}
	}
	check := func(a, b string, want int, known bool) {
		t.Helper()
		v, _ := ParseVersion(a)
		w, _ := ParseVersion(b)
		if got, ok := v.Compare(w); got != want || ok != known {
			t.Errorf("Compare(%s, %s): got %d, %v, want %d, %v", a, b, got, ok, want, known)
		}
	}
	check("26.3-py3", "26.03-py3", 0, true)
	check("v0.6.0", "v0.6", 0, true)
	check("nightly-dev-20260818-c0b6474b", "nightly-dev-20260918-abcdef1", -1, true)
	check("nightly-dev-20260918-c0b6474b", "nightly-dev-20260918-abcdef1", 0, false)
	check("nightly_202608201032", "nightly_20260820", 0, false)
	check("nightly_202608201032", "nightly_20260819", 1, true)
	check("nightly-5e35a6f4", "nightly-385dce36", 0, false)
	check("v0.29.0", "nightly-385dce36", 0, false)
}

func TestNewest(t *testing.T) {
	tags := []string{
		"latest", "v0.5.16-rocm720-mi30x", "v0.5.19-rocm700-mi30x", "v0.5.20-rocm720-mi30x", "v0.5.9-rocm720-mi30x", "v0.5.21rc1-rocm720-mi30x",
		"v0.5.16-rocm720-mi30x-20260730", "v0.5.20-rocm720-mi30x-20260918", "v0.5.20-rocm720-mi30x-20260917", "v0.5.20.post1-cu130", "v0.5.20-cu130",
		"v0.29.0rc1", "v0.29.0rc2", "v0.28.0", "v0.30.0rc1", "nightly-dev-20260818-c0b6474b", "nightly-dev-20260918-abcdef1",
		"nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "nightly-385dce3600000000000000000000000000000000", "26.03-py3", "25.10-py3",
	}
	for current, want := range map[string]string{
		"v0.5.16-rocm720-mi30x":          "v0.5.20-rocm720-mi30x", // never the rc of .21, never a dated build
		"v0.5.20-rocm720-mi30x":          "",
		"v0.5.19-rocm700-mi30x":          "", // another ROCm is another lane
		"v0.5.16-rocm720-mi30x-20260730": "v0.5.20-rocm720-mi30x-20260918",
		"v0.5.19-cu130":                  "v0.5.20.post1-cu130",
		"v0.27.0":                        "v0.28.0",
		"v0.27.0rc1":                     "v0.28.0", // a release, though newer pre-releases exist
		"v0.28.0":                        "",
		"v0.29.0rc1":                     "v0.30.0rc1", // no newer release
		"nightly-dev-20260527-14f81a67":  "nightly-dev-20260918-abcdef1",
		"nightly-5e35a6f4f9bbc217c599692157ca985c894373f7": "", // commits have no order
		"25.10-py3": "26.03-py3",
		"latest":    "",
	} {
		if got, ok := Newest(tags, current); got != want || ok != (want != "") {
			t.Errorf("Newest(%s): got %q, %v, want %q", current, got, ok, want)
		}
	}
	if got, ok := Newest([]string{"v2.0.0-cpu", "v1.0.0-cpu"}, "v1.0.0-cpu"); got != "v2.0.0-cpu" || !ok {
		t.Errorf("Newest of the lab: got %q, %v", got, ok)
	}
}
