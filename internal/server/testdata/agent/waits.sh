# Says that it is there, and waits until somebody has answered in its place.
mkfifo go
echo "$PWD" > "$READY"
read -r _ < go
