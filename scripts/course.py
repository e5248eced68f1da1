"""Reads the course's pages and checks what they claim: commands by running them, code by finding it in a file, figures in
the result files, links by following them. scripts/course-test is its command line."""
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COURSE = os.path.join(ROOT, "course")

ELLIPSIS = "…"
CODE = ("c", "cuda", "cpp", "python")
RUN, STORED = "console", "console gpu"
KNOWN = CODE + (RUN, STORED, "sh", "text", "json", "make", "cmake", "dockerfile")
STORED_RUNS = os.path.join("results", "course-h200.json")
SECONDS = 120  # for one command, on a loaded machine

FENCE = re.compile(r"^```(.*)$")
SOURCE = re.compile(r"^<!-- from (\S+) -->$")
FIGURE = re.compile(r"([\d,]*\d(?:\.\d+)?)(?:\s?(?:%|×|times))?\s*<!-- figure: (.*?) -->", re.S)
UNITS = re.compile(r"\d\s?(?:[kKMGTP]B/s|[MGTP]FLOPS?(?:/s)?|[MGTP]FLOP/s|µs|us|ms|ns)(?!\w)")
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")
EXERCISE = re.compile(r"heddle learn \w+ (\d+\.\d+)")


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
                if block.kind not in KNOWN:
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


def run_block(page, block, folder, environment):
    for command, shown in steps(block):
        try:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            page.fail(block.line, "`%s` did not end within %d s", command, SECONDS)
            continue
        printed = trimmed(done.stdout.decode("utf-8", "replace").split("\n"))
        if not matches(trimmed(shown), printed):
            page.fail(block.line, "`%s` does not print what is shown, from this line on: %s\n    it prints:\n%s", command,
                      first_difference(trimmed(shown), printed), "\n".join("    | " + line for line in printed[:60]))


def stored_block(page, block):
    path = os.path.join(ROOT, STORED_RUNS)
    runs = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            runs = {run["command"]: run for run in json.load(file)["runs"]}
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


def check_files_run(page):
    """Every program beside the page is run, or at least named, by a command on it."""
    commands = "\n".join(command for block in page.blocks if block.kind in (RUN, STORED, "sh")
                         for command, _ in (steps(block) or [("\n".join(block.lines), [])]))
    for name in sorted(os.listdir(page.folder)):
        if name.endswith((".cu", ".c", ".py")) and name not in commands:
            page.fail(1, "%s is never run: show a command that does", name)
        if name.endswith(".py"):  # those that need a GPU are at least legal Python
            path = os.path.join(page.folder, name)
            with open(path, encoding="utf-8") as file:
                try:
                    compile(file.read(), path, "exec")
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
    """Whether a number is written as this value, rounded, in a unit a power of 1000 (or, for percent, 100) away."""
    digits = len(written.partition(".")[2])
    number = float(written.replace(",", ""))
    return any(abs(round(value * 10.0 ** power, digits) - number) < 0.5 * 10.0 ** -digits / 10 + 1e-12
               for power in (0, 3, -3, 6, -6, 9, -9, 12, -12, 2))


def check_figures(page):
    text = "\n".join("" if line is None else line for line in whole(page))
    for found in FIGURE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        written, paths = found.group(1), " ".join(found.group(2).split()).split(" / ")
        try:
            value = value_at(paths[0])
            if len(paths) == 2:
                value /= value_at(paths[1])
        except (OSError, ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as problem:
            page.fail(line, "figure '%s': %s", found.group(2), problem)
            continue
        if not rounds_to(value, written):
            page.fail(line, "%s is written where the result file has %.6g", written, value)
    marks = text.count("<!-- figure:")
    if marks != len(FIGURE.findall(text)):
        page.fail(1, "%d figure comments, of which %d stand behind a number", marks, len(FIGURE.findall(text)))
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
        for exercise in EXERCISE.findall(line):
            if exercise not in exercises:
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
