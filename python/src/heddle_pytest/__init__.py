"""Checks CUDA kernels with pytest, by the command `heddle check`. No GPU, no PyTorch, and nothing of heddle but the command.

`pytest --heddle` collects the `.cu` and `.cuh` files that say in a comment how they are checked:

    // heddle: check --kernel "scale<float>" --grid "cdiv(n, 256)" --block 256
    //     --args "x: inout float[n], n = 1000"

Each comment is one test. It is run in the folder of its file. Lines behind it that are indented by four blanks belong to it.
A test of your own asks for the fixture `heddle_check`:

    def test_scale(heddle_check):
        report = heddle_check("scale.cu", kernel="scale<float>", args="x: inout float[100], n = 100", grid=1, block=128)
        assert report.notes

See docs/extensions.md of heddle.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr

_MARK = re.compile(r"^\s*//\s*heddle:\s*check\b(.*)$")
_MORE = re.compile(r"^\s*// {4,}(\S.*)$")
_ENDINGS = (".cu", ".cuh")


class HeddleFailure(AssertionError):
    """A check that found something, or that could not be made. `report` is None if there is none."""

    def __init__(self, text, report=None):
        super().__init__(text)
        self.report = report


class Finding:
    """One problem: kind ("race"), tier ("error" or "warning"), message, cause, cure, and where it is."""

    def __init__(self, data):
        self.data = data
        self.kind = data.get("kind", "")
        self.tier = data.get("tier", "")
        self.headline = data.get("headline", "")
        self.message = data.get("message", "")
        self.cause = data.get("cause", "")
        self.cure = data.get("cure", "")
        places = data.get("places") or [{}]
        self.file = places[0].get("file")
        self.line = places[0].get("line")

    def __repr__(self):
        place = f" at {self.file}:{self.line}" if self.file else ""
        return f"<{self.tier}: {self.headline}{place}>"


class Report:
    """What a check found. `text` is what the command printed, `data` its JSON (docs/json.md of heddle)."""

    def __init__(self, data, text):
        self.data = data
        self.text = text
        self.status = data.get("status", "")
        self.verdict = data.get("verdict", "")
        self.passed = bool(data.get("passed"))
        self.findings = [Finding(one) for one in data.get("findings", [])]
        self.notes = data.get("notes", [])
        self.kernels = data.get("kernels", [])

    @property
    def errors(self):
        return [one for one in self.findings if one.tier == "error"]

    def __repr__(self):
        return f"<heddle: {self.verdict or self.status}>"


def _first_line(report, said):
    """What a summary shows of a failure: the first error and its place; else the command's own last message."""
    found = (report.errors or report.findings) if report is not None else []
    if found:
        return f"{found[0].tier}: {found[0].headline}" + (f" at {found[0].file}:{found[0].line}" if found[0].file else "")
    own = [line for line in said.splitlines() if re.match(r"heddle( [a-z]+)?: ", line)]
    return own[-1] if own else (report.verdict if report is not None else "") or said.splitlines()[-1]


def _command(config):
    """Its path, and the name that its hints call it by."""
    name = config.getini("heddle_command") or os.environ.get("HEDDLE") or "heddle"
    path = shutil.which(name)
    if path is None:
        raise HeddleFailure(f"{name}: command not found; install heddle, or name it by heddle_command in pytest's "
                            "configuration or by the variable HEDDLE")
    return os.path.abspath(path), name if os.sep not in name else os.path.abspath(path)


def _run(config, words, folder):
    """One check. Fails with what the command said if it found errors or could not be made."""
    with tempfile.TemporaryDirectory() as scratch:
        document = os.path.join(scratch, "result.json")
        path, name = _command(config)
        command = [name, "check", "--no-counters", f"--json={document}",
                   *shlex.split(config.getini("heddle_options")), *words]
        result = subprocess.run(command, executable=path, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                errors="replace", check=False)
        report = None
        if os.path.exists(document):
            with open(document, encoding="utf-8") as file:
                report = Report(json.load(file), result.stdout)
    if result.returncode == 0 and report is not None:
        return report
    said = (result.stdout + result.stderr).rstrip() or f"heddle check ended with status {result.returncode}"
    first = _first_line(report, said)
    raise HeddleFailure(said if said.startswith(first) else f"{first}\n\n{said}", report)


