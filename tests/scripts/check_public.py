#!/usr/bin/env python3
"""scripts/check-public on checkouts of a few lines: which programs it finds, with which flags, and what it reports; and
scripts/public-docs on made-up results.

    check_public.py HEDDLE
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from loading import ROOT

HEDDLE = os.path.abspath(sys.argv.pop(1))
SCRIPT = os.path.join(ROOT, "scripts", "check-public")
DOCS = os.path.join(ROOT, "scripts", "public-docs")
KERNEL = "__global__ void fill(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = VALUE; }\n"
MAIN = """#include <cstdlib>
__global__ void fill(int *p, int n);
int main(int count, char **words)
{
    int *p;
    cudaMalloc(&p, 4 * THREADS);
    fill<<<1, THREADS>>>(p, count > 1 ? atoi(words[1]) : 64);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""
MAKEFILE = """CC = nvcc
FLAGS = -O3 -arch=sm_90 -DTHREADS=32
main: main.o kernel.o
\tcd util; make
\t$(CC) $(FLAGS) -ptx kernel.cu
\t$(CC) $(FLAGS) $^ util/util.o -o $@ -lcudart
main.o: main.cu
\t$(CC) $(FLAGS) -c $< -o $@
kernel.o: kernel.cu
\t$(CC) $(FLAGS) -DVALUE=1 -c $< -o $@
run: main
\t./main 32
"""
LISTS = """project(fill LANGUAGES CUDA)
include_directories(include)
if(WIN32)
  set(SOURCES nowhere.cu)
else()
  set(SOURCES main.cu ${PROJECT_SOURCE_DIR}/kernel.cu)
endif()
add_executable(fill ${SOURCES})
target_compile_definitions(fill PRIVATE THREADS=32 VALUE=2)
target_link_libraries(fill PRIVATE CUDA::cublas)
"""
ALONE = """// nvcc -O2 --x cu -DSIZE=16 alone.cu -o alone
__global__ void fill(int *p) { p[threadIdx.x] = 1; }
int main() { int *p; cudaMalloc(&p, SIZE * 4); fill<<<1, 32>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
"""


class Public(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.checkout = os.path.join(self.scratch.name, "checkout")

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        path = os.path.join(self.checkout, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def script(self, *arguments, code=0):
        result = subprocess.run([sys.executable, SCRIPT, "--heddle", HEDDLE, *arguments], capture_output=True, text=True,
                                cwd=self.scratch.name, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_programs_are_found_with_the_flags_of_their_build_files(self):
        self.write("made/Makefile", MAKEFILE)
        self.write("listed/CMakeLists.txt", LISTS)
        for folder in ("made", "listed"):
            self.write(folder + "/main.cu", MAIN)
            self.write(folder + "/kernel.cu", KERNEL)
        os.mkdir(os.path.join(self.checkout, "listed", "include"))
        self.write("made/util/util.c", "")
        self.write("alone.cu", ALONE)
        self.write("header.cu", "// a part of another file: main(\n__global__ void none() {}\n")
        self.assertEqual(self.script("--list", "checkout").stdout.splitlines(), [
            "alone: alone.cu -O2 -x cu -DSIZE=16",
            "listed/fill: main.cu ./kernel.cu -Iinclude -DTHREADS=32 -DVALUE=2 -lcublas",
            "made/main: main.cu kernel.cu util/util.c -O3 -arch=sm_90 -DTHREADS=32 -DVALUE=1 -lcudart 32"])

    def programs(self):
        with open(os.path.join(self.scratch.name, "results.json")) as file:
            return {row["program"]: row for row in json.load(file)["checkout"]["programs"]}

    def test_what_is_built_and_found_is_written(self):
        self.write("made/Makefile", MAKEFILE)
        self.write("made/main.cu", MAIN)
        self.write("made/kernel.cu", KERNEL)
        self.write("alone.cu", ALONE)
        self.write("flagged.cu", "// nvcc -nosuch flagged.cu\nint main() {}\n")
        self.write("refused.cu", "#include <npp.h>\nint main() {}\n")
        self.script("checkout", "--json", "results.json", "--reports", "reports")
        programs = self.programs()
        self.assertEqual({name: (one["built"], one["ended"], one["errors"]) for name, one in programs.items()},
                         {"made/main": (True, True, []), "alone": (True, True, ["out-of-bounds alone.cu:2"]),
                          "flagged": (False, False, []), "refused": (False, False, [])})
        self.assertIn("unknown option -nosuch", programs["flagged"]["why"])
        self.assertEqual(programs["refused"]["refused"], "NPP")
        self.assertEqual(programs["made/main"]["sources"], ["made/main.cu", "made/kernel.cu"])
        self.assertGreater(programs["alone"]["processor_seconds"], 0)
        with open(os.path.join(self.scratch.name, "reports", "checkout", "alone.json")) as file:
            self.assertEqual(json.load(file)["errors"], 1)

    def test_a_run_that_was_interrupted_is_resumed(self):
        self.write("first.cu", "int main() {}\n")
        self.script("checkout", "--json", "results.json")
        self.write("second.cu", "int main() {}\n")
        self.assertEqual(self.script("checkout", "--json", "results.json", "--resume").stdout.split(":")[0], "second")
        self.assertEqual(sorted(self.programs()), ["first", "second"])

    def test_a_folder_that_is_not_there_is_named(self):
        self.assertIn("nowhere: no such folder", self.script("nowhere", code=2).stderr)


def result(**fields):
    return {"built": True, "refused": None, "nvcc": True, "why": "", "ended": True, "stopped": False, "verdict": "clean",
            "errors": [], "warnings": 0, "seconds": 1, "processor_seconds": 1, **fields}


class Page(unittest.TestCase):
    PROGRAMS = {"good": result(), "late": result(ended=False, seconds=70, processor_seconds=65),
                "stopped": result(ended=None, stopped=True, seconds=30, processor_seconds=9),
                "shortened": result(ended=None),
                "broken": result(built=False, ended=False, why="a.cu:1: unknown type"),
                "rejected": result(built=False, ended=False, nvcc=False), "npp": result(built=False, refused="NPP"),
                "racy": result(errors=["race b.cu:7"]), "wronged": result(errors=["race c.cu:8", "race c.cu:9"]),
                "unread": result(errors=["race d.cu:9"])}
    JUDGED = [{"checkout": "some", "program": "racy", "error": "*", "bug": True, "why": "no barrier"},
              {"checkout": "some", "program": "wronged", "error": "*:9", "bug": False, "why": "ordered by a fence"}]

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.page = os.path.join(self.scratch.name, "page.md")
        for name, content in (("results", {"some": {"commit": "1234567890", "programs": [
            dict(result, program=name) for name, result in sorted(self.PROGRAMS.items())]}}),
                ("judged", self.JUDGED)):
            with open(os.path.join(self.scratch.name, name), "w") as file:
                json.dump(content, file)

    def tearDown(self):
        self.scratch.cleanup()

    def made(self, block, *arguments):
        """(exit code, what was said, the page)"""
        with open(self.page, "w") as file:
            file.write("<!-- figures: %s -->\n<!-- end -->\n" % block)
        done = subprocess.run([sys.executable, DOCS, "--page", self.page, "--results", "results", "--judged", "judged",
                               *arguments], cwd=self.scratch.name, capture_output=True, text=True, check=False)
        with open(self.page) as file:
            return done.returncode, done.stdout + done.stderr, file.read()

    def test_shares_are_of_the_programs_that_count(self):
        self.assertIn("| /some | 123456789 | 10 | 1 | 1 | 7 of 8 (87.5 %) | 4 of 7 (57.1 %) | 2 | 1 | 1 | 1 |",
                      self.made("repositories")[2])

    def test_an_error_that_nobody_read_is_told(self):
        page = self.made("errors")[2]
        self.assertIn("| some: b.cu:7 | race | bug | no barrier |", page)
        self.assertIn("| some: c.cu:8 | race | not read yet |  |", page)
        self.assertIn("| some: c.cu:9 | race | **false error** | ordered by a fence |", page)
        goals = self.made("goals")[2]
        self.assertIn("Programs whose errors are not reviewed yet: 1", goals)
        self.assertIn("- Of these 7, 1 were stopped before their end", goals)

    def test_what_fails_is_listed_with_its_reason(self):
        page = self.made("failing")[2]
        self.assertIn("| some/broken | a.cu:1: unknown type |", page)
        self.assertIn("| some/late | needs more than 60 s: 70 s wall time, 65 s CPU time |", page)
        self.assertIn("| some/stopped | stopped, result unknown: 30 s wall time, 9 s CPU time |", page)
        self.assertNotIn("rejected", page)
        self.assertNotIn("shortened", page)

    def test_an_old_page_is_noticed(self):
        self.assertEqual(self.made("refused", "--check")[:2],
                         (1, self.page + " is out of date: run scripts/public-docs\n"))


if __name__ == "__main__":
    unittest.main()
