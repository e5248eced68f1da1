#!/bin/sh
# scripts/test says where the time went, and how many passed and failed on its last line, and fails when a test fails or none ran: held with
# tiny suites.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir "$scratch/scripts"
cp "$root/scripts/test" "$root/scripts/timed" "$root/scripts/times" "$scratch/scripts"

# suite NAME CODE LINE TESTS...: a suite of those lines ends with that line and exit code
suite() {
    name=$1 code=$2 line=$3
    shift 3
    mkdir -p "$scratch/$name"
    printf '%s\n' "$@" >"$scratch/$name/CTestTestfile.cmake"
    got=0
    "$scratch/scripts/test" "$name" >"$scratch/output" 2>&1 || got=$?
    last=$(tail -n 1 "$scratch/output")
    if [ "$last" != "$line" ] || { [ "$code" -eq 0 ] && [ "$got" -ne 0 ]; } || { [ "$code" -ne 0 ] && [ "$got" -eq 0 ]; }; then
        cat "$scratch/output"
        echo "suite $name: exit code $got, last line '$last'; expected '$line'"
        exit 1
    fi
}

suite passing 0 '2 passed, 0 failed' 'add_test(a "echo" "[  PASSED  ] 5 test(s).")' 'add_test(b "true")'
grep -q 'inside them: 5$' "$scratch/output" || { echo "test functions are not counted"; exit 1; }
grep -q '^  tests  *[0-9]*:[0-9][0-9]$' "$scratch/output" || { echo "the time of the tests is not told"; exit 1; }
grep -q '^    a  *[0-9]* s$' "$scratch/output" || { echo "the time of a test is not told"; exit 1; }
suite failing 1 '1 passed, 2 failed' 'add_test(a "true")' 'add_test(b "false")' 'add_test(c "/nosuch/program")'
suite empty 1 '0 passed, 0 failed' ''
echo "the closing line counts"
