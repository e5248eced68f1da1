#!/bin/sh
# A wrong SIM_GPU: a program ends with 2 and one line that lists the cards; a library says the line once and goes on.
# Arguments: a simulated program, a loader, a simulated library.
set -u
program=$1 loader=$2 library=$3
export SIM_GPU=voodoo2
unset SIM_REPORT

fail()
{
    echo "$1" >&2
    exit 1
}

said=$("$program" 2>&1)
[ $? -eq 2 ] || fail "the program does not end with 2"
case $said in
*"no card called 'voodoo2'; there are h200,"*) ;;
*) fail "the program says: $said" ;;
esac

said=$("$loader" "$library" calls_without_card 2>&1) || fail "the library fails: $said"
[ "$(echo "$said" | grep -c "no card called 'voodoo2'")" -eq 1 ] || fail "the library says: $said"
