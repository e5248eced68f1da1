#!/usr/bin/env python3
"""scripts/course.py on small pages: what it must accept, and what it must refuse."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import course  # noqa: E402

TILES = "results/ladders-h200.json results[op=transpose,rung=02_tiles,shape=rows=16384 cols=16384].gbytes_per_second"
PADDED = TILES.replace("02_tiles", "03_padded_tiles")


class Course(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="course-")
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "course", "99-test")
        os.makedirs(self.folder)

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
            if run and block.kind == course.RUN:
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

    def test_code_stands_in_a_file(self):
        text = "```console\n$ cc a.c\n```\n\n```c\nint a;\n…\nint c;\n```\n"
        self.assertEqual(self.problems(text, a_c="int a;\nint b;\n  int c;\n"), [])
        self.refused("stands in no file", text, a_c="int a;\nint b;\n")
        self.refused("does not exist", "```sh\ncc a.c\n```\n<!-- from src/none.c -->\n```c\nint a;\n```\n")

    def test_every_program_is_run(self):
        self.refused("b.cu is never run", "Text.\n", b_cu="")

    def test_figures_come_from_result_files(self):
        self.assertEqual(self.problems("from 1.78<!-- figure: %s --> TB/s\n" % TILES), [])
        self.assertEqual(self.problems("2.0<!-- figure: %s / %s --> times\n" % (PADDED, TILES)), [])
        self.refused("1.79 is written", "from 1.79<!-- figure: %s --> TB/s\n" % TILES)
        self.refused("names 0 rows", "1.78<!-- figure: %s --> TB/s\n" % TILES.replace("02_", "07_"))
        self.refused("has no source", "It runs at 4.8 TB/s.\n")
        self.refused("stand behind a number", "fast<!-- figure: %s -->\n" % TILES)

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
