"""What `heddle check` makes of calls of the CUDA runtime that fail, of variables that host code uses by name, and of files
that cannot be written.

    check_calls.py path/to/heddle
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
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


class Calls(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
        self.environment["LC_ALL"] = "C.UTF-8"

    def tearDown(self):
        self.scratch.cleanup()

    def check(self, text, *options, code=0):
        with open(os.path.join(self.scratch.name, "x.cu"), "w", encoding="utf-8") as file:
            file.write(text)
        result = subprocess.run([HEDDLE, "check", "--no-nvcc", *options, "x.cu"], capture_output=True, text=True,
                                env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, f"{result.stdout}\n{result.stderr}")
        return result

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
        self.assertIn("; the program never looks at the error\n", result.stdout)

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
        self.assertIn("SIGSEGV (its stack is used up, by endless recursion or", result.stdout)
        self.assertRegex(result.stdout, r"crash +x\.cu:[3-6]\n")

    def test_each_leak_of_a_line_is_told(self):
        text = ("int main() { int *p, *q; cudaMalloc(&p, 4); cudaMalloc(&q, 8); }\n")
        result = self.check(text)
        self.assertIn("warning: leak of global memory p\n", result.stdout)
        self.assertIn("warning: leak of global memory q\n", result.stdout)

    def test_what_only_follows_from_a_failure_is_left_out(self):
        result = self.check(FOLLOWS, code=1)
        self.assertEqual(result.stdout.count("\nerror: ") + result.stdout.startswith("error: "), 2)
        self.assertIn("  launch    x.cu:8\n", result.stdout)
        self.assertIn("note: left out: 1 finding about memory that nobody wrote", result.stdout)
        self.assertTrue(result.stdout.endswith("2 errors, 0 warnings\n"))

    def test_a_device_variable_that_the_host_reads_by_name_is_an_error(self):
        result = self.check(BY_NAME, code=1)
        self.assertIn("reads a device variable by its name: on a GPU that is a copy of the host's own, which kernels and "
                      "cudaMemcpyToSymbol never change\n  read      x.cu:8\n", result.stdout)
        self.assertIn("  cure      Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol", result.stdout)

    def test_a_comment_on_the_line_that_is_shown_suppresses(self):
        allowed = FOLLOWS.replace("twice<<<1,\n", "twice<<<1, // heddle: allow all\n")
        self.assertIn("1 error, 0 warnings, 2 suppressed", self.check(allowed, code=1).stdout)
        allowed = CHECKER.replace("GIVE_UP", "(void)0").replace("DeviceToHost));\n    fill",
                                                                "DeviceToHost)); // heddle: allow bad-call\n    fill")
        self.assertIn("1 suppressed", self.check(allowed).stdout)

    def test_the_cure_of_a_race_says_between_which_lines(self):
        self.assertIn("between line 5 and line 6; where", self.check(BETWEEN, code=1).stdout)

    def test_the_cure_fits_the_place(self):
        for text, cure in ((SHUFFLED, "Let all lanes of the warp make the call"), (EMPTY, "Leave the launch out where"),
                           (FLAG, "Let one thread give it its first value")):
            with self.subTest(cure):
                self.assertIn(f"cure      {cure}", self.check(text, code=1).stdout)

    def test_a_program_with_an_open_bracket_is_told_by_the_compiler(self):
        result = self.check("__global__ void k() { if (threadIdx.x) {\n}\nint main() { return 0; }\n", code=1)
        self.assertIn("x.cu:", result.stdout)
        self.assertTrue(result.stdout.endswith("not built\n"), result.stdout)

    def test_a_library_that_is_not_simulated_is_told_in_one_error(self):
        result = self.check("#include <cudnn.h>\nint main() { }\n", code=1)
        self.assertEqual(result.stdout.count(" error: "), 1, result.stdout)

    def test_shapes_behind_a_fault_are_not_called_large(self):
        said = self.check(STRAYS, "--op", "transpose", code=1).stdout
        self.assertRegex(said, r"note: transpose: \d of \d test shapes compared .*; the program stopped before the rest")

    def test_a_document_says_that_a_file_could_not_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        result = self.check(PROBES, "--json", "--quiet", "--html", "/dev/full", code=1)
        document = json.loads(result.stdout)
        self.assertFalse(document["passed"])
        self.assertEqual(document["notes"][-1], "not written: /dev/full: No space left on device")
        self.assertEqual(result.stderr, "heddle: /dev/full: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
