"""What `heddle check` makes of calls of the CUDA runtime that fail, of variables that host code uses by name, of files that
cannot be written, and of what a person new to it types.

    check_calls.py path/to/heddle
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PATIENCE = 240

KERNEL = "#include <cstdio>\n#include <cstdlib>\n__global__ void fill(int *p) { p[threadIdx.x] = 1; }\n"

PROBES = KERNEL + r"""
int main()
{
    if (cudaSetDevice(7) != cudaSuccess)
        cudaGetLastError();
    void *piece[64];
    int count = 0, can = 0;
    while (count < 64 && cudaMalloc(&piece[count], (size_t)32 << 30) == cudaSuccess)
        count++;
    while (count > 0)
        cudaFree(piece[--count]);
    cudaError_t status = cudaDeviceCanAccessPeer(&can, 0, 1);
    printf("%s\n", cudaGetErrorString(status));
    int *p;
    cudaMalloc(&p, 4 * 32);
    fill<<<1, 32>>>(p);
    while (cudaStreamQuery(0) == cudaErrorNotReady)
        ;
    cudaFree(p);
    return 0;
}
"""

CHECKER = KERNEL + r"""
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { puts(cudaGetErrorString(e)); GIVE_UP; } } while (0)
int main()
{
    int *p = NULL, host[32];
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(
        cudaMemcpy(p, host, sizeof host, cudaMemcpyDeviceToHost));
    fill<<<1, 32>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(p));
    return 0;
}
"""

FOLLOWS = r"""
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
int main()
{
    float host[64] = {0}, *x;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyDeviceToHost);
    twice<<<1,
            2048>>>(x);
    twice<<<1, 64>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    return 0;
}
"""

BY_NAME = r"""#include <cstdio>
__device__ int counter;
__global__ void count() { atomicAdd(&counter, 1); }
int main()
{
    count<<<1, 32>>>();
    cudaDeviceSynchronize();
    printf("%d, %zu bytes\n", counter, sizeof counter);
    return 0;
}
"""

BETWEEN = r"""
__global__ void reverse(int *x)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    reverse<<<1, 64>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
"""


SHUFFLED = r"""
__global__ void sum(const int *x, int n, int *out)
{
    if (threadIdx.x < n) {
        int v = x[threadIdx.x];
        v += __shfl_down_sync(0xffffffff, v, 16);
        out[threadIdx.x] = v;
    }
}
int main()
{
    int *x, *out;
    cudaMalloc(&x, 128);
    cudaMalloc(&out, 128);
    cudaMemset(x, 0, 128);
    sum<<<1, 32>>>(x, 20, out);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
}
"""

FLAG = r"""
__global__ void any(const int *x, int *out)
{
    __shared__ int found;
    if (x[threadIdx.x] == 7)
        found = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = found;
}
int main()
{
    int *x, *out;
    cudaMalloc(&x, 128);
    cudaMalloc(&out, 4);
    cudaMemset(x, 0, 128);
    any<<<1, 32>>>(x, out);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
}
"""

EMPTY = KERNEL + r"""
int main()
{
    int *p;
    cudaMalloc(&p, 128);
    for (int blocks = 1; blocks >= 0; blocks--)
        fill<<<blocks, 32>>>(p);
    cudaFree(p);
}
"""

STRAYS = r"""
__global__ void stray(const float *x, float *y, int rows, int columns)
{
    for (int i = 0; i < rows * columns; i++)
        y[i % columns * rows + i / columns + (rows > 40)] = x[i];
}
void transpose(const float *x, float *y, int rows, int columns) { stray<<<1, 1>>>(x, y, rows, columns); }
"""


# Right for every k of the test shapes.
SHORT_SUM = r"""
__global__ void kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k && i < 600; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
"""

# Without the operators' optional fields, and without blockIdx.x in the one, blockIdx.y in the other.
FIRST_BLOCK = r"""
// launch: <<<(n + 255) / 256, 256>>>
__global__ void saxpy(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n && blockIdx.x == i / blockDim.x)
        y[i] += 2 * x[i];
}
"""

FIRST_ROW_OF_TILES = r"""
// launch: <<<dim3((n + 31) / 32, 1), dim3(32, 32)>>>
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
"""

READS_ARGUMENT = KERNEL + r"""
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), *p;
    cudaMalloc(&p, 4 * n);
    fill<<<1, n>>>(p);
    cudaFree(p);
}
"""

TWO_NAMES = r"""
__global__ void add(const float *a, const float *b, float *out)
{
    int i = threadIdx.x;
    out[i] = a[i] + b[i];
}
int main()
{
    float *da, *db, *dout;
    cudaMalloc(&da, 4 * 32);
    cudaMalloc(&db, 4 * 31);
    cudaMalloc(&dout, 4 * 32);
    cudaMemset(da, 0, 4 * 32);
    cudaMemset(db, 0, 4 * 31);
    add<<<1, 32>>>(da, db, dout);
    cudaDeviceSynchronize();
}
"""


class Calls(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = check_environment()

    def tearDown(self):
        self.scratch.cleanup()

    def run_check(self, *words, text=None, code=0, nvcc=False):
        if text is not None:
            with open(os.path.join(self.scratch.name, "x.cu"), "w", encoding="utf-8") as file:
                file.write(text)
        result = subprocess.run(["heddle", "check", *([] if nvcc else ["--no-nvcc"]), *words], executable=HEDDLE,
                                capture_output=True, text=True,
                                env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, f"{result.stdout}\n{result.stderr}")
        return result

    def check(self, text, *options, code=0):
        return self.run_check(*options, "x.cu", text=text, code=code)

    def test_a_program_that_asks_what_the_card_has_is_clean(self):
        lines = self.check(PROBES, "--strict").stdout.split("\n")
        self.assertTrue(lines[-2].startswith("clean: "), lines)
        notes = [line for line in lines if line.startswith("note: ")]
        self.assertEqual([note.split(" fails")[0] for note in notes],
                         ["note: x.cu:7: cudaSetDevice", "note: x.cu:11: cudaMalloc",
                          "note: x.cu:15: cudaDeviceCanAccessPeer"])

    def test_a_call_that_fails_in_a_checker_is_an_error_whether_the_program_goes_on_or_not(self):
        for way in ("exit(1)", "(void)0"):
            document = json.loads(self.check(CHECKER.replace("GIVE_UP", way), "--json", "--quiet", code=1).stdout)
            self.assertEqual([(f["kind"], f["places"][0]["line"]) for f in document["findings"]], [("bad-call", 11)])

    def test_a_launch_that_fails_is_told_once(self):
        text = ("__global__ void k(int *p) { p[0] = 1; }\nint main() { int *p; cudaMalloc(&p, 4);\n"
                "k<<<1, 2048>>>(p);\ncudaFree(p); }\n")
        result = self.check(text, code=1)
        self.assertEqual(result.stdout.rstrip("\n").split("\n")[-1], "1 error, 0 warnings")
        self.assertIn("; the program never checks the error\n", result.stdout)

    def test_free_of_device_memory_is_told_with_its_line(self):
        text = "#include <cstdlib>\nint main()\n{\n    int *p;\n    cudaMalloc(&p, 4);\n    free(p);\n}\n"
        result = self.check(text, code=1)
        self.assertIn("error: invalid free of global memory p\n  free of memory that CUDA allocated: free it with "
                      "cudaFree\n  call      x.cu:6\n", result.stdout)

    def test_a_crash_of_host_code_names_its_line(self):
        for kind, line in ("'s'", 4), ("'a'", 11), ("'t'", 13):
            text = ("#include <cstdlib>\n#include <vector>\nint *none;\n"
                    "static void inner(int *p) { p[3] = 4; }\n"
                    f"int main(int count, char **)\n{{\n    volatile char kind = {kind};\n"
                    "    if (kind == 's')\n        inner(count > 5 ? new int : none);\n"
                    "    if (kind == 'a')\n        abort();\n"
                    "    std::vector<int> three(3);\n    three.at((size_t)count + 5) = 1;\n}\n")
            result = self.check(text, code=1)
            self.assertIn("error: program died\n", result.stdout)
            self.assertRegex(result.stdout, rf"crash +x\.cu:{line}\n")

    def test_recursion_without_end_of_host_code_is_told_as_a_stack_used_up(self):
        text = ("volatile bool endless = true;\n"
                "static int deeper(int n)\n{\n    volatile char local[1000];\n    local[0] = (char)n;\n"
                "    return endless ? deeper(n + 1) + local[0] : 0;\n}\n"
                "int main() { return deeper(0); }\n")
        result = self.check(text, code=1)
        self.assertIn("SIGSEGV (stack overflow, by endless recursion or", result.stdout)
        self.assertRegex(result.stdout, r"crash +x\.cu:[3-6]\n")

    def test_each_leak_of_a_line_is_told(self):
        text = ("int main() { int *p, *q; cudaMalloc(&p, 4); cudaMalloc(&q, 8); }\n")
        result = self.check(text)
        self.assertIn("warning: memory leak of global memory p\n", result.stdout)
        self.assertIn("warning: memory leak of global memory q\n", result.stdout)

    def test_what_only_follows_from_a_failure_is_left_out(self):
        result = self.check(FOLLOWS, code=1)
        self.assertEqual(result.stdout.count("\nerror: ") + result.stdout.startswith("error: "), 2)
        self.assertIn("  launch    x.cu:8\n", result.stdout)
        self.assertIn("note: left out: 1 finding about uninitialised memory", result.stdout)
        self.assertTrue(result.stdout.endswith("2 errors, 0 warnings\n"))

    def test_a_device_variable_that_the_host_reads_by_name_is_an_error(self):
        result = self.check(BY_NAME, code=1)
        self.assertIn("reads a device variable by its name: on a GPU that is the host's own copy, which kernels and "
                      "cudaMemcpyToSymbol never change\n  read      x.cu:8\n", result.stdout)
        self.assertIn("  fix       Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol", result.stdout)

    def test_a_comment_on_the_line_that_is_shown_suppresses(self):
        allowed = FOLLOWS.replace("twice<<<1,\n", "twice<<<1, // heddle: allow all\n")
        self.assertIn("1 error, 0 warnings, 2 suppressed", self.check(allowed, code=1).stdout)
        allowed = CHECKER.replace("GIVE_UP", "(void)0").replace("DeviceToHost));\n    fill",
                                                                "DeviceToHost)); // heddle: allow bad-call\n    fill")
        self.assertIn("1 suppressed", self.check(allowed).stdout)

    def test_the_cure_of_a_race_says_between_which_lines(self):
        self.assertIn("fix       Put __syncthreads() between line 5 and line 6.\n", self.check(BETWEEN, code=1).stdout)

    def test_the_cure_fits_the_place(self):
        for text, cure in ((SHUFFLED, "Let all lanes of the warp make the call"), (EMPTY, "Round the number of blocks up"),
                           (FLAG, "Let one thread set its first value")):
            with self.subTest(cure):
                self.assertIn(f"fix       {cure}", self.check(text, code=1).stdout)

    def test_a_program_with_an_open_bracket_is_told_by_the_compiler(self):
        result = self.check("__global__ void k() { if (threadIdx.x) {\n}\nint main() { return 0; }\n", code=1)
        self.assertIn("x.cu:", result.stdout)
        self.assertTrue(result.stdout.endswith("not built\n"), result.stdout)

    def test_a_library_that_is_not_simulated_is_told_in_one_error(self):
        result = self.check("#include <npp.h>\nint main() { }\n", code=1)
        self.assertEqual(result.stdout.count(" error: "), 1, result.stdout)

    def test_shapes_behind_a_fault_are_not_called_large(self):
        said = self.check(STRAYS, "--op", "transpose", code=1).stdout
        self.assertRegex(said, r"note: transpose: \d of \d test shapes compared .*; the program stopped at rows=\d+ cols=\d+, "
                               r"before the rest")

    # --- a person's first steps ---------------------------------------------------------------------------------------

    def test_a_shape_of_ones_own_shows_what_the_test_shapes_do_not_reach(self):
        said = self.check(SHORT_SUM, "--op", "matmul").stdout
        self.assertRegex(said, r"note: .* (\d+) of \1 test shapes compared .*, the largest m=\d+ n=\d+ k=\d+; transpose_a, "
                               r"transpose_b, alpha, beta have their defaults: the function does not take them; "
                               r"--shape compares at others\n")
        said = self.check(SHORT_SUM, "--op", "matmul", "--shape", "m=2 n=3 k=600", "--shape=m=2 n=3 k=601", code=1).stdout
        self.assertIn("matmul_forward with m=2 n=3 k=601: 6 of 6 elements are wrong", said)
        self.assertIn("note: matmul_forward: 2 of 2 shapes of --shape compared", said)
        for options, why in ((("--op", "matmul", "--shape", "m=2 q=3"), "a shape has no 'q'"),
                             (("--op", "matmul", "--shape", "m=2 n=2 k=2 alpha=3"), "--shape sets alpha, which matmul does not"),
                             (("--shape", "m=2 n=2 k=2"), "--shape goes with --op")):
            said = self.check(SHORT_SUM, *options, code=2).stderr
            self.assertIn(why, said)
            self.assertEqual(said.count("\n"), 1, said)

    def test_a_shape_that_is_none_is_not_taken_for_the_test_shapes(self):
        for shape in (";", " ", "\n"):
            for options in (("--op", "matmul"), ()):
                said = self.check(SHORT_SUM, *options, "--shape", shape, code=2).stderr
                self.assertIn("--shape is empty", said)

    def test_a_function_that_ends_the_program_is_not_called_right(self):
        text = SHORT_SUM.replace("kernel<<<", "if (k == 3)\n        exit(STATUS);\n    kernel<<<")
        shapes = ("--op", "matmul", "--shape", "m=2 n=3 k=2;m=2 n=3 k=3;m=2 n=3 k=4")
        for status, options in (("0", ()), ("3", ("--any-status",))):
            said = self.check("#include <cstdlib>\n" + text.replace("STATUS", status), *shapes, *options, code=1).stdout
            self.assertIn(f"matmul_forward with m=2 n=3 k=3: the program ended with status {status} before it had computed this",
                          said)
            self.assertIn("1 of 3 shapes of --shape compared", said)
            self.assertIn("; the program stopped at m=2 n=3 k=3, before the rest\n", said)

    def test_the_note_of_shapes_is_one_line_and_says_why_some_were_not_compared(self):
        wrong = ";".join(f"m=2\n n=3 k={k}" for k in range(601, 606))
        said = self.check(SHORT_SUM, "--op", "matmul", "--shape", wrong, code=1).stdout
        self.assertRegex(said, r"\nnote: matmul_forward: 3 of 5 shapes of --shape compared .*: m=2 n=3 k=601, m=2 n=3 k=602, "
                               r"m=2 n=3 k=603; stopped after 3 wrong ones\n")

    def test_a_function_written_to_the_hint_is_compared_at_all_shapes(self):
        said = self.check("void other() { }\n", "--op", "saxpy", code=2).stderr
        hint = re.search(r"void saxpy\(.*?\)", said).group().replace("[", "").replace("]", "")
        self.assertEqual(hint, "void saxpy(const float *x, float *y, int n, float alpha)")
        text = ("__global__ void k(const float *x, float *y, int n, float alpha)\n{\n    int i = blockIdx.x * 64 + threadIdx.x;\n"
                "    if (i < n)\n        y[i] += alpha * x[i];\n}\n" + hint + " { k<<<(n + 63) / 64, 64>>>(x, y, n, alpha); }\n")
        self.assertRegex(self.check(text, "--op", "saxpy").stdout, r"note: saxpy: (\d+) of \1 test shapes compared")

    def test_a_kernel_that_is_right_in_its_first_block_is_not_called_clean(self):
        for text, options, block in ((FIRST_BLOCK, ("--op", "saxpy"), r"y\[256\]"),
                                     (FIRST_ROW_OF_TILES, ("--op", "matmul"), r"output\[32\]\[0\]")):
            said = self.check(text, *options, code=1).stdout
            self.assertRegex(said, r"(saxpy|matmul_forward) with [a-z0-9= ]+: \d+ of \d+ elements are wrong; " + block + " is ")
        whole = FIRST_BLOCK.replace("i = threadIdx.x", "i = blockIdx.x * blockDim.x + threadIdx.x")
        self.assertRegex(self.check(whole, "--op", "saxpy").stdout,
                         r"note: saxpy: (\d+) of \1 test shapes compared .*n=1027; alpha has its default: ")
        whole = FIRST_ROW_OF_TILES.replace("row = threadIdx.y", "row = blockIdx.y * 32 + threadIdx.y")
        self.check(whole.replace("/ 32, 1)", "/ 32, (m + 31) / 32)"), "--op", "matmul")

    def test_a_wrong_result_shows_inputs_expected_got_and_pattern(self):
        text = ("// launch: <<<(n + 63) / 64, 64>>>\n"
                "__global__ void add(const float *a, const float *b, float *output, int n)\n{\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n"
                "        output[i] = threadIdx.x == 63 ? a[i] - b[i] : a[i] + b[i];\n}\n")
        said = self.check(text, "--op", "add", "--shape", "n=256", code=1).stdout
        self.assertRegex(said, r"  element +a +b +expected +got +difference +allowed +written by\n"
                               r"  output\[63\] +(\S+ +){6}block \(0,0,0\) thread \(63,0,0\)\n"
                               r"  output\[127\] +(\S+ +){6}block \(1,0,0\) thread \(63,0,0\)\n")
        self.assertIn("  pattern   They are every 64th element from 63 to 255.\n", said)
        said = self.check(text.replace("(n + 63) / 64", "n / 64"), "--op", "add", "--shape", "n=70", code=1).stdout
        self.assertRegex(said, r"  output\[64\] .* no kernel\n")
        said = self.check(SHORT_SUM, "--op", "matmul", "--shape", "m=2 n=3 k=601", code=1).stdout
        self.assertRegex(said, r"  inputs    output\[0\]\[0\] is computed from a\[0\]\[0\] = \S+, a\[0\]\[1\] = \S+, "
                               r"a\[0\]\[2\] = \S+, …; b\[0\]\[0\] = .*, in sums of up to 60\d terms\.\n")

    def test_a_fault_in_an_operator_names_its_shape(self):
        result = self.check(STRAYS, "--op", "transpose", code=1)
        self.assertRegex(result.stdout, r"\(transpose with rows=\d+ cols=\d+\)\n")
        self.assertEqual(result.stderr, "heddle's main stopped: an illegal memory access was encountered\n")

    def test_a_rung_of_heddles_own_is_told_how_it_runs(self):
        rung = 'void launch() { }\nHEDDLE_CUDA_RUNG("transpose", "01_naive", launch)\n'
        for options in ((), ("--op", "transpose")):
            said = self.check(rung, *options, code=2).stderr
            self.assertIn("`heddle bench transpose/01_naive --device sim`", said)
            self.assertEqual(said.count("\n"), 1)
        said = self.run_check(os.path.join(ROOT, "src", "ops", "matmul", "13_tf32_wgmma_tma.cu"), code=2).stderr
        self.assertIn("`heddle bench matmul_forward/13_tf32_wgmma_tma --device cuda` checks it on a real GPU", said)
        said = self.run_check(os.path.join(ROOT, "src", "ops", "activation", "01_naive.cu"), code=2).stderr
        self.assertIn("`heddle bench relu_forward/01_naive --device sim`", said)

    def test_habits_of_c_get_their_cure(self):
        said = self.check(KERNEL + "int main() { float *a = malloc(4), *b = malloc(4); free(a); free(b); }\n", code=1).stdout
        self.assertEqual(said.count("cast what malloc returns"), 1, said)
        said = self.check("__global__ void k(float *restrict b) { b[0] = 1; }\nint main() { }\n", code=1).stdout
        self.assertIn("note: CUDA is C++, which has no restrict: write __restrict__\n", said)
        said = self.check("__global__ void k(float *__restrict__ b) { x[0] = 1; }\nint main() { }\n", code=1).stdout
        self.assertNotIn("note:", said)
        with open(os.path.join(self.scratch.name, "k.c"), "w", encoding="utf-8") as file:
            file.write("__global__ void k(float *restrict b) { b[0] = 1; }\nint main(void) { return 0; }\n")
        said = self.check("int x;\n", "k.c", code=1).stdout
        self.assertIn("note: a .c file is compiled as C, which has no kernels: rename it to .cu\n", said)
        self.assertNotIn("__restrict__", said)

    def test_arguments_are_told_where_they_go(self):
        said = self.run_check("x.cu", "64", text=READS_ARGUMENT, code=2).stderr
        self.assertEqual(said, "heddle: 64: no such file; program arguments go after --: heddle check x.cu -- 64\n")
        said = self.run_check("x.cu", "0.5", code=2).stderr
        self.assertEqual(said, "heddle: 0.5: no such file; program arguments go after --: heddle check x.cu -- 0.5\n")
        said = self.run_check("--op", "matmul", "x.cu", "64", code=2).stderr
        self.assertIn("heddle: 64: no such file; with --op there are no program arguments: use --shape", said)
        self.assertNotIn(" -- ", said)
        self.assertEqual(self.run_check("x.cu", "in.txt", code=2).stderr, "heddle: in.txt: no such file\n")
        self.assertEqual(self.run_check("y.cu", "64", code=2).stderr, "heddle: y.cu: no such file\n")
        self.assertEqual(self.run_check("x.cu", "y.cu", code=2).stderr, "heddle: y.cu: no such file\n")
        self.assertEqual(self.run_check("64", code=2).stderr, "heddle: 64: no such file\n")
        self.assertIn("was given none: arguments go after --.", self.run_check("x.cu", code=1).stdout)
        self.run_check("x.cu", "--", "64")

    def test_an_access_is_marked_by_the_kernels_own_name(self):
        said = self.check(TWO_NAMES, code=1).stdout
        self.assertIn("error: out-of-bounds access to global memory b (allocated as db) in kernel add\n", said)
        self.assertRegex(said, r"\| +out\[i\] = a\[i\] \+ b\[i\];\n +\| {21}\^~~~\n")

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
    def test_nvcc_judges_a_file_with_the_samples_headers(self):
        text = "#include <helper_cuda.h>\n#include <helper_functions.h>\n#include <helper_math.h>\n" + KERNEL
        main = "int main() { int *p; checkCudaErrors(cudaMalloc(&p, 4)); fill<<<1, 1>>>(p); cudaFree(p); WORD }\n"
        said = self.run_check("--nvcc", "x.cu", text=text + main.replace("WORD", ""), nvcc=True).stdout
        self.assertNotIn("nvcc", said)
        text = text.replace("p[threadIdx.x] = 1", "p[threadIdx.x] = rand()")
        said = self.run_check("--nvcc", "x.cu", text=text + main.replace("WORD", ""), nvcc=True, code=1).stdout
        self.assertIn("nvcc: calling a __host__ function(\"rand", said)

    def play_nvcc(self, script):
        tools = os.path.join(self.scratch.name, "tools")
        os.makedirs(tools, exist_ok=True)
        with open(os.path.join(tools, "nvcc"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(file.name, 0o755)
        self.environment["PATH"] = tools + ":" + os.environ["PATH"]

    def test_nvcc_is_asked_again_with_the_flag_that_it_wants(self):
        text = KERNEL + "int main() { int *p; cudaMalloc(&p, 4); fill<<<1, 1>>>(p); cudaFree(p); }\n"
        wants = "kernel launch from __device__ or __global__ functions requires separate compilation mode"
        answer = ('for last; do :; done\nname=$(cut -d\\" -f2 $last)\ncase "$*" in\n*-rdc=true*) {} ;;\n'
                  f'*) echo "$name(3): error: {wants}"; exit 1 ;;\nesac\n')
        note = "note: x.cu:3 launches a kernel from a kernel: build it with nvcc -rdc=true\n"
        illegal = 'calling a __host__ function(\\"rand\\") from a __global__ function(\\"k\\") is not allowed'
        self.play_nvcc(answer.format(f'echo "$name(3): error: {illegal}"; exit 1'))
        said = self.run_check("--nvcc", "x.cu", text=text, nvcc=True, code=1).stdout
        self.assertIn("error: not legal CUDA\n  nvcc: calling a __host__ function", said)
        self.assertEqual(said.count(note), 1, said)
        self.play_nvcc(answer.format("exit 0"))
        said = self.run_check("--nvcc", "x.cu", text=text, nvcc=True).stdout
        self.assertEqual(said.count(note), 1, said)
        self.play_nvcc("kill -9 $$\n")
        said = self.run_check("--nvcc", "x.cu", text=text, nvcc=True, code=1).stdout
        self.assertRegex(said, r"\nunfinished: nvcc was stopped; here 2 schedules, [\d]+ accesses, 0 findings\n$")

    def test_an_interrupt_while_nvcc_is_waited_for_is_no_clean_answer(self):
        ran = os.path.join(self.scratch.name, "ran")
        self.play_nvcc(f"while [ ! -e {ran} ]; do sleep 0.05; done\nsleep 1\n"
                       "kill -INT $(cut -d' ' -f4 /proc/$PPID/stat)\nexec sleep 60\n")
        text = f'#include <cstdio>\nint main() {{ std::fclose(std::fopen("{ran}", "w")); }}\n'
        result = self.run_check("--nvcc", "x.cu", text=text, nvcc=True, code=130)
        self.assertNotIn("clean", result.stdout)
        self.assertEqual(result.stderr, "heddle: interrupted\n")

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
    def test_a_launch_in_a_kernel_hides_nothing_from_nvcc(self):
        text = KERNEL + ("__global__ void parent(int *p, int deep) { if (deep) fill<<<1, 1>>>(p); p[0] = rand(); }\n"
                         "int main(int argc, char **) {\n    int *p;\n    cudaMalloc(&p, 4);\n"
                         "    parent<<<1, 1>>>(p, argc > 5);\n    cudaFree(p);\n}\n")
        said = self.run_check("--nvcc", "x.cu", text=text, nvcc=True, code=1).stdout
        self.assertIn("nvcc: calling a __host__ function(\"rand", said)
        self.assertIn("nvcc -rdc=true\n", said)

    def test_a_document_says_that_a_file_could_not_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        result = self.check(PROBES, "--json", "--quiet", "--html", "/dev/full", code=1)
        document, error = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual((document["event"], error["event"]), ("result", "error"))
        self.assertFalse(document["passed"])
        self.assertEqual(document["notes"][-1], "not written: /dev/full: cannot write: No space left on device")
        self.assertEqual(result.stderr, "heddle: /dev/full: cannot write: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
