#!/bin/sh
# The command and the changelog speak of the version that CMakeLists.txt has.
#
#     version.sh HEDDLE
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
[ -n "$version" ] || { echo "CMakeLists.txt has no version"; exit 1; }
said=$("$1" --version | head -n 1)
[ "$said" = "heddle $version" ] || { echo "heddle --version says '$said', CMakeLists.txt $version"; exit 1; }
grep -q "^## \[$version\]\|^Version $version in the making" "$root/CHANGELOG.md" ||
    { echo "CHANGELOG.md has nothing about $version"; exit 1; }
grep -q '^## \[Unreleased\]' "$root/CHANGELOG.md" || { echo "CHANGELOG.md has no [Unreleased]"; exit 1; }
echo "$said"
