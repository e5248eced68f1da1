#!/bin/sh
# Every symbol that libheddle shows to the linker starts with heddle_: in the shared library the exported ones, in the
# archive all global ones. Checks first that a stray symbol would be found.
#
#     library_symbols.sh libheddle.so libheddle.a CC
set -eu
shared=$1 archive=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# AddressSanitizer adds names of its own (__odr_asan.heddle_x) in builds that use it.
strays() { # nm arguments...
    nm --defined-only --extern-only --format=posix "$@" |
        awk 'NF >= 2 && $1 !~ /^heddle_/ && $1 !~ /^__odr_asan/ && $2 ~ /^[A-Z]$/ { print $1 }'
}

echo 'int stray_symbol; int heddle_fine;' >"$scratch/stray.c"
"$compiler" -shared -fPIC -o "$scratch/stray.so" "$scratch/stray.c"
"$compiler" -fvisibility=hidden -c -o "$scratch/stray.o" "$scratch/stray.c"
ar rc "$scratch/stray.a" "$scratch/stray.o"
for found in "$(strays --dynamic "$scratch/stray.so")" "$(strays "$scratch/stray.a")"; do
    if [ "$found" != stray_symbol ]; then
        echo "this check does not find a stray symbol: got '$found'"
        exit 1
    fi
done

exported=$(nm --dynamic --defined-only "$shared" | wc -l)
if [ "$exported" -lt 20 ]; then
    echo "$shared exports only $exported symbols: the public API is missing"
    exit 1
fi
for library in "--dynamic $shared" "$archive"; do
    # shellcheck disable=SC2086 # an option and a file
    found=$(strays $library)
    if [ -n "$found" ]; then
        echo "symbols of ${library#--dynamic } that do not start with heddle_:"
        echo "$found"
        exit 1
    fi
done

# What is exported is what the public headers declare: nothing internal slips out.
headers=$(dirname "$0")/../../include/heddle
nm --dynamic --defined-only --format=posix "$shared" | awk '{ print $1 }' | grep '^heddle_' | while read -r symbol; do
    if ! grep -rqw "$symbol" "$headers"; then
        echo "$symbol is exported but stands in no public header"
        exit 1
    fi
done
echo "$exported exported symbols, all heddle_"
