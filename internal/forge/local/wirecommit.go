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

// A wireListed is a commit as lists and comparisons have it: what git knows, and
// whose accounts its people have.
type wireListed struct {
	SHA       string       `json:"sha"`
	NodeID    string       `json:"node_id"`
	HTML      string       `json:"html_url"`
	URL       string       `json:"url"`
	Comments  string       `json:"comments_url"`
	Commit    wireCommit   `json:"commit"`
	Author    *wireUser    `json:"author"` // nobody knows which account an address belongs to
	Committer *wireUser    `json:"committer"`
	Parents   []wireParent `json:"parents"`
}

func (l links) listed(c commit) wireListed {
	w := wireListed{SHA: c.sha, URL: l.api("/commits/%s", c.sha), Commit: l.commit(c)}
	w.NodeID, w.HTML, w.Parents, w.Comments = w.Commit.NodeID, w.Commit.HTML, w.Commit.Parents, w.URL+"/comments"
	return w
}
