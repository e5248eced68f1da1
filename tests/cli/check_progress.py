"""The line that `heddle check` draws while a run takes long: there on a terminal, and gone before the verdict.

    check_progress.py path/to/heddle
"""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import Terminal  # noqa: E402

HEDDLE = os.path.abspath(sys.argv.pop(1))

# Launches a kernel again and again until there is a file "enough"; its second run finds it there.
PROGRAM = r"""
#include <unistd.h>
__global__ void go_round(int *sums)
{
    for (int k = 0; k < 1000; k++)
        sums[blockIdx.x * blockDim.x + threadIdx.x] += k;
}
int main()
{
    int *sums;
    cudaMalloc(&sums, 64 * 64 * sizeof(int));
    cudaMemset(sums, 0, 64 * 64 * sizeof(int));
    do {
        go_round<<<64, 64>>>(sums);
        cudaDeviceSynchronize();
    } while (access("enough", F_OK) != 0);
    cudaFree(sums);
}
"""
CLEAR = "\033[K"


class Progress(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(self.folder.name, "program.cu"), "w") as file:
            file.write(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()

    def enough(self):
        with open(os.path.join(self.folder.name, "enough"), "w"):
            pass

    def test_the_line_names_the_kernel_and_is_gone_before_the_verdict(self):
        command = Terminal(HEDDLE, ["check", "--no-nvcc", "--no-counters", "program.cu"], self.folder.name,
                           {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}, rows=24)
        command.wait_for("go_round: ")
        command.wait_for(" of 64 blocks")
        self.enough()
        self.assertEqual(command.end(), 0)
        drawn, _, verdict = command.text().rpartition(CLEAR)
        self.assertRegex(drawn, r"go_round: \d+ of 64 blocks")
        self.assertRegex(verdict, r"^clean: 2 schedules, [^\r\n]*, 0 findings\r\n$")


if __name__ == "__main__":
    unittest.main()
