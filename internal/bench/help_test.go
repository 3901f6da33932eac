package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// --help names every flag, and says what is sent otherwise than by the
// reference, the chat template among it.
func TestHelpSaysWhatDiffers(t *testing.T) {
	var said bytes.Buffer
	if err := Command(context.Background(), []string{"--help"}, io.Discard, &said); !errors.Is(err, pflag.ErrHelp) {
		t.Fatalf("got %v, want help", err)
	}
	for _, want := range []string{"Usage of refit bench:\n", "--own-gate ", "--use-chat-template ", "chat template  applied by the server",
		"--dsv4         refused here", "connections    used again", `"reading" has` + "\nthe reference's keys"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("help has no %q:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "--corrected") {
		t.Error("help has a flag that is gone")
	}
}
