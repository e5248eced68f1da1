"""A folder of exercises for the tests of `heddle learn`. The course is two exercises of the real one and one in plain C."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from terminal import Terminal  # noqa: E402

HEDDLE = os.path.abspath(sys.argv.pop(1))
COURSE = pathlib.Path(sys.argv.pop(1)).resolve()
FIRST = "05-first-kernels/05.1-which-element"
BANK = "06-memory/06.10-one-bank"
PLAIN = "03-c/03.1-double"

PLAIN_FILES = {
    "README.md": "# 03.1 · Double\n\n**Goal:** `twice(n)` is 2 n. See [chapter 3](../../README.md).<!-- a comment -->\n",
    "hints.md": "1. Add.\n2. Multiply.\n",
    "start.c": "int *twice(int n)\n{\n    int *made = malloc(sizeof *made);\n    *made = n;\n    return made;\n}\n",
    "solution.c": "// 2 n.\nint *twice(int n)\n{\n    int *made = malloc(sizeof *made);\n    *made = 2 * n;\n"
                  "    return made;\n}\n",
    "judge.c": '#include "learn_c.h"\n#include "03.1-double.c"\nint main(void)\n{\n    learn_case("n = 3");\n'
               '    int *made = twice(3);\n    learn_expect_int("twice(3)", *made, 6);\n    free(made);\n'
               '    return learn_passed();\n}\n',
    "judge.json": '{"start_fails_because": ["wrong"], "seconds": 30}\n',
}


def write_exercise(course, chapter, name, files):
    folder = course / chapter / "exercises" / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text)


class LearnFolder(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.scratch.name).resolve()
        self.course = self.root / "course"
        self.temporary = self.root / "temporary"
        self.temporary.mkdir()
        shutil.copytree(COURSE / "include", self.course / "include")
        for chapter, name in (FIRST.split("/"), BANK.split("/")):
            shutil.copytree(COURSE / chapter / "exercises" / name, self.course / chapter / "exercises" / name)
        write_exercise(self.course, "03-c", "03.1-double", PLAIN_FILES)
        self.environment = dict(os.environ, HEDDLE_COURSE=str(self.course), TMPDIR=str(self.temporary), LC_ALL="C.UTF-8",
                                TERM="xterm", ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
        self.run_heddle("init", "mine", folder=self.root)
        self.folder = self.root / "mine"

    def tearDown(self):
        self.assertEqual(list(self.temporary.iterdir()), [], "temporary files are left")
        self.scratch.cleanup()

    def run_heddle(self, *arguments, code=0, folder=None, limit=None):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        result = subprocess.run(["heddle", "learn", *arguments], executable=HEDDLE,
                                cwd=folder or self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                                preexec_fn=set_limit if limit is not None else None)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def file(self, name, ending=".cu"):
        return self.folder / (name + ending)

    def solution(self, name):
        chapter, exercise = name.split("/")
        folder = self.course / chapter / "exercises" / exercise
        return next(folder.glob("solution.*")).read_text()

    def start(self, name):
        chapter, exercise = name.split("/")
        folder = self.course / chapter / "exercises" / exercise
        return next(folder.glob("start.*")).read_text()

    def state(self):
        return json.loads((self.folder / ".heddle-learn.json").read_text())

    def assert_told(self, said, *arguments):
        """Refused in one line, with exit code 1."""
        result = self.run_heddle(*arguments, code=1)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(said, result.stderr)

    def watch(self, rows=0):
        return Terminal(HEDDLE, ["learn"], self.folder, self.environment, rows)
