# Answers with more than an answer may be.
head -c 100000 /dev/zero | tr '\0' ' ' > answer.json
