#!/usr/bin/env bash
# Functions that recipes share. The load client and the eval belong to whoever
# runs the job: `refit job run` puts its own functions in the place of the ones
# below that say so.

# check_env_vars NAME...: all of them must be set and not empty.
check_env_vars() {
    local name missing=()
    for name in "$@"; do
        if [[ -z "${!name:-}" ]]; then
            missing+=("$name")
        fi
    done
    if [[ ${#missing[@]} -gt 0 ]]; then
        echo "error: these environment variables are missing:" >&2
        printf '  %s\n' "${missing[@]}" >&2
        exit 1
    fi
}

# wait_for_server_ready --port PORT --server-log FILE --server-pid PID
# [--sleep-interval SECONDS]: returns when /health answers; exits 1 when the
# server has died.
wait_for_server_ready() {
    local port="" log="" pid="" pause=5
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --port) port="$2"; shift 2 ;;
            --server-log) log="$2"; shift 2 ;;
            --server-pid) pid="$2"; shift 2 ;;
            --sleep-interval) pause="$2"; shift 2 ;;
            *) echo "wait_for_server_ready: unknown argument: $1" >&2; exit 1 ;;
        esac
    done
    if [[ -z "$port" || -z "$log" || -z "$pid" ]]; then
        echo "wait_for_server_ready: --port, --server-log and --server-pid are required" >&2
        exit 1
    fi
    until curl --silent --fail --max-time 10 --output /dev/null "http://127.0.0.1:$port/health"; do
        if ! kill -0 "$pid" 2>/dev/null; then
            echo "error: the server died before it was ready; its log:" >&2
            tail -n 50 "$log" >&2
            exit 1
        fi
        sleep "$pause"
    done
}

# run_benchmark_serving: the load client's arguments.
run_benchmark_serving() {
    echo "error: run_benchmark_serving: no load client here; run this recipe with refit job run" >&2
    return 1
}

# run_eval [--framework NAME] [--port PORT]: the accuracy eval.
run_eval() {
    echo "error: run_eval: no eval client here; run this recipe with refit job run" >&2
    return 1
}

# append_lm_eval_summary: meta_env.json and the eval's files into the workspace.
append_lm_eval_summary() {
    echo "append_lm_eval_summary: nothing to do; refit job run leaves the files" >&2
}

# start_gpu_monitor, stop_gpu_monitor: power telemetry, where there is a tool.
start_gpu_monitor() {
    echo "start_gpu_monitor: no telemetry here" >&2
}

stop_gpu_monitor() {
    :
}
