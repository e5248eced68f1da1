"""`heddle check --kernel`: kernels of files without main, such as PyTorch extensions.

    check_kernel.py HEDDLE
"""

import json
import os
import signal
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from check_case import HEDDLE, PATIENCE, CheckCase  # noqa: E402
from terminal import Terminal  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STYLES = os.path.join(ROOT, "tests", "check", "extensions")

KERNELS = """#include <torch/extension.h>
template <typename T> __global__ void twice(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        y[i] = x[i] * T(2) + T(i == 3);
}
__global__ void take(struct Big *b);
torch::Tensor host(torch::Tensor x) { return x; }
"""
ROWS = """#include <torch/extension.h>
constexpr int kColumns = 32, kRows = 8;
struct Given { float *x; };
template <typename scalar_t> using matrix = torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits>;
__global__ void norm(const float *x, float *y, int cols)
{
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i];
}
__global__ void tile(float *y, int n)
{
    __shared__ float t[kRows][kColumns];
    t[threadIdx.y][threadIdx.x] = threadIdx.x;
    y[threadIdx.y * kColumns + threadIdx.x] = t[threadIdx.y][threadIdx.x];
}
template <typename scalar_t, typename index_t> __global__ void group(const scalar_t *x, const index_t *index, int groups) {}
template <typename scalar_t> __global__ void turn(const matrix<scalar_t> cosine) {}
__global__ void take(Given given) {}
template <typename T, typename Op> __global__ void map(T *x) { x[threadIdx.x] = Op()(x[threadIdx.x]); }
void launch(torch::Tensor x, int n, int64_t groups)
{
    const dim3 block(kColumns, kRows), grid((n + kColumns - 1) / kColumns);
    tile<<<grid, block>>>(x.data_ptr<float>(), n);
    group<scalar_t, int64_t><<<x.numel(), 256, groups * sizeof(int)>>>(x, x, groups);
}
"""
LAUNCH = ["--grid", "1", "--block", "32"]


def npy(path, values, code="f4", letter="f"):
    header = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': ({len(values)},), }}".encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                   + struct.pack(f"<{len(values)}{letter}", *values))