def _words(options):
    """Options of the command: kernel="k", grid=1, strict=True, include=["a", "b"], expect={"y": "y.npy"}."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, dict):
            value = [f"{key}={one}" for key, one in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                words.append(f"{option}={one}")
    return words


@pytest.fixture
def heddle_check(request):
    """Checks a file: heddle_check(path, **options) with the options of `heddle check`. Relative paths, that of the file and
    those in options, begin at the folder of the test. Returns a Report; what is found as an error fails the test, unless
    `must_pass=False`."""

    def check(path, *more, must_pass=True, **options):
        folder = str(request.path.parent)
        try:
            return _run(request.config, [os.fspath(path), *map(os.fspath, more), *_words(options)], folder)
        except HeddleFailure as failure:
            if must_pass or failure.report is None:
                raise
            return failure.report

    return check


# --- comments in sources ---------------------------------------------------------------------------------------------


def marks(text):
    """The (line, words) of each comment that says how a file is checked."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        mark = _MARK.match(lines[at])
        at += 1
        if mark is None:
            continue
        line, said = at, mark.group(1)
        while at < len(lines) and _MORE.match(lines[at]):
            said += " " + _MORE.match(lines[at]).group(1)
            at += 1
        found.append((line, said.strip()))
    return found


def _name(words):
    for at, word in enumerate(words):
        if word == "--kernel" and at + 1 < len(words):
            return words[at + 1]
        if word.startswith("--kernel="):
            return word.split("=", 1)[1]
    return "check"


class _Shown(TerminalRepr):
    """A failure as pytest prints it: `reprcrash` is what its summary takes."""

    def __init__(self, text, path, line):
        self.text, self.reprcrash = text, ReprFileLocation(str(path), line, text.splitlines()[0])

    def toterminal(self, tw):
        for line in self.text.splitlines():
            tw.line(line)


class HeddleItem(pytest.Item):
    """One comment of a source file."""

    def __init__(self, *, line, said, **more):
        super().__init__(**more)
        self.line, self.said = line, said

    def runtest(self):
        try:
            words = shlex.split(self.said)
        except ValueError as error:
            raise HeddleFailure(f"{self.path}:{self.line}: {error}: {self.said}") from error
        _run(self.config, [self.path.name, *words], str(self.path.parent))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, HeddleFailure):
            return _Shown(str(excinfo.value), self.path, self.line)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, self.line - 1, f"heddle: {self.name}"


class HeddleFile(pytest.File):
    """A source file with such comments."""

    def collect(self):
        names = {}
        for line, said in marks(self.path.read_text(encoding="utf-8", errors="replace")):
            try:
                name = _name(shlex.split(said))
            except ValueError:
                name = "check"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name = f"{name}[{names[name]}]"
            yield HeddleItem.from_parent(self, name=name, line=line, said=said)


def pytest_addoption(parser):
    group = parser.getgroup("heddle")
    group.addoption("--heddle", action="store_true", help="check the .cu and .cuh files that have a comment // heddle: check")
    parser.addini("heddle", "the same as --heddle, always", type="bool", default=False)
    parser.addini("heddle_command", "the command; default: $HEDDLE, then heddle on PATH", default="")
    parser.addini("heddle_options", "options for every check, such as --strict", default="")


def pytest_collect_file(file_path, parent):
    config = parent.config
    if file_path.suffix not in _ENDINGS or not (config.getoption("--heddle") or config.getini("heddle")):
        return None
    if not marks(file_path.read_text(encoding="utf-8", errors="replace")):
        return None
    return HeddleFile.from_parent(parent, path=file_path)
