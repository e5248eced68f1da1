"""What `heddle check` makes of what differs between runs: values that racing writes store, and copies to the host.

    check_orders.py path/to/heddle
"""

import os
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240

# Threads set different bits of one word, and one flag to the same value, in one line.
LOST_BITS = r"""
__global__ void mark(unsigned *word, int *flag)
{
    unsigned bit = 1u << threadIdx.x;
    if (!(word[0] & bit)) { word[0] |= bit; *flag = 1; }
}
int main()
{
    unsigned *word, bits;
    int *flag;
    cudaMalloc(&word, 4);
    cudaMalloc(&flag, 4);
    cudaMemset(word, 0, 4);
    mark<<<1, 32>>>(word, flag);
    cudaMemcpy(&bits, word, 4, cudaMemcpyDeviceToHost);
    cudaFree(word);
    cudaFree(flag);
}
"""

# In ascending order each thread finds what the one before it has set; in descending order only the first does.
CHAIN = r"""
__global__ void follow(volatile int *set, int *flag)
{
    int i = threadIdx.x;
    if (atomicAdd((int *)&set[i], 0) == 1) {
        atomicExch((int *)&set[i + 1], 1);
        *flag = VALUE;
    }
}
int main()
{
    int *set, *flag, host[34] = {1};
    cudaMalloc(&set, sizeof host);
    cudaMalloc(&flag, 4);
    cudaMemcpy(set, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(flag, 0, 4);
    follow<<<1, 33>>>(set, flag);
    cudaMemcpy(host, flag, 4, cudaMemcpyDeviceToHost);
    cudaFree(set);
    cudaFree(flag);
}
"""

# Each round brings every number to its neighbours; how many rounds it takes depends on who comes first.
ROUNDS = r"""
__global__ void spread(int *least, int *again, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 || i >= n)
        return;
    int mine = atomicAdd(&least[i - 1], 0);
    if (atomicMin(&least[i], mine) > mine)
        atomicExch(again, 1);
}
int main()
{
    const int n = 64;
    int *least, *again, host[n], flag, rounds = 0;
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaMalloc(&least, sizeof host);
    cudaMalloc(&again, 4);
    cudaMemcpy(least, host, sizeof host, cudaMemcpyHostToDevice);
    do {
        cudaMemset(again, 0, 4);
        spread<<<2, 32>>>(least, again, n);
        cudaMemcpy(&flag, again, 4, cudaMemcpyDeviceToHost);
        rounds++;
    } while (flag && rounds < MOST);
    cudaMemcpy(host, least, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(least);
    cudaFree(again);
}
"""

# A time for each block, and behind it, in a copy of its own, who came last.
TIMES = r"""
__device__ long long global_timer()
{
    long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}
__global__ void measure(long long *time, int *sum, int *last)
{
    long long begun = CLOCK;
    atomicAdd(sum, 1);
    atomicExch(last, LAST);
    time[blockIdx.x] = CLOCK - begun;
    time[4 + blockIdx.x] = CLOCK;
}
int main()
{
    long long *time, times[8];
    int *sum, *last, one;
    cudaMalloc(&time, sizeof times);
    cudaMalloc(&sum, 4);
    cudaMalloc(&last, 4);
    cudaMemset(sum, 0, 4);
    measure<<<4, 1>>>(time, sum, last);
    cudaMemcpy(times, time, sizeof times, cudaMemcpyDeviceToHost);
    cudaMemcpy(&one, last, 4, cudaMemcpyDeviceToHost);
    cudaFree(time);
    cudaFree(sum);
    cudaFree(last);
}
"""

# The first look at a place is plain. With TAKE a swap takes the place, whichever thread comes first; without, a maximum
# is all that writes, and leaves out what it needs.
PLACES = r"""
__global__ void insert(int *places, const int *keys)
{
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x], place = key % 4;
    int seen = places[place];
    for (;;) {
        if (TAKE && seen == 0) {
            seen = atomicCAS(&places[place], 0, key);
            if (seen == 0)
                return;
        }
        if (TAKE ? seen == key : seen < key / 2) {
            atomicMax(&places[place], key);
            return;
        }
        if (!TAKE)
            return;
        place = (place + 1) % 64;
        seen = atomicAdd(&places[place], 0);
    }
}
int main()
{
    int *places, *keys, host[64];
    for (int i = 0; i < 64; i++)
        host[i] = 5 + i % 16;
    cudaMalloc(&places, sizeof host);
    cudaMalloc(&keys, sizeof host);
    cudaMemset(places, 0, sizeof host);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    insert<<<4, 16>>>(places, keys);
    cudaMemcpy(host, places, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(places);
    cudaFree(keys);
}
"""

# What a thread declares at VARIABLE goes into the result.
UNSET = r"""
#include <cstdio>
struct particle { float3 place, velocity; float mass; int cell; };
__global__ void make(particle *all)
{
    particle one;
    one.place = one.velocity = make_float3(threadIdx.x, 1, 2);
    one.cell = threadIdx.x;
    MEMBER
    all[threadIdx.x] = one;
}
__global__ void sum(const float *input, const particle *all, float *output, int n)
{
    float VARIABLE;
    for (int i = threadIdx.x; i < n; i += 32)
        for (int k = 0; k < 4; k++)
            ELEMENT += input[i] * (float)k;
    float result = 0;
    for (int k = 0; k < 4; k++)
        result += ELEMENT;
    output[threadIdx.x] = result + all[threadIdx.x].mass;
}
int main()
{
    float host[128], *input, *output;
    particle *all;
    for (int i = 0; i < 128; i++)
        host[i] = i % 7;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&output, 128);
    cudaMalloc(&all, 32 * sizeof *all);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    make<<<1, 32>>>(all);
    sum<<<1, 32>>>(input, all, output, 128);
    cudaMemcpy(host, output, 128, cudaMemcpyDeviceToHost);
    printf("%f\n", host[3]);
    cudaFree(input);
    cudaFree(output);
    cudaFree(all);
}
"""

