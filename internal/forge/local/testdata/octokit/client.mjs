// An independent client at work on the embedded forge. It is told where the API
// is, and prints what it saw as JSON; the token comes in the environment.
import { createHash } from "node:crypto";
import { Octokit } from "@octokit/rest";

const [base, owner, repo, head] = process.argv.slice(2);
const octokit = new Octokit({
  auth: process.env.FORGE_TOKEN,
  baseUrl: base + "/api/v3",
});
const at = { owner, repo };

async function pulls() {
  const { data: pull } = await octokit.rest.pulls.create({
    ...at, title: "Opened by another client", body: "body", head, base: "main", draft: true,
  });
  const open = await octokit.paginate(octokit.rest.pulls.list, { ...at, state: "open", per_page: 2 });
  const { data: files } = await octokit.rest.pulls.listFiles({ ...at, pull_number: pull.number });
  return { number: pull.number, node: pull.node_id, draft: pull.draft, open: open.map((p) => p.number), files: files.map((f) => f.filename) };
}

async function labels(issue_number) {
  await octokit.rest.issues.addLabels({ ...at, issue_number, labels: ["first", "second label"] });
  await octokit.rest.issues.removeLabel({ ...at, issue_number, name: "second label" });
  const { data } = await octokit.rest.issues.listLabelsOnIssue({ ...at, issue_number });
  return data.map((l) => l.name);
}

async function comments(issue_number) {
  let last;
  for (let i = 0; i < 7; i++) {
    last = (await octokit.rest.issues.createComment({ ...at, issue_number, body: "comment " + i })).data;
  }
  await octokit.rest.issues.updateComment({ ...at, comment_id: last.id, body: "edited" });
  let pages = 0;
  const bodies = [];
  for await (const page of octokit.paginate.iterator(octokit.rest.issues.listComments, { ...at, issue_number, per_page: 3 })) {
    pages++;
    bodies.push(...page.data.map((c) => c.body));
  }
  const { node } = await octokit.graphql(
    "query($id: ID!) { node(id: $id) { ... on IssueComment { lastEditedAt editor { login } } } }",
    { id: last.node_id },
  );
  return { pages, bodies, editor: node.editor.login, edited: node.lastEditedAt };
}

async function draft(mutation, id) {
  const answer = await octokit.graphql(
    `mutation($id: ID!) { ${mutation}(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`, { id },
  );
  return answer[mutation].pullRequest.isDraft;
}

async function run() {
  const file = { ...at, workflow_id: "e2e-tests.yml" };
  const { data: started } = await octokit.rest.actions.createWorkflowDispatch({
    ...file, ref: "main", inputs: { "test-name": "octokit" }, return_run_details: true,
  });
  const run_id = started.workflow_run_id;
  const listed = await octokit.paginate(octokit.rest.actions.listWorkflowRuns, { ...file, event: "workflow_dispatch" });
  let run;
  do {
    run = (await octokit.rest.actions.getWorkflowRun({ ...at, run_id })).data;
  } while (run.status !== "completed");
  const jobs = await octokit.paginate(octokit.rest.actions.listJobsForWorkflowRun, { ...at, run_id });
  const { data: log } = await octokit.rest.actions.downloadJobLogsForWorkflowRun({ ...at, job_id: jobs[0].id });
  return {
    title: run.display_title, conclusion: run.conclusion, listed: listed.map((r) => r.id === run_id), log,
    artifacts: await artifacts(run_id),
  };
}

async function artifacts(run_id) {
  const list = await octokit.paginate(octokit.rest.actions.listWorkflowRunArtifacts, { ...at, run_id, per_page: 1 });
  const found = [];
  for (const a of list) {
    const { data: again } = await octokit.rest.actions.getArtifact({ ...at, artifact_id: a.id });
    const { data: zip } = await octokit.rest.actions.downloadArtifact({ ...at, artifact_id: a.id, archive_format: "zip" });
    const bytes = Buffer.from(zip);
    const digest = "sha256:" + createHash("sha256").update(bytes).digest("hex");
    found.push({ name: again.name, whole: bytes.length === a.size_in_bytes && digest === a.digest });
  }
  return found;
}

async function refused() {
  try {
    await octokit.rest.pulls.get({ ...at, pull_number: 999 });
  } catch (error) {
    return error.status;
  }
}

const opened = await pulls();
const pull_number = opened.number;
const result = {
  login: (await octokit.rest.users.getAuthenticated()).data.login,
  opened,
  labels: await labels(pull_number),
  comments: await comments(pull_number),
  ready: await draft("markPullRequestReadyForReview", opened.node),
  draft: await draft("convertPullRequestToDraft", opened.node),
  head: (await octokit.rest.git.getRef({ ...at, ref: "heads/" + head })).data.object.sha,
  run: await run(),
  missing: await refused(),
};
await octokit.rest.pulls.update({ ...at, pull_number, state: "closed", title: "Closed by another client" });
const { data: closed } = await octokit.rest.pulls.get({ ...at, pull_number });
result.closed = { state: closed.state, title: closed.title, draft: closed.draft, merged: closed.merged, comments: closed.comments, additions: closed.additions };
console.log(JSON.stringify(result));
