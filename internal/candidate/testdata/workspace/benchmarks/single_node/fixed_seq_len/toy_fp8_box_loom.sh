#!/usr/bin/env bash
source "$(dirname "$0")/../../benchmark_lib.sh"
check_env_vars MODEL TP CONC
loom-serve \
    --model-path "$MODEL" \
    --port "$PORT" \
    --graph-max-batch 16 > server.log 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log server.log --server-pid "$SERVER_PID"
