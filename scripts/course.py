"""Reads the course's pages and checks what they claim: commands by running them, code by finding it in a file, figures in
the result files, links by following them. scripts/course-test is its command line."""
import json
import os
import re
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COURSE = os.path.join(ROOT, "course")

ELLIPSIS = "…"
CODE = ("c", "cuda", "cpp", "python")
RUN, STORED = "console", "console gpu"
FAILS = re.compile(r"console fails(?: (\d+))?")  # its last command exits with 1, or with the number
KNOWN = CODE + (RUN, "console fails", STORED, "sh", "text", "json", "make", "cmake", "dockerfile")
STORED_RUNS = os.path.join("results", "course-h200.json")
SECONDS = 120  # for one command, on a loaded machine

FENCE = re.compile(r"^```(.*)$")
SOURCE = re.compile(r"^<!-- from (\S+) -->$")
FIGURE = re.compile(r"(?P<number>[\d,]*\d(?:\.\d+)?)(?:\s?(?P<unit>%|×|times))?\s*<!-- figure: (?P<paths>.*?) -->", re.S)
JOINED = re.compile(r",?\s+(?:to|and|or)\s+|,\s+")  # between two figures of which the second has the unit
UNIT = re.compile(r"\b([nµmkMGT]?)(B/s|FLOP/s|s)(?!\w)|%|×|\btimes\b")
PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
FIELD_UNITS = {  # of the result files' fields; the others are ratios and counts
    "gbytes_per_second": "GB/s", "copy_bandwidth": "B/s", "gflops": "GFLOP/s", "peak_flops": "FLOP/s",
    "microseconds": "µs", "milliseconds": "ms", "urgent_batch": "ms", "other_batch": "ms",
}
UNITS = re.compile(r"\d\s?(?:[kKMGTP]B/s|[MGTP]FLOPS?(?:/s)?|[MGTP]FLOP/s|µs|us|ms|ns)(?!\w)")
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")
EXERCISE = re.compile(r"heddle learn (\w+) (\d+\.\d+)")


class Block:
    """One fenced block: its kind (what stands behind the backquotes), its lines, where it begins, the file it quotes."""

    def __init__(self, kind, line, source):
        self.kind, self.line, self.source, self.lines = kind, line, source, []


class Page:
    def __init__(self, path):
        self.path = path
        self.folder = os.path.dirname(path)
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.blocks, self.prose, self.problems = [], [], []
        self.read()

    def name(self, line):
        return "%s:%d" % (os.path.relpath(self.path, ROOT), line)

    def fail(self, line, text, *values):
        self.problems.append("%s: %s" % (self.name(line), text % values if values else text))

    def read(self):
        block, source = None, None
        for number, line in enumerate(self.lines, 1):
            fence = FENCE.match(line.strip())
            if block is not None:
                if fence:
                    block = None
                else:
                    block.lines.append(line)
            elif fence:
                block = Block(fence.group(1).strip(), number, source)
                self.blocks.append(block)
                if block.kind not in KNOWN and not FAILS.fullmatch(block.kind):
                    self.fail(number, "a block of kind '%s': use one of %s", block.kind, ", ".join(KNOWN))
            else:
                self.prose.append((number, line))
            quoted = SOURCE.match(line.strip())
            source = quoted.group(1) if quoted else source if not line.strip() else None


# --- commands -----------------------------------------------------------------------------------------------------------


