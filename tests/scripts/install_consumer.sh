#!/bin/sh
# An installed heddle can be used by a program that knows nothing of its source: through pkg-config, shared and static,
# and through find_package. The installed tree is moved first, because it must not matter where it stands.
#
#     install_consumer.sh BUILD_FOLDER CC
set -eu
build=$1 compiler=$2
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cp "$build/install_manifest.txt" "$scratch/manifest" 2>/dev/null || :
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
# The list of a real installation belongs to `make uninstall`, not to this test.
if [ -f "$scratch/manifest" ]; then
    cp "$scratch/manifest" "$build/install_manifest.txt"
else
    rm -f "$build/install_manifest.txt"
fi
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix

expect() { # FILE-PATTERN: something of that name was installed
    if [ -z "$(find "$prefix" -path "$prefix/$1")" ]; then
        echo "not installed: $1"
        exit 1
    fi
}
expect 'bin/heddle'
expect 'include/heddle/heddle.h'
expect 'lib*/libheddle.so.0'
expect 'lib*/libheddle.a'
expect 'share/doc/heddle/docs/data.md' # messages name it
expect 'share/man/man1/heddle.1'
expect 'share/bash-completion/completions/heddle'
expect 'share/zsh/site-functions/_heddle'
expect 'share/fish/vendor_completions.d/heddle.fish'

libraries=$(dirname "$(find "$prefix" -name libheddle.a)")
version=$("$prefix/bin/heddle" version | sed -n '1s/^heddle //p')
run() { # PROGRAM: it prints the version of the library it runs with
    printed=$(LD_LIBRARY_PATH=$libraries "$1")
    if [ "$printed" != "heddle $version" ]; then
        echo "$1 printed '$printed' instead of 'heddle $version'"
        exit 1
    fi
}

export PKG_CONFIG_PATH="$libraries/pkgconfig"
# shellcheck disable=SC2046 # lists of flags
"$compiler" -std=c11 -Wall -Wextra -pedantic -Werror -o "$scratch/shared" "$consumer/main.c" \
    $(pkg-config --cflags --libs heddle)
run "$scratch/shared"
# shellcheck disable=SC2046
"$compiler" -std=c11 -o "$scratch/static" "$consumer/main.c" $(pkg-config --cflags heddle) "$libraries/libheddle.a" \
    $(pkg-config --static --libs heddle | sed 's/-lheddle//')
run "$scratch/static"

cmake -S "$consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >"$scratch/cmake.log"
cmake --build "$scratch/cmake" >>"$scratch/cmake.log"
run "$scratch/cmake/consumer"

echo "heddle $version used through pkg-config (shared, static) and find_package"
