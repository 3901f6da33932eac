# Answers with a link to a file that somebody else wrote.
ln -s "$REFIT_TREE/recipe.sh" answer.json
