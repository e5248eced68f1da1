#!/usr/bin/env python3
"""scripts/times on the notes of a small build."""
import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START = 1_000_000
BUILT = [  # start and end in milliseconds, seconds since START, file, command
    (0, 9000, -50, "heddle_module_cuda.dir/ops_old.o", "before"),
    (0, 9000, 1, "heddle_module_cuda.dir/ops_matmul_01_naive.o", "a"),
    (0, 9000, 1, "/b/heddle_module_cuda.dir/ops_matmul_01_naive.o", "a"),
    (9000, 10000, 2, "libheddle-cublas.so", "b"),
    (0, 4000, 1, "heddle_module_sim.dir/ops_matmul_01_naive.o", "c"),
    (0, 1500, 1, "CMakeFiles/heddle_module_mpi.dir/src/dist/module_mpi.c.o", "d"),
    (0, 1500, 1, "CMakeFiles/heddle_ops.dir/src/ops/registry.c.o", "e"),
    (0, 2000, 1, "CMakeFiles/sim.dir/src/sim/core/fiber.c.o", "f"),
    (0, 2000, 1, "CMakeFiles/heddle_simbuild.dir/src/sim/build/home.c.o", "g"),
    (0, 5000, 1, "tests/CMakeFiles/test_ops_ladders.dir/ops/test_ladders.c.o", "h"),
    (0, 6000, 1, "tests/sim/lang/language_warp", "i"),
]
TESTS = "".join(f'<testcase name="t{number}" time="{number}.0" status="run"/>' for number in range(1, 13))


class Times(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="times-")
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as file:
            file.write(text)

    def table(self):
        return subprocess.run([os.path.join(ROOT, "scripts", "times"), self.folder.name], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def test_steps_parts_and_slowest_tests_are_listed(self):
        self.write("times", f"{START - 75} {START} packages\n{START} {START + 130} build\n{START + 130} {START + 200} tests\n")
        self.write(".ninja_log", "# ninja log v5\n" + "".join(
            f"{start}\t{end}\t{(START + at) * 10**9}\t{file}\t{command}\n" for start, end, at, file, command in BUILT))
        self.write("test-results.xml", f"<testsuite>{TESTS}</testsuite>")
        lines = [" ".join(line.split()) for line in self.table().splitlines()]
        self.assertEqual(lines, [
            "where the time went", "packages 1:15", "build 2:10", "kernels by nvcc, 2 files 10 s",
            "kernels by simcc, 1 files 4 s", "tests of the simulator, 1 files 6 s", "tests, 1 files 5 s",
            "simulator, 2 files 4 s", "library and command, 2 files 3 s", "tests 1:10",
            *(f"t{number} {number} s" for number in range(12, 2, -1))])

    def test_notes_are_used_once(self):
        self.write("times", f"{START} {START + 1} packages\n")
        self.assertIn("packages", self.table())
        self.assertEqual(self.table(), "")


if __name__ == "__main__":
    unittest.main()
