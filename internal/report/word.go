package report

// statusWord is an attempt's status as a heading says it.
func statusWord(s string, zh bool) string {
	words := map[string]Prose{
		"queued":    {"Queued", "排队中"},
		"running":   {"Running", "运行中"},
		"passed":    {"Passed", "已通过"},
		"failed":    {"Failed", "失败"},
		"cancelled": {"Cancelled", "已取消"},
		"deferred":  {"Deferred", "已延期"},
	}
	w, ok := words[s]
	switch {
	case !ok:
		return s
	case zh:
		return w.ZH
	}
	return w.EN
}

// Title is the sentence for a pull request's title: which family moves where.
func Title(key, tag string) Prose {
	return Prose{"Update " + key + " image to " + tag, "将 " + key + " 的镜像更新至 " + tag}
}

// Goal says what the candidate is for.
func Goal(oldImage, newImage string) Prose {
	o, n := inProse(oldImage), inProse(newImage)
	return Prose{"Update the engine image from " + o + " to " + n + ".", "将引擎镜像从 " + o + " 更新为 " + n + "。"}
}

// Change says that only the image was changed.
func Change(newImage string) Prose {
	n := inProse(newImage)
	return Prose{"Update the family's image to " + n + "; nothing else changes.", "将该配方族的镜像更新为 " + n + "，其余不变。"}
}

// ChangeRename says that the image was changed and a flag of its recipe was
// renamed, because the new engine no longer takes the old name.
func ChangeRename(newImage, oldFlag, newFlag, script string) Prose {
	n, from, to, file := inProse(newImage), inProse(oldFlag), inProse(newFlag), inProse(script)
	return Prose{
		"Update the family's image to " + n + " and rename " + from + " to " + to + " in " + file + ", because the new engine no longer takes the old name.",
		"将该配方族的镜像更新为 " + n + "，并在 " + file + " 中把 " + from + " 改名为 " + to + "，因为新引擎不再接受旧名称。",
	}
}

// ChangeSweep says that the whole family is measured at this head.
func ChangeSweep() Prose {
	return Prose{"Measure every point and eval of the family on the new image at this head.", "在此 head 上用新镜像测量该配方族的全部测试点与评测。"}
}

// Situation names where a candidate stands, for the fixed sentences.
type Situation string

// The situations that have sentences of their own.
const (
	Proposed         Situation = "proposed"
	BaselineFrozen   Situation = "baseline-frozen"
	SmokeQueued      Situation = "smoke-queued"
	SmokeRunning     Situation = "smoke-running"
	SmokePassed      Situation = "smoke-passed"
	SmokeFailed      Situation = "smoke-failed"
	SweepQueued      Situation = "sweep-queued"
	SweepRunning     Situation = "sweep-running"
	SweepPassed      Situation = "sweep-passed"
	SweepFailed      Situation = "sweep-failed"
	Validated        Situation = "validated"
	Regressed        Situation = "regressed"
	CapacityDeferred Situation = "capacity-deferred"
	ReadinessBlocked Situation = "readiness-blocked"
	Incompatible     Situation = "incompatible"
	Duplicate        Situation = "duplicate"
	Retired          Situation = "retired"
	AlreadyUpdated   Situation = "already-updated"
	Uncertain        Situation = "uncertain"
	FailedOutcome    Situation = "failed"
	UnexpectedError  Situation = "unexpected-error"
	Handoff          Situation = "handoff"
)

