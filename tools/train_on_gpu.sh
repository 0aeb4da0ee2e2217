#!/usr/bin/env bash
# Training on a machine with a GPU, step by step: a first try, its speed, a long training, a policy search.
# usage: tools/train_on_gpu.sh STEP OUT, from the repository root; needs numpy, scipy, numba, torch, safetensors.
# A training stops after SECONDS_LEFT with a checkpoint and resumes from OUT when it is called again.
set -euo pipefail
step=${1:?which step: smoke, speed, train, search}
out=${2:?a folder for the results}
export PYTHONPATH="$PWD/src" PYTHONUNBUFFERED=1
mkdir -p "$out"

train() { # settings as JSON
    config=$(mktemp)
    printf '%s\n' "$1" >"$config"
    python -m deddqn.training "$config" --out "$out" --resume
    rm "$config"
}

case $step in
smoke) # a minute: compiles the kernels, captures the graph, trains and resumes in small
    small='"preset": "fast-r2", "device": "cuda", "n_runs": 256, "batch_size": 8192, "learning_starts": 20000, "budget": 1000,
        "evaluate_every": 4, "evaluate_repeats": 1, "tensorboard": false'
    train "{$small, \"cycles\": 20}"
    train "{$small, \"cycles\": 40}"
    ;;
speed) # two minutes; the targets are 1.0M evaluations/s at ratio 8, and 43M samples/s at ratio 64
    python -m benchmarks.bench_training --device cuda --seconds 15
    ;;
train) # PRESET is fast-r2 by default: 6.05e8 evaluations in all
    preset=${PRESET:-fast-r2}
    train "{\"preset\": \"$preset\", \"device\": \"cuda\", \"max_seconds\": ${SECONDS_LEFT:-500},
        \"tensorboard\": false ${SETTINGS:+, $SETTINGS}}"
    ;;
search) # needs no GPU: CMA-ES on all cores
    train "{\"preset\": \"softmax\", \"max_seconds\": ${SECONDS_LEFT:-500}, \"generations\": 1000,
        \"offspring\": 24, \"repeats\": 2, \"evaluate_every\": 20, \"evaluate_repeats\": 25 ${SETTINGS:+, $SETTINGS}}"
    ;;
*)
    echo "unknown step '$step'; one of smoke, speed, train, search" >&2
    exit 2
    ;;
esac
