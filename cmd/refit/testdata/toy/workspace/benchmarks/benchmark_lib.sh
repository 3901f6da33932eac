check_env_vars() { for v in "$@"; do [ -n "${!v:-}" ] || { echo "missing $v" >&2; exit 1; }; done; }
