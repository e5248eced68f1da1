"""`heddle check --budget`: which blocks a large launch watches, what is still found in the others, and that the verdict
says so.

    check_budget.py path/to/heddle
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240
SMALL = "0.004"  # a budget of 400,000 accesses; the first launch of the program makes 1,300,000

# 200 blocks of 64 threads, each of which reads 100 words and writes two: a byte in one array, a word in another. A
# second launch reads what the first has written, and a copy takes it to the host.
PROGRAM = r"""
#include <cstdio>
enum { BLOCKS = 200, THREADS = 64, WORDS = BLOCKS * THREADS };
__global__ void fill(const int *from, int *words, char *bytes)
{
    __shared__ int of_block[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    for (int k = 0; k < 100; k++)
        sum += from[(i + k) % WORDS];
    of_block[threadIdx.x] = sum;
    BARRIER;
    words[INDEX] = of_block[THREADS - 1 - threadIdx.x];
    bytes[i] = (char)sum;
}
__global__ void add(const int *words, const char *bytes, int *sums)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    sums[i] = words[i] + bytes[i];
}
int main()
{
    static int host[WORDS];
    int *from, *words, *sums;
    char *bytes;
    for (int i = 0; i < WORDS; i++)
        host[i] = i;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&words, sizeof host);
    cudaMalloc(&sums, sizeof host);
    cudaMalloc(&bytes, WORDS);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    fill<<<BLOCKS, THREADS>>>(from, words, bytes);
    add<<<BLOCKS, THREADS>>>(words, bytes, sums);
    cudaError_t error = cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[WORDS - 1]);
    cudaFree(from);
    cudaFree(words);
    cudaFree(sums);
    cudaFree(bytes);
    return error != cudaSuccess;
}
"""


class Budget(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def check(self, *options, barrier="__syncthreads()", index="i", environment=None):
        """(exit code, result)"""
        path = os.path.join(self.folder.name, "program.cu")
        with open(path, "w") as file:
            file.write(PROGRAM.replace("BARRIER", barrier).replace("INDEX", index))
        done = subprocess.run([HEDDLE, "check", "--no-nvcc", "--json", *options, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                              env={**os.environ, **(environment or {})})
        return done.returncode, json.loads(done.stdout)

    def blocks(self, result):
        return {kernel["kernel"]: (kernel["watched_blocks"], kernel["blocks"]) for kernel in result["kernels"]}

    def counts(self, result):
        return [(kernel["watched_blocks"], kernel["accesses"], [line["requests"] for line in kernel["lines"]])
                for kernel in result["kernels"]]

    def test_a_launch_within_the_budget_is_watched_in_full(self):
        code, result = self.check()
        self.assertEqual((code, result["watched"], result["status"]), (0, 1, "clean"))
        self.assertEqual(self.blocks(result), {"fill": (200, 200), "add": (200, 200)})
        self.assertNotIn("watched", result["verdict"])
        self.assertEqual(result["notes"], [])

    def test_beyond_the_budget_the_verdict_says_what_was_watched(self):
        code, result = self.check("--budget", SMALL)
        self.assertEqual((code, result["status"], result["findings"]), (0, "clean", []))
        watched, blocks = self.blocks(result)["fill"]
        self.assertEqual(blocks, 200)
        self.assertGreaterEqual(watched, 17)  # the first window, and the last block
        self.assertLess(watched, 60)
        self.assertLess(result["watched"], 1)
        self.assertRegex(result["verdict"], r"^clean: 2 schedules, .* accesses, \d+ % of blocks watched, 0 findings$")
        self.assertIn("fill: %d of 200" % watched, result["notes"][0])

    def test_full_watches_all(self):
        _, result = self.check("--budget", SMALL, "--full")
        self.assertEqual((result["watched"], result["notes"]), (1, []))

    def test_the_choice_depends_on_the_seed_alone(self):
        one = self.check("--budget", SMALL)[1]
        other = self.check("--budget", SMALL, environment={"SIM_WORKERS": "3"})[1]
        self.assertEqual(self.counts(one), self.counts(other))
        self.assertEqual(one["verdict"], other["verdict"])
        drawn = {str(self.counts(self.check("--budget", SMALL, "--seed", seed)[1])) for seed in "1234"}
        self.assertGreater(len(drawn), 1)

    def test_a_race_of_every_block_is_found_as_always(self):
        code, result = self.check("--budget", SMALL, barrier="")
        self.assertEqual((code, [finding["kind"] for finding in result["findings"]]), (1, ["race"]))
        self.assertRegex(result["verdict"], r"^1 error, 0 warnings, \d+ % of blocks watched$")

    def test_addresses_are_checked_in_every_block(self):
        for block in (0, 77, 101, 150, 199):
            with self.subTest(block=block):
                code, result = self.check("--budget", SMALL, index="i + (i == %d * THREADS + 5) * WORDS" % block)
                self.assertEqual((code, result["findings"][0]["kind"]), (1, "out-of-bounds"))
                self.assertEqual(result["findings"][0]["places"][0]["block"], [block, 0, 0])

    def test_what_no_block_writes_is_still_uninitialised(self):
        code, result = self.check("--budget", SMALL, index="i / 2 * 2")
        kinds = {finding["kind"] for finding in result["findings"]}
        self.assertEqual(code, 1)
        self.assertIn("uninitialised", kinds)

    def test_blocks_that_may_order_each_other_are_all_watched(self):
        _, result = self.check("--budget", SMALL, barrier="__syncthreads(); __threadfence()")
        self.assertEqual(self.blocks(result)["fill"], (200, 200))
        self.assertLess(self.blocks(result)["add"][0], 200)

    def test_the_page_says_it_too(self):
        page = os.path.join(self.folder.name, "page.html")
        self.check("--budget", SMALL, "--html", page)
        with open(page) as file:
            self.assertRegex(file.read(), r"\d+ % of blocks watched")


if __name__ == "__main__":
    unittest.main()