// sentences are what stands and what comes next, per situation.
func (s Situation) sentences() (status, next Prose) {
	table := map[Situation][2]Prose{
		Proposed: {{"The change is proposed; the baseline comes next.", "变更已提出，接下来发布基线。"},
			{"Publish the frozen baseline.", "发布已冻结的基线。"}},
		BaselineFrozen: {{"The baseline is frozen; the smoke run comes next.", "基线已冻结，接下来进行 smoke 运行。"},
			{"Start the smoke run on the new image.", "用新镜像启动 smoke 运行。"}},
		SmokeQueued: {{"The smoke run is queued.", "smoke 运行排队中。"},
			{"Wait for the smoke run to start.", "等待 smoke 运行开始。"}},
		SmokeRunning: {{"The smoke run is under way.", "smoke 运行进行中。"},
			{"Wait for the smoke run to finish.", "等待 smoke 运行结束。"}},
		SmokePassed: {{"The smoke run passed; the full sweep comes next.", "smoke 运行已通过，接下来进行完整 sweep。"},
			{"Append the changelog entry and start the full sweep.", "追加 changelog 条目并启动完整 sweep。"}},
		SmokeFailed: {{"The smoke run failed.", "smoke 运行失败。"},
			{"Read the failure and repair the change, or close it.", "分析失败原因，修复变更或将其关闭。"}},
		SweepQueued: {{"The full sweep is queued.", "完整 sweep 排队中。"},
			{"Wait for the full sweep to start.", "等待完整 sweep 开始。"}},
		SweepRunning: {{"The full sweep is under way.", "完整 sweep 进行中。"},
			{"Wait for the full sweep to finish.", "等待完整 sweep 结束。"}},
		SweepPassed: {{"The full sweep passed and is being verified.", "完整 sweep 已通过，正在验证。"},
			{"Verify the results and mark the pull request ready.", "验证结果并将 PR 标记为就绪。"}},
		SweepFailed: {{"The full sweep failed.", "完整 sweep 失败。"},
			{"Read the failure and repair the change, or close it.", "分析失败原因，修复变更或将其关闭。"}},
		Validated: {{"Every point and eval was measured and verified on the new image.", "全部测试点与评测均已在新镜像上测量并验证。"},
			{"A maintainer reviews and merges.", "由维护者审查并合并。"}},
		Regressed: {{"The full sweep is verified, but a required dimension is worse.", "完整 sweep 已验证，但有一项必须达标的指标变差。"},
			{"The pull request is closed and the branch is kept; a maintainer may release it.", "PR 已关闭并保留分支；维护者可将其释放。"}},
	}
	if pair, ok := table[s]; ok {
		return pair[0], pair[1]
	}
	status, ok := endings()[s]
	if !ok {
		return Prose{"The candidate is being worked on.", "候选正在处理中。"}, Prose{"Continue with the next step.", "继续下一步。"}
	}
	if s == Handoff {
		return status, Prose{"A maintainer decides.", "由维护者决定。"}
	}
	return status, Prose{"The pull request is closed; a later wave may try again.", "PR 已关闭；之后的批次可以重试。"}
}

// endings are the statuses of the ends that measured nothing to certify.
func endings() map[Situation]Prose {
	return map[Situation]Prose{
		CapacityDeferred: {"No eligible cluster had capacity before the dispatch.", "调度前没有符合条件且有余量的集群。"},
		ReadinessBlocked: {"Weights, mounts, credentials or routes are missing.", "缺少权重、挂载、凭据或路由。"},
		Incompatible:     {"The new image is incompatible with the recipe.", "新镜像与该配方不兼容。"},
		Duplicate:        {"Another pull request already makes this change.", "已有其他 PR 进行此变更。"},
		Retired:          {"The family is retired.", "该配方族已退役。"},
		AlreadyUpdated:   {"The family already uses this image.", "该配方族已使用此镜像。"},
		Uncertain:        {"The evidence does not decide; a person may look.", "现有证据无法定论，可由人工查看。"},
		FailedOutcome:    {"The candidate failed.", "候选失败。"},
		UnexpectedError:  {"The session ended with an unexpected error.", "会话因意外错误而结束。"},
		Handoff:          {"A maintainer has taken over.", "已由维护者接管。"},
	}
}

// Status says where the candidate stands.
func Status(s Situation) Prose { status, _ := s.sentences(); return status }

// Next says what happens next.
func Next(s Situation) Prose { _, next := s.sentences(); return next }

// inProse shows a name inside a sentence, in back-ticks.
func inProse(s string) string { return code(s) }
