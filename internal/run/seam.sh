
# ---- the seam: from here on the functions are those of refit ----
# The recipe stays as it is. What it calls to load the engine, to ask it
# questions and to wait for it is done by the binary named in REFIT.

# refit_beside PHASE ARGUMENTS... runs refit for as long as the engine lives
# that wait_for_server_ready saw, whether or not the recipe names its process
# again.
refit_beside() {
    local phase="$1"
    shift
    if [[ -z "${REFIT_SERVER_PID:-}" ]]; then
        "$REFIT" "$@"
        return
    fi
    "$REFIT" job wait-ready --pid "$REFIT_SERVER_PID" --log "${REFIT_SERVER_LOG:-$PWD/server.log}" \
        --phase "$phase" --died "$REFIT_DIED" -- "$REFIT" "$@"
}

run_benchmark_serving() {
    if [[ "${EVAL_ONLY:-false}" == "true" ]]; then
        echo "refit: EVAL_ONLY is true, no load" >&2
        return 0
    fi
    local model="${MODEL:-}" port="${PORT:-}" base_url="" backend="vllm" input="" output="" ratio="1"
    local prompts="" concurrency="" name="" dir="$PWD" warmups="" template=""
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --model) model="$2"; shift 2 ;;
            --port) port="$2"; shift 2 ;;
            --base-url) base_url="$2"; shift 2 ;;
            --backend) backend="$2"; shift 2 ;;
            --input-len) input="$2"; shift 2 ;;
            --output-len) output="$2"; shift 2 ;;
            --random-range-ratio) ratio="$2"; shift 2 ;;
            --num-prompts) prompts="$2"; shift 2 ;;
            --num-warmups) warmups="$2"; shift 2 ;;
            --max-concurrency) concurrency="$2"; shift 2 ;;
            --result-filename) name="$2"; shift 2 ;;
            --result-dir) dir="$2"; shift 2 ;;
            --use-chat-template | --dsv4) template="yes"; shift ;; # the server applies its own
            --trust-remote-code) shift ;;
            --server-pid) REFIT_SERVER_PID="${2:-${REFIT_SERVER_PID:-}}"; shift 2 ;;
            --bench-serving-dir | --tokenizer) shift 2 ;;
            *) echo "error: run_benchmark_serving: unknown argument: $1" >&2; return 1 ;;
        esac
    done
    local required
    for required in model input output prompts concurrency name; do
        if [[ -z "${!required}" ]]; then
            echo "error: run_benchmark_serving: no $required given" >&2
            return 1
        fi
    done
    if [[ "${PROFILE:-0}" == "1" ]]; then
        prompts="$concurrency"
    fi
    refit_beside load bench --own-gate \
        --backend "$backend" \
        ${template:+--use-chat-template} \
        --base-url "${base_url:-http://127.0.0.1:$port}" \
        --model "$model" \
        --dataset-name random \
        --random-input-len "$input" \
        --random-output-len "$output" \
        --random-range-ratio "$ratio" \
        --num-prompts "$prompts" \
        --num-warmups "${warmups:-$((2 * concurrency))}" \
        --max-concurrency "$concurrency" \
        --request-rate inf \
        --ignore-eos \
        --save-result \
        --percentile-metrics ttft,tpot,itl,e2el \
        --result-dir "$dir" \
        --result-filename "${name%.json}.json" \
        --health-retries 2
}

run_eval() {
    local port="${PORT:-}" framework="${EVAL_FRAMEWORK:-lm-eval}"
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --port) port="$2"; shift 2 ;;
            --framework) framework="$2"; shift 2 ;;
            *) shift ;;
        esac
    done
    if [[ "$framework" != "lm-eval" ]]; then
        echo "error: run_eval: framework $framework is not supported" >&2
        return 2
    fi
    local concurrency="${EVAL_CONCURRENT_REQUESTS:-${CONC:-64}}"
    refit_beside eval eval \
        --base-url "http://127.0.0.1:$port" \
        --model "${MODEL_NAME:-$MODEL}" \
        --task "$REFIT_EVAL_TASK" \
        --data "$REFIT_EVAL_DATA" \
        --sha256 "${REFIT_EVAL_SHA256:-}" \
        --concurrency "${concurrency%% *}" \
        --limit "${EVAL_LIMIT:-}" \
        --context "${EVAL_MAX_MODEL_LEN:-${MAX_MODEL_LEN:-0}}" \
        --result-dir "${EVAL_RESULT_DIR:-$PWD}"
}

append_lm_eval_summary() {
    : # run_eval leaves its files where they are collected
}

wait_for_server_ready() {
    local port="${PORT:-}" log="" pid=""
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --port) port="$2"; shift 2 ;;
            --server-log) log="$2"; shift 2 ;;
            --server-pid) pid="$2"; shift 2 ;;
            --sleep-interval) shift 2 ;;
            *) echo "error: wait_for_server_ready: unknown argument: $1" >&2; exit 1 ;;
        esac
    done
    "$REFIT" job wait-ready --port "$port" --pid "$pid" --log "$log" || exit 1
    REFIT_SERVER_PID="$pid" REFIT_SERVER_LOG="$log"
}

start_gpu_monitor() {
    : # telemetry belongs to the executor
}

stop_gpu_monitor() {
    :
}
