"""What tests of `heddle check` on small programs have in common: a folder to write them in, and a check that leaves nothing
behind. The program under test is the first argument of the script."""

import os
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240


class CheckCase(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.temporary = os.path.join(self.folder, "temporary")
        os.mkdir(self.temporary)
        self.environment = check_environment(TMPDIR=self.temporary)

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, *arguments, code=0, text=None, clean_up=True, **more):
        nvcc = [] if "--nvcc" in arguments else ["--no-nvcc"]  # takes longer than most of these checks
        result = subprocess.run([HEDDLE, "check", *nvcc, *arguments], capture_output=True, text=True, env=self.environment,
                                cwd=self.folder, timeout=PATIENCE, input=text, check=False, **more)
        self.assertEqual(result.returncode, code, f"{arguments}:\n{result.stdout}\n{result.stderr}")
        if clean_up:
            self.assertEqual(os.listdir(self.temporary), [])
        return result

    def last_line(self, result):
        return result.stdout.rstrip("\n").split("\n")[-1]
