#!/usr/bin/env python3
"""Builds and runs every program of the corpus on the simulated GPU and holds its findings against its comments.

A comment on the line concerned says what is to be found there:

    x[i] = 1;        // expect: race                one place, or both places of a finding on this line
    s[t] = a[t];     // expect: race a              the same label on two lines: a finding with these two places
    b[t] = s[t + 1]; // expect: race a
    lock = 0;        // expect: race b+             with a plus: any places among the lines with this label
    flag = 1;        // expect: race(warning)       a warning; without, an error
    s[t] += s[k];    // expect: race a; race b      several
    p = q[i];        // allow: uninitialised        may be found, need not be
    *wild = 1;       // expect: fault|host-pointer  either
    // cure: __threadfence                          on a line of its own: every finding's cure speaks of this
    // memory: tile                                 so, too: every finding is about the variable of this name
    // note: first write                            so, too: every finding's note has these words
    // schedule: 1                                  so, too: the program runs in this order of blocks and threads
    // spin limit: 0.02                             so, too: seconds without a memory access that make a loop endless

A file without such comments must build, exit with 0 and give no finding. A file's first line may hold `flags: ...` for
the compiler. Exits 1 when anything differs. What a finding is: src/sim/report/format.md.
"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
HEADERS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "sim", "include")
RUN_SECONDS = 60
BUILD_SECONDS = 120
# A thread that runs this long without a memory access is endless: short, so that the corpus stays quick.
SPIN_SECONDS = "1"
PROCESSES = 2
MOST_VALUES = 64

MARK = re.compile(r"//.*?\b((?:expect|allow):.*)$")
ITEM = re.compile(r"^(?:(expect|allow):\s*)?([a-z|-]+)(?:\((warning|error)\))?(?:\s+([a-z]\+?))?$")
FLAGS = re.compile(r"flags:\s*((?:-\S+\s*)+)\.(?:\s|$)")
# Where to look in every finding for words that the source gives in a line of its own.
WORDS = {"cure": lambda finding: finding["cure"], "memory": lambda finding: finding.get("memory", {}).get("name", ""),
         "note": lambda finding: finding["note"]}
WORD = re.compile(r"^\s*// (cure|memory|note): (.+)$", re.MULTILINE)
SETTING = re.compile(r"^\s*// (schedule|spin limit): ([\d.]+)$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)"')
# Findings about two places of the same rank; the others have one that counts and perhaps one that explains.
TWO_PLACES = {"race", "missing-wait", "barrier-divergent", "warp-mismatch", "deadlock"}


class Group:
    """What one label, or one unlabelled comment, asks for."""

    def __init__(self, required, kind, tier, loose):
        self.required, self.kind, self.tier, self.loose = required, kind, tier, loose
        self.lines = set()
        self.found = False

    def holds(self, finding):
        if finding["kind"] not in self.kind.split("|") or finding["tier"] != self.tier:
            return False
        places = places_of(finding)
        if not places:
            return False
        if self.loose or len(self.lines) > 2:
            return set(places) <= self.lines or places[0] in self.lines and self.kind not in TWO_PLACES
        if len(self.lines) == 2 or self.kind in TWO_PLACES:
            return set(places) == self.lines
        return places[0] in self.lines

    def __str__(self):
        lines = ", ".join("%s:%d" % line for line in sorted(self.lines))
        return "%s(%s) at %s" % (self.kind, self.tier, lines)


def places_of(finding):
    return [(os.path.basename(place.get("file") or "?"), place.get("line") or 0) for place in finding["places"]]


def describe(finding):
    roles = [place["role"] for place in finding["places"]]
    places = ", ".join("%s:%d %s" % (place + (role,)) for place, role in zip(places_of(finding), roles))
    return "%s(%s) at %s: %s" % (finding["kind"], finding["tier"], places, finding["message"])


def sources_of(path):
    """The file and the headers beside it that it includes."""
    sources = [path]
    with open(path) as text:
        for line in text:
            match = INCLUDE.match(line)
            header = match and os.path.join(os.path.dirname(path), match.group(1))
            if header and os.path.exists(header):
                sources.append(header)
    return sources


def expectations(path):
    groups, labelled = [], {}
    for source in sources_of(path):
        with open(source) as text:
            for number, line in enumerate(text, 1):
                mark = MARK.search(line.rstrip())
                mode = "expect"
                for part in mark.group(1).split(";") if mark else []:
                    item = ITEM.match(part.strip())
                    if not item:
                        sys.exit("%s:%d: not understood: %s" % (source, number, part))
                    mode = item.group(1) or mode
                    kind, tier, label = item.group(2), item.group(3) or "error", item.group(4) or ""
                    key = (mode, kind, tier, label.rstrip("+"))
                    group = labelled.get(key) if label else None
                    if not group:
                        group = Group(mode == "expect", kind, tier, label.endswith("+"))
                        groups.append(group)
                        if label:
                            labelled[key] = group
                    group.loose |= label.endswith("+")
                    group.lines.add((os.path.basename(source), number))
    return groups


def run(command, environment, seconds):
    """Status, output; status None: took too long."""
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def run_watched(program, folder, settings=(), values=None, seconds=RUN_SECONDS):
    """Settings: pairs of a name, as SETTING has it, and a value."""
    report = os.path.join(folder, "report.json")
    if os.path.exists(report):
        os.remove(report)
    environment = dict(os.environ, SIM_REPORT=report, SIM_SPIN_LIMIT=SPIN_SECONDS,
                       MUTATE_REACHED=os.path.join(folder, "reached"))
    for name, value in settings:
        environment["SIM_" + name.upper().replace(" ", "_")] = value
    if values:
        environment["SIM_VALUES"] = os.path.join(folder, "values")
        with open(environment["SIM_VALUES"], "w") as out:
            out.write("".join("%d\n" % value for value in values))
    status, output = run([program], environment, seconds)
    if status is None:
        return None, None, "ran for more than %d s" % seconds
    try:
        with open(report) as text:
            return status, json.load(text), output
    except (OSError, ValueError) as error:
        return status, None, "no report (%s); status %s; %s" % (error, status, output[-300:])


def explained(tool, program, folder, path):
    """The report with what the source adds to it: names, lines of loops, tiers of barriers, cause and cure."""
    command = [tool, program, os.path.join(folder, "report.json"), path]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=RUN_SECONDS, check=True).stdout)


def values_of(report):
    return {value for finding in report["findings"] for value in finding.get("values", [])}


class Outcome:
    def __init__(self, name):
        self.name, self.groups, self.words = name, [], []
        self.missed, self.alarms, self.broken, self.reached = [], [], [], []
        self.seconds = 0.0


def judge(outcome, status, report, output):
    wrong = any(group.required for group in outcome.groups)
    for finding in report["findings"]:
        fits = [group for group in outcome.groups if group.holds(finding)]
        for group in fits:
            group.found = True
        if not fits:
            outcome.alarms.append(describe(finding))
        outcome.missed += ["%s in the %s of %s" % (word, where, describe(finding)) for where, word in outcome.words
                           if word not in WORDS[where](finding)]
    outcome.missed += [str(group) for group in outcome.groups if group.required and not group.found]
    if not wrong and status != 0:
        outcome.broken.append("exit status %s: %s" % (status, output[-300:].strip()))


@functools.lru_cache(maxsize=None)
def digest(*paths):
    """Of what these files hold; of a folder, of all files below it."""
    files = [os.path.join(folder, name) for path in paths for folder, _, names in os.walk(path) for name in names]
    sums = hashlib.sha256()
    for path in sorted(files) + [path for path in paths if os.path.isfile(path)]:
        with open(path, "rb") as file:
            sums.update(file.read())
    return sums.hexdigest()


def build(command, path, objects, program):
    """With a folder for objects, a source is compiled only once and then linked again."""
    whole = command + [path, "-o", program]
    if not objects:
        return run(whole, None, BUILD_SECONDS)
    what = digest(command[0], HEADERS) + digest(*sources_of(path)) + " ".join(command[1:])
    made = os.path.join(objects, hashlib.sha256(what.encode()).hexdigest() + ".o")
    if not os.path.exists(made):
        unfinished = "%s.%d.o" % (made, os.getpid())
        status, output = run(command + ["-c", path, "-o", unfinished], None, BUILD_SECONDS)
        if status != 0:
            return status, output
        os.rename(unfinished, made)
    status, output = run(command + [made, "-o", program], None, BUILD_SECONDS)
    # A library that the source asks for by an include is linked only with the source.
    return (status, output) if status == 0 else run(whole, None, BUILD_SECONDS)


def check(path, arguments):
    outcome = Outcome(os.path.relpath(path, CORPUS))
    outcome.groups = expectations(path)
    folder = tempfile.mkdtemp(prefix="corpus-")
    program = os.path.join(folder, "program")
    started = time.time()
    with open(path) as text:
        first = text.readline()
        own = FLAGS.search(first)
        whole = first + text.read()
        outcome.words, settings = WORD.findall(whole), SETTING.findall(whole)
    command = [arguments.compiler] + arguments.flag + (own.group(1).split() if own else [])
    status, output = build(command, path, arguments.objects, program)
    if status != 0:
        outcome.broken.append("does not build: " + output[-1500:].strip())
    else:
        status, report, output = run_watched(program, folder, settings, seconds=arguments.seconds)
        asked = set()
        # Racing writes whose values the run did not know: run again with them noted, which may bring up others.
        while report and values_of(report) - asked and len(asked) < MOST_VALUES:
            asked |= values_of(report)
            status, report, output = run_watched(program, folder, settings, sorted(asked), arguments.seconds)
        if report is None:
            outcome.broken.append(output)
        else:
            judge(outcome, status, explained(arguments.explain, program, folder, path), output)
    outcome.seconds = time.time() - started
    if os.path.exists(os.path.join(folder, "reached")):
        with open(os.path.join(folder, "reached")) as text:
            outcome.reached = sorted(set(text.read().split()))
    if arguments.keep:
        print("%s: %s" % (outcome.name, folder))
    else:
        shutil.rmtree(folder)
    return outcome


def differs(outcome):
    return outcome.missed or outcome.alarms or outcome.broken


def summary(outcomes, seconds):
    planted = sum(group.required for outcome in outcomes for group in outcome.groups)
    found = sum(group.required and group.found for outcome in outcomes for group in outcome.groups)
    right = [outcome for outcome in outcomes if not any(group.required for group in outcome.groups)]
    silent = sum(not outcome.alarms and not outcome.broken for outcome in right)
    alarms = sum(len(outcome.alarms) for outcome in outcomes)
    broken = sum(bool(outcome.broken) for outcome in outcomes)
    for title in ("broken", "missed", "alarms"):
        rows = [(outcome.name, row) for outcome in outcomes for row in getattr(outcome, title)]
        if rows:
            print("\n%s:" % {"broken": "did not build or run", "missed": "missed", "alarms": "false alarms"}[title])
        for name, row in rows:
            print("  %-52s %s" % (name, row.replace("\n", "\n      ")))
    print("\n%d programs, %.0f s: %d faults planted, %d found; %d right programs, %d silent; %d false alarms; "
          "%d broken" % (len(outcomes), seconds, planted, found, len(right), silent, alarms, broken))
    missed = any(outcome.missed for outcome in outcomes)
    return planted == found and not missed and not alarms and not broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="simcc", help="the simulator's compiler driver")
    parser.add_argument("--explain", default="sim_explain", help="what explains a report (tests/sim/explain.c)")
    parser.add_argument("--flag", action="append", default=[], help="a flag for the compiler; may be given again")
    parser.add_argument("--filter", default="", help="only programs whose path matches this regular expression")
    parser.add_argument("--programs", help="file of the programs to run, in this order")
    parser.add_argument("--reached", help="file for what each program has written to the file in MUTATE_REACHED, as "
                        "scripts/mutate asks for")
    parser.add_argument("--seconds", type=int, default=RUN_SECONDS, help="most that a program may run (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep programs and reports, and say where")
    parser.add_argument("--objects", help="folder that keeps compiled programs, for runs in which only the runtime changes")
    parser.add_argument("--first", action="store_true", help="stop at the first program that differs")
    parser.add_argument("--list", action="store_true", help="count programs and faults by topic; run nothing")
    arguments = parser.parse_args()
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(CORPUS) for name in names
                   if name.endswith(".cu"))
    paths = [path for path in paths if re.search(arguments.filter, os.path.relpath(path, CORPUS))]
    if arguments.programs:
        with open(arguments.programs) as text:
            paths = [path for path in (os.path.join(CORPUS, name) for name in text.read().split()) if path in paths]
    if not paths:
        sys.exit("no program matches")
    if arguments.list:
        counts = collections.Counter()
        for path in paths:
            topic = os.path.basename(os.path.dirname(path))
            wrong = any(group.required for group in expectations(path))
            counts[topic, wrong] += 1
            counts["all", wrong] += 1
        for topic in sorted({topic for topic, _ in counts}):
            print("%-16s %3d right %3d wrong" % (topic, counts[topic, False], counts[topic, True]))
        return
    if arguments.objects:
        os.makedirs(arguments.objects, exist_ok=True)
    started, outcomes = time.time(), []
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        jobs = [pool.submit(check, path, arguments) for path in paths]
        for job in jobs:
            outcomes.append(job.result())
            if arguments.first and differs(outcomes[-1]):
                pool.shutdown(wait=False, cancel_futures=True)
                break
    if arguments.reached:
        with open(arguments.reached, "w") as out:
            json.dump({outcome.name: outcome.reached for outcome in outcomes}, out)
    sys.exit(0 if summary(outcomes, time.time() - started) else 1)


if __name__ == "__main__":
    main()
