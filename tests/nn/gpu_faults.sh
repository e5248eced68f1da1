#!/bin/sh
# Real faults on a real GPU while the fused step trains: one line that says what happened, exit code 1, and the last
# checkpoint as it was: another process evaluates it and goes on from it.
#
#   tests/nn/gpu_faults.sh HEDDLE LIBRARY    LIBRARY: gpu_fault.c's
set -u
heddle=$1 library=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

wrong() {
    echo "$1: $2"
    sed 's/^/    /' "$folder/$1.err"
    failed=1
}

# FAULT and the words that are said of it. A program that hangs is killed: it catches what would end it.
break_it() {
    fault=$1 words=$2
    timeout -k 10 100 env "HEDDLE_FAULT=$fault" ${after:+"HEDDLE_FAULT_AFTER=$after"} "LD_PRELOAD=$library" "$heddle" \
        train --device cuda --precision bf16 --batch 256 --data synth:count=4096 --epochs 1000000 \
        --out "$folder/$fault" --quiet >"$folder/$fault.out" 2>"$folder/$fault.err"
    code=$?
    [ $code -eq 1 ] || wrong "$fault" "exit code $code, not 1"
    [ "$(grep -c -v '^heddle: go on with: ' "$folder/$fault.err")" -eq 1 ] || wrong "$fault" "not one line on stderr"
    grep -q -i -E "$words" "$folder/$fault.err" || wrong "$fault" "nothing of '$words' on stderr"
    echo "$fault: $(cat "$folder/$fault.err")"
}

# In processes of their own, on the same card: what is left can be used.
goes_on() {
    timeout -k 10 100 "$heddle" eval "$folder/$1/last.safetensors" --device cuda --data synth:count=4096 \
        >"$folder/$1.out" 2>"$folder/$1.err" || wrong "$1" "the last checkpoint cannot be evaluated"
    grep -q "accuracy" "$folder/$1.out" || wrong "$1" "no accuracy of the last checkpoint"
    timeout -k 10 100 "$heddle" train --device cuda --out "$folder/$1" --resume --until 0.5 --quiet \
        >"$folder/$1.out" 2>"$folder/$1.err" || wrong "$1" "the run does not go on"
}

# Where training is well under way: the best checkpoint is written behind the first epoch's evaluation.
for fault in trap address; do
    after=$folder/$fault/best.safetensors
    case $fault in
    trap) break_it trap "illegal instruction|unspecified launch failure" ;;
    address) break_it address "illegal memory access|illegal address" ;;
    esac
    goes_on "$fault"
done
after=
break_it memory "memory"
! grep -q -i "illegal" "$folder/memory.err" || wrong memory "it is told as something else"
exit $failed
