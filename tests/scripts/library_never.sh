#!/bin/sh
# No object of the library refers to a function that ends the program (exits), or writes to standard output (prints).
# Checks first that an object which does would be found.
#
#     library_never.sh exits|prints libheddle.a CC
set -eu
kind=$1 archive=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case $kind in
exits)
    forbidden='exit _exit _Exit quick_exit abort __assert_fail __assert err errx verr verrx error raise'
    bad='#include <stdlib.h>
         void heddle_bad(int x) { if (x) exit(x); abort(); }'
    expected='abort exit'
    ;;
prints)
    forbidden='stdout printf vprintf puts putchar perror __printf_chk __vprintf_chk'
    bad='#include <stdio.h>
         void heddle_bad(int x) { printf("%d", x); fputc(x, stdout); }'
    expected='printf stdout'
    ;;
*) exit 2 ;;
esac

# OBJECT:SYMBOL for each forbidden reference, looked up in what the object leaves undefined.
references() { # ARCHIVE
    nm --undefined-only --print-file-name --format=posix "$1" 2>/dev/null |
        awk -v forbidden="$forbidden" '
            BEGIN { count = split(forbidden, list, " "); for (i = 1; i <= count; i++) bad[list[i]] = 1 }
            { symbol = $2; sub(/@.*/, "", symbol); if (symbol in bad) print $1 " " symbol }'
}

printf '%s\n' "$bad" >"$scratch/bad.c"
"$compiler" -O0 -c -o "$scratch/bad.o" "$scratch/bad.c"
ar rc "$scratch/bad.a" "$scratch/bad.o"
found=$(references "$scratch/bad.a" | awk '{ print $2 }' | sort | tr '\n' ' ')
if [ "$found" != "$expected " ]; then
    echo "this check finds '$found' where it should find '$expected'"
    exit 1
fi

objects=$(ar t "$archive" | wc -l)
if [ "$objects" -lt 10 ]; then
    echo "$archive holds only $objects objects"
    exit 1
fi
found=$(references "$archive")
if [ -n "$found" ]; then
    echo "objects of the library that refer to what it must never call:"
    echo "$found"
    exit 1
fi
echo "$objects objects, none refers to: $forbidden"
