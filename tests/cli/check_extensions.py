"""The five lines of docs/extensions.md: the planted race is found at its line, and nothing in the others. And Python
functions as references. Needs NumPy.

    check_extensions.py HEDDLE
"""

import json
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True  # nothing is left in the source tree
from check_case import HEDDLE, PATIENCE, CheckCase  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples", "extensions")
COPY = "__global__ void copy(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }\n"


def lines_of_the_page():
    with open(os.path.join(ROOT, "docs", "extensions.md"), encoding="utf-8") as file:
        section = file.read().split("## Five examples")[1].split("## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL).group(1)
    return re.findall(r"(?ms)^heddle (.*?)(?=^heddle |\Z)", block)


class Extensions(CheckCase):
    def run_line(self, line):
        return subprocess.run(["sh", "-c", f'exec "$0" {line}', HEDDLE], capture_output=True, text=True, cwd=ROOT,
                              env=self.environment, timeout=PATIENCE, check=False)

    def test_the_lines_of_the_page_do_what_it_says(self):
        lines = lines_of_the_page()
        self.assertEqual([re.search(r"extensions/(\w+)\.cu", line).group(1) for line in lines],
                         ["softmax", "layernorm", "gelu", "rotary", "grouped"])
        with ThreadPoolExecutor(2) as pool:
            results = dict(zip(("softmax", "layernorm", "gelu", "rotary", "grouped"), pool.map(self.run_line, lines)))
        with open(os.path.join(EXAMPLES, "layernorm.cu"), encoding="utf-8") as file:
            source = file.read().splitlines()
        planted = 1 + next(i for i, line in enumerate(source) if "planted race: __syncthreads()" in line)
        for name, result in results.items():
            with self.subTest(name):
                self.assertEqual(result.returncode, 1 if name == "layernorm" else 0, result.stdout + result.stderr)
                self.assertIn("not compiled and not run, because it needs PyTorch: ", result.stdout)
                if name == "layernorm":
                    self.assertEqual(re.findall(r"(?m)^error: (.*)", result.stdout),
                                     [f"data race on shared memory {array} in kernel layernorm::layernorm_backward_gamma_beta"
                                      for array in ("gamma", "beta")])
                    self.assertIn(f"write     examples/extensions/layernorm.cu:{planted - 2} ", result.stdout)
                    self.assertIn(f"read      examples/extensions/layernorm.cu:{planted + 3} ", result.stdout)
                else:
                    self.assertRegex(result.stdout, r"\nnote: \w+: all [\d,]+ elements are right")
                    self.assertRegex(self.last_line(result), r"^clean: .* 0 findings$")

    def test_the_commands_that_list_kernels_suggests_run(self):
        commands = []
        for name in sorted(os.listdir(EXAMPLES)):
            if name.endswith(".cu"):
                listed = self.check(os.path.join(EXAMPLES, name), "--list-kernels").stdout
                commands += re.findall(r"(?m)^  \S*heddle (check .*)$", listed)
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda line: self.run_line(line + " --schedules 1 --no-counters"), commands))
        said = {re.search(r"--kernel \W?([\w:]+)", command).group(1): self.last_line(result).split(":")[0]
                for command, result in zip(commands, results)}
        race = said.pop("layernorm::layernorm_backward_gamma_beta")  # the planted one
        self.assertEqual((race, len(said), set(said.values())), ("2 errors, 0 warnings", 5, {"clean"}), said)

    def test_whole_numbers_are_compared_to_their_last_digit(self):
        self.write("k.cu", "__global__ void count(unsigned long long *x, long long *y, long long *z)\n"
                           "{ x[threadIdx.x] = y[threadIdx.x] = z[threadIdx.x] = (1ll << 62) + threadIdx.x; }\n")
        self.write("r.py", "import numpy\nnumbers = (1 << 62) + numpy.arange(6)\n"
                           "def count():\n"
                           "    return {'x': numbers + (numbers % 8 > 1), 'y': numbers, 'z': numbers.astype(float)}\n")
        result = self.check("k.cu", "--kernel", "count", "--args", "x: out uint64[6], y: out int64[6], z: out int64[6]", "--grid",
                            "1", "--block", "6", "--reference", "r.py:count", "--json", "--unwatched", code=1)
        report = json.loads(result.stdout)
        finding, = report["findings"]
        self.assertIn("4 of 6 elements of x are wrong; x[2] is 4611686018427387906, expected 4611686018427387907.",
                      finding["message"])
        self.assertEqual({name: finding["result"]["elements"][0][name] for name in ("got", "difference")},
                         {"got": "4611686018427387906", "difference": 1})
        self.assertNotIn("Each is", finding["result"]["pattern"])  # they are the same doubles
        for name in "yz":  # a reference in floats cannot tell such numbers apart
            self.assertIn(f"{name}: all 6 elements are right; the largest difference is 0", report["notes"])

    def test_a_function_that_fails_is_one_line(self):
        self.write("k.cu", COPY)
        self.write("r.py", "import numpy\ndef wrong(x):\n    return x[:2]\ndef raises(x):\n    raise ValueError('no\\nway')\n"
                           "def nothing(x):\n    return None\n"
                           "def talks(x):\n    import sys\n"
                           "    print('é\\n' * 99999, file=sys.stderr)\n    raise KeyError('é' * 999)\n"
                           "def babbles(x):\n    import os\n    os.write(2, b'a' * 99999 + b'the end')\n    os._exit(1)\n")
        for function, *parts in (("wrong", "y has the shape (2,), and --args says (4,)"),
                                 ("raises", "ValueError: no way, line 5"),
                                 ("nosuch", "AttributeError"), ("nothing", "y is not an array of numbers"),
                                 ("talks", "r.py:talks: KeyError: 'éé", "éé ... (1594 bytes left out) ... éé", "éé', line 11\n"),
                                 ("babbles", "(the start is left out) ... aaa", "aaathe end\n")):
            with self.subTest(function):
                result = self.check("k.cu", "--kernel", "copy", "--args", "x: float[4], y: out float[4], n = 4", "--grid", "1",
                                    "--block", "32", "--reference", f"r.py:{function}", "--unwatched", code=2)
                for part in parts:
                    self.assertIn(part, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
