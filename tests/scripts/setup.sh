#!/bin/sh
# scripts/setup with the package tools of another system played by small scripts: what it installs, what it leaves
# alone, and what it says where there is no apt.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$1"
    exit 1
}

# A machine with only what setup itself needs.
mkdir "$scratch/bin"
for tool in sh sed tr id dirname cat sleep env; do
    ln -s "$(command -v "$tool")" "$scratch/bin/$tool"
done

output=$(PATH=$scratch/bin "$root/scripts/setup" build 2>&1) && fail "no apt, yet setup succeeded"
code=0
PATH=$scratch/bin "$root/scripts/setup" build >/dev/null 2>&1 || code=$?
[ "$code" -eq 3 ] || fail "no apt: exit code $code, not 3"
for package in gcc cmake ninja-build libcjson-dev; do
    case $output in
    *" $package "* | *"$package "*) ;;
    *) fail "no apt: $package is not in the list: $output" ;;
    esac
done
PATH=$scratch/bin HEDDLE_SETUP=no "$root/scripts/setup" build || fail "HEDDLE_SETUP=no does not skip it"

# Everything is there but what the file `missing` names; apt writes down what it is asked for.
cat >"$scratch/bin/dpkg-query" <<'END'
#!/bin/sh
for last; do :; done
if grep -qx "$last" "$MISSING"; then exit 1; fi
case $* in *Depends*) echo 'clang-14 (>= 14~)' ;; *) echo 'ii ' ;; esac
END
cat >"$scratch/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$ASKED"
case $* in *"${REFUSE:-nothing-is-refused}"*) exit 100 ;; esac
END
cat >"$scratch/bin/apt-cache" <<'END'
#!/bin/sh
[ "$1" = show ] && { [ "$2" = hello ] || [ "$2" = clang ]; }
END
printf '#!/bin/sh\nexec "$@"\n' >"$scratch/bin/sudo"
printf '#!/bin/sh\n' >"$scratch/bin/sleep.fast"
rm "$scratch/bin/sleep"
mv "$scratch/bin/sleep.fast" "$scratch/bin/sleep"
ln -s "$(command -v grep)" "$scratch/bin/grep"
chmod +x "$scratch/bin/dpkg-query" "$scratch/bin/apt-get" "$scratch/bin/apt-cache" "$scratch/bin/sudo" "$scratch/bin/sleep"
export MISSING="$scratch/missing" ASKED="$scratch/asked"
: >"$MISSING"
: >"$ASKED"

output=$(PATH=$scratch/bin "$root/scripts/setup" build 2>&1)
[ -z "$output" ] || fail "nothing is missing, yet setup says: $output"
[ ! -s "$ASKED" ] || fail "nothing is missing, yet apt was called: $(cat "$ASKED")"

printf 'cmake\nlibpng-dev\n' >"$MISSING"
PATH=$scratch/bin "$root/scripts/setup" build >/dev/null
grep -q ' update$' "$ASKED" || fail "apt's lists were not refreshed: $(cat "$ASKED")"
grep -q ' install .*cmake libpng-dev$' "$ASKED" || fail "not exactly cmake and libpng-dev: $(cat "$ASKED")"

: >"$ASKED"
code=0
REFUSE=install PATH=$scratch/bin "$root/scripts/setup" build >/dev/null 2>&1 || code=$?
[ "$code" -eq 3 ] || fail "apt refuses: exit code $code, not 3"
[ "$(grep -c install "$ASKED")" -eq 3 ] || fail "apt is not tried three times: $(cat "$ASKED")"

# Two calls for all groups; if the second fails, one for each of those that may be missing.
printf 'cmake\ng++\nclang\n' >"$MISSING"
: >"$ASKED"
PATH=$scratch/bin "$root/scripts/setup" build sim fuzz-extra >/dev/null
[ "$(grep -c ' update$' "$ASKED")" -eq 1 ] || fail "apt's lists are not refreshed once: $(cat "$ASKED")"
[ "$(grep -o 'install --no-install-recommends .*' "$ASKED")" = "install --no-install-recommends cmake g++
install --no-install-recommends clang" ] || fail "not one call for what must be there, one for the rest: $(cat "$ASKED")"
printf 'clang\nhello\n' >"$MISSING"
cp -r "$root/scripts" "$scratch/scripts"
printf 'other-extra: hello\n' >>"$scratch/scripts/packages"
: >"$ASKED"
output=$(REFUSE=clang PATH=$scratch/bin "$scratch/scripts/setup" fuzz-extra other-extra 2>&1) || fail "an extra stops another"
grep -q ' install --no-install-recommends hello$' "$ASKED" || fail "an extra keeps another away: $(cat "$ASKED")"
case $output in
*"going on without clang"*) ;;
*) fail "an extra that fails beside another is not told: $output" ;;
esac

printf 'clang\n' >"$MISSING"
output=$(REFUSE=install PATH=$scratch/bin "$root/scripts/setup" fuzz-extra 2>&1) || fail "an extra that fails stops setup"
case $output in
*"going on without clang"*) ;;
*) fail "an extra that fails is not told: $output" ;;
esac
printf 'cppcheck\nclang-tidy-14\n' >"$MISSING"
: >"$ASKED"
output=$(PATH=$scratch/bin "$root/scripts/setup" lint-extra 2>&1) || fail "an extra that apt does not know stops setup"
[ -z "$output" ] || fail "an extra that apt does not know: $output"
[ ! -s "$ASKED" ] || fail "an extra that apt does not know is asked for: $(cat "$ASKED")"
echo "setup installs what is missing, and only that"
