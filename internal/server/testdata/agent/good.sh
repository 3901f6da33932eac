# Answers with the first decision of the question, and looks at what it was given.
id=$(sed -n 's/^  "question": "\([0-9a-f]*\)",$/\1/p' question.json)
grep -q "$id" "$REFIT_TREE/../prompt.md" || exit 4
[ -s evidence/candidate.json ] && [ -s answer.schema.json ] && [ -s tree/recipe.sh ] || exit 5
echo "reads the recipe: $(cat tree/recipe.sh)"
printf '{"version": 1, "question": "%s", "decision": "proceed", "reason": "It is right.", "choices": ["e1"]}\n' "$id" > "$REFIT_ANSWER"
