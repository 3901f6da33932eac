#!/usr/bin/env bash

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars \
    MODEL \
    TP \
    CONC \
    ISL \
    OSL \
    MAX_MODEL_LEN \
    RANDOM_RANGE_RATIO \
    RESULT_FILENAME

SERVER_LOG=$PWD/server.log
PORT=${PORT:-8888}

CONTEXT_LENGTH=$MAX_MODEL_LEN
if [ "${EVAL_ONLY:-false}" = "true" ]; then
    CONTEXT_LENGTH=${EVAL_MAX_MODEL_LEN:-$MAX_MODEL_LEN}
fi

start_gpu_monitor

set -x
simserve \
    --model-path "$MODEL" \
    --host 127.0.0.1 \
    --port "$PORT" \
    --tensor-parallel-size "$TP" \
    --context-length "$CONTEXT_LENGTH" \
    --max-running-requests 64 \
    --graph-max-batch-decode 16 > "$SERVER_LOG" 2>&1 &

SERVER_PID=$!
set +x

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

run_benchmark_serving \
    --model "$MODEL" \
    --port "$PORT" \
    --backend vllm \
    --input-len "$ISL" \
    --output-len "$OSL" \
    --random-range-ratio "$RANDOM_RANGE_RATIO" \
    --num-prompts "$((CONC * 10))" \
    --max-concurrency "$CONC" \
    --result-filename "$RESULT_FILENAME" \
    --result-dir "$PWD/" \
    --server-pid "$SERVER_PID" || exit 1

if [ "${RUN_EVAL:-false}" = "true" ]; then
    run_eval --framework lm-eval --port "$PORT" || exit 1
    append_lm_eval_summary
fi

stop_gpu_monitor
