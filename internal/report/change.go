package report

// ChangeLeaveOut says that the image was changed and something was left out of
// its recipe.
func ChangeLeaveOut(newImage, what, script string) Prose {
	n, gone, file := inProse(newImage), inProse(what), inProse(script)
	return Prose{
		"Update the family's image to " + n + " and leave " + gone + " out of " + file + ".",
		"将该配方族的镜像更新为 " + n + "，并从 " + file + " 中去掉 " + gone + "。",
	}
}
