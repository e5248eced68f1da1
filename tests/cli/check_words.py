"""What `heddle check` says about a fault: the one cause, in words that fit the program.

    check_words.py path/to/heddle
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment
import terminal

HEDDLE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 240

# The host's part of a program with one kernel: `float *data` of COUNT elements set to 1, and a launch.
HOST = r"""
int main()
{
    float *data, host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = 1;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    LAUNCH
    cudaDeviceSynchronize();
    cudaFree(data);
}
"""

# Half of a warp shuffles with the full mask, the other half waits behind the branch.
OPERATIONS = r"""__global__ void sum(int *data)
{
    int v = data[threadIdx.x];
    if (threadIdx.x < 16)
        for (int d = 8; d; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d, 16);
    if (threadIdx.x == 0)
        data[0] = v;
    __syncwarp();
    data[32 + threadIdx.x] = data[0];
}
int main()
{
    int *data;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    sum<<<1, 32>>>(data);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    cudaFree(data);
}
"""

FUNCTION_POINTER = r"""typedef float (*op)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ op device_twice = twice;
template <op F> __global__ void fixed(float *data) { data[threadIdx.x] = F(data[threadIdx.x]); }
__global__ void map(float *data, op f) { data[threadIdx.x] = f(data[threadIdx.x]); }
int main() {
    float *data; cudaMalloc(&data, 128); cudaMemset(data, 0, 128);
    HOST
    map<<<1, 32>>>(data, function);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    cudaFree(data);
}
"""

DIVERGENT = r"""__global__ void scale(float *data)
{
    __shared__ float part[COUNT];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    for (int half = COUNT / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
    }
    BEHIND
}
""" + HOST


# One stream reads `data` in a kernel, another fills it; which of the two comes first is FIRST and SECOND.
STREAMS = r"""__global__ void twice(const float *data, float *out) { out[threadIdx.x] = 2 * data[threadIdx.x]; }
int main()
{
    cudaStream_t one, other;
    float *data, *out, *pinned;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&data, 128);
    cudaMalloc(&out, 128);
    cudaMallocHost(&pinned, 128);
    memset(pinned, 0, 128);
    cudaMemset(data, 0, 128);
    cudaDeviceSynchronize();
    FIRST;
    SECOND;
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
    cudaFreeHost(pinned);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
}
"""
READS = "twice<<<1, 32, 0, one>>>(data, out)"
FILLS = "cudaMemcpyAsync(data, pinned, 128, cudaMemcpyHostToDevice, other)"


class Words(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = check_environment()

    def tearDown(self):
        self.scratch.cleanup()

    # Words in capital letters in the text are replaced.
    def check(self, text, *options, code=1, **replaced):
        replaced.setdefault("COUNT", "256")
        for word, by in replaced.items():
            text = re.sub(rf"\b{word}\b", lambda _, by=by: by, text)
        with open(os.path.join(self.scratch.name, "x.cu"), "w", encoding="utf-8") as file:
            file.write(text)
        result = subprocess.run([HEDDLE, "check", "--no-nvcc", "x.cu", *options], capture_output=True, text=True,
                                env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, f"{result.stdout}\n{result.stderr}")
        return result.stdout

    # --- what is not there --------------------------------------------------------------------------------------------

    def test_a_library_that_is_not_simulated_is_one_line_at_its_include(self):
        for header, library in (("nppi.h", "NPP"), ("cuda_gl_interop.h", "OpenGL interoperability"), ("nvrtc.h", "NVRTC")):
            text = self.check("#include <cstdio>\n#include <%s>\nint main() { return undeclared; }\n" % header)
            self.assertRegex(text, r"^x.cu:2: error: the simulated GPU has no %s: .*\n +2 \| #include.*\n\n"
                                   r".* explain not-built` says more\nnot built\n$" % library)

    def test_a_texture_reference_is_refused_in_one_line(self):
        text = self.check("texture<float, 2> image;\n__global__ void k(float *o) { *o = tex2D(image, 0, 0); }\n"
                          "int main() { cudaUnbindTexture(image); }\n")
        called = "heddle" if shutil.which("heddle") and os.path.samefile(shutil.which("heddle"), HEDDLE) else HEDDLE
        self.assertEqual(text, "x.cu:1:2: error: CUDA 12 and later have no texture references: use a texture object "
                               "(cudaCreateTextureObject)\n     1 | texture<float, 2> image;\n       |  ^\n\n"
                               f"`{called} explain not-built` says more\nnot built\n")
        self.check("template <class T> struct texture { T value; };\ntexture<float> image;\nint main() {}\n", code=0)

    # --- barriers -----------------------------------------------------------------------------------------------------

    def test_a_divergent_barrier_is_the_only_finding(self):
        text = self.check(DIVERGENT, LAUNCH="scale<<<1, COUNT>>>(data);",
                          BEHIND="__syncthreads();\n    data[threadIdx.x] /= part[0];")
        self.assertEqual(re.findall(r"(?m)^(error|warning): (.*)$", text),
                         [("error", "divergent barrier in kernel scale")])
        self.assertIn("1 error, 0 warnings\n", text)
        self.assertRegex(text, r"note: left out: \d+ findings about races or barriers")

    def test_lanes_in_different_operations_are_the_only_finding(self):
        text = self.check(OPERATIONS)
        self.assertEqual(re.findall(r"(?m)^(error|warning): (.*)$", text),
                         [("error", "lanes of a warp in different operations in kernel sum")])
        self.assertRegex(text, r"note: left out: \d+ findings? about races or masks")

    # --- libraries ----------------------------------------------------------------------------------------------------

    def test_a_range_of_thrust_that_is_too_short_is_told_of_thrust(self):
        text = self.check("""#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/transform.h>
