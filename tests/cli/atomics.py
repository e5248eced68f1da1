"""The programs of examples/atomics under `heddle check`: a right one ends with 0 and nothing is found; of a wrong one
exactly what its comments say is found, on those lines (`// wrong: race`).

    atomics.py path/to/heddle
"""

import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAMS = sorted(glob.glob(os.path.join(ROOT, "examples", "atomics", "*.cu")))
PROCESSES = 2
PATIENCE = 240
MARK = re.compile(r"// wrong: ([a-z-]+)$")


def expected_of(path):
    """{(kind, line)} as the program's comments have it."""
    with open(path, encoding="utf-8") as file:
        marks = [(MARK.search(text), line) for line, text in enumerate(file, 1)]
    return {(mark.group(1), line) for mark, line in marks if mark}


def check(path):
    return subprocess.run([HEDDLE, "check", "--json", "--no-nvcc", path], capture_output=True, text=True,
                          timeout=PATIENCE, check=False,
                          env={key: value for key, value in os.environ.items() if not key.startswith("SIM_")})


class Atomics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            cls.results = dict(zip(PROGRAMS, pool.map(check, PROGRAMS)))

    def test_there_are_right_and_wrong_programs(self):
        wrong = [path for path in PROGRAMS if expected_of(path)]
        self.assertGreaterEqual(len(wrong), 4)
        self.assertGreaterEqual(len(PROGRAMS) - len(wrong), 10)

    def test_right_programs_are_clean_and_wrong_ones_are_found_where_they_are_wrong(self):
        for path, result in self.results.items():
            with self.subTest(os.path.basename(path)):
                expected = expected_of(path)
                self.assertEqual(result.returncode, 1 if expected else 0, result.stdout + result.stderr)
                findings = json.loads(result.stdout)["findings"]
                found = {(finding["kind"], finding["places"][0]["line"]) for finding in findings}
                self.assertEqual(found, expected)
                for finding in findings:
                    self.assertEqual(finding["tier"], "error")
                    self.assertEqual(os.path.basename(finding["places"][0]["file"]), os.path.basename(path))

    def test_right_programs_say_what_they_computed(self):
        for path, result in self.results.items():
            if not expected_of(path):
                self.assertIn("  ", result.stderr, path)
                self.assertNotIn("should be", result.stderr, path)


if __name__ == "__main__":
    unittest.main()
