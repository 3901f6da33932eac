package candidate

// TitleStart begins the title of every targeted run; the name that the dispatch
// gave it follows. The workflow file has to set it as its run name: by it a run
// whose id was lost is found.
const TitleStart = "e2e Test - "

// RunTitle is the exact title of the candidate's targeted runs.
func (c Candidate) RunTitle(prefix string) string { return TitleStart + c.TestName(prefix) }
