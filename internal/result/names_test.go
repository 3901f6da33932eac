package result

import "testing"

func TestDisplayName(t *testing.T) {
	for _, tt := range []struct{ prefix, path, want, key string }{
		{"dsr1", "deepseek-ai/DeepSeek-R1-0528", "DeepSeek-R1-0528", "dsr1"},
		{"gptoss", "", "gpt-oss-120b", "gptoss120b"},
		{"dsv4-nvfp4", "", "DeepSeek-V4-Pro", "dsv4"},
		{"", "nvidia/DeepSeek-R1-0528-FP4-V2", "DeepSeek-R1-0528", "dsr1"},
		{"kimik2.7", "", "Kimi-K2.5", "kimik2.7-code"},
		{"laba", "lab/tiny-a", "tiny-a", "laba"},
		{"laba", "", "laba", "laba"},
		{"", "lab/Tiny-A", "Tiny-A", "tiny-a"},
	} {
		if got := DisplayName(tt.prefix, tt.path); got != tt.want {
			t.Errorf("DisplayName(%q, %q) = %q, want %q", tt.prefix, tt.path, got, tt.want)
		}
		if got := ModelKey(tt.prefix, tt.path); got != tt.key {
			t.Errorf("ModelKey(%q, %q) = %q, want %q", tt.prefix, tt.path, got, tt.key)
		}
	}
	if KnownDisplayName("dsr1") || KnownDisplayName("deepseek-r1-0528") || !KnownDisplayName("DeepSeek-R1-0528") {
		t.Error("display names are exact and no store keys")
	}
}

func TestHardwareAndFrameworkNames(t *testing.T) {
	for in, want := range map[string]string{"cluster:b300-nv": "b300", "mi355x-amd_0": "mi355x", "CPU": "cpu", "mi325x-amds_01": "mi325x"} {
		if got := hardwareName(in); got != want {
			t.Errorf("hardwareName(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]struct {
		name   string
		disagg bool
	}{"sglang-disagg": {"mori-sglang", true}, "TRTLLM": {"trt", false}, "dynamo-trtllm": {"dynamo-trt", true}, "sim": {"sim", false}} {
		if name, disagg := frameworkName(in); name != want.name || disagg != want.disagg {
			t.Errorf("frameworkName(%q) = %q, %v, want %+v", in, name, disagg, want)
		}
	}
	if precisionName("NVFP4") != "fp4" || specName("") != "none" || specName("MTP") != "mtp" {
		t.Error("precision or spec method is not normalised")
	}
}
