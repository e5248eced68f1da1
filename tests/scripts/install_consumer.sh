#!/bin/sh
# An installed heddle can be used by a program that knows nothing of its source: through pkg-config, shared and static,
# and through find_package. The installed tree is moved first, because it must not matter where it stands. Its messages
# and pages name nothing that is not there, and what was installed can be removed.
#
#     install_consumer.sh BUILD_FOLDER CC
set -eu
build=$1 compiler=$2
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
uninstall=$(cd "$(dirname "$0")/../.." && pwd)/scripts/uninstall
scratch=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$scratch"' EXIT

cp "$build/install_manifest.txt" "$scratch/manifest" 2>/dev/null || :
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mkdir "$scratch/list"
cp "$build/install_manifest.txt" "$scratch/list"
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
expect 'share/doc/heddle/docs/data.md'
expect 'share/doc/heddle/docs/ladders/matmul.md'
expect 'share/doc/heddle/LICENSE'
expect 'share/doc/heddle/examples/models/wide-cnn.json'
expect 'share/man/man1/heddle.1'
expect 'share/man/man1/simcc.1'
expect 'share/bash-completion/completions/heddle'
expect 'share/zsh/site-functions/_heddle'
expect 'share/fish/vendor_completions.d/heddle.fish'
expect 'share/heddle/course/include/learn.h'
expect 'lib*/heddle/sim/judges/learn.o'
expect 'share/heddle/peers/train_gpu.py'
# The programs that measure PyTorch and JAX: all that they import of each other, found by the command where they are.
peers=$(dirname "$0")/../../peers
for script in "$prefix"/share/heddle/peers/*.py; do
    sed -n 's/^ *\(import\|from\) \([a-z_]*\).*/\2/p' "$script" | while read -r module; do
        if [ -e "$peers/$module.py" ] && [ ! -e "$prefix/share/heddle/peers/$module.py" ]; then
            echo "not installed: share/heddle/peers/$module.py, which $script imports"
            exit 1
        fi
    done
done
printf '#!/bin/sh\nexec python3 -I -S "$@"\n' >"$scratch/python"
chmod +x "$scratch/python"
measured=$(PEERS_PYTHON=$scratch/python "$prefix/bin/heddle" bench train --device cpu --kernels fused --model mlp \
    --data synth:count=100 --batch 20 --seconds 0.01 --rounds 3 --peers auto)
case $measured in
*'not installed for '*'JAX and PyTorch;'*) ;;
*)
    printf 'the installed peers were not run: %s\n' "$measured"
    exit 1
    ;;
esac
(cd "$scratch" && "$prefix/bin/heddle" learn init course >/dev/null && cmp course/05-first-kernels/05.1-which-element.cu \
    "$prefix/share/heddle/course/05-first-kernels/exercises/05.1-which-element/start.cu")

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

# --- messages name a page by where it is ------------------------------------------------------------------------------
says() { # WORDS: what was said has them
    case $(printf %s "$said" | tr -s ' \n' ' ') in
    *"$1"*) ;;
    *)
        printf 'not said: %s\nbut: %s\n' "$1" "$said"
        exit 1
        ;;
    esac
}
page=$prefix/share/doc/heddle/docs/data.md
said=$("$prefix/bin/heddle" data show "$consumer/main.c" 2>&1) && exit 1
says "; $page describes the layout"
said=$("$prefix/bin/heddle" help data list)
says "$page describes both."
said=$("$build/heddle" help data list)
says "docs/data.md describes both."
cat >"$scratch/page.c" <<'END'
#include <heddle/heddle.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    heddle_dataset *dataset = NULL;
    heddle_dataset_open(argv[argc - 1], NULL, HEDDLE_TRAIN, &dataset);
    puts(heddle_last_error());
    return 0;
}
END
# shellcheck disable=SC2046
"$compiler" -std=c11 -o "$scratch/page" "$scratch/page.c" $(pkg-config --cflags --libs heddle)
said=$(LD_LIBRARY_PATH=$libraries "$scratch/page" "$consumer/main.c")
says "; $page describes the layout"

# --- the pages' links lead somewhere ----------------------------------------------------------------------------------
find "$prefix/share/doc/heddle" -name '*.md' | while read -r page; do
    grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | sort -u | while read -r link; do
        case $link in
        http*) ;;
        *) [ -e "${page%/*}/$link" ] || echo "${page#"$prefix/"}: $link" ;;
        esac
    done
done >"$scratch/broken"
if [ -s "$scratch/broken" ]; then
    echo "links that lead nowhere:"
    cat "$scratch/broken"
    exit 1
fi
if ! grep -q '](ladders/matmul.md)\|](docs/ladders/matmul.md)\|](matmul.md)' -r "$prefix/share/doc/heddle"; then
    echo "links between pages are gone as well"
    exit 1
fi

# --- nothing stays ----------------------------------------------------------------------------------------------------
sed -i "s#^$scratch/first/#$scratch/prefix/#" "$scratch/list/install_manifest.txt"
"$uninstall" "$scratch/list"
(cd "$prefix" && find . ! -type d -o -name heddle -o -path '*/heddle/*') >"$scratch/left"
if [ -s "$scratch/left" ]; then
    echo "left behind by uninstall:"
    cat "$scratch/left"
    exit 1
fi

echo "heddle $version used through pkg-config (shared, static) and find_package"
