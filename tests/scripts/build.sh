#!/bin/sh
# scripts/build on a tiny project: it configures once, again for an option that changes or a package that is installed,
# and a copied tree builds in its own folder. A device that cannot be built is told in one line.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$1"
    exit 1
}

first=$scratch/first
mkdir -p "$first/scripts"
cp "$root/scripts/build" "$first/scripts/build"
cat >"$first/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(tiny LANGUAGES NONE)
set(COLOUR red CACHE STRING "what is written")
file(APPEND ${PROJECT_BINARY_DIR}/configured "${COLOUR}\n")
message(STATUS "no compiler of its own: built without the toy device")
foreach(name one two)
  add_custom_command(OUTPUT ${name} COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/text ${PROJECT_BINARY_DIR}/${name}
    DEPENDS ${PROJECT_SOURCE_DIR}/text)
  add_custom_target(make_${name} ALL DEPENDS ${name})
endforeach()
END
echo first >"$first/text"
configured() { # TIMES COLOUR: the folder was configured so often, the last time with that colour
    [ "$(wc -l <"$first/build/configured")" -eq "$1" ] || fail "configured $(wc -l <"$first/build/configured") times, not $1"
    [ "$(tail -n 1 "$first/build/configured")" = "$2" ] || fail "the last colour is not $2"
}

"$first/scripts/build" build make_one >"$scratch/output" 2>&1 || fail "$(cat "$scratch/output")"
[ -f "$first/build/one" ] || fail "the target was not built"
[ ! -f "$first/build/two" ] || fail "a target was built that was not asked for"
configured 1 red
"$first/scripts/build" build make_one make_two >/dev/null
[ -f "$first/build/two" ] || fail "the second target was not built"
configured 1 red

# --- options ----------------------------------------------------------------------------------------------------------
"$first/scripts/build" build -DCOLOUR=green >/dev/null
configured 2 green
"$first/scripts/build" build -DCOLOUR=green >/dev/null
"$first/scripts/build" build >/dev/null
configured 2 green

# --- packages ---------------------------------------------------------------------------------------------------------
if [ -f /var/lib/dpkg/status ]; then
    touch -d '2000-01-01' "$first/build/configure.log"
    "$first/scripts/build" build >/dev/null
    configured 3 green
    "$first/scripts/build" build >/dev/null
    configured 3 green
fi

# --- a copied tree ----------------------------------------------------------------------------------------------------
cp -a "$first" "$scratch/second"
echo second >"$scratch/second/text"
"$scratch/second/scripts/build" build >"$scratch/output" 2>&1 || fail "the copy does not build: $(cat "$scratch/output")"
[ "$(cat "$scratch/second/build/one")" = second ] || fail "the copy did not build in its own folder"
[ "$(cat "$first/build/one")" = first ] || fail "the copy built in the folder of the original"
rm "$scratch/second/build/CMakeCache.txt"
cp "$first/build/build.ninja" "$scratch/second/build/build.ninja"
echo later >"$scratch/second/text"
"$scratch/second/scripts/build" build >"$scratch/output" 2>&1 || fail "the copy does not build: $(cat "$scratch/output")"
[ "$(cat "$scratch/second/build/one")" = later ] || fail "without its cache the copy did not build in its own folder"
[ "$(cat "$first/build/one")" = first ] || fail "without its cache the copy built in the folder of the original"
cp -a "$first/build" "$first/other"
echo third >"$first/text"
"$first/scripts/build" other >/dev/null 2>&1
[ "$(cat "$first/other/one")" = third ] || fail "the copied folder was not built in"
[ "$(cat "$first/build/one")" = first ] || fail "the copied folder built in the original"

# --- what cannot be built ---------------------------------------------------------------------------------------------
code=0
said=$("$first/scripts/build" build make_one heddle_module_toy 2>&1) || code=$?
[ "$code" -eq 3 ] || fail "a device that cannot be built: exit code $code, not 3"
[ "$said" = "build: the toy device cannot be built: no compiler of its own" ] || fail "a device that cannot be built: $said"
echo 'message(FATAL_ERROR "the roof is on fire")' >>"$first/CMakeLists.txt"
said=$("$first/scripts/build" build -DCOLOUR=blue 2>&1) && fail "configuring failed, yet the build succeeded"
case $said in
*"roof is on fire"*"build: configuring failed") ;;
*) fail "what CMake said is not shown: $said" ;;
esac
echo "scripts/build configures when it must, and builds where it stands"
