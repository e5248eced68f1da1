#!/bin/sh
# The CUDA examples compile without a warning, and where there is no GPU each says so in one line and ends with 3.
#
#     cuda_examples.sh NVCC EXAMPLES
set -eu
nvcc=$1
examples=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

compile() {
    name=$1
    shift
    "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra "$@" "$examples/$name.cu" -o "$scratch/$name"
    status=0
    CUDA_VISIBLE_DEVICES='' "$scratch/$name" >"$scratch/out" 2>"$scratch/err" || status=$?
    if [ "$status" -ne 3 ] || [ -s "$scratch/out" ] || ! grep -q "^$name: no GPU here" "$scratch/err"; then
        echo "$name without a GPU: exit $status" >&2
        cat "$scratch/out" "$scratch/err" >&2
        exit 1
    fi
}

compile unified_memory
compile dynamic_parallelism -rdc=true -lcudadevrt
