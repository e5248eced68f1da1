#!/usr/bin/env python3
"""scripts/tidy on a small tree, with clang-tidy played by a script that notes what it is given."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAYED = """#!/bin/sh
for last; do :; done
case $last in
--version) echo "played version 14.0" ;;
*)
    echo "$last" >>"$ASKED"
    if grep -q wrong "$last"; then echo "$last:1: error: wrong"; exit 1; fi
    ;;
esac
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tidy-")
        self.addCleanup(self.folder.cleanup)
        self.tree = self.path("tree")
        for name in ("tree/src", "tree/scripts", "tree/build", "bin", "cache"):
            os.makedirs(self.path(name))
        for name in ("tidy", "sources"):
            shutil.copy(os.path.join(ROOT, "scripts", name), self.path("tree/scripts"))
        for name in ("shared.h", "own.h"):
            self.write(f"src/{name}", "")
        self.write("src/a.c", '#include "shared.h"\n')
        self.write("src/b.c", '#include "shared.h"\n#include "own.h"\n')
        self.write("src/c.c", "int c;\n")
        self.write(".clang-tidy", "Checks: '*'\n")
        self.compile_with("-O2")
        with open(self.path("bin/clang-tidy-14"), "w") as file:
            file.write(PLAYED)
        os.chmod(self.path("bin/clang-tidy-14"), 0o755)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w") as file:
            file.write(text)

    def compile_with(self, options):
        self.write("build/compile_commands.json", json.dumps([
            {"directory": self.tree + "/build", "file": f"{self.tree}/src/{name}.c",
             "command": f"cc {options} -MD -MT {name}.o -MF {name}.d -o {name}.o -c {self.tree}/src/{name}.c"}
            for name in "abc"]))

    def tidy(self, *arguments, code=0):
        """The files that clang-tidy was given, and what was printed."""
        asked = self.path("asked")
        with open(asked, "w"):
            pass
        environment = {**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"], "ASKED": asked,
                       "XDG_CACHE_HOME": self.path("cache")}
        done = subprocess.run([self.tree + "/scripts/tidy", self.tree + "/build", *arguments], env=environment, text=True,
                              stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, code, done.stdout)
        with open(asked) as file:
            return sorted(file.read().split()), done.stdout

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", self.tree, *arguments], check=True,
                       stdout=subprocess.DEVNULL)

    def test_a_file_is_read_again_when_its_verdict_may_have_changed(self):
        self.assertEqual(self.tidy()[0], ["src/a.c", "src/b.c", "src/c.c"])
        self.assertEqual(self.tidy()[0], [])
        self.write("src/own.h", "int own;\n")
        self.assertEqual(self.tidy()[0], ["src/b.c"])
        self.write("src/shared.h", "int shared;\n")
        self.assertEqual(self.tidy()[0], ["src/a.c", "src/b.c"])
        self.write("src/c.c", "int c, d;\n")
        self.assertEqual(self.tidy()[0], ["src/c.c"])
        self.compile_with("-O2 -DMORE")
        self.assertEqual(len(self.tidy()[0]), 3)
        self.write(".clang-tidy", "Checks: 'bugprone-*'\n")
        self.assertEqual(len(self.tidy()[0]), 3)
        self.assertEqual(self.tidy()[0], [])

    def test_a_finding_is_shown_every_time(self):
        self.write("src/a.c", "int wrong;\n")
        for _ in range(2):
            asked, said = self.tidy(code=1)
            self.assertIn("src/a.c", asked)
            self.assertIn("src/a.c:1: error: wrong", said)
        self.assertEqual(asked, ["src/a.c"])

    def test_what_changed_last_comes_from_the_working_tree_and_the_latest_commits(self):
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.assertEqual(self.tidy("--changed")[0], ["src/a.c", "src/b.c", "src/c.c"])
        self.write("src/c.c", "int c, d;\n")
        self.assertEqual(self.tidy("--changed")[0], ["src/c.c"])


if __name__ == "__main__":
    unittest.main()