# The padding of a structure, which a local variable brings to the host.
PADDING = r"""
struct cell { char kind; double value; };
__global__ void make(cell *cells)
{
    cell one;
    one.kind = 1;
    one.value = threadIdx.x;
    cells[threadIdx.x] = one;
}
__global__ void step(const cell *cells, cell *next)
{
    cell one = cells[threadIdx.x];
    one.value += 1;
    next[threadIdx.x] = one;
}
int main()
{
    cell host[32], *cells, *next;
    for (int i = 0; i < 32; i++) {
        host[i].kind = 0;
        host[i].value = 0;
    }
    cudaMalloc(&cells, sizeof host);
    cudaMalloc(&next, sizeof host);
    cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice);
    make<<<1, 32>>>(cells);
    step<<<1, 32>>>(cells, next);
    cudaMemcpy(host, next, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(cells);
    cudaFree(next);
}
"""


class Orders(unittest.TestCase):
    def check(self, text, *arguments, code=0, **values):
        for name, value in values.items():
            text = text.replace(name, value)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "x.cu"), "w", encoding="utf-8") as file:
                file.write(text)
            result = subprocess.run([HEDDLE, "check", "x.cu", "--no-counters", "--no-nvcc", *arguments], cwd=folder,
                                    capture_output=True, text=True, env=check_environment(), timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def test_a_store_of_one_value_speaks_for_no_other_store_of_its_line(self):
        said = self.check(LOST_BITS, code=1)
        self.assertIn("error: data race on global memory word in kernel mark\n", said)
        self.assertIn("warning: data race on global memory flag in kernel mark\n", said)
        self.assertTrue(said.endswith("\n1 error, 1 warning\n"), said)

    def test_values_are_compared_in_the_order_that_shows_the_race(self):
        said = self.check(CHAIN, VALUE="1")
        self.assertIn("warning: data race on global memory flag in kernel follow\n", said)
        self.assertIn("because   every thread stored the same value\n", said)
        self.assertIn("in schedule 0 only\n", said)
        self.assertIn("error: data race on global memory flag", self.check(CHAIN, VALUE="i", code=1))

    def test_a_look_before_a_maximum_is_wrong_only_where_the_maximum_alone_decides(self):
        said = self.check(PLACES, TAKE="true")
        self.assertIn("warning: data race on global memory places in kernel insert\n", said)
        self.assertIn("warning: result depends on the order of execution in kernel insert\n", said)
        said = self.check(PLACES, TAKE="false", code=1)
        self.assertIn("error: data race on global memory places in kernel insert\n", said)
        self.assertIn("the read has skipped an atomic that was needed\n", said)

    def test_a_flag_that_only_steers_the_hosts_loop_is_no_result(self):
        self.assertIn("clean: 2 schedules", self.check(ROUNDS, MOST="1000"))
        said = self.check(ROUNDS, MOST="5")  # given up too early in one of the orders
        self.assertIn("warning: result depends on the order of execution in kernel spread\n", said)

    def test_time_is_no_result_and_hides_none(self):
        for clock in ("clock64()", "clock()", "global_timer()"):
            with self.subTest(clock):
                said = self.check(TIMES, CLOCK=clock, LAST="1")
                self.assertIn("note: two runs in the same order gave different results in copy number 1 to the host",
                              said)
                self.assertIn("clean: 2 schedules", said)
        said = self.check(TIMES, "--schedules", "3", CLOCK="clock64()", LAST="blockIdx.x")
        self.assertIn("Copy number 2 to the host differs between schedule 0 and schedule 1: 1 of its 1 elements, "
                      "the first of them element 0, which is 3 in the one and 0 in the other.\n", said)
        self.assertEqual(said.count("warning: result"), 1, said)

    def test_a_local_variable_that_is_never_set_is_found_by_the_result(self):
        right = {"VARIABLE": "sums[4] = {}", "ELEMENT": "sums[k]", "MEMBER": "one.mass = 1;"}
        self.assertIn("clean: 2 schedules", self.check(UNSET, **right))
        cases = {"array": {"VARIABLE": "sums[4]"}, "member": {"MEMBER": ""},
                 "number": {"VARIABLE": "sums", "ELEMENT": "sums"}}
        for name, values in cases.items():
            with self.subTest(name):
                said = self.check(UNSET, **{**right, **values})
                self.assertIn("warning: uninitialised read in kernel sum\n  A local variable, or an element or member "
                              "of one, is read before it is set: if all that were never set begin with other bits "
                              "than 0, copy number 1 to the host differs in 32 of its 32 elements, the first of them "
                              "element 0.\n", said)
                self.assertIn("  write     x.cu:21  block (0,0,0) thread (0,0,0)\n", said)
                self.assertIn("Give the variable a value where it is declared.", said)
                self.assertNotIn("two runs in the same order", said)

    def test_padding_that_is_never_set_is_no_finding(self):
        said = self.check(PADDING)
        self.assertIn("clean: 2 schedules", said)
        self.assertNotIn("two runs in the same order", said)


if __name__ == "__main__":
    unittest.main()