class CheckKernel(CheckCase):
    def setUp(self):
        super().setUp()
        self.write("k.cu", KERNELS)

    def test_every_style_of_extension_compiles_and_runs_without_pytorch(self):
        files = [name for name in sorted(os.listdir(STYLES))
                 if name.endswith(".cu") and name not in ("launch_all.cu", "pointwise.cu")]
        self.assertGreaterEqual(len(files), 14)
        result = self.check(*(os.path.join(STYLES, name) for name in files), "-I", os.path.join(STYLES, "include"),
                            "--driver", os.path.join(STYLES, "launch_all.cu"), "--no-counters")
        said = dict(line.rsplit(" ", 1) for line in result.stdout.split("\nnote:")[0].splitlines())
        self.assertEqual({name: said[name] for name in ("old_gate", "cast", "square", "scale", "silu", "reduce", "rms_norm",
                                                        "scaled copy", "block_sum", "bucket", "shuffled_sum", "cooperative",
                                                        "upsample", "axpy")},
                         {"old_gate": "1.762", "cast": "2", "square": "4", "scale": "2", "silu": "1.758", "reduce": "512",
                          "rms_norm": "2", "scaled copy": "6", "block_sum": "512", "bucket": "3", "shuffled_sum": "64",
                          "cooperative": "60", "upsample": "2", "axpy": "6"})
        self.assertRegex(self.last_line(result), r"^clean: ")
        self.assertIn("not compiled and not run, because it needs PyTorch: autograd", result.stdout.replace(
            "transpose_apply (autograd.cu", "autograd"))

    def test_a_wrong_result_names_elements_inputs_and_threads_in_every_report(self):
        npy(os.path.join(self.folder, "x.npy"), [0, 1, 2, 3, 4, 5])
        npy(os.path.join(self.folder, "y.npy"), [0, 2, 4, 6, float("nan"), 10], "f8", "d")  # NaN is never right
        result = self.check("k.cu", "--kernel", "twice<float>", "--args", "x = x.npy, y: out float[size(x, 0)], n = 6",
                            *LAUNCH, "--expect", "y=y.npy", "--json", "--sarif", "s.json", "--html", "h.html",
                            "--trace", "t.json", code=1)
        document = json.loads(result.stdout)
        findings = {one["kind"]: one for one in document["findings"]}
        table = findings["wrong-result"]["result"]
        self.assertEqual((table["wrong"], table["of"]), (3, 6))
        rows = table["elements"]
        self.assertEqual({key: rows[0][key] for key in ("element", "x", "expected", "got", "written by")},
                         {"element": "y[3]", "x": 3, "expected": 6, "got": 7,
                          "written by": "block (0,0,0) thread (3,0,0)"})
        self.assertEqual((rows[2]["element"], rows[2]["got"]), ("y[5]", "never written"))
        self.assertIn("does not write all elements", findings["uninitialised"]["message"])
        notes = " ".join(document["notes"])
        self.assertIn("twice<float><<<(1,1,1), (32,1,1), 0>>>", notes)
        self.assertIn("host (k.cu:9)", notes)
        for name, part in (("s.json", "wrong-result"), ("h.html", "y[3]"), ("t.json", '"launches"')):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                self.assertIn(part, file.read())

    def test_the_compiler_s_refusals_are_one_line(self):
        for kernel, said in (("twice<double>", "--args says float32 for const T * x, which is double in twice; change the type"),
                             ("twice<nosuch>", "twice<nosuch>: it cannot be launched: ")):
            with self.subTest(kernel):
                result = self.check("k.cu", "--kernel", kernel, "--args", "x: float[4], y: out float[4], n = 4", *LAUNCH,
                                    code=2)
                self.assertIn(said, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_bad_command_lines_are_one_line_that_says_what_to_do(self):
        good = "x: float[4], y: out float[4], n = 4"
        npy(os.path.join(self.folder, "short.npy"), [1, 2])
        cases = [
            (["k.cu"], "PyTorch extension: it has no main"),
            (["k.cu"], "make them those of your call): heddle check k.cu --kernel 'twice<float>' "
                       "--args \"x: float[4096] = normal, "),
            ([os.path.join(STYLES, "pointwise.cu")], "without a kernel"),
            ([os.path.join(STYLES, "inline_source.cu")], "--kernel inline_axpy"),
            (["k.cu", "--kernel", "twise<float>", "--args", good, *LAUNCH], "did you mean twice?"),
            (["k.cu", "--kernel", "twi", "--args", good, *LAUNCH], "no kernel is called 'twi'; did you mean twice? It has "),
            (["k.cu", "--kernel", "twice", "--args", good, *LAUNCH], "--kernel 'twice<float>': twice<typename T>(const T *x"),
            (["k.cu", "--kernel", "twice<float, 3>", "--args", good, *LAUNCH], "1 template argument, and --kernel names 2"),
            (["k.cu", "--kernel", "twice<float", "--args", good, *LAUNCH], "not closed"),
            (["k.cu", "--kernel", "twice<float>", "--args", "x: flaot[4]", *LAUNCH], "--args, column 4: 'flaot'"),
            (["k.cu", "--kernel", "twice<float>", "--args", "x: float[4], n = 4", *LAUNCH], "the parameter 'y'"),
            (["k.cu", "--kernel", "twice<float>", "--args", good + ", z: float[1]", *LAUNCH], "no parameter 'z'"),
            (["k.cu", "--kernel", "twice<float>", "--args", "x = 1, y: float[4], n = 4", *LAUNCH], "'x' is a pointer"),
            (["k.cu", "--kernel", "twice<float>", "--args", "x: out float[4], y: out float[4], n = 4", *LAUNCH], "cannot write"),
            (["k.cu", "--kernel", "twice<float>", "--args", "x: float[4], y: out float[4], n: int[3] = ones", *LAUNCH],
             "'n' is a number"),
            (["k.cu", "--kernel", "twice<float>", "--args", good], "--grid"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, "--grid", "n / 8", "--block", "8"], "0 by 1 by 1 blocks"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, "--grid", "1", "--block", "n * 1000"], "1 to 1024"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, "--grid", "m", "--block", "8"], "--grid, column 1: 'm'"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, *LAUNCH, "--expect", "x=a.npy"], "'x' is not an output"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, *LAUNCH, "--expect", "y=nosuch.npy"], "no such file"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, *LAUNCH, "--reference", "short.npy"], "other sizes than y"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, *LAUNCH, "--reference", "k.cu"], "FILE.py:FUNCTION"),
            (["k.cu", "--args", good], "--args goes with --kernel"),
            (["k.cu", "--kernel", "twice<float>", "--op", "relu"], "--op does not go with --kernel"),
            (["k.cu", "--kernel", "twice<float>", "--args", good, *LAUNCH, "--", "3"], "no program arguments"),
            (["k.cu", "--driver", "k.cu"], "defines no main"),
            (["--watch", "--", "make"], "--watch is for a check of files"),
            ([os.path.join(STYLES, "overloads.cu"), "--kernel", "reduce", "--args", "n = 1", *LAUNCH], "several kernels"),
        ]
        for arguments, said in cases:
            with self.subTest(arguments):
                result = self.check(*arguments, code=2)
                self.assertIn(said, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertEqual(result.stdout, "")

    def suggested(self, *arguments):
        """The commands of --list-kernels, and the whole list."""
        listed = self.check(*arguments, "--list-kernels").stdout
        return [line.strip() for line in listed.splitlines() if line.startswith("  ") and " --kernel " in line], listed

    def run_suggestion(self, command):
        return subprocess.run(["sh", "-c", command + " --no-counters --schedules 1"], capture_output=True, text=True,
                              env=self.environment, cwd=self.folder, timeout=PATIENCE, check=False)

    def test_kernels_are_listed_with_a_command_that_can_be_copied(self):
        commands, listed = self.suggested("k.cu")
        self.assertRegex(listed, r"^k\.cu:2: twice<typename T>\(const T \*x, T \*y, int n\)\n  \S*heddle check k\.cu --kernel ")
        self.assertIn("\nsizes are a guess: make them those of your call", listed)
        result = self.run_suggestion(commands[0])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("clean: ", result.stdout)

    def test_suggested_commands_cover_rows_tiles_aliases_and_template_arguments(self):
        self.write("rows.cu", ROWS)
        commands, listed = self.suggested("rows.cu")
        for part in ("--grid 4 --block 256", "--grid '(n + 32 - 1) / 32' --block '32, 8'", "index: int64[4096] = randint(0, ",
                     "'group<float, int64_t>'", "cosine: float[16, 256]", "--shared 'groups * sizeof(int)'"):
            self.assertIn(part, listed)
        self.assertRegex(listed, r"no command to copy: --args cannot describe 'given' \(Given\): .* --driver FILE\.cu")
        self.assertRegex(listed, r"no command to copy: name a type of yours for Op in --kernel")
        self.assertEqual(len(commands), 4)
        self.assertEqual(self.run_suggestion(commands[0]).returncode, 0)  # examples.extensions runs those of all examples

    def watched(self):
        self.write("w.cu", '#include "w.cuh"\n__global__ void k(float *x) { x[threadIdx.x + OFFSET] = 1; }\n')
        self.write("w.cuh", "#define OFFSET 0\n")
        return ["check", "--watch", "w.cu", "--kernel", "k", "--args", "x: inout float[32]", *LAUNCH, "--schedules", "1",
                "--no-counters"]

    def test_watch_checks_again_when_a_header_is_saved(self):
        with subprocess.Popen([HEDDLE, *self.watched()], stdout=subprocess.PIPE, text=True, env=self.environment,
                              cwd=self.folder) as process:
            lines = iter(process.stdout.readline, "")
            self.assertTrue(any(line.startswith("clean: ") for line in lines))
            self.assertTrue(any(line == "watching 2 files; Ctrl-C ends\n" for line in lines))
            self.write("w.cuh", "#define OFFSET 1\n")
            said = []
            for line in lines:
                said.append(line)
                if line.startswith("watching"):
                    break
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 130)
        self.assertIn("w.cuh was saved: checking again\n", said)
        self.assertNotIn("\033", "".join(said))
        self.assertIn("out-of-bounds", "".join(said))

    def test_a_save_while_a_check_runs_stops_it_and_a_header_is_waited_for(self):
        self.write("w.cu", '#include "w.cuh"\nint main() { body(); }\n')
        with subprocess.Popen([HEDDLE, "check", "--watch", "w.cu", "--schedules", "1", "--no-counters", "--timeout", "600"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment,
                              cwd=self.folder) as process:
            lines, said = iter(process.stdout.readline, ""), []
            self.assertTrue(any(line == "watching 1 file; Ctrl-C ends\n" for line in lines))
            self.write("w.cuh", "#include <cstdio>\n#include <unistd.h>\n"
                                'void body() { puts("begun"); fflush(stdout); for (;;) sleep(600); }\n')
            self.assertTrue(any(line == "begun\n" for line in lines))  # it would run for ten minutes
            self.write("w.cuh", "void body() { cudaFree(nullptr); }\n")
            for line in lines:
                said.append(line)
                if line == "watching 2 files; Ctrl-C ends\n":
                    break
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 130)
        self.assertIn("w.cuh was saved: checking again\n", said)
        self.assertNotIn("interrupted", "".join(said))

    def test_watch_clears_the_screen_of_a_terminal(self):
        terminal = Terminal(HEDDLE, self.watched(), self.folder, self.environment)
        terminal.wait_for("watching 2 files; Ctrl-C ends")
        self.write("w.cuh", "#define OFFSET 1 // and longer\n")
        terminal.wait_for("\033[2J")
        terminal.press("\003")
        self.assertEqual(terminal.end(), 130)

    def test_a_first_check_that_cannot_be_made_is_not_watched(self):
        self.check("--watch", "nosuch.cu", code=2)


if __name__ == "__main__":
    unittest.main()
