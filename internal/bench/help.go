package bench

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// differences are what a user of the reference client finds otherwise here. Of
// what is read, Reading has the list.
const differences = `
What is sent otherwise than by the reference client:
  prompts        unique words, unless --prompts says otherwise
  warm-up        prompts of its own in place of copies of the first measured one
  chat template  applied by the server: with --use-chat-template the bare text
                 goes to the chat endpoint; the reference renders the template
                 itself and sends its text to the completions endpoint. Prompts
                 are shorter by the template's tokens there as here
  --dsv4         refused here; a recipe's is taken for --use-chat-template
  connections    used again where the server keeps them open
  Authorization  not sent without a token
  proxies        of the environment are not used

What is read otherwise is in the raw result file under "refit": "reading" has
the reference's keys by refit's own reading of the streams, which the rows of a
sweep are made of, and "legacy_doubts" says where the two differ.
`

// help is what --help prints.
func help(f *pflag.FlagSet, to io.Writer) {
	fmt.Fprintf(to, "Usage of refit bench:\n%s%s", f.FlagUsages(), differences)
}
