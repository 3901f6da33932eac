package local

type wireCommit struct {
	SHA       string       `json:"sha"`
	NodeID    string       `json:"node_id"`
	URL       string       `json:"url"`
	HTML      string       `json:"html_url"`
	Author    person       `json:"author"`
	Committer person       `json:"committer"`
	Message   string       `json:"message"`
	Tree      wireLink     `json:"tree"`
	Parents   []wireParent `json:"parents"`
	Signed    verification `json:"verification"`
	Comments  int          `json:"comment_count"`
}

type wireLink struct {
	SHA string `json:"sha"`
	URL string `json:"url"`
}

type wireParent struct {
	wireLink
	HTML string `json:"html_url"`
}

// A verification says that a signature was not looked for.
type verification struct {
	Verified  bool    `json:"verified"`
	Reason    string  `json:"reason"`
	Signature *string `json:"signature"`
	Payload   *string `json:"payload"`
	At        *string `json:"verified_at"`
}

func (l links) commit(c commit) wireCommit {
	w := wireCommit{
		SHA: c.sha, NodeID: "C_" + c.sha, URL: l.api("/git/commits/%s", c.sha), HTML: l.html("/commit/%s", c.sha),
		Author: c.author, Committer: c.committer, Message: c.message, Signed: verification{Reason: "unsigned"},
		Tree: wireLink{c.tree, l.api("/git/trees/%s", c.tree)}, Parents: []wireParent{},
	}
	for _, p := range c.parents {
		w.Parents = append(w.Parents, wireParent{wireLink{p, l.api("/git/commits/%s", p)}, l.html("/commit/%s", p)})
	}
	return w
}
