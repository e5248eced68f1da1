"""What a learner and a teacher are told: --grade, --expect, launches that leave elements out.

    check_grade.py path/to/heddle
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

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
        self.environment = check_environment()

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
        self.write("expected.txt", "first 3\nsecond 3\n")
        self.assertIn("  line  expected  got\n     1  first 3   first 2\n     2  second 3  second 2\n",
                      self.check(PRINTS, "--expect", "expected.txt", code=1))
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
        allowed = leak.replace("256);", "256); // heddle: allow leak")
        self.assertIn(", 1 suppressed\n", self.check(allowed))
        self.assertIn("error: memory leak", self.check(allowed, "--grade", code=1))
        failing = PRINTS.replace("    set<<<", "    int *y;\n    cudaMalloc(&y, (size_t)1 << 50);\n    set<<<")
        self.assertIn("warning: unchecked error", self.check(failing))
        self.assertIn("error: unchecked error", self.check(failing, "--grade", code=1))
        self.assertEqual(len(re.findall("(?m)^error: ", self.check(PRINTS.replace("set<<<1, 64>>>", "set"), "--grade",
                                                                   code=1))), 1)
        self.check(PRINTS, "--grade")
        self.assertIn("--grade does not go with --unwatched", self.check(PRINTS, "--grade", "--unwatched", code=2))

    # --- grids --------------------------------------------------------------------------------------------------------

    def grid(self, grid, head="", before="", kernel="if (i < n)\n        x[i] = 1;", call="", arguments="x, n"):
        """What is said about a launch with this grid."""
        text = self.check(f"""#include <cstdlib>
{head}
__global__ void set(int *x, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {kernel}
}}
void start(int *x, int count) {{ set<<<count / 256, 256>>>(x, count); }}
int main()
{{
    int *x;
    cudaMalloc(&x, 4096);
    {before}
    {call or f"set<<<{grid}, 256>>>({arguments});"}
    cudaDeviceSynchronize();
    cudaFree(x);
}}
""")
        return re.findall(r"(?m)^warning: too few blocks\n  (.*)$", text)

    def test_a_grid_that_was_rounded_down_is_told(self):
        for grid, head, before in (("n / 256", "", "int n = 1000;\n    if (0 > n)\n        return 1;"),
                                   ("n / 256", "", "const int n = 10 * (96 + 4);"),
                                   ("blocks", "", "int n = 1000, blocks = n / 256;"),
                                   ("n / threads", "#define SIDE 16", "int n = 1000;\n    const int threads = SIDE * SIDE;"),
                                   ("grid", "", "int n = 1000;\n    dim3 grid(n / 256);"),
                                   ("dim3(n / 256, 1)", "const int n = 1000;", "")):
            with self.subTest(grid=grid, before=before):
                self.assertRegex(self.grid(grid, head, before)[0],
                                 r"^kernel set is launched with n / \w+ = 3 blocks: 3 \* 256 = 768 of 1000 elements; the last "
                                 r"232 are left out$")
        self.assertEqual(len(self.grid("N / 256", "#define N 1000", kernel="if (i < N)\n        x[i] = 1;", arguments="x, 7")),
                         1)

    def test_grids_that_are_right_are_left_alone(self):
        n = "int n = 1000;"
        stride = "for (; i < n; i += gridDim.x * blockDim.x)\n        x[i] = 1;"
        for given in ({"grid": "(n + 255) / 256", "before": n}, {"grid": "n / 256", "before": "int n = 768;"},
                      {"grid": "n / 256", "before": n, "kernel": stride},
                      {"grid": "n / 256", "before": n, "kernel": "for (; i < n; i += 768)\n        x[i] = 1;"},
                      {"grid": "n / 256 + 1", "before": n},
                      {"grid": "n / 256 + (n % 256 != 0)", "before": n},
                      {"grid": "n / 256", "before": n + "\n    if (n % 256)\n        exit(1);\n    n = 512;"},
                      {"grid": "n / 256", "before": "int n = 1000;\n    n -= 232;"},
                      {"grid": "n / 256", "before": "int n = 1000;\n    n = 768;"},
                      {"grid": "n / 256", "before": n, "arguments": "x, 768"},
                      {"grid": "", "before": "int count = 1000;\n    count -= 232;", "call": "start(x, 768);"}):
            with self.subTest(**given):
                if "exit" in given["before"]:
                    given["before"] = n + "\n    if (n % 256 == 5)\n        exit(1);"
                self.assertEqual(self.grid(**given), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
