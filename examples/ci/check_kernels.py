#!/usr/bin/env python3
"""Runs the checks that CUDA sources ask for in a comment, and writes one SARIF file for all of them.

    // heddle: check --kernel "scale<float>" --grid "cdiv(n, 256)" --block 256
    //     --args "x: inout float[n], n = 1000"

    check_kernels.py [--heddle COMMAND] [--sarif FILE] [FILE.cu ...]

Without files it takes the .cu and .cuh files that git tracks; at least one of them must ask for a check. Each check runs in the
folder of its file. Exit codes: 0 nothing was found, 1 errors, 2 a check could not be made, 3 heddle is not installed. Copy it
into your project; it needs only Python.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

MARK = re.compile(r"^\s*//\s*heddle:\s*check\b(.*)$")
MORE = re.compile(r"^\s*// {4,}(\S.*)$")
FOUND, NOT_MADE, MISSING = 1, 2, 3


def marks(text):
    """The (line, words) of each comment that says how a file is checked; indented comment lines behind it belong to it."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        mark = MARK.match(lines[at])
        at += 1
        if mark is None:
            continue
        line, said = at, mark.group(1)
        while at < len(lines) and MORE.match(lines[at]):
            said += " " + MORE.match(lines[at]).group(1)
            at += 1
        found.append((line, said.strip()))
    return found


def tracked_files():
    """None: git cannot tell. A file that was deleted and not committed yet is still tracked."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "*.cu", "*.cuh"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in listed.split("\0") if name and os.path.exists(name)]


def move_places(node, folder):
    """Names of files relative to where the script runs, not to the folder of the check."""
    if isinstance(node, dict):
        location = node.get("artifactLocation")
        if location and not re.match(r"^[a-z]+:|^/", location.get("uri", "/")):
            location["uri"] = os.path.normpath(os.path.join(folder, location["uri"])).replace(os.sep, "/")
        for value in node.values():
            move_places(value, folder)
    elif isinstance(node, list):
        for value in node:
            move_places(value, folder)


def merge(document, more, folder):
    move_places(more, folder)
    if document is None:
        return more
    document["runs"][0]["results"] += more["runs"][0]["results"]
    return document


def check(heddle, path, said):
    """The exit code of one check, what it printed, and its SARIF document or None."""
    folder, name = os.path.split(path)
    try:
        words = shlex.split(said)
    except ValueError as error:
        return NOT_MADE, f"{error}: {said}\n", None
    with tempfile.TemporaryDirectory() as scratch:
        sarif = os.path.join(scratch, "result.sarif")
        result = subprocess.run([heddle, "check", "--no-counters", "--sarif", sarif, name, *words], cwd=folder or ".",
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        document = None
        if os.path.exists(sarif):
            with open(sarif, encoding="utf-8") as file:
                document = json.load(file)
    return result.returncode, result.stdout + result.stderr, document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=os.environ.get("HEDDLE", "heddle"))
    parser.add_argument("--sarif")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    heddle = shutil.which(options.heddle)
    if heddle is None:
        print(f"{options.heddle}: command not found; install heddle", file=sys.stderr)
        return MISSING
    heddle, worst, document, count, failed = os.path.abspath(heddle), 0, None, 0, 0
    files = options.files or tracked_files()
    if files is None:
        print("this is not a git repository, or git is not installed: name the files", file=sys.stderr)
        return NOT_MADE
    for path in files:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                asked = marks(file.read())
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            worst = NOT_MADE
            continue
        for line, said in asked:
            code, text, more = check(heddle, path, said)
            print(f"{path}:{line}: " + ("ok" if code == 0 else f"failed\n{text}"), flush=True)
            worst, count = max(worst, code if code in (0, FOUND) else NOT_MADE), count + 1
            failed += code != 0
            if more:
                document = merge(document, more, os.path.dirname(path))
    if options.sarif and document:
        with open(options.sarif, "w", encoding="utf-8") as file:
            json.dump(document, file)
    checks = f"{count} check{'' if count == 1 else 's'}"
    print(f"{failed} of {checks} failed" if failed else checks)
    if count == 0 and not options.files:
        print("no file has a comment // heddle: check, so nothing was checked", file=sys.stderr)
        return NOT_MADE
    return worst


if __name__ == "__main__":
    sys.exit(main())
