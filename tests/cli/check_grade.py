"""What a learner and a teacher are told: --grade, --expect, launches that leave elements out.

    check_grade.py path/to/heddle
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240

PRINTS = """#include <cstdio>
__global__ void set(int *x) { x[threadIdx.x] = 2; }
int main()
{
    int *x;
    cudaMallocManaged(&x, 256);
    set<<<1, 64>>>(x);
    cudaDeviceSynchronize();
    printf("first %d  \\nsecond %d\\n\\n", x[0], x[1]);
    fprintf(stderr, "not compared\\n");
    cudaFree(x);
}
"""


class Grade(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
        self.environment["LC_ALL"] = "C.UTF-8"
        self.environment["ASAN_OPTIONS"] = self.environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.scratch.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, text, *options, code=0):
        self.write("x.cu", text)
        result = subprocess.run([HEDDLE, "check", "--no-nvcc", "--no-counters", "x.cu", *options], capture_output=True,
                                text=True, env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, f"{result.stdout}\n{result.stderr}")
        return result.stdout if code < 2 else result.stderr

    # --- expected output ----------------------------------------------------------------------------------------------

    def test_the_first_line_that_differs_is_told(self):
        for expected, told in (("first 2\nsecond 2\n", None),
                               ("first 2 \r\nsecond 2\n\n\n", None),
                               ("first 2\nsecond 3\n", 'Line 2 of the output is "second 2"; it should be "second 3".'),
                               ("first 2\n", 'The output should end before line 2, which is "second 2".'),
                               ("first 2\nsecond 2\n\nthird\n",
                                'The output ends before line 3, which should be "".'),
                               ("", 'The output should end before line 1, which is "first 2".')):
            with self.subTest(expected=expected):
                self.write("expected.txt", expected)
                text = self.check(PRINTS, "--expect", "expected.txt", code=1 if told else 0)
                self.assertTrue(text.startswith("first 2  \nsecond 2\n\n"), text)
                if told:
                    self.assertIn(f"error: wrong output\n  {told}\n", text)
                    self.assertTrue(text.endswith("1 error, 0 warnings\n"))
        self.write("expected.txt", "first 3\n")
        self.assertTrue(self.check(PRINTS, "--quiet", "--expect", "expected.txt", code=1).startswith("error: wrong output"))

    def test_what_is_expected_must_be_readable_and_is_not_overwritten(self):
        self.assertIn("--expect: ", self.check(PRINTS, "--expect", "none.txt", code=2))
        self.write("expected.txt", "first 2\n")
        self.assertIn("would overwrite an input file",
                      self.check(PRINTS, "--expect", "expected.txt", "--html", "expected.txt", code=2))
        self.assertIn("--expect does not go with --op", self.check(PRINTS, "--expect", "expected.txt", "--op", "relu", code=2))

    # --- grading ------------------------------------------------------------------------------------------------------

    def test_a_grade_takes_warnings_and_a_missing_launch_for_errors(self):
        idle = "__global__ void set(int *x) { *x = 1; }\nint main() { }\n"
        self.assertIn("nothing was checked: no kernel was launched", self.check(idle))
        self.assertIn("error: no kernel was launched\n", self.check(idle, "--grade", code=1))
        leak = PRINTS.replace("    cudaFree(x);\n", "")
        self.assertIn("warning: memory leak", self.check(leak))
        self.assertIn("error: memory leak", self.check(leak, "--grade", code=1))
        failing = PRINTS.replace("    set<<<", "    int *y;\n    cudaMalloc(&y, (size_t)1 << 50);\n    set<<<")
        self.assertIn("warning: unchecked error", self.check(failing))
        self.assertIn("error: unchecked error", self.check(failing, "--grade", code=1))
        self.assertEqual(len(re.findall("(?m)^error: ", self.check(PRINTS.replace("set<<<1, 64>>>", "set"), "--grade",
                                                                   code=1))), 1)
        self.check(PRINTS, "--grade")
        self.assertIn("--grade does not go with --unwatched", self.check(PRINTS, "--grade", "--unwatched", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
