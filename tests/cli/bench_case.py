"""What tests of `heddle bench` have in common: a run of it with its exit code, and its JSON document. The program under test
is the first argument of the script."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))


class BenchCase(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.scratch.name, "results.json")

    def tearDown(self):
        self.scratch.cleanup()

    def bench(self, *arguments, code=0, **environment):
        variables = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **environment}
        result = subprocess.run(["heddle", "bench", *arguments], executable=HEDDLE,
                                capture_output=True, text=True, env=variables,
                                timeout=200)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def document(self, *arguments, **named):
        self.bench(*arguments, "--json=" + self.file, **named)
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def assert_refused(self, arguments, message, code=2):
        result = self.bench(*arguments, code=code)
        self.assertEqual(result.stderr.strip().splitlines()[-1], message)
