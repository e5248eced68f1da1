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

    def test_a_thread_that_only_reads_lets_others_run(self):
        poll = "while (threadIdx.x == 0 && blockIdx.x == 150 && of_block[1] == 0) asm volatile(\"\" ::: \"memory\")"
        code, result = self.check("--budget", SMALL, barrier=poll + "; __syncthreads()")
        self.assertEqual((code, [finding["kind"] for finding in result["findings"]]), (0, []))

    def test_a_thread_that_reads_forever_is_reported(self):
        poll = "while (blockIdx.x == 150 && from[0] == 0) asm volatile(\"\" ::: \"memory\")"
        code, result = self.check("--budget", SMALL, barrier=poll + "; __syncthreads()")
        self.assertEqual((code, [finding["kind"] for finding in result["findings"]]), (1, ["spin"]))
        self.assertIn("loops forever", result["findings"][0]["message"])

    def test_blocks_that_may_order_each_other_are_all_watched(self):
        _, result = self.check("--budget", SMALL, barrier="__syncthreads(); __threadfence()")
        self.assertEqual(self.blocks(result)["fill"], (200, 200))
        self.assertLess(self.blocks(result)["add"][0], 200)

    def test_the_page_says_it_too(self):
        page = os.path.join(self.folder.name, "page.html")
        self.check("--budget", SMALL, "--html", page)
        with open(page) as file:
            self.assertRegex(file.read(), r"\d+ % of blocks watched")


# Twenty rounds of two kernels. The program itself knows what has to come out.
ROUNDS = r"""
#include <cstdio>
enum { BLOCKS = 64, THREADS = 64, WORDS = BLOCKS * THREADS };
__constant__ int factor;
__device__ int addend;
template <typename T> __global__ void spread(const T *from, T *to) // an argument that is deduced
{
    int i = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    for (int k = 0; k < 20; k++)
        sum += from[(i + k) % WORDS];
    to[i] = sum * factor + addend;
}
__global__ void add(int *to, const int *from)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    to[i] = to[i] + from[i];
}
__global__ void set_addend() { addend = 5; }
int main()
{
    static int host[WORDS], zero[WORDS];
    int *from, *to, *last, *sums, five = 5;
    for (int i = 0; i < WORDS; i++)
        host[i] = 1;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&to, sizeof host);
    cudaMalloc(&last, sizeof host);
    cudaMalloc(&sums, sizeof host);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, sizeof host);
    cudaMemcpyToSymbol(factor, &host[0], sizeof(int));
    cudaStream_t other;
    FIRST;
    for (int round = 0; round < 20; round++) {
        if (round == 10) {
            CHANGE;
        }
        spread<<<BLOCKS, THREADS>>>(from, to);
        spread<<<BLOCKS, THREADS>>>(to, last);
        add<<<BLOCKS, THREADS>>>(sums, last);
    }
    WAIT;
    LATER;
    cudaMemcpyAsync(host, last, sizeof host, cudaMemcpyDeviceToHost, other);
    cudaStreamSynchronize(0);
    cudaStreamSynchronize(other);
    int got = host[7];
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", got, host[7]);
    cudaStreamDestroy(other);
    cudaFree(from);
    cudaFree(to);
    cudaFree(last);
    cudaFree(sums);
    return got != LAST || host[7] != 10 * 400 + 10 * LAST;
}
"""


