#!/usr/bin/env python3
"""scripts/check-public on checkouts of a few lines: which programs it finds, with which flags, and what it reports.

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
\t$(CC) $(FLAGS) $^ -o $@ -lcudart
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
ALONE = """// nvcc -O2 -DSIZE=16 alone.cu -o alone
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
        self.write("alone.cu", ALONE)
        self.write("header.cu", "// a part of another file: main(\n__global__ void none() {}\n")
        self.assertEqual(self.script("--list", "checkout").stdout.splitlines(), [
            "alone: alone.cu -O2 -DSIZE=16",
            "listed/fill: main.cu ./kernel.cu -Iinclude -DTHREADS=32 -DVALUE=2 -lcublas",
            "made/main: main.cu kernel.cu -O3 -arch=sm_90 -DTHREADS=32 -DVALUE=1 -lcudart 32"])

    def test_what_is_built_and_found_is_written(self):
        self.write("made/Makefile", MAKEFILE)
        self.write("made/main.cu", MAIN)
        self.write("made/kernel.cu", KERNEL)
        self.write("alone.cu", ALONE)
        self.write("refused.cu", "#include <npp.h>\nint main() {}\n")
        self.script("checkout", "--json", "results.json", "--markdown", "table.md")
        with open(os.path.join(self.scratch.name, "results.json")) as file:
            programs = json.load(file)["checkout"]["programs"]
        self.assertEqual({name: (one["built"], one["ended"], one["kinds"]) for name, one in programs.items()},
                         {"made/main": (True, True, {}), "alone": (True, True, {"out-of-bounds": 1}),
                          "refused": (False, False, {})})
        with open(os.path.join(self.scratch.name, "table.md")) as file:
            table = file.read()
        self.assertIn("| checkout | unknown | 3 | 0 | 1 | 2 of 2 (100 %) | 2 of 2 (100 %) | 1 | 0 |\n", table)
        self.assertIn("| checkout/refused | refused.cu:1: the simulated GPU has no NPP", table)

    def test_a_folder_that_is_not_there_is_named(self):
        self.assertIn("nowhere: no such folder", self.script("nowhere", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
