#!/bin/sh
# Real faults on a real GPU while the fused step trains: one line that says what happened, exit code 1, and the last
# checkpoint as it was: another process evaluates it and goes on from it.
#
#   tests/nn/faults/gpu_faults.sh HEDDLE LIBRARY [--json FILE]    LIBRARY: fault.c's; FILE: what was seen, a row a fault
set -u
heddle=$1 library=$2 json=
[ "${3-}" != --json ] || json=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
rows=

wrong() {
    echo "$fault: $1"
    sed 's/^/    /' "$folder/$fault.err"
    failed=1 passed=false
}

# A program that hangs is killed: it catches what would end it.
run() {
    timeout -k 10 100 "$@" >"$folder/$fault.out" 2>"$folder/$fault.err"
}

# A FAULT has its files and its run in $folder/FAULT*. With --resume a run need not be told again what it was begun with.
begin() {
    fault=$1 passed=true happened=true intact=false goes_on=false
    after=$folder/$fault/best.safetensors # written behind the first epoch's evaluation: training is well under way
    how="--precision bf16 --batch 256 --data synth:count=4096"
}

# WORDS: what is said of the fault. The library is for heddle alone, not for what starts it.
break_it() {
    words=$1
    # shellcheck disable=SC2086 # $how is several words
    run env "HEDDLE_FAULT=$fault" ${after:+"HEDDLE_FAULT_AFTER=$after"} "LD_PRELOAD=$library" "$heddle" train \
        --device cuda $how --epochs 1000000 --out "$folder/$fault" --quiet
    code=$?
    told=$(grep -v '^heddle: resume with: ' "$folder/$fault.err")
    echo "$fault: $(cat "$folder/$fault.err")"
    if grep -q '^gpu_fault: ' "$folder/$fault.err"; then
        happened=false intact=null goes_on=null
        wrong "this fault cannot be made here"
        return
    fi
    [ $code -eq 1 ] || wrong "exit code $code, not 1"
    [ "$(printf '%s\n' "$told" | grep -c .)" -eq 1 ] || wrong "not one line on stderr"
    printf '%s\n' "$told" | grep -q -i -E "$words" || wrong "nothing of '$words' on stderr"
}

# In processes of their own, on the same card: what is left can be used. A run that is over has to be told of more
# epochs, or it would end at once, with 0.
look_after() {
    [ $happened = true ] || return
    last=$folder/$fault/last.safetensors
    if [ -e "$folder/$fault.before" ] && ! cmp "$folder/$fault.before" "$last"; then
        wrong "the last checkpoint is not the one before the fault"
    elif run "$heddle" eval "$last" --device cuda --data synth:count=4096 && grep -q accuracy "$folder/$fault.out"; then
        intact=true
    else
        wrong "the last checkpoint cannot be evaluated"
    fi
    if run "$heddle" train --device cuda --out "$folder/$fault" --resume --epochs 1000000 --until 0.5 --json &&
        grep -q '"event":"trained"' "$folder/$fault.out" && grep -q '"reached":true' "$folder/$fault.out"; then
        goes_on=true
    else
        wrong "the run does not go on"
    fi
}

# The file is whole after every fault.
note() {
    text=$(printf '%s' "$told" | tr '\n\t' '  ' | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')
    rows="$rows${rows:+,}
  {\"fault\": \"$fault\", \"exit_code\": $code, \"told\": \"$text\", \"intact\": $intact, \"goes_on\": $goes_on, \
\"passed\": $passed}"
    [ -z "$json" ] || printf '{"results": [%s\n]}\n' "$rows" >"$json"
}

begin trap
break_it "illegal instruction|unspecified launch failure"
look_after
note

begin address
break_it "illegal memory access|illegal address"
look_after
note

begin lost
break_it "unavailable"
look_after
note

# Memory is gone before the program begins: that of a run which has an epoch behind it and goes on.
begin memory
# shellcheck disable=SC2086
run "$heddle" train --device cuda $how --epochs 1 --out "$folder/memory" --quiet || wrong "no epoch before the fault"
cp "$folder/memory/last.safetensors" "$folder/memory.before" || wrong "no checkpoint before the fault"
after='' how=--resume
break_it "memory"
! grep -q -i "illegal" "$folder/memory.err" || wrong "it is told as something else"
look_after
note
exit $failed