class Repeated(unittest.TestCase):
    def check(self, *options, change="", last=400, wait="cudaDeviceSynchronize()", two_streams=False):
        create = "cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking)"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rounds.cu")
            with open(path, "w") as file:
                file.write(ROUNDS.replace("CHANGE", change).replace("WAIT", wait).replace("LAST", str(last))
                           .replace("FIRST", create if two_streams else "").replace("LATER", "" if two_streams else create))
            done = subprocess.run([HEDDLE, "check", "--no-nvcc", "--json", "--budget", "0.1", *options, path],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        result = json.loads(done.stdout)
        return result, {kernel["kernel"]: (kernel["launches"], kernel["repeated_launches"])
                        for kernel in result["kernels"]}

    def test_a_launch_that_changes_nothing_is_not_run_again(self):
        result, launches = self.check()
        self.assertEqual(result["verdict"].split(":")[0], "clean")
        count, repeated = launches["spread"]
        self.assertEqual(count, 40)
        self.assertGreater(repeated, 20)
        self.assertLess(repeated, 39)
        self.assertEqual(launches["add"], (20, 0))  # which adds to what the one before it left
        self.assertIn("%d of 60 launches repeat" % repeated, result["notes"][-1])

    def test_beside_another_stream_nothing_else_may_have_used_the_memory(self):
        # Each of the kernels writes what the next one reads.
        result, launches = self.check(two_streams=True)
        self.assertEqual(result["verdict"].split(":")[0], "clean")
        self.assertLess(launches["spread"][1], self.check()[1]["spread"][1])

    def test_full_runs_all(self):
        result, launches = self.check("--full")
        self.assertEqual((launches["spread"], result["notes"]), ((40, 0), []))

    def test_changes_are_seen(self):
        whole = self.check()[1]["spread"][1]
        changes = [
            (0, "cudaMemset(from, 0, sizeof host)"),
            (0, "cudaMemcpy(from, zero, sizeof host, cudaMemcpyHostToDevice)"),
            (800, "add<<<BLOCKS, THREADS>>>(from, from)"),
            (505, "set_addend<<<1, 1>>>()"),
            (10000, "cudaMemcpyToSymbol(factor, &five, sizeof five)"),
        ]
        for last, change in changes:
            with self.subTest(change=change):
                result, launches = self.check(change=change, last=last)
                self.assertEqual((result["verdict"].split(":")[0], result["findings"]), ("clean", []))
                self.assertLess(launches["spread"][1], whole)
                self.assertGreater(launches["spread"][1], 10)

    def test_a_missing_wait_for_one_of_them_is_found(self):
        # The host has waited for the first ten rounds, but not for those that repeat them.
        result, _ = self.check(wait="", change="cudaDeviceSynchronize()")
        self.assertEqual([finding["kind"] for finding in result["findings"]], ["missing-wait"])


# A kernel that adds to what it finds, and one that doubles it, in memory that is reset before each round.
RESETS = r"""
#include <cstdio>

enum { BLOCKS = 256, THREADS = 64, WORDS = BLOCKS * THREADS, SUMS = 4 };

__global__ void add(int *sums, const int *from)
{
    int sum = 0, i = blockIdx.x * THREADS + threadIdx.x;
    for (int step = 0; step < 20; step++)
        sum += from[(i + step) % WORDS];
    atomicAdd(&sums[threadIdx.x % SUMS], sum);
}

__global__ void twice(int *values)
{
    values[blockIdx.x * THREADS + threadIdx.x] *= 2;
}

int main()
{
    static int host[WORDS];
    int *from, *sums, *values, start[SUMS] = {}, got[SUMS], doubled, wrong = 0;
    for (int i = 0; i < WORDS; i++)
        host[i] = 1;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&sums, sizeof start);
    cudaMalloc(&values, sizeof host);
    for (int round = 0; round < 20; round++) {
        if (round == 10) {
            CHANGE;
        }
        cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
        RESET;
        add<<<BLOCKS, THREADS>>>(sums, from);
        cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
        twice<<<BLOCKS, THREADS>>>(values);
        cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
        cudaMemcpy(&doubled, values, sizeof doubled, cudaMemcpyDeviceToHost);
        wrong += doubled != 2 * host[0];
        for (int i = 0; i < SUMS; i++)
            wrong += got[i] != start[i] + WORDS / SUMS * 20 * host[0];
    }
    printf("%d\n", got[0]);
    cudaFree(from);
    cudaFree(sums);
    cudaFree(values);
    return wrong;
}
"""


class Reset(unittest.TestCase):
    def check(self, reset="cudaMemcpy(sums, start, sizeof start, cudaMemcpyHostToDevice)", change=""):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "resets.cu")
            with open(path, "w") as file:
                file.write(RESETS.replace("CHANGE", change).replace("RESET", reset))
            done = subprocess.run([HEDDLE, "check", "--no-nvcc", "--json", "--budget", "0.1", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        result = json.loads(done.stdout)
        self.assertEqual((result["verdict"].split(":")[0], result["findings"]), ("clean", []))
        return {kernel["kernel"]: kernel["repeated_launches"] for kernel in result["kernels"]}

    def test_a_launch_on_memory_that_was_reset_is_not_run_again(self):
        for reset in ("cudaMemcpy(sums, start, sizeof start, cudaMemcpyHostToDevice)",
                      "cudaMemset(sums, 0, sizeof start)"):
            with self.subTest(reset=reset):
                repeated = self.check(reset)
                self.assertGreater(repeated["add"], 14)
                self.assertGreater(repeated["twice"], 14)

    def test_other_contents_are_seen(self):
        whole = self.check()["add"]
        for change in ("start[2] = 7", "for (int i = 0; i < WORDS; i++) host[i] = 3",
                       "cudaFree(sums); cudaMalloc(&sums, sizeof start)"):
            with self.subTest(change=change):
                repeated = self.check(change=change)
                self.assertLess(repeated["add"], whole)
                self.assertGreater(repeated["add"], 7)

    def test_memory_that_another_kernel_has_written_since_is_not_put_back(self):
        # The race detector would not know that the launch has written there.
        self.assertEqual(self.check("cudaMemset(sums, 0, sizeof start); twice<<<1, SUMS>>>(sums)")["add"], 0)

    def test_contents_that_change_each_time_are_run_each_time(self):
        repeated = self.check("start[0]++; cudaMemcpy(sums, start, sizeof start, cudaMemcpyHostToDevice)")
        self.assertEqual(repeated["add"], 0)


if __name__ == "__main__":
    unittest.main()