int main()
{
    thrust::device_vector<float> a(100, 1.0f), b(90, 2.0f), c(100);
    thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), thrust::plus<float>());
}
""")
        self.assertIn("  Thrust reads 400 bytes, of which 40 are past the end of the allocation\n", text)
        self.assertIn("Compare the end of the first range with the size of each vector", text)
        text = self.check("#include <thrust/copy.h>\n#include <thrust/device_vector.h>\nint main()\n{\n"
                          "    thrust::device_vector<float> a(100, 1.0f), b(90);\n"
                          "    thrust::copy(a.begin(), a.end(), b.begin());\n}\n")
        self.assertRegex(text, r"Thrust writes 400 bytes, of which 40 are past|40 bytes past its end")

    # --- addresses of device functions --------------------------------------------------------------------------------

    def test_the_address_of_a_device_function_is_not_for_the_host_to_take(self):
        for host in ("op function = twice;", "op function; function = &twice;", "op list[] = {twice}, function = *list;"):
            with self.subTest(host):
                text = self.check(FUNCTION_POINTER, HOST=host)
                self.assertIn("error: host pointer used\n  host code takes the address of the device function twice, "
                              "which a kernel cannot call\n  source    x.cu:8\n", text)
                self.assertIn("Take the address on the GPU: declare `__device__ auto pointer = function;`", text)
                self.assertIn("1 error, 0 warnings\n", text)
        for host in ("op function; cudaMemcpyFromSymbol(&function, device_twice, sizeof function);",
                     "op function; cudaMemcpyFromSymbol(&function, device_twice, sizeof function);\n"
                     "    fixed<twice><<<1, 1>>>(data);\n    int twice = 2, n = twice; printf(\"%d\", n);"):
            self.check(FUNCTION_POINTER, HOST=host, code=0)

    def test_a_barrier_in_a_branch_is_skipped(self):
        text = self.check(DIVERGENT, LAUNCH="scale<<<1, COUNT>>>(data);", BEHIND="data[threadIdx.x] = 2;", code=0,
                          COUNT="64")
        self.assertIn("warning: barrier that some threads skip in kernel scale\n"
                      "  32 of the block's 64 threads skipped this barrier, which all threads should reach\n", text)

    # --- slips --------------------------------------------------------------------------------------------------------

    def test_a_kernel_called_like_a_function_is_the_only_finding(self):
        kernel = "__global__ void scale(float *data) { data[threadIdx.x] *= 2; }\n"
        text = self.check(kernel + HOST, LAUNCH="scale(data);")
        self.assertEqual(re.findall(r"(?m)^(error|warning): (.*)$", text), [("error", "not legal CUDA")])
        self.assertIn("  kernel scale is called like a function, without <<<blocks, threads>>>: nvcc rejects that", text)
        self.assertIn("\n        |     ^~~~~\n", text)
        self.assertIn("fix       Launch it: kernel<<<(n + 255) / 256, 256>>>(arguments)", text)
        text = self.check("template <typename T> " + kernel.replace("float", "T") + HOST, LAUNCH="scale<float>(data);")
        self.assertIn("kernel scale is called like a function", text)

    def test_a_function_of_a_kernels_name_may_be_called(self):
        kernel = "__global__ void scale(float *data) { data[threadIdx.x] *= 2; }\n"
        launch = "scale<<<1, COUNT>>>(data);"
        for other, call in (("#define scale(x) scale<<<1, COUNT>>>(x)\n", "scale(data);"),
                            ("struct all { static void scale(float *x) { ::scale<<<1, COUNT>>>(x); }\n"
                             "    void run(float *x) { scale(x); } };\n", "all().run(data);"),
                            ("", "auto scale = [](float *x) { ::scale<<<1, COUNT>>>(x); };\n    scale(data);"),
                            ("", "int count = COUNT;\n    if (count)\n        " + launch)):
            with self.subTest(call=call):
                self.assertIn("0 findings\n", self.check(kernel + other + HOST, LAUNCH=call, code=0))

    def test_a_barrier_without_parentheses_is_told(self):
        kernel = ("__global__ void turn(float *data)\n{\n    __shared__ float part[COUNT];\n"
                  "    part[threadIdx.x] = data[threadIdx.x];\n    __syncthreads;\n"
                  "    data[threadIdx.x] = part[COUNT - 1 - threadIdx.x];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="turn<<<1, COUNT>>>(data);")
        self.assertIn("cause     A barrier is named but not called: without parentheses it does nothing.\n"
                      "  fix       Write __syncthreads() with parentheses in line 5.\n", text)
        self.assertIn("note: x.cu:5: `__syncthreads;` does nothing: without parentheses it is not called; write "
                      "`__syncthreads();`\n", text)

    def test_an_allocation_that_fails_unseen_is_told(self):
        kernel = "__global__ void scale(float *data) { data[threadIdx.x] *= 2; }\n"
        launch = "scale<<<1, COUNT>>>(data);\n    char *more;\n    CALL"
        text = self.check(kernel + HOST, LAUNCH=launch, CALL="cudaMalloc(&more, (size_t)1 << 50);", code=0)
        self.assertRegex(text, r"(?m)^warning: unchecked error\n  cudaMalloc fails with cudaErrorMemoryAllocation: .*; the "
                               r"program never checks the error$")
        self.assertIn("fix       Check what the call returns, and stop if it is not cudaSuccess.", text)
        text = self.check(kernel + HOST, LAUNCH=launch, code=0,
                          CALL="if (cudaMalloc(&more, (size_t)1 << 50) != cudaSuccess)\n        cudaGetLastError();")
        self.assertIn("0 findings\n", text)

    # --- indices ------------------------------------------------------------------------------------------------------

    def words(self, body, launch="scale<<<2, COUNT>>>(data, COUNT + 100);", code=1):
        """Cause and cure of the one finding of a kernel with this body; `data` has COUNT elements."""
        kernel = f"__global__ void scale(float *data, int n)\n{{\n    int t = threadIdx.x;\n{body}\n}}\n"
        text = self.check(kernel + HOST, LAUNCH=launch, code=code)
        return re.findall(r"(?m)^  (?:cause|fix) +(.*)$", text)

    def test_a_guard_that_is_there_is_never_suggested(self):
        place = "    int i = blockIdx.x * blockDim.x + t;\n"
        exact = "scale<<<2, COUNT>>>(data, COUNT);"
        bound = ["The guard in line 5 lets the index reach its bound: the last of n elements is n - 1."]
        other = ["The guard in line 5 tests `i`, but the access uses the index `i + 1`.",
                 "Test the index that is used: `i + 1` must be less than the number of elements."]
        large = ["The guard in line 5 tests this index, but allows more than the 256 elements there are.",
                 "Correct the bound, or allocate more: cudaMalloc counts bytes, not elements."]
        for body, launch, said in (
                ("    if (i < n)\n        data[i] = 2;", None, large),
                ("    if (t >= 0 && n > i)\n        data[i] = 2;", None, large),
                ("    if (i >= n)\n        return;\n    data[i] = 2;", None, large),
                ("    for (; i < n; i += 1000)\n        data[i] = 2;", None, large),
                ("    if (i <= n)\n        data[i] = 2;", exact, bound + ["Write < instead of <= in line 5."]),
                ("    if (i > n)\n        return;\n    data[i] = 2;", exact, bound + ["Write >= instead of > in line 5."]),
                ("    if (i < n)\n        data[i + 1] = 2;", exact, other),
                ("    float v = i < n ? data[i + 1] : 0;\n    if (v > 5)\n        data[0] = v;", exact, other)):
            with self.subTest(body=body):
                self.assertEqual(self.words(place + body, launch or "scale<<<2, COUNT>>>(data, COUNT + 100);"), said)

    def test_an_access_without_a_guard_gets_one(self):
        place = "    int i = blockIdx.x * blockDim.x + t;\n"
        for body in ("    data[i] = 2;", "    if (n < 0)\n        n = 0;\n    data[i] = 2;",
                     "    if (i < 100)\n        data[i] = 1;\n    else\n        data[i] = 2;"):
            with self.subTest(body=body):
                self.assertIn("Guard the access (`if (i < n)`)", self.words(place + body)[1])

    def test_the_formula_of_a_row_is_named(self):
        body = ("    int row = blockIdx.x, width = 64;\n    if (row < 4 && t < width)\n        data[t * width + row] = 2;")
        self.assertEqual(self.words(body, "scale<<<4, 64>>>(data, 4);"),
                         ["The guard in line 5 tests `t`, but the access uses the index `t * width + row`.",
                          "If the guard is right, the index formula is wrong: element (row, column) of a row-major array "
                          "is row * width + column. Otherwise test the index that is used."])

    def test_a_formula_that_cannot_be_meant_is_named(self):
        for formula in ("blockIdx.x * gridDim.x", "gridDim.x * blockIdx.x", "blockIdx.x * threadIdx.x"):
            body = f"    int i = {formula} + t, j = i;\n    data[j] = t;"
            with self.subTest(formula=formula):
                self.assertEqual(self.words(body, "scale<<<4, 64>>>(data, COUNT);"),
                                 [f"The index in line 4 is computed with {formula}: that is not where a block's elements "
                                  "begin.", "Write blockIdx.x * blockDim.x + threadIdx.x: a block has blockDim.x threads."])

    def test_an_index_without_its_block_is_told(self):
        cause, cure = self.words("    int i = t;\n    data[i] += 1;", "scale<<<4, 64>>>(data, COUNT);")
        self.assertEqual(cause, "The index does not depend on blockIdx: all blocks use the same elements.")
        self.assertIn("Use blockIdx.x * blockDim.x + threadIdx.x as the index.", cure)
        cause, _ = self.words("    if (t == 0)\n        data[0] += 1;", "scale<<<4, 64>>>(data, COUNT);")
        self.assertIn("blocks run in any order", cause)

    # --- races --------------------------------------------------------------------------------------------------------

    def test_a_race_between_iterations_wants_a_barrier_at_the_end_of_the_loop(self):
        kernel = ("__global__ void sum(float *data)\n{\n    __shared__ float part[COUNT];\n"
                  "    part[threadIdx.x] = data[threadIdx.x];\n    __syncthreads();\n"
                  "    for (int half = COUNT / 2; half > 0; half /= 2)\n        if (threadIdx.x < half)\n"
                  "            part[threadIdx.x] += part[threadIdx.x + half];\n    __syncthreads();\n"
                  "    data[threadIdx.x] = part[0];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="sum<<<1, COUNT>>>(data);")
        self.assertIn("at the end of the loop's body, after line 8 and outside the branch of line 7, because accesses of "
                      "different iterations meet.\n", text)
        self.assertEqual(re.findall(r"(?m)^ +\| +(\^~+)$", text), ["^~~~~~~~~~~~~~~~~~~~~~~~", "^~~~~~~~~~~~~~~~~"],
                         "both accesses are underlined")

    def test_a_loop_without_any_barrier_wants_two(self):
        kernel = ("__global__ void sum(float *data)\n{\n    __shared__ float part[COUNT];\n    float all = 0;\n"
                  "    for (int i = 0; i < 4; i++) {\n        part[threadIdx.x] = data[threadIdx.x] + i;\n"
                  "        all += part[COUNT - 1 - threadIdx.x];\n    }\n    data[threadIdx.x] = all;\n}\n")
        text = self.check(kernel + HOST, LAUNCH="sum<<<1, COUNT>>>(data);")
        self.assertIn("between line 6 and line 7, and another one at the end of the loop's body, after line 7, if", text)

    def test_a_histogram_lacks_a_barrier_after_its_zeros_and_before_it_is_read(self):
        kernel = ("__global__ void count(float *data)\n{\n    __shared__ int bins[64];\n    if (threadIdx.x < 64)\n"
                  "        bins[threadIdx.x] = 0;\n    atomicAdd(&bins[(int)data[threadIdx.x]], 1);\n"
                  "    data[threadIdx.x] = bins[threadIdx.x % 64];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="count<<<1, COUNT>>>(data);")
        self.assertEqual(sorted(re.findall(r"(?m)^  fix +(.*)$", text)),
                         ["Put __syncthreads() between line 5 and line 6.",
                          "Put __syncthreads() between line 6 and line 7."])

    def test_an_update_wants_an_atomic_and_a_barrier_before_it(self):
        kernel = ("__global__ void count(float *data)\n{\n    __shared__ int bins[64];\n    if (threadIdx.x == 0)\n"
                  "        for (int i = 0; i < 64; i++)\n            bins[i] = 0;\n"
                  "    bins[(int)data[threadIdx.x]] += 1;\n    __syncthreads();\n"
                  "    data[threadIdx.x] = bins[threadIdx.x % 64];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="count<<<1, COUNT>>>(data);")
        self.assertEqual(sorted(re.findall(r"(?m)^  fix +(.*)$", text)),
                         ["Make the update one atomic operation, such as atomicAdd, or give each thread an element of "
                          "its own.",
                          "Put __syncthreads() between line 6 and line 7."])
        self.assertNotIn("would not help", text)

    def test_a_scan_in_place_reads_before_it_writes(self):
        kernel = ("__global__ void scan(float *data)\n{\n    __shared__ float part[COUNT];\n    int t = threadIdx.x;\n"
                  "    part[t] = data[t];\n    __syncthreads();\n    for (int step = 1; step < COUNT; step *= 2) {\n"
                  "        if (t >= step)\n            part[t] += part[t - step];\n        __syncthreads();\n    }\n"
                  "    data[t] = part[t];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="scan<<<1, COUNT>>>(data);")
        self.assertIn("fix       Read into a variable first, then write, and put __syncthreads() between the two "
                      "accesses, outside the branch of line 8.\n", text)

    def test_a_barrier_of_a_warp_where_warps_meet_is_named(self):
        kernel = ("__global__ void sum(float *data)\n{\n    __shared__ float part[COUNT];\n"
                  "    part[threadIdx.x] = data[threadIdx.x];\n    __syncthreads();\n"
                  "    for (int half = COUNT / 2; half > 0; half /= 2) {\n        if (threadIdx.x < half)\n"
                  "            part[threadIdx.x] += part[threadIdx.x + half];\n        __syncwarp();\n    }\n"
                  "    if (threadIdx.x == 0)\n        data[0] = part[0];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="sum<<<1, COUNT>>>(data);")
        self.assertIn("cause     __syncwarp() in line 9 makes only the threads of one warp wait, and these two are in "
                      "different warps.\n", text)
        self.assertIn("fix       Use __syncthreads() in line 9.\n", text)

    def test_in_a_branch_of_one_warp_a_barrier_of_the_warp_will_do(self):
        kernel = ("__global__ void turn(float *data)\n{\n    __shared__ float part[32];\n    int t = threadIdx.x;\n"
                  "    if (t < 32) {\n        part[t] = data[t];\n        data[t] = part[31 - t];\n    }\n}\n")
        text = self.check(kernel + HOST, LAUNCH="turn<<<1, COUNT>>>(data);")
        self.assertIn("fix       Put __syncthreads() between line 6 and line 7, outside the branch of line 5 unless all "
                      "threads of the block take it; if only one warp takes the branch, put __syncwarp() inside it.\n",
                      text)

    def test_the_headline_of_a_wrong_index_names_the_array(self):
        kernel = ("__global__ void fill(float *data)\n{\n    __shared__ float part[64];\n"
                  "    part[threadIdx.x] = data[threadIdx.x];\n    float own[4] = {};\n    own[threadIdx.x] = 1;\n"
                  "    data[0] = own[0];\n}\n")
        text = self.check(kernel + HOST, LAUNCH="fill<<<1, COUNT>>>(data);")
        self.assertRegex(text, r"(?m)^error: out-of-bounds access to (shared memory part|array own) in kernel fill$")

    def test_how_often_a_stopped_kernel_was_wrong_is_not_told(self):
        kernel = ("__global__ void fill(float *data)\n{\n    data[blockIdx.x % 2] = threadIdx.x;\n"
                  "    if (blockIdx.x == 40)\n        atomicAdd(data + COUNT, 1.0f);\n}\n")
        text = self.check(kernel + HOST, LAUNCH="fill<<<64, 64>>>(data);")
        self.assertIn("stopped at its fault", text)
        self.assertNotIn("seen ", text)

    def test_many_writers_of_one_element(self):
        kernel = "__global__ void last(float *data)\n{\n    data[0] = threadIdx.x;\n}\n"
        text = self.check(kernel + HOST, LAUNCH="last<<<1, COUNT>>>(data);")
        self.assertIn("cause     Several threads write to one element, and any of them may be the last.\n", text)

    def test_a_warp_synchronous_reduction_is_one_finding(self):
        for qualifier in ("", "volatile "):
            with self.subTest(qualifier=qualifier):
                steps = "".join(f"    part[t] += part[t + {half}];\n" for half in (32, 16, 8, 4, 2, 1))
                kernel = (f"__device__ void reduce({qualifier}float *part, int t)\n{{\n{steps}}}\n"
                          "__global__ void sum(float *data)\n{\n    __shared__ float part[64];\n"
                          "    part[threadIdx.x] = data[threadIdx.x];\n    __syncthreads();\n    if (threadIdx.x < 32)\n"
                          "        reduce(part, threadIdx.x);\n    if (threadIdx.x == 0)\n        data[0] = part[0];\n}\n")
                text = self.check(kernel + HOST, LAUNCH="sum<<<1, 64>>>(data);")
                self.assertEqual(len(re.findall(r"(?m)^(error|warning): ", text)), 1)
                self.assertRegex(text, r"because .*; the same in \d+ more pairs of lines from 3 to 8\n")
                self.assertIn("fix       In lines 3 to 8, read into a variable, call __syncwarp(), write", text)

    def test_a_plain_read_beside_atomics_becomes_one(self):
        kernel = ("__global__ void count(float *data)\n{\n    atomicAdd(data, 1.0f);\n"
                  "    if (*data > 5)\n        data[threadIdx.x + 1] = 0;\n}\n")
        text = self.check(kernel + HOST, LAUNCH="count<<<1, 64>>>(data);")
        self.assertIn("fix       Put __syncthreads() between line 3 and line 4, or make the plain access an atomic one, "
                      "too: atomicAdd(address, 0) reads", text)
        text = self.check(kernel + HOST, LAUNCH="count<<<2, 64>>>(data);")
        self.assertIn("fix       Make the plain access an atomic one, too (atomicAdd(address, 0) reads", text)

    # --- streams ------------------------------------------------------------------------------------------------------

    def test_memory_that_is_overwritten_while_it_is_read_wants_a_second_buffer(self):
        include = "#include <string.h>\n"
        for orders in (["--schedules", "1"], []):
            text = self.check(include + STREAMS, *orders, FIRST=READS, SECOND=FILLS)
            self.assertIn("fix       Use a second buffer, or an event:", text)
            text = self.check(include + STREAMS, *orders, FIRST=FILLS, SECOND=READS)
            self.assertIn("fix       Record an event behind the first use", text)
        text = self.check(include + STREAMS, FIRST=FILLS, SECOND="pinned[3] = 1")
        self.assertIn("fix       Use a second buffer, or wait before the write:", text)
        text = self.check(include + STREAMS, FIRST="cudaMemcpyAsync(pinned, data, 128, cudaMemcpyDeviceToHost, one)",
                          SECOND="data = pinned[0] > 1 ? NULL : data")
        self.assertIn("fix       Call cudaStreamSynchronize for that stream", text)

    # --- memory -------------------------------------------------------------------------------------------------------

    def test_the_line_that_freed_is_shown_once(self):
        text = self.check("__global__ void set(float *data) { data[threadIdx.x] = 2; }\n" + HOST,
                          LAUNCH="float *other;\n    cudaMalloc(&other, 128);\n    cudaFree(other);\n    set<<<1, 32>>>(other);")
        self.assertEqual(len(re.findall(r"(?m)\bfreed\s+(at )?x.cu:\d+", text)), 1, text)

    def test_a_vector_of_a_library_call_has_no_columns(self):
        text = self.check("#include <cublas_v2.h>\n" + HOST,
                          LAUNCH="cublasHandle_t handle;\n    cublasCreate(&handle);\n    float factor = 2;\n"
                                 "    cublasSscal(handle, COUNT + 1, &factor, data, 1);\n    cublasDestroy(handle);")
        self.assertIn("cublasSscal reads past the end of its allocation: x, 1028 bytes\n", text)
        self.assertNotIn("columns", text)

    def test_an_index_past_the_end_is_told_in_elements(self):
        text = self.check("__global__ void set(float *out) { out[threadIdx.x] = 2; }\n" + HOST, COUNT="31",
                          LAUNCH="set<<<1, 32>>>(data);")
        self.assertIn("4 bytes past its end: index 31 of out[31]\n", text)
        text = self.check("__global__ void set(float *out) { unsigned i = threadIdx.x; out[i - 1] = 2; }\n" + HOST,
                          LAUNCH="float *other;\n    cudaMalloc(&other, 64);\n    set<<<1, 32>>>(data);\n    cudaFree(other);")
        self.assertIn(": index 4294967295 (unsigned: -1) of out[256]\n", text)
        self.assertIn("cause     An index is negative", text)
        text = self.check("__global__ void set(float *out) { extern __shared__ float part[]; part[threadIdx.x] = 2; "
                          "out[threadIdx.x] = part[0]; }\n" + HOST, LAUNCH="set<<<1, 32, 1>>>(data);")
        self.assertIn("; the launch gave it 1 byte\n", text)

    def test_memory_from_a_helper_has_the_name_that_the_kernel_gives_it(self):
        helper = "struct buffer { float *data; buffer() { cudaMalloc((void **)&data, 124); } ~buffer() { cudaFree(data); } };\n"
        text = self.check(helper + "__global__ void set(float *grad_bias) { grad_bias[threadIdx.x] = 2; }\n" + HOST,
                          LAUNCH="buffer made;\n    set<<<1, 32>>>(made.data);\n    cudaDeviceSynchronize();")
        self.assertIn("error: out-of-bounds access to global memory grad_bias in kernel set\n", text)
        self.assertIn("  memory    grad_bias, 124 bytes of global memory, allocated at x.cu:1;", text)
        helper = "static float *make()\n{\n    float *memory;\n    cudaMalloc(&memory, 4);\n    return memory;\n}\n"
        text = self.check(helper + "__global__ void add(float *total) { atomicAdd(total, 1.0f); }\n" + HOST,
                          LAUNCH="float *sum = make();\n    add<<<1, 32>>>(sum);\n    cudaDeviceSynchronize();\n"
                                 "    cudaFree(sum);")
        self.assertIn("error: uninitialised read of global memory total (allocated as memory) in kernel add\n", text)

    # --- counters -----------------------------------------------------------------------------------------------------

    def test_counters_are_left_out_beside_errors_unless_they_are_asked_for(self):
        kernel = "__global__ void sum(float *data) { data[0] += data[threadIdx.x]; }\n"
        self.assertNotIn("per request", self.check(kernel + HOST, LAUNCH="sum<<<1, 32>>>(data);"))
        self.assertIn("per request", self.check(kernel + HOST, "--counters", LAUNCH="sum<<<1, 32>>>(data);"))
        self.assertIn("per request", self.check(kernel + HOST, LAUNCH="sum<<<1, 1>>>(data);", code=0))
        self.assertNotIn("per request",
                         self.check(kernel + HOST, "--no-counters", LAUNCH="sum<<<1, 1>>>(data);", code=0))

    def test_divergent_branches_are_counted_where_they_are_asked_for(self):
        kernel = ("__global__ void odd(float *data)\n{\n    if (threadIdx.x % 2)\n        data[threadIdx.x] = 2;\n"
                  "    if (threadIdx.x < 32)\n        data[threadIdx.x] += 1;\n}\n")
        launch = "odd<<<1, 32>>>(data);\n    printf(\"ran\\n\");"
        plain = self.check(kernel + HOST, LAUNCH=launch, code=0)
        self.assertNotIn("divergent", plain)
        text = self.check(kernel + HOST, "--divergence", LAUNCH=launch, code=0)
        self.assertRegex(text, r"kernel +branch +executions +divergent\nodd +\S+:3 +1 +1\n\n")
        # The rest is as without, and the program's output is not printed again.
        without = re.sub(r"kernel +branch.*\n.*\n\n", "", text)
        self.assertEqual(without, plain)
        self.assertNotIn("branch ", self.check(kernel + HOST, "--divergence", "--no-counters", LAUNCH=launch, code=0))

    def test_why_branches_were_not_counted_is_told(self):
        compiler = os.path.join(self.scratch.name, "full-disk")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncase \"$*\" in *counting*) echo \"ld: No space left on device\" >&2; exit 1;; esac\n"
                       "exec g++ \"$@\"\n")
        os.chmod(compiler, 0o755)
        text = self.check("__global__ void set(float *data) { data[threadIdx.x] = 2; }\n" + HOST, "--divergence",
                          "--compiler", compiler, LAUNCH="set<<<1, 32>>>(data);", code=0)
        self.assertRegex(text, r"(?m)^note: divergent branches were not counted: .*No space left on device")
        self.assertNotIn("rejects the source", text)

    def test_errors_of_the_compiler_show_the_users_code_alone(self):
        kernel = "__global__ void set(float *data, int n)\n{\n    BODY\n}\n"
        for body, launch in (("data[0] = max(data, 3);", ""), ("data[0] = __ldg(n);", ""),
                             ("data[0] = tex2D<float>(data, 1, 2);", ""), ("", "cudaMalloc(data, 4);"),
                             ("", "cudaMemcpyToSymbol(data, &data);")):
            with self.subTest(body=body, launch=launch):
                text = self.check(kernel + HOST, BODY=body, LAUNCH=launch)
                self.assertEqual(len(re.findall(r"(?m)^x.cu:\d+:\d+: ", text)), 1, text)
                self.assertRegex(text, r"(?m)^x.cu:\d+:\d+: error: no matching function for call to ")
        text = self.check(kernel + HOST, BODY="dim3 size = blockIdx * blockDim;", LAUNCH="")
        self.assertIn("dim3", text)
        self.assertNotIn("sim_", text)

    def test_an_allocation_takes_the_address_of_a_pointer(self):
        text = self.check("__global__ void set(float *data) { data[0] = 2; }\n" + HOST, LAUNCH="cudaMalloc(data, 4);")
        self.assertIn("note: cudaMalloc and its kin store the new address in your pointer, so they take the pointer's "
                      "address: cudaMalloc(&data, bytes)\n", text)

    def test_all_that_the_compiler_suspects_is_one_line(self):
        kernel = ("__global__ void set(float *data)\n{\n    float a, b;\n    if (data[1] > 3)\n        a = data[2];\n"
                  "    if (data[2] > 3)\n        b = data[3];\n    data[4] = a;\n    data[5] = b;\n}\n")
        text = self.check(kernel + HOST, LAUNCH="set<<<1, 1>>>(data);", code=0)
        for name, line in (("a", 8), ("b", 9)):
            self.assertRegex(text, rf"(?m)^note: the compiler thinks .*: .*\b{name}\b.? at x.cu:{line}[,;] ")
        self.assertEqual(text.count("note:"), 1)

    def test_the_programs_output_ends_with_a_newline(self):
        kernel = "#include <stdio.h>\n__global__ void set(float *data) { data[threadIdx.x] = 2; }\n"
        launch = "set<<<1, 32>>>(data);\n    printf(SHOWN);"
        for shown in ('"sum 3"', '"sum 3\\n"', '"sum 3"); fflush(stdout'):
            text = self.check(kernel + HOST, "--no-counters", LAUNCH=launch, SHOWN=shown, code=0)
            self.assertTrue(text.startswith("sum 3\nclean: "), text)
        self.assertTrue(self.check(kernel + HOST, "--no-counters", "--quiet", LAUNCH=launch, SHOWN='"sum 3"',
                                   code=0).startswith("clean: "))

    def test_on_a_terminal_lines_come_in_their_order(self):
        with open(os.path.join(self.scratch.name, "x.cu"), "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n#include <unistd.h>\nint main()\n{\n    printf(\"one %d\\n\", isatty(1));\n"
                       "    fprintf(stderr, \"two\\n\");\n    printf(\"three\\n\");\n"
                       "    FILE *again = fopen(\"/dev/stdout\", \"w\");\n    fprintf(again, \"four\\n\");\n"
                       "    fclose(again);\n    printf(\"five\");\n    fflush(stdout);\n}\n")
        screen = terminal.Terminal(HEDDLE, ["check", "--no-nvcc", "x.cu"], self.scratch.name, self.environment)
        self.assertEqual(screen.end(), 0)
        self.assertTrue(screen.text().startswith("one 1\r\ntwo\r\nthree\r\nfour\r\nfive\r\n"), screen.text())

    def test_hints_name_the_command_as_it_was_called(self):
        with open(os.path.join(self.scratch.name, "x.cu"), "w", encoding="utf-8") as file:
            file.write("int main() { }\n")
        for called in ("heddle", "build/heddle", "/a folder/heddle"):
            shown = f"'{called}'" if " " in called else called
            result = subprocess.run([called, "check", "x.cu", "64"], executable=HEDDLE, capture_output=True, text=True,
                                    env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
            self.assertEqual(result.stderr, f"heddle: 64: no such file; program arguments go after --: {shown} check x.cu "
                                            "-- 64\n")
            result = subprocess.run([called, "check", "--nosuch", "x.cu"], executable=HEDDLE, capture_output=True, text=True,
                                    env=self.environment, cwd=self.scratch.name, timeout=PATIENCE, check=False)
            self.assertIn(f"`{shown} check --help` lists the options\n", result.stderr)

    # --- launches and calls -------------------------------------------------------------------------------------------

    def test_a_launch_that_fails_says_what_is_wrong_with_it(self):
        kernel = "__global__ void set(float *data) { data[threadIdx.x] = 2; }\n"
        text = self.check(kernel + HOST, LAUNCH="set<<<1, 1200>>>(data);")
        self.assertIn("has 1200 threads; the limit is 1024", text)
        self.assertIn("  cause     A block has more threads than a GPU can run together.\n", text)
        self.assertNotIn("shared memory", text)
        text = self.check(kernel + HOST, LAUNCH="set<<<1, 32, 60000>>>(data);")
        self.assertIn("cause     The launch asks for more than 48 KB of dynamic shared memory", text)

    def test_a_copy_against_its_direction_says_to_swap(self):
        text = self.check("__global__ void set(float *data) { data[threadIdx.x] = 2; }\n" + HOST,
                          LAUNCH="set<<<1, 32>>>(data);\n    cudaMemcpy(data, host, 64, cudaMemcpyDeviceToHost);")
        self.assertIn("fix       Swap destination and source (the first two arguments of cudaMemcpy), or change the "
                      "direction", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
