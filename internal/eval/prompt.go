package eval

import "fmt"

// message is one turn of a chat.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// prompts are the chats of all questions: as many solved examples as there are
// shots, drawn afresh for every question, and the question itself.
func (c Config) prompts() ([][]message, error) {
	if len(c.Questions) == 0 {
		return nil, fmt.Errorf("no questions")
	}
	if c.Shots < 0 || c.Shots > len(c.Train) {
		return nil, fmt.Errorf("%d shots out of %d examples", c.Shots, len(c.Train))
	}
	draw := newSampler(len(c.Train))
	out := make([][]message, len(c.Questions))
	for i, q := range c.Questions {
		for _, k := range draw.sample(c.Shots) {
			out[i] = append(out[i], message{"user", ask(c.Train[k])}, message{"assistant", c.Train[k].Answer})
		}
		out[i] = append(out[i], message{"user", ask(q)})
	}
	return out, nil
}

func ask(q Question) string {
	return "Question: " + q.Question +
		"\nEnd your response with the answer on the last line, formatted as: #### [number]" +
		"\nAnswer:"
}
