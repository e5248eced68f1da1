#!/bin/sh
# A device that is not there names the command that builds it: in a build folder, and where heddle is installed.
#
#     missing_devices.sh HEDDLE
set -eu
scratch=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/build/tests" "$scratch/bin"
touch "$scratch/build/CMakeCache.txt"
for folder in build build/tests bin; do
    ln "$1" "$scratch/$folder/heddle" 2>/dev/null || cp "$1" "$scratch/$folder/heddle"
done

says() { # FOLDER DEVICE WORDS
    code=0
    said=$("$scratch/$1/heddle" train --device "$2" --data synth:count=8 --out "$scratch/run" 2>&1) || code=$?
    case $code:$said in
    "3:heddle: $3"*) ;;
    *)
        printf 'not said in %s: %s\nbut, with exit code %s: %s\n' "$1" "$3" "$code" "$said"
        exit 1
        ;;
    esac
}
# shellcheck disable=SC2016 # words in backquotes, as they are
for folder in build build/tests; do
    says $folder sim 'the sim device is not built: run `make sim`'
    says $folder cuda 'the cuda device is not built: run `make cuda` (needs the CUDA toolkit)'
done
# shellcheck disable=SC2016
says bin sim "the sim device is not installed: run \`make sim install\` in heddle's sources"
says bin cuda "the cuda device is not installed: run \`make cuda install\` in heddle's sources (needs the CUDA toolkit)"
echo "a missing device says how to build it"