def matches(shown, printed):
    """Whether lines of output are those shown, where a line of … stands for any lines and … in a line for any text."""
    if not shown:
        return not printed
    if shown[0].strip() == ELLIPSIS:
        return any(matches(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in shown[0].rstrip().split(ELLIPSIS))
    return bool(re.fullmatch(pattern, printed[0].rstrip())) and matches(shown[1:], printed[1:])


def trimmed(lines):
    """Without empty lines at both ends."""
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines = lines[1:]
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def steps(block):
    """(command, lines of output) for each `$` line; a line that ends with a backslash goes on in the next."""
    found = []
    continued = False
    for line in block.lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif continued:
            found[-1][0] += "\n" + line.lstrip("> ")
        elif found:
            found[-1][1].append(line)
        continued = bool(found) and not found[-1][1] and found[-1][0].endswith("\\")
    return found


def first_difference(shown, printed):
    for count in range(len(shown), 0, -1):
        if any(matches(shown[:count], printed[:length]) for length in range(len(printed) + 1)):
            return shown[count] if count < len(shown) else "the end of the output"
    return shown[0] if shown else "no output"


def is_run(block):
    return block.kind == RUN or bool(FAILS.fullmatch(block.kind))


def statuses(block):
    """The exit status that each command of the block must have."""
    fails = FAILS.fullmatch(block.kind)
    last = int(fails.group(1) or 1) if fails else 0
    return [0] * (len(steps(block)) - 1) + [last]


def run(command, folder, environment):
    """(exit status, output); raises TimeoutExpired when the command, and all that it started, had to be killed."""
    with subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output.decode("utf-8", "replace")


def run_block(page, block, folder, environment):
    for (command, shown), expected in zip(steps(block), statuses(block)):
        try:
            status, output = run(command, folder, environment)
        except subprocess.TimeoutExpired:
            page.fail(block.line, "`%s` did not end within %d s", command, SECONDS)
            continue
        printed = trimmed(output.split("\n"))
        if not matches(trimmed(shown), printed):
            page.fail(block.line, "`%s` does not print what is shown, from this line on: %s\n    it prints:\n%s", command,
                      first_difference(trimmed(shown), printed), "\n".join("    | " + line for line in printed[:60]))
        elif status != expected:
            page.fail(block.line, "`%s` exits with %d, and must exit with %d: write `console fails`, or `console fails %d`, "
                      "where that is right", command, status, expected, status)


def last_line(command):
    """The last line that a command prints; empty where it fails."""
    status, output = run(command, ROOT, None)
    return trimmed(output.split("\n"))[-1] if status == 0 and output.strip() else ""


def recorded(page, folder, environment):
    """What the page's commands for a GPU print here, as rows of the file of stored runs; folders are named as a reader
    has them."""
    rows = []
    environment = dict(environment, PYTHONWARNINGS="ignore")
    for command, _ in (step for block in page.blocks if block.kind == STORED for step in steps(block)):
        try:
            status, output = run(command, folder, environment)
        except subprocess.TimeoutExpired:
            status, output = 124, ""
        output = output.replace(folder, ".").replace(os.path.expanduser("~"), "~")
        rows.append({"page": os.path.relpath(page.path, ROOT), "command": command, "status": status, "output": output,
                     "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
    return rows


def stored(path):
    """The stored runs of a file that may not exist yet."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["runs"]


def stored_block(page, block):
    runs = {run["command"]: run for run in stored(os.path.join(ROOT, STORED_RUNS))}
    for command, shown in steps(block):
        if command not in runs:
            page.fail(block.line, "`%s` has no stored run in %s", command, STORED_RUNS)
        elif not matches(trimmed(shown), trimmed(runs[command]["output"].split("\n"))):
            page.fail(block.line, "`%s` is shown with other output than the run stored on %s", command,
                      runs[command]["date"])


# --- code ---------------------------------------------------------------------------------------------------------------


def stands_in(lines, text):
    """Whether the lines stand in the text one after another, where … skips some; indentation of the whole may differ."""
    there = [line.strip() for line in text.split("\n")]
    wanted = [line.strip() for line in lines]

    def from_here(at, rest):
        while rest:
            if rest[0] == ELLIPSIS:
                return any(from_here(later, rest[1:]) for later in range(at, len(there) + 1))
            if at >= len(there) or not re.fullmatch(".*".join(map(re.escape, rest[0].split(ELLIPSIS))), there[at]):
                return False
            at, rest = at + 1, rest[1:]
        return True
    return any(from_here(start, wanted) for start in range(len(there)))


def files_below(folder, endings):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                  if name.endswith(tuple(endings)))


def check_code(page, block):
    if block.source:
        paths = [os.path.join(base, block.source) for base in (page.folder, ROOT)]
        paths = [path for path in paths if os.path.exists(path)][:1]
        if not paths:
            page.fail(block.line, "quotes %s, which does not exist", block.source)
            return
    else:
        paths = files_below(page.folder, (".cu", ".c", ".h", ".cuh", ".py"))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            if stands_in(trimmed(block.lines), file.read()):
                return
    page.fail(block.line, "this code stands in no file: quote %s as it is, or put it into a file that runs",
              block.source or "a file of this folder")


def names(command, file):
    """Whether a file of the folder is a word of the command, or the end of one such as FILE=x.cu."""
    return bool(re.search(r"(?<![\w./-])(?:\./)?%s(?![\w./-])" % re.escape(file), command))


def check_files_run(page):
    """Every program beside the page is run by a command on it; one that says what it needs may stand in an sh block."""
    run_here = [command for block in page.blocks if is_run(block) or block.kind == STORED for command, _ in steps(block)]
    shown = ["\n".join(block.lines) for block in page.blocks if block.kind == "sh"]
    for name in sorted(os.listdir(page.folder)):
        if not name.endswith((".cu", ".c", ".py")):
            continue
        path = os.path.join(page.folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        needy = re.match(r"(#|//) needs: ", text)
        if not any(names(command, name) for command in (run_here + shown if needy else run_here)):
            page.fail(1, "%s is never run: show a command that does", name)
        if name.endswith(".py"):  # those that need a GPU are at least legal Python
            try:
                compile(text, path, "exec")
            except SyntaxError as problem:
                page.fail(1, "%s, line %s: %s", name, problem.lineno, problem.msg)


# --- figures ------------------------------------------------------------------------------------------------------------


def value_at(path_text):
    """The number that `results/x.json results[op=a,rung=b].field` names."""
    name, _, path = path_text.strip().partition(" ")
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        value = json.load(file)
    for part in re.findall(r"\[[^\]]*\]|[^.\[\]]+", path.strip()):
        if not part.startswith("["):
            value = value[part]
        elif part[1:-1].isdigit():
            value = value[int(part[1:-1])]
        else:
            wanted = [pair.partition("=") for pair in part[1:-1].split(",")]
            rows = [row for row in value if all(str(row.get(key)) == text for key, _, text in wanted)]
            if len(rows) != 1:
                raise ValueError("%s names %d rows" % (part, len(rows)))
            value = rows[0]
    return float(value)


def rounds_to(value, written):
    """Whether a number is written as this value, rounded."""
    digits = len(written.partition(".")[2])
    return abs(round(value, digits) - float(written.replace(",", ""))) < 0.05 * 10.0 ** -digits


def scale(unit):
    """(what is measured, how much one of this unit is)"""
    prefix, base = UNIT.fullmatch(unit).groups()
    return (base, PREFIXES[prefix]) if base else ("", 0.01 if unit == "%" else 1)


def in_unit(paths, unit):
    """The number that one path names, or the ratio of two, in the unit that is written behind it."""
    field_units = [FIELD_UNITS.get(re.search(r"(\w*)\s*$", path).group(1), "×") for path in paths]
    value = value_at(paths[0])
    if len(paths) == 2:
        if field_units[0] != field_units[1]:
            raise ValueError("a ratio of %s and %s" % tuple(field_units))
        value, field_units = value / value_at(paths[1]), ["×"]
    (measured, one), (written, each) = scale(field_units[0]), scale(unit or "×")
    if measured != written:
        raise ValueError("the result file has %s, and %s is written" % (field_units[0], unit or "no unit"))
    return value * one / each


def header_unit(text, position):
    """The unit in the heading of the table's column that has this position; None outside tables."""
    lines = text[:position].split("\n")
    if not lines[-1].startswith("|"):
        return None
    top = len(lines) - 1
    while top > 0 and lines[top - 1].startswith("|"):
        top -= 1
    headings, column = lines[top].split("|"), lines[-1].count("|")
    unit = UNIT.search(headings[column]) if column < len(headings) else None
    return unit and unit.group(0)


def units(text, figures):
    """For each figure the unit: behind it, above its column, or that of a neighbour: `3 to 4 GB/s`, `3 GB/s with a, 4 with b`."""
    found = []
    for figure in figures:
        behind = UNIT.match(text, re.compile(r"\s*").match(text, figure.end()).end())
        found.append(figure["unit"] or behind and behind.group(0) or header_unit(text, figure.start()))
    for i in range(len(figures) - 2, -1, -1):
        if JOINED.fullmatch(text[figures[i].end():figures[i + 1].start()]):
            found[i] = found[i] or found[i + 1]
    for i in range(1, len(figures)):
        if "\n\n" not in text[figures[i - 1].end():figures[i].start()]:
            found[i] = found[i] or found[i - 1]
    return found


def check_figures(page):
    text = "\n".join("" if line is None else line for line in whole(page))
    figures = list(FIGURE.finditer(text))
    for figure, unit in zip(figures, units(text, figures)):
        line = text.count("\n", 0, figure.start()) + 1
        try:
            value = in_unit(" ".join(figure["paths"].split()).split(" / "), unit)
        except (OSError, ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as problem:
            page.fail(line, "figure '%s': %s", figure["paths"], problem)
            continue
        if not rounds_to(value, figure["number"]):
            page.fail(line, "%s %s is written where the result file has %.6g", figure["number"], unit or "", value)
    marks = text.count("<!-- figure:")
    if marks != len(figures):
        page.fail(1, "%d figure comments, of which %d stand behind a number", marks, len(figures))
    for number, line in page.prose:
        bare = re.sub(r"<!--.*?-->", "\0", line)
        for unit in UNITS.finditer(bare):
            if "\0" not in bare[max(0, unit.start() - 1):unit.end() + 2] and "\0" not in bare[:unit.end()][-14:]:
                page.fail(number, "'%s' has no source: name the result file behind it", unit.group(0))


def whole(page):
    """The page's lines, with those of blocks left empty."""
    lines = [None] * (len(page.lines) + 1)
    for number, line in page.prose:
        lines[number - 1] = line
    return lines


# --- links --------------------------------------------------------------------------------------------------------------


def anchors(path):
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def has_section(number):
    chapter = "%02d-" % int(number.partition(".")[0])
    for folder in os.listdir(COURSE):
        if folder.startswith(chapter):
            with open(os.path.join(COURSE, folder, "README.md"), encoding="utf-8") as file:
                return f"\n## {number} " in file.read()
    return False


def check_links(page, exercises):
    for number, line in page.prose:
        for picture, target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                if not target.startswith("https://"):
                    page.fail(number, "%s is not https", target)
                continue
            name, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(page.folder, name)) if name else page.path
            if not os.path.exists(path):
                page.fail(number, "%s does not exist", target)
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                page.fail(number, "%s has no heading #%s", name or "this page", anchor)
    for number, line in enumerate(page.lines, 1):
        for action, exercise in EXERCISE.findall(line):
            if exercise not in exercises and not (action == "read" and has_section(exercise)):
                page.fail(number, "there is no exercise %s", exercise)


# --- pages --------------------------------------------------------------------------------------------------------------


def exercise_numbers():
    found = set()
    for chapter in os.listdir(COURSE):
        folder = os.path.join(COURSE, chapter, "exercises")
        if os.path.isdir(folder):
            found.update(name.partition("-")[0] for name in os.listdir(folder))
    return found


def pages():
    return files_below(COURSE, (".md",))


def is_chapter(page):
    return os.path.basename(page.path) == "README.md" and os.path.basename(os.path.dirname(page.folder)) == "course"


def check_text(page, exercises):
    """All that needs no command to run."""
    check_links(page, exercises)
    check_figures(page)
    for block in page.blocks:
        if block.kind in CODE:
            check_code(page, block)
        elif block.kind == STORED:
            stored_block(page, block)
    if is_chapter(page):
        check_files_run(page)
