"""The pages of `heddle explain`: their programs show what they say, and every finding leads to its page.

    check_pages.py path/to/heddle path/to/src/check/pages
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
PAGES = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240
PROCESSES = 2
OPTIONS = re.compile(r"`heddle check (--[^`]*)`")


def run(*words, folder=None):
    return subprocess.run([HEDDLE, *words], capture_output=True, text=True, env=check_environment(), cwd=folder,
                          timeout=PATIENCE, check=False)


def kinds_found(program, options):
    """The kinds that a check of this program finds, and its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        result = run("check", "--no-nvcc", "--quiet", "--json", *options, os.path.join(PAGES, program), folder=scratch)
    return sorted({finding["kind"] for finding in json.loads(result.stdout)["findings"]}), result.returncode


class Pages(unittest.TestCase):
    def kinds(self):
        return [kind["kind"] for kind in json.loads(run("explain", "--json").stdout)["kinds"]]

    def test_every_kind_has_a_page_and_every_page_a_kind(self):
        kinds = self.kinds()
        self.assertGreater(len(kinds), 30)
        self.assertEqual(sorted(kinds), sorted(name[:-3] for name in os.listdir(PAGES) if name.endswith(".md")))
        listed = run("explain").stdout
        for kind in kinds:
            page = json.loads(run("explain", kind, "--json").stdout)
            self.assertEqual(page["page"].split("\n")[0], "# " + page["title"])
            for part in ("## Wrong\n\n```cuda\n", "## Right\n\n```cuda\n", "## Picture\n\n```text\n"):
                self.assertIn(part, page["page"])
            self.assertRegex(listed, rf"(?m)^{kind} +\S")

    def test_the_wrong_program_gives_its_kind_and_the_right_one_nothing(self):
        kinds, checks = self.kinds(), {}
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            for kind in kinds:
                with open(os.path.join(PAGES, kind + ".md"), encoding="utf-8") as file:
                    special = OPTIONS.search(file.read())
                options = [os.path.join(PAGES, word) if os.path.exists(os.path.join(PAGES, word)) else word
                           for word in (special.group(1).split() if special else [])]
                for which in ("wrong", "right"):
                    checks[kind, which] = pool.submit(kinds_found, f"{kind}_{which}.cu", options)
        for kind in kinds:
            with self.subTest(kind=kind):
                self.assertEqual(checks[kind, "wrong"].result()[0], [kind])
                self.assertEqual(checks[kind, "right"].result(), ([], 0))

    def test_a_page_is_text_for_a_person(self):
        text = run("explain", "race").stdout
        self.assertTrue(text.startswith("data race\n\nTwo threads access"))
        self.assertIn("\n  __global__ void reverse(int *data)\n", text)

    def test_an_unknown_kind_is_refused_with_the_nearest(self):
        result = run("explain", "rase")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "heddle: unknown kind of finding 'rase'; did you mean race?\n")
        self.assertIn("explain` lists them", run("explain", "x").stderr)

    def test_a_check_names_the_page_of_each_kind_once(self):
        with tempfile.TemporaryDirectory() as scratch:
            with open(os.path.join(scratch, "x.cu"), "w", encoding="utf-8") as file:
                file.write("__global__ void set(int *x) { *x = threadIdx.x; }\nint main()\n{\n    int *x, *y, *z;\n"
                           "    cudaMalloc(&x, 4);\n    cudaMalloc(&y, 4);\n    cudaMalloc(&z, 4);\n"
                           "    set<<<1, 64>>>(x);\n    cudaDeviceSynchronize();\n    cudaFree(x);\n}\n")
            lines = run("check", "--no-nvcc", "x.cu", folder=scratch).stdout.splitlines()
        self.assertEqual(lines[-1], "1 error, 2 warnings")
        self.assertRegex(lines[-2], r"^`.*heddle explain race`, `.*heddle explain leak` say more$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
