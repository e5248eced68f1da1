#!/usr/bin/env python3
"""Runs the programs of counters/ on the simulated GPU and holds the counts of each line against its comment.

    value = a[t * 2]; // count: load global requests=1 lanes=32 units=8 ideal=4

    if (i < n) // branch: executions=4 divergent=1

Figures not named are not compared; several accesses of a line are parted by semicolons. units: 32-byte sectors in
global memory, wavefronts in shared memory. A program with marks of branches is built with --divergence. Every line that
has branches must have a mark then. Exits 1 when anything differs.
"""
import run_corpus
import argparse
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree

COUNTERS = os.path.join(run_corpus.HERE, "counters")
MARK = re.compile(r"//\s*count:\s*(.*)$")
BRANCH = re.compile(r"//\s*branch:\s*(.*)$")
FIGURES = ("requests", "lanes", "units", "ideal")


def expected(path):
    """(line, kind, space): figures."""
    wanted = {}
    with open(path) as text:
        for number, line in enumerate(text, 1):
            mark = MARK.search(line.rstrip())
            for part in mark.group(1).split(";") if mark else []:
                words = part.split()
                figures = [word.split("=") for word in words[2:]]
                wanted[number, words[0], words[1]] = {key: int(value) for key, value in figures}
    return wanted


def expected_branches(path):
    """line: (executions, divergent)."""
    with open(path) as text:
        marks = [(number, BRANCH.search(line.rstrip())) for number, line in enumerate(text, 1)]
    figures = [(number, dict(word.split("=") for word in mark.group(1).split())) for number, mark in marks if mark]
    return {number: (int(figure["executions"]), int(figure["divergent"])) for number, figure in figures}


def compare_branches(report, path):
    """Lines that differ, and how many figures were compared."""
    name, wanted, sums = os.path.basename(path), expected_branches(path), {}
    for kernel in report["kernels"]:
        for line in kernel.get("branches", []):
            executions, divergent = sums.get(line["line"], (0, 0))
            sums[line["line"]] = executions + line["executions"], divergent + line["divergent"]
    problems = ["%s:%d: branch: expected (executions, divergent) %s, counted %s" %
                (name, line, wanted.get(line), sums.get(line))
                for line in sorted(set(wanted) | set(sums)) if wanted.get(line) != sums.get(line)]
    return problems, 2 * len(wanted)


def counted(report, name):
    """The same from the report; the sizes of an access added up."""
    sums = {}
    for kernel in report["kernels"]:
        for line in kernel["lines"]:
            if os.path.basename(line.get("file") or "") == name:
                row = sums.setdefault((line["line"], line["kind"], line["space"]), dict.fromkeys(FIGURES, 0))
                for figure in FIGURES:
                    row[figure] += line[figure]
    return sums


def strangers(report, name):
    """Lines of files that are not the program's own."""
    files = {(line.get("file") or "?", line["line"]) for kernel in report["kernels"] for line in kernel["lines"]}
    return ["%s: accesses counted at %s:%d" % (name, path, line) for path, line in sorted(files)
            if os.path.basename(path) not in (name, "corpus.h")]


def check(path, compiler, flags):
    """Lines that differ, and how many figures were compared."""
    name, folder = os.path.basename(path), tempfile.mkdtemp(prefix="counters-")
    program = os.path.join(folder, "program")
    flags = flags + ["--divergence"] * bool(expected_branches(path))
    try:
        status, output = run_corpus.run([compiler, path, "-o", program] + flags, None, run_corpus.BUILD_SECONDS)
        if status != 0:
            return ["%s does not build: %s" % (name, output[-1500:])], 0
        status, report, output = run_corpus.run_watched(program, folder)
    finally:
        shutil.rmtree(folder)
    if report is None or status != 0:
        return ["%s: exit status %s: %s" % (name, status, output)], 0
    problems = ["%s: %s" % (name, run_corpus.describe(finding)) for finding in report["findings"]]
    problems += strangers(report, name)
    branches, compared = compare_branches(report, path)
    problems += branches
    rows = counted(report, name)
    for (line, kind, space), figures in sorted(expected(path).items()):
        row = rows.get((line, kind, space))
        compared += len(figures)
        if row is None:
            problems.append("%s:%d: no %s of %s memory counted" % (name, line, kind, space))
        elif any(row[key] != value for key, value in figures.items()):
            problems.append("%s:%d: %s %s: expected %s, counted %s" % (name, line, kind, space, figures, row))
    return problems, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="simcc", help="the simulator's compiler driver")
    parser.add_argument("--flag", action="append", default=[], help="a flag for the compiler; may be given again")
    parser.add_argument("--filter", default="", help="only programs whose name matches this regular expression")
    arguments = parser.parse_args()
    paths = [os.path.join(COUNTERS, name) for name in sorted(os.listdir(COUNTERS))
             if name.endswith(".cu") and re.search(arguments.filter, name)]
    total, problems = 0, []
    for path in paths:
        found, compared = check(path, arguments.compiler, arguments.flag)
        problems += found
        total += compared
    problems_and_total = problems + ["%d programs, %d figures compared, %d differences" %
                                     (len(paths), total, len(problems))]
    print("\n".join(problems_and_total))
    sys.exit(1 if problems or not total else 0)


if __name__ == "__main__":
    main()
