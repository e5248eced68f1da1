"""What goes into `heddle check`: files, flags, macros, standards and compilers.

    check_flags.py path/to/heddle
"""

import json
import os
import shutil
import subprocess
import unittest

from check_case import HEDDLE, PATIENCE, CheckCase
from check_programs import ADD


class Flags(CheckCase):
    def test_arguments_after_the_dashes_go_to_the_program(self):
        self.write("add.cu", ADD)
        self.assertIn("added 77\n", self.check("add.cu", "--no-counters", "--", "77", "--json").stdout)

    def test_macros_and_folders_are_passed_on(self):
        os.mkdir(os.path.join(self.folder, "headers"))
        self.write("headers/words.h", '#define WORD "from the header"\n')
        self.write("words.cu", '#include "words.h"\n#include <cstdio>\nint main() { puts(WORD); puts(MORE); }\n')
        for options in (["-Iheaders", "-DMORE=\"more\""], ["-I", "headers", "-D", "MORE=\"more\""],
                        ["--include", "headers", "--define=MORE=\"more\""]):
            self.assertIn("from the header\nmore\n", self.check("words.cu", *options).stdout)

    def test_every_schedule_reads_the_same_input(self):
        self.write("sum.cu", "#include <cstdio>\nint main() { int a = 0, b = 0; int got = scanf(\"%d %d\", &a, &b);\n"
                             "printf(\"%d\\n\", a + b); return got == 2 ? 0 : 9; }\n")
        result = self.check("sum.cu", "--schedules", "3", text="20 22\n")
        self.assertIn("42\n", result.stdout)
        self.assertNotIn("status 9", result.stdout)

    def test_flags_of_any_makefile_are_used_or_listed_in_one_note(self):
        os.mkdir(os.path.join(self.folder, "headers"))
        self.write("headers/words.h", "#define WORD 40\n")
        self.write("flags.cu", "#ifdef NO\n#error NO is defined\n#endif\n#include \"words.h\"\n#include <omp.h>\n"
                               "int main() { return WORD + TWO - 42; }\n")
        ignored = ["-O3", "-arch=sm_90", "-gencode", "arch=compute_90,code=sm_90", "-lineinfo", "-g", "-G", "-w",
                   "--use_fast_math", "--extended-lambda", "--expt-relaxed-constexpr", "-Xptxas", "-v", "-o", "flags",
                   "-Xlinker", "-rpath,/opt", "-Wno-deprecated-gpu-targets"]
        used = ["-Iheaders", "-DTWO=2", "-DNO", "-UNO", "-Xcompiler", "-fopenmp,-Wall,-O3", "-L", "/opt/lib64",
                "-lcublas", "-lcudart", "-rdc=true", "-std=c++17"]
        result = self.check(*ignored, "flags.cu", *used)
        self.assertTrue(result.stdout.startswith("note: flags that change nothing in a check: %s\nnote: the program "
                                                 "launched no kernel" % " ".join(ignored)), result.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "flags")))
        self.assertIn("unknown option -frobnicate", self.check("flags.cu", "-frobnicate", code=2).stderr)
        self.assertIn("-Xcompiler needs a value", self.check("flags.cu", "-Xcompiler", code=2).stderr)

    def test_a_main_may_be_in_a_header_of_an_include_folder(self):
        os.mkdir(os.path.join(self.folder, "harness"))
        self.write("harness/main.cuh", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); }\n")
        for include in ('"main.cuh"', "<main.cuh>"):
            self.write("whole.cu", "#include %s\n" % include)
            self.check("whole.cu", "-Iharness")

    def test_device_code_is_each_files_own_unless_it_is_linked_together(self):
        source = ("#include <cstdio>\n__device__ int factor() { return FACTOR; }\n__device__ int counter;\n"
                  "static __global__ void k() { atomicAdd(&counter, factor()); }\n"
                  "void RUN() { int n; k<<<1, 32>>>(); cudaMemcpyFromSymbol(&n, counter, 4); printf(\"%d\\n\", n); }\n")
        self.write("main.cu", source.replace("FACTOR", "1").replace("RUN", "first") +
                   "void second();\nint main() { first(); second(); }\n")
        self.write("second.cu", source.replace("FACTOR", "2").replace("RUN", "second"))
        self.assertTrue(self.check("main.cu", "second.cu").stdout.startswith("32\n64\n"))
        self.assertIn("factor() is defined in main.cu and in second.cu",
                      self.check("main.cu", "second.cu", "-rdc=true", code=1).stdout)

    def test_structures_of_one_name_are_each_files_own(self):
        self.write("main.cu", "#include <cstdio>\nstruct job { int n; float *to; };\n"
                   "__global__ void fill(job j) { int i = threadIdx.x; if (i < j.n) j.to[i] = 1; }\nvoid add(float *, int);\n"
                   "int main()\n{\n    float *to, host[32];\n    cudaMalloc(&to, sizeof host);\n"
                   "    fill<<<1, 32>>>(job{32, to});\n    add(to, 32);\n"
                   "    cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);\n    cudaFree(to);\n"
                   "    printf(\"%g %g\\n\", host[0], host[31]);\n}\n")
        self.write("second.cu", "struct job { double factor[8]; float *to; long n; };\n"
                   "__global__ void scale(job j) { int i = threadIdx.x; if (i < j.n) j.to[i] += j.factor[i % 8]; }\n"
                   "void add(float *to, int n) { scale<<<1, 32>>>(job{{1, 2, 3, 4, 5, 6, 7, 8}, to, n}); }\n")
        for files in (["main.cu", "second.cu"], ["second.cu", "main.cu"]):
            self.assertIn("2 9\n", self.check(*files).stdout)

    def test_a_standard_older_than_the_headers_is_raised(self):
        self.write("standard.cu", "static_assert(__cplusplus == 201703L);\nint main() {}\n")
        for standard in (["--std", "c++11"], ["-std=c++14"], ["-std", "c++11"], ["-Xcompiler", "-std=c++11"]):
            self.assertIn("checked as C++17\n", self.check("standard.cu", *standard).stdout)

    def test_a_flag_cannot_make_the_compiler_run_a_file(self):
        self.write("three.cu", "int main() {}\n")
        for flag in ("-fplugin=./no.so", "-specs=./no", "-B./no"):
            self.check("three.cu", "-Xcompiler", flag)
        self.check("three.cu", "-Xlinker", "-plugin=./no.so")

    def test_no_word_is_taken_for_another_flags_value_or_for_a_file_of_flags(self):
        self.write("three.cu", "int main() {}\n")
        self.write("defines.h", "#define THREE 3\n")
        self.write("uses.cu", "int main() { return THREE - 3; }\n")
        os.mkdir(os.path.join(self.folder, "evil"))
        self.write("evil/cc1plus", "#!/bin/sh\ntouch ran\n")
        os.chmod(os.path.join(self.folder, "evil", "cc1plus"), 0o755)
        self.write("flags", "/dev/null -B./evil/\n")
        for flags in (["-D", ""], ["-U", ""], ["-l", ""], ["-D="]):
            self.assertIn("needs a value", self.check("three.cu", *flags, "-include", "-B./evil/", code=2).stderr)
        for flags in (["-include", "@flags"], ["-Xcompiler", "-include", "-include", "-B./evil/"]):
            self.check("three.cu", *flags, code=1)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")))
        for flags in (["-include", "defines.h"], ["-Xcompiler", "-include,defines.h"]):
            self.check("uses.cu", *flags)

    def test_the_value_of_a_short_macro_ends_with_its_line(self):
        self.write("four.cu", "int main() {}\n")
        for value in ("\\", "1\n#error more", "/*"):
            self.check("four.cu", "-DX=" + value)

    def test_every_file_is_cuda_where_a_flag_says_so(self):
        self.write("kernel.cpp", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); }\n")
        self.check("-x", "cu", "kernel.cpp")

    def test_a_simulated_library_may_be_named_as_for_nvcc(self):
        self.write("blas.cu", "#include <cublas_v2.h>\nint main() { cublasHandle_t h;\n"
                              "cublasCreate(&h); cublasDestroy(h); }\n")
        self.check("blas.cu", "-lcublas", "-l", "cublasLt", "--library", "cudart")

    def test_the_standard_of_the_language_can_be_chosen(self):
        self.write("new.cu", "template <typename T> concept any = true;\nint main() { }\n")
        self.check("new.cu", code=1)
        self.check("new.cu", "-std=c++20")
        self.check("new.cu", "--std", "c++20")

    def test_compiler_errors_are_against_the_persons_file(self):
        self.write("wrong.cu", "int main()\n{\n    int x = ;\n}\n")
        result = self.check("wrong.cu", code=1)
        self.assertRegex(result.stdout, r"(?m)^wrong\.cu:3:\d+: error: ")
        self.assertEqual(self.last_line(result), "not built")
        document = json.loads(self.check("wrong.cu", "--json", "--sarif", "wrong.sarif", code=1).stdout)
        self.assertFalse(document["built"])
        self.assertEqual((document["status"], document["errors"]), ("not built", 1))
        finding = document["findings"][0]
        self.assertEqual((finding["kind"], finding["places"][0]["line"]), ("not-built", 3))
        self.assertIn("expected", finding["message"])
        with open(os.path.join(self.folder, "wrong.sarif"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["runs"][0]["results"][0]["ruleId"], "not-built")

    def test_two_mains_and_none_are_told_by_the_persons_files(self):
        self.write("one.cu", "int main() { return 0; }\n")
        self.write("two.cu", "int helper() { return 1; }\nint main() { return helper(); }\n")
        self.write("three.cu", "int helper() { return 2; }\n")
        self.write("none.cu", "#if 0\nint main() { return 0; }\n#endif\n")
        for files, said in ((["one.cu", "two.cu"], "error: both one.cu and two.cu have a main: "),
                            (["two.cu", "three.cu"], "error: helper() is defined in two.cu and in three.cu: "),
                            (["none.cu"], "error: there is no main in none.cu: ")):
            with self.subTest(files):
                result = self.check(*files, code=1)
                self.assertEqual(result.stdout.count(said), 1, result.stdout)
                self.assertEqual(self.last_line(result), "not built")
                self.assertNotRegex(result.stdout, r"simcc-|\.o\b|sim/")

    def test_a_byte_order_mark_is_passed_over(self):
        self.write("add.cu", "\ufeff" + ADD)
        self.check("add.cu")

    def test_no_compiler_is_exit_3(self):
        self.write("add.cu", ADD)
        self.assertIn("/nosuch/g++", self.check("add.cu", "--compiler", "/nosuch/g++", code=3).stderr)

    def test_a_compiler_that_gives_up_is_told_of(self):
        self.write("add.cu", ADD)
        compiler = shutil.which("g++") or shutil.which("clang++")
        environment = {**self.environment, "PATH": os.path.join(self.folder, "nosuch")}
        result = subprocess.run([HEDDLE, "check", "add.cu", "--compiler", compiler], capture_output=True, text=True,
                                env=environment, cwd=self.folder, timeout=PATIENCE, check=False)
        self.assertGreaterEqual(result.returncode, 0)  # not by SIGPIPE, for want of an assembler
        self.assertNotEqual(result.stdout + result.stderr, "")


if __name__ == "__main__":
    unittest.main()
