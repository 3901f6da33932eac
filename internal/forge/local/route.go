package local

// routes is the part of GitHub's API that is spoken here.
func (s *Server) routes() []route {
	const repo = "/repos/{owner}/{repo}"
	return []route{
		{"GET /rate_limit", "", nothing, s.rateLimit},
		{"GET /user", "", reading, s.user},
		{"GET " + repo, "", reading, s.repository},
		{"GET " + repo + "/collaborators/{login}/permission", "", reading, s.collaborator},
		{"GET " + repo + "/rules/branches/{branch...}", "", reading, s.branchRules},

		{"GET " + repo + "/labels", "", reading, s.labels},
		{"POST " + repo + "/labels", "label.create", writing, s.createLabel},

		{"GET " + repo + "/git/ref/{ref...}", "", reading, s.ref},
		{"GET " + repo + "/git/matching-refs/{ref...}", "", reading, s.matchingRefs},
		{"POST " + repo + "/git/refs", "ref.create", writing, s.createRef},
		{"PATCH " + repo + "/git/refs/{ref...}", "ref.update", writing, s.updateRef},
		{"DELETE " + repo + "/git/refs/{ref...}", "ref.delete", writing, s.deleteRef},

		{"POST " + repo + "/git/blobs", "object.blob", writing, s.createBlob},
		{"GET " + repo + "/git/blobs/{sha}", "", reading, s.blob},
		{"POST " + repo + "/git/trees", "object.tree", writing, s.createTree},
		{"GET " + repo + "/git/trees/{sha}", "", reading, s.tree},
		{"POST " + repo + "/git/commits", "object.commit", writing, s.createCommit},
		{"GET " + repo + "/git/commits/{sha}", "", reading, s.gitCommit},
		{"GET " + repo + "/commits/{ref...}", "", reading, s.commit},
		{"GET " + repo + "/contents/{path...}", "", reading, s.contents},
		{"GET " + repo + "/compare/{basehead...}", "", reading, s.compare},

		{"GET " + repo + "/pulls", "", reading, s.pulls},
		{"POST " + repo + "/pulls", "pull.open", writing, s.openPull},
		{"GET " + repo + "/pulls/{number}", "", reading, s.pull},
		{"PATCH " + repo + "/pulls/{number}", "pull.edit", writing, s.editPull},
		{"GET " + repo + "/pulls/{number}/files", "", reading, s.pullFiles},
		{"PUT " + repo + "/pulls/{number}/merge", "pull.merge", writing, s.mergePull},

		{"GET " + repo + "/issues", "", reading, s.issues},
		{"POST " + repo + "/issues", "issue.open", commenting, s.openIssue},
		{"GET " + repo + "/issues/{number}/{part}", "", reading, s.issuePart},
		{"POST " + repo + "/issues/{number}/comments", "comment.add", commenting, s.addComment},
		{"PATCH " + repo + "/issues/comments/{id}", "comment.edit", commenting, s.editComment},
		{"POST " + repo + "/issues/{number}/labels", "pull.label", writing, s.addLabels},
		{"DELETE " + repo + "/issues/{number}/labels/{name}", "pull.unlabel", writing, s.removeLabel},

		{"GET " + repo + "/actions/workflows", "", reading, s.workflows},
		{"GET " + repo + "/actions/workflows/{file}/runs", "", reading, s.runs},
		{"POST " + repo + "/actions/workflows/{file}/dispatches", "run.dispatch", writing, s.dispatch},
		{"GET " + repo + "/actions/runs", "", reading, s.runs},
		{"GET " + repo + "/actions/runs/{id}", "", reading, s.run},
		{"POST " + repo + "/actions/runs/{id}/cancel", "run.cancel", writing, s.cancelRun},
		{"POST " + repo + "/actions/runs/{id}/rerun", "run.rerun", writing, s.rerun},
		{"POST " + repo + "/actions/runs/{id}/rerun-failed-jobs", "run.rerun", writing, s.rerunFailed},
		{"GET " + repo + "/actions/runs/{id}/jobs", "", reading, s.jobs},
		{"GET " + repo + "/actions/jobs/{id}/logs", "", reading, s.jobLog},
		{"GET " + repo + "/actions/runs/{id}/artifacts", "", reading, s.artifacts},
		{"GET " + repo + "/actions/artifacts/{id}", "", reading, s.artifact},
		{"GET " + repo + "/actions/artifacts/{id}/zip", "", reading, s.artifactZip},

		{"POST " + graphqlURL, "", reading, s.graphql},
		{"GET " + storageRoot + "artifacts/{id}", "", nothing, s.storedArtifact},
		{"GET " + storageRoot + "logs/{id}", "", nothing, s.storedLog},
	}
}

// issuePart serves "issues/7/comments", "issues/7/labels" and
// "issues/comments/7", which patterns cannot tell apart.
func (s *Server) issuePart(c call) (answer, error) {
	part := c.PathValue("part")
	switch {
	case c.PathValue("number") == "comments":
		c.SetPathValue("id", part)
		return s.comment(c)
	case part == "comments":
		return s.comments(c)
	case part == "labels":
		return s.pullLabels(c)
	}
	return answer{}, errNotFound
}
