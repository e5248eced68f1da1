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

# FAULT and the words that are said of it.
break_it() {
    fault=$1 words=$2
    timeout 100 env "HEDDLE_FAULT=$fault" ${after:+"HEDDLE_FAULT_AFTER=$after"} "LD_PRELOAD=$library" "$heddle" train \
        --device cuda --precision bf16 --batch 256 --data synth:count=4096 --epochs 1000000 --out "$folder/$fault" \
        --quiet >"$folder/$fault.out" 2>"$folder/$fault.err"
    code=$?
    [ $code -eq 1 ] || wrong "$fault" "exit code $code, not 1"
    [ "$(wc -l <"$folder/$fault.err")" -eq 1 ] || wrong "$fault" "not one line on stderr"
    grep -q -i -E "$words" "$folder/$fault.err" || wrong "$fault" "nothing of '$words' on stderr"
    echo "$fault: $(cat "$folder/$fault.err")"
}

# In processes of their own: what is left can be used.
goes_on() {
    "$heddle" eval "$folder/$1/last.safetensors" --device cuda --data synth:count=4096 >"$folder/$1.out" \
        2>"$folder/$1.err" || wrong "$1" "the last checkpoint cannot be evaluated"
    timeout 100 "$heddle" train --out "$folder/$1" --resume --until 0.5 --quiet >"$folder/$1.out" \
        2>"$folder/$1.err" || wrong "$1" "the run does not go on"
}

for fault in trap address; do
    after=$folder/$fault/last.safetensors
    case $fault in
    trap) break_it trap "illegal instruction|unspecified launch failure" ;;
    address) break_it address "illegal memory access|illegal address" ;;
    esac
    goes_on "$fault"
done
after=
break_it memory "memory"
exit $failed
