#!/usr/bin/env python3
"""scripts/course.py on small pages: what it must accept, and what it must refuse."""
import json
import os
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import course  # noqa: E402

RESULTS = {
    "peak_flops": 66.9e12,
    "results": [
        {"op": "transpose", "rung": "02_tiles", "gbytes_per_second": 1778.4, "microseconds": 1207.6, "roofline": 0.4191},
        {"op": "transpose", "rung": "03_padded_tiles", "gbytes_per_second": 3476.1, "microseconds": 617.8, "gflops": 504.2},
    ],
}
TILES = "results/r.json results[op=transpose,rung=02_tiles].gbytes_per_second"
PADDED = TILES.replace("02_tiles", "03_padded_tiles")


def is_running(process):
    try:
        with open("/proc/%d/stat" % process, encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Course(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="course-")
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "course", "99-test")
        os.makedirs(self.folder)
        os.mkdir(os.path.join(folder.name, "results"))
        with open(os.path.join(folder.name, "results", "r.json"), "w", encoding="utf-8") as file:
            json.dump(RESULTS, file)
        root = unittest.mock.patch.object(course, "ROOT", folder.name)
        root.start()
        self.addCleanup(root.stop)

    def page(self, text, **files):
        for name, contents in files.items():
            with open(os.path.join(self.folder, name.replace("_", ".", 1)), "w", encoding="utf-8") as file:
                file.write(contents)
        path = os.path.join(self.folder, "README.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return course.Page(path)

    def problems(self, text, run=False, **files):
        page = self.page(text, **files)
        course.check_text(page, {"05.1"})
        for block in page.blocks:
            if run and course.is_run(block):
                course.run_block(page, block, self.folder, dict(os.environ))
        return page.problems

    def refused(self, why, text, **named):
        problems = self.problems(text, **named)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(why, problems[0])

    def test_output_is_compared(self):
        self.assertEqual(self.problems("```console\n$ seq 9\n1\n…\n9\n$ echo took 12 s\ntook … s\n```\n", run=True), [])
        self.refused("does not print what is shown, from this line on: 3", "```console\n$ seq 2\n1\n2\n3\n```\n", run=True)
        self.refused("from this line on: the end", "```console\n$ seq 3\n1\n2\n```\n", run=True)

    def test_commands_succeed_or_are_shown_to_fail(self):
        fails = "```console fails%s\n$ true\n$ exit %d\n```\n"
        self.assertEqual(self.problems(fails % ("", 1) + fails % (" 3", 3), run=True), [])
        self.refused("`false` exits with 1, and must exit with 0", "```console\n$ false\n```\n", run=True)
        self.refused("`exit 0` exits with 0, and must exit with 1", fails % ("", 0), run=True)
        self.refused("`exit 2` exits with 2, and must exit with 3", fails % (" 3", 2), run=True)
        self.refused("`false` exits with 1", "```console fails\n$ false\n$ false\n```\n", run=True)
        self.refused("a block of kind 'console fails often'", "```console fails often\n```\n")

    def test_what_a_command_started_ends_with_it(self):
        with unittest.mock.patch.object(course, "SECONDS", 0.5):
            self.refused("did not end", "```console\n$ sleep 1000 & echo $! > child; wait\n```\n", run=True)
        with open(os.path.join(self.folder, "child"), encoding="utf-8") as file:
            child = int(file.read())
        deadline = time.monotonic() + 60
        while is_running(child):
            self.assertLess(time.monotonic(), deadline, "the command's child is still running")
            time.sleep(0.01)

    def test_code_stands_in_a_file(self):
        text = "```console\n$ cc a.c\n```\n\n```c\nint a;\n…\nint c;\n```\n"
        self.assertEqual(self.problems(text, a_c="int a;\nint b;\n  int c;\n"), [])
        self.refused("stands in no file", text, a_c="int a;\nint b;\n")
        self.refused("does not exist", "```console\n$ cc a.c\n```\n<!-- from src/none.c -->\n```c\nint a;\n```\n")

    def test_every_program_is_run(self):
        self.refused("b.cu is never run", "Text.\n", b_cu="")
        self.refused("b.cu is never run", "```console\n$ cat ab.cu b.cu.txt ../b.cu\n```\n")
        self.refused("b.cu is never run", "```sh\nnvcc b.cu\n```\n")
        self.assertEqual(self.problems("```console\n$ make FILE=b.cu && cat ./b.cu\n```\n"), [])
        self.assertEqual(self.problems("```sh\nnvcc b.cu\n```\n", b_cu="// needs: a GPU\n"), [])

    def test_figures_come_from_result_files(self):
        self.assertEqual(self.problems("2.0<!-- figure: %s / %s --> times\n" % (PADDED, TILES)), [])
        self.refused("1.79 TB/s is written", "from 1.79<!-- figure: %s --> TB/s\n" % TILES)
        self.refused("names 0 rows", "1.78<!-- figure: %s --> TB/s\n" % TILES.replace("02_", "07_"))
        self.refused("has no source", "It runs at 4.8 TB/s.\n")
        self.refused("stand behind a number", "fast<!-- figure: %s -->\n" % TILES)

    def test_figures_are_compared_in_the_unit_behind_them(self):
        padded = PADDED.rpartition(".")[0]
        for number, unit, path in (("1.78", "TB/s", TILES), ("1778", "GB/s", TILES), ("618", "µs", padded + ".microseconds"),
                                   ("0.618", "ms", padded + ".microseconds"), ("0.504", "TFLOP/s", padded + ".gflops"),
                                   ("66.9", "TFLOP/s", "results/r.json peak_flops"),
                                   ("42", "%", TILES.rpartition(".")[0] + ".roofline")):
            self.assertEqual(self.problems("%s<!-- figure: %s --> %s\n" % (number, path, unit)), [])
        self.refused("1.78 GB/s is written where the result file has 1778", "1.78<!-- figure: %s --> GB/s\n" % TILES)
        self.refused("618 ms is written where the result file has 0.6178",
                     "618<!-- figure: %s.microseconds --> ms\n" % padded)
        self.refused("42 times is written", "42<!-- figure: %s.roofline --> times\n" % TILES.rpartition(".")[0])
        self.refused("has GB/s, and µs is written", "1778<!-- figure: %s --> µs\n" % TILES)
        self.refused("has GB/s, and no unit is written", "1778<!-- figure: %s --> of it\n" % TILES)
        self.refused("a ratio of GB/s and µs", "2<!-- figure: %s / %s.microseconds -->\n" % (TILES, padded))

    def test_the_unit_may_stand_at_a_neighbour_or_above_the_column(self):
        figures = (TILES, PADDED)
        self.assertEqual(self.problems("1.78<!-- figure: %s --> to 3.48<!-- figure: %s --> TB/s\n" % figures), [])
        self.assertEqual(self.problems("1.78<!-- figure: %s --> TB/s so, 3.48<!-- figure: %s --> else\n" % figures), [])
        self.refused("no unit", "1.78<!-- figure: %s --> TB/s\n\n3.48<!-- figure: %s --> else\n" % figures)
        self.assertEqual(self.problems("| rung | TB/s |\n|---|---|\n| 2 | 1.78<!-- figure: %s --> |\n" % TILES), [])
        self.refused("1.78 GB/s", "| rung | GB/s |\n|---|---|\n| 2 | 1.78<!-- figure: %s --> |\n" % TILES)

    def test_links_lead_somewhere(self):
        self.assertEqual(self.problems("# A b\n\n[here](#a-b) [file](README.md) [out](https://docs.nvidia.com)\n"), [])
        self.refused("does not exist", "[gone](gone.md)\n")
        self.refused("no heading #gone", "[gone](#gone)\n")
        self.refused("is not https", "[old](http://example.org)\n")
        self.refused("no exercise 05.2", "`heddle learn run 05.2`\n")

    def test_unknown_blocks_and_unstored_runs_are_refused(self):
        self.refused("of kind ''", "```\nx\n```\n")
        self.refused("has no stored run", "```console gpu\n$ heddle bench\nx\n```\n")


if __name__ == "__main__":
    unittest.main()
