# Never ends by itself.
trap '' TERM
mkfifo never
read -r _ < never
