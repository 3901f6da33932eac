#!/usr/bin/env bash
source "$(dirname "$0")/../../benchmark_lib.sh"
check_env_vars MODEL TP CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME
loom-serve \
    --model-path "$MODEL" \
    --port "$PORT" \
    --graph-max-batch 16 > "$PWD/server.log" 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$PWD/server.log" --server-pid "$SERVER_PID"
run_benchmark_serving --model "$MODEL" --port "$PORT" --backend vllm --input-len "$ISL" --output-len "$OSL" \
    --random-range-ratio "$RANDOM_RANGE_RATIO" --num-prompts "$((CONC * 5))" --max-concurrency "$CONC" \
    --result-filename "$RESULT_FILENAME" --result-dir "$PWD/" --server-pid "$SERVER_PID" || exit 1
if [ "${RUN_EVAL:-false}" = "true" ]; then
    run_eval --framework lm-eval --port "$PORT" || exit 1
fi
