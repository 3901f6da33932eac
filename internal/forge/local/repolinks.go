package local

// repoLinks are a repository's addresses below its own, as GitHub forms them.
// Not all of them are served here.
type repoLinks struct {
	URL           string `json:"url" at:""`
	Archive       string `json:"archive_url" at:"/{archive_format}{/ref}"`
	Assignees     string `json:"assignees_url" at:"/assignees{/user}"`
	Blobs         string `json:"blobs_url" at:"/git/blobs{/sha}"`
	Branches      string `json:"branches_url" at:"/branches{/branch}"`
	Collaborators string `json:"collaborators_url" at:"/collaborators{/collaborator}"`
	Comments      string `json:"comments_url" at:"/comments{/number}"`
	Commits       string `json:"commits_url" at:"/commits{/sha}"`
	Compare       string `json:"compare_url" at:"/compare/{base}...{head}"`
	Contents      string `json:"contents_url" at:"/contents/{+path}"`
	Contributors  string `json:"contributors_url" at:"/contributors"`
	Deployments   string `json:"deployments_url" at:"/deployments"`
	Downloads     string `json:"downloads_url" at:"/downloads"`
	Events        string `json:"events_url" at:"/events"`
	Forks         string `json:"forks_url" at:"/forks"`
	GitCommits    string `json:"git_commits_url" at:"/git/commits{/sha}"`
	GitRefs       string `json:"git_refs_url" at:"/git/refs{/sha}"`
	GitTags       string `json:"git_tags_url" at:"/git/tags{/sha}"`
	Hooks         string `json:"hooks_url" at:"/hooks"`
	IssueComment  string `json:"issue_comment_url" at:"/issues/comments{/number}"`
	IssueEvents   string `json:"issue_events_url" at:"/issues/events{/number}"`
	Issues        string `json:"issues_url" at:"/issues{/number}"`
	Keys          string `json:"keys_url" at:"/keys{/key_id}"`
	Labels        string `json:"labels_url" at:"/labels{/name}"`
	Languages     string `json:"languages_url" at:"/languages"`
	Merges        string `json:"merges_url" at:"/merges"`
	Milestones    string `json:"milestones_url" at:"/milestones{/number}"`
	Notifications string `json:"notifications_url" at:"/notifications{?since,all,participating}"`
	Pulls         string `json:"pulls_url" at:"/pulls{/number}"`
	Releases      string `json:"releases_url" at:"/releases{/id}"`
	Stargazers    string `json:"stargazers_url" at:"/stargazers"`
	Statuses      string `json:"statuses_url" at:"/statuses/{sha}"`
	Subscribers   string `json:"subscribers_url" at:"/subscribers"`
	Subscription  string `json:"subscription_url" at:"/subscription"`
	Tags          string `json:"tags_url" at:"/tags"`
	Teams         string `json:"teams_url" at:"/teams"`
	Trees         string `json:"trees_url" at:"/git/trees{/sha}"`
}
