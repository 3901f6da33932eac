# Answers with words, and with success.
echo 'I would say: proceed, {"decision": "proceed"}' > answer.json
