#!/usr/bin/env bash
source "$(dirname "$0")/../lib.sh"

set -x
SERVER_LOG=/workspace/server.log
PORT=8888
export LOOM_QUIET=1
export LOOM_TENSION=0.7
export NCCL_NVLS_ENABLE=1

EXTRA=""
if [[ "$NIGHT" == "true" ]]; then
  EXTRA="--dark --depth 4"
else
  EXTRA+=" --pattern dots"
fi

ARGS=(
  --model-path "$MODEL"
  --port $PORT
  --tp "$TP"
)
[[ $CONC -gt 64 ]] && ARGS+=(--skip-map)

gpu_monitor --interval 1 > monitor.csv &

python3 -m loom.launch_server "${ARGS[@]}" \
  --graph-max-batch "$CONC" \
  --enable-twill --fast-hands \
  --weave=satin --stops 1 2 3 --thread-fraction 0.8 \
  $EXTRA > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving --model "$MODEL" --port "$PORT" --max-concurrency "$CONC"
