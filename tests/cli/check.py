"""`heddle check` as a person uses it, on small programs: findings, exit codes and forms of output.

    check.py path/to/heddle
"""

import json
import os
import pty
import re
import subprocess
import unittest

from check_case import HEDDLE, PATIENCE, CheckCase
from check_programs import (ADD, CLOCK, ENDLESS, FLAG, GUARDED, GUARDED_MAXIMUM, HIDDEN, KERNEL, LONG_LOOPS, MATMUL,
                            NEXT, NO_MEMORY, ORDER, OVERWRITTEN, PAST_THE_END, RACE, ROWS, STREAMS, SUM, SUPPRESSED_COPY,
                            THREADS, TWO_ARRAYS, TWO_FAULTS, UNSET)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


class Check(CheckCase):
    # --- findings -----------------------------------------------------------------------------------------------------

    def test_a_right_program_is_clean(self):
        self.write("add.cu", ADD)
        result = self.check("add.cu")
        self.assertRegex(self.last_line(result), r"^clean: 2 schedules, [\d,.]+( million)? accesses, 0 findings$")
        self.assertIn("added 1000\n", result.stdout)
        self.assertEqual(result.stdout.count("added 1000\n"), 1)
        self.assertIn("global load 4 B", result.stdout)

    def test_a_race_is_shown_with_both_lines(self):
        self.write("reverse.cu", RACE)
        result = self.check("reverse.cu", code=1)
        self.assertIn("error: data race on shared memory tile in kernel reverse\n", result.stdout)
        self.assertIn("reverse.cu:5", result.stdout)
        self.assertIn("reverse.cu:6", result.stdout)
        self.assertRegex(self.last_line(result), r"^1 error, 0 warnings$")

    def test_an_access_past_the_end_names_the_allocation(self):
        self.write("fill.cu", PAST_THE_END)
        result = self.check("fill.cu", code=1)
        self.assertIn("d_c, 124 bytes of global memory, allocated at fill.cu:6; 4 bytes past its end", result.stdout)

    def test_a_fault_that_may_be_a_consequence_says_of_which(self):
        self.write("two.cu", TWO_FAULTS)
        report = json.loads(self.check("two.cu", "--json", code=1).stdout)
        self.assertEqual([(finding["places"][0]["line"], finding["note"]) for finding in report["findings"]],
                         [(5, ""), (8, ""),
                          (6, "after a fault at line 5, in the same block: it may be a consequence of that one")])

    def test_what_a_fault_hides_is_told_in_one_line(self):
        self.write("hidden.cu", HIDDEN)
        result = self.check("hidden.cu", code=1)
        self.assertEqual(re.findall(r"(?m)^note: kernel fill failed: (.*)$", result.stdout),
                         ["2 later launches and 1 copy did not run, so nothing there was checked; fix it and check again"])
        self.assertIn("2 later launches", " ".join(json.loads(self.check("hidden.cu", "--json", code=1).stdout)["notes"]))
        self.write("fill.cu", PAST_THE_END)
        self.assertIn("note: kernel fill failed: what would have come after it was not checked;",
                      self.check("fill.cu", code=1).stdout)
        self.write("null.cu", PAST_THE_END.replace("(d_c);", "(nullptr);", 1))
        self.assertIn("note: kernel fill stopped at its fault: the rest of it, and what would have come after it, was not "
                      "checked;", self.check("null.cu", code=1).stdout)
        self.write("wild.cu", "int main() { *(volatile int *)64 = 1; }\n")
        self.assertIn("note: host code crashed: what it would have done next", self.check("wild.cu", code=1).stdout)
        self.write("reverse.cu", RACE)
        self.assertNotIn("note:", self.check("reverse.cu", code=1).stdout)

    def test_host_code_on_device_memory_is_told_with_its_size(self):
        self.write("host.cu", "int main()\n{\n    float *x;\n    double *y, sum;\n    cudaMalloc(&x, 64);\n"
                              "    cudaMalloc(&y, 64);\n    x[3] = 2;\n    sum = y[1];\n    cudaFree(x);\n    cudaFree(y);\n"
                              "    return sum > 1;\n}\n")
        result = self.check("host.cu", code=1)
        self.assertIn("; 4 bytes at offset 12\n", result.stdout)
        self.assertIn("; 8 bytes at offset 8\n", result.stdout)
        self.write("copy.cu", "int main() { int *d, h[16]; cudaMalloc(&d, 64); cudaMemset(d, 0, 24);\n"
                              "cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost); cudaFree(d); }\n")
        self.assertIn("; 40 bytes at offset 24\n", self.check("copy.cu").stdout)

    def test_a_suppression_takes_a_finding_away(self):
        self.write("reverse.cu", RACE)
        self.write("known", "race reverse.cu:6\n")
        self.assertIn("1 suppressed", self.last_line(self.check("reverse.cu", "--suppress", "known")))
        self.write("known", "races *\n")
        self.assertIn("did you mean race?", self.check("reverse.cu", "--suppress", "known", code=2).stderr)

    # --- what goes in -------------------------------------------------------------------------------------------------

    def test_a_kernel_launched_by_address_and_pinned_memory_have_their_names(self):
        self.write("named.cu", "__global__ void overrun(int *p) { p[4 + threadIdx.x] = 1; }\n"
                               "int main() { int *p, *h; cudaMallocHost(&h, 64); cudaMalloc(&p, 16);\n"
                               "void *with[] = {&p}; cudaLaunchCooperativeKernel((const void *)overrun, 1, 4, with);\n"
                               "cudaDeviceSynchronize(); }\n")
        self.assertIn("in kernel overrun\n", self.check("named.cu", code=1).stdout)
        self.write("named.cu", "int main() { int *h; cudaMallocHost(&h, 64); }\n")
        self.assertIn("64 bytes from cudaMallocHost are never freed", self.check("named.cu").stdout)

    def test_the_programs_own_exit_status_counts_unless_told_otherwise(self):
        self.write("three.cu", "int main() { return 3; }\n")
        result = self.check("three.cu", code=1)
        self.assertIn("note: the program ended with status 3\n", result.stdout)
        self.assertRegex(self.last_line(result), r"^the program ended with status 3: 2 schedules, .* 0 findings$")
        self.assertEqual(self.last_line(self.check("three.cu", "--any-status")),
                         "nothing was checked: no kernel was launched")

    # --- operators ----------------------------------------------------------------------------------------------------

    def test_a_right_operator_passes(self):
        self.write("matmul.cu", MATMUL.replace("SUM", "0"))
        result = self.check("matmul.cu", "--op", "matmul")
        self.assertRegex(result.stdout, r"note: matmul_forward: \d+ of \d+ test shapes compared")

    def test_a_wrong_operator_is_named_with_shape_and_element(self):
        self.write("matmul.cu", MATMUL.replace("SUM", "1"))
        result = self.check("matmul.cu", "--op", "matmul", code=1)
        self.assertRegex(result.stdout, r"error: wrong result\n  matmul_forward with m=1 n=1 k=1: 1 of 1 elements are wrong; "
                                        r"output\[0\]\[0\] is ")

    def test_a_kernel_alone_is_launched_as_its_comment_says(self):
        self.write("matmul.cu", KERNEL)
        self.assertRegex(self.check("matmul.cu", "--op", "matmul").stdout,
                         r"note: matmul_forward: \d+ of \d+ test shapes compared")
        self.write("matmul.cu", KERNEL.replace("i < k", "i < k - 1"))
        self.assertIn("error: wrong result", self.check("matmul.cu", "--op", "matmul", code=1).stdout)
        self.write("matmul.cu", KERNEL.replace("b[i * n + column]", "b[i * n + column + 100000]"))
        said = self.check("matmul.cu", "--op", "matmul", code=1).stdout
        self.assertIn(" in kernel matmul\n", said)
        self.assertIn("note: kernel matmul failed", said)
        self.write("matmul.cu", KERNEL.replace("sum +=", "som +="))
        result = self.check("matmul.cu", "--op", "matmul", code=1)
        self.assertIn("som", result.stdout + result.stderr)
        self.write("matmul.cu", KERNEL.replace("launch:", "as ever:"))
        self.assertIn("// launch: <<<", self.check("matmul.cu", "--op", "matmul", code=2).stderr)

    def test_a_file_without_main_is_told_both_ways(self):
        self.write("matmul.cu", MATMUL.replace("SUM", "0"))
        result = self.check("matmul.cu", code=2)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("give it a main", result.stderr)
        self.assertIn("--op matmul_forward", result.stderr)

    def test_a_function_of_another_form_is_told_the_right_one(self):
        self.write("matmul.cu", "void matmul(float *a) { }\n")
        self.assertIn("void matmul(const float *a, const float *b, float *output, int m, int n, int k[, int transpose_a, ",
                      self.check("matmul.cu", "--op", "matmul", code=2).stderr)

    def test_a_file_without_the_function_is_told_both_forms(self):
        self.write("matmul.cu", "void multiply(float *a) { }\n")
        said = self.check("matmul.cu", "--op", "relu", code=2).stderr
        self.assertIn("should define void relu(const float *input, float *output, int n), or a kernel of that name", said)
        self.assertIn("// launch: <<<", said)

    # --- what comes out -----------------------------------------------------------------------------------------------

    def test_json_is_one_document_and_the_program_speaks_on_stderr(self):
        self.write("add.cu", ADD)
        result = self.check("add.cu", "--json")
        document = json.loads(result.stdout)
        self.assertEqual((document["version"], document["clean"]), (2, True))
        self.assertEqual(document["runs"], 2)
        self.assertEqual(document["kernels"][0]["kernel"], "add")
        self.assertIn("added 1000", result.stderr)
        self.write("reverse.cu", RACE)
        document = json.loads(self.check("reverse.cu", "--json", code=1).stdout)
        self.assertEqual([finding["kind"] for finding in document["findings"]], ["race"])
        self.assertEqual({place["line"] for place in document["findings"][0]["places"]}, {5, 6})

    def on_terminal(self, **more):
        """What `heddle check` says to a terminal."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(HEDDLE, [HEDDLE, "check", "reverse.cu", "--no-nvcc"], {**self.environment, "TERM": "xterm", **more})
        said = b""
        try:
            while piece := os.read(terminal, 65536):
                said += piece
        except OSError:  # the end, on Linux
            pass
        os.waitpid(child, 0)
        os.close(terminal)
        return said.decode()

    def test_colours_are_for_terminals_that_want_them(self):
        self.write("reverse.cu", RACE)
        self.assertIn("\033[1;31merror:", self.on_terminal())
        plain = self.on_terminal(NO_COLOR="1")
        self.assertIn("error: data race", plain)
        self.assertNotIn("\033", plain)
        self.assertNotIn("\033", self.check("reverse.cu", code=1).stdout)

    def test_the_colour_of_the_programs_output_ends_with_it(self):
        self.write("reverse.cu", "#include <cstdio>\nint main() { printf(\"\\033[31mred\\n\"); }\n")
        self.assertIn("red\r\n\033[0m", self.on_terminal(NO_COLOR="1"))
        self.assertNotIn("\033[0m", self.check("reverse.cu").stdout)

    def test_nvccs_opinion_is_heard_where_it_is(self):
        self.write("min.cu", "#include <algorithm>\n__global__ void k(int *p) { *p = std::min(1, 2); }\n"
                             "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaFree(p); }\n")
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        # Plays nvcc, so that the test does not depend on a toolkit.
        path = self.write("tools/nvcc", "#!/bin/sh\nfor last; do :; done\nname=$(cut -d'\"' -f2 $last)\n"
                                        "echo \"$name(2): error: calling a constexpr __host__ "
                                        "function from a __global__ function is not allowed\"\nexit 1\n")
        os.chmod(path, 0o755)
        self.environment["PATH"] = tools + ":" + self.environment["PATH"]
        result = self.check("min.cu", "--nvcc", code=1)
        self.assertIn("error: not legal CUDA\n  nvcc: calling a constexpr __host__ function", result.stdout)
        self.assertIn("min.cu:2\n", result.stdout)
        self.check("min.cu")

    def test_sarif_and_the_page_are_written(self):
        self.write("reverse.cu", RACE)
        self.check("reverse.cu", "--sarif", "out.sarif", "--html", "out.html", "--quiet", code=1)
        with open(os.path.join(self.folder, "out.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "reverse.cu")
        region = results[0]["locations"][0]["physicalLocation"]["region"]
        line = RACE.splitlines()[region["startLine"] - 1]
        self.assertIn("tile[", line[region["startColumn"] - 1:region["endColumn"] - 1])
        self.assertIn(" with no synchronisation between them. Memory: tile, ", results[0]["message"]["text"])
        with open(os.path.join(self.folder, "out.html"), encoding="utf-8") as file:
            self.assertIn("tile[127 - threadIdx.x]", file.read())

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self):
        self.write("reverse.cu", RACE)
        for option in ("--html", "--sarif"):
            result = self.check("reverse.cu", option, "nosuch/out", code=1)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr, "heddle: nosuch/out: No such file or directory\n")
        self.check("reverse.cu", "--html", self.folder, code=1)
        self.check("nosuch.cu", "--html", "out.html", code=2)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "out.html")))

    def test_looking_at_a_file_changes_none(self):
        self.write("reverse.cu", RACE)
        os.symlink("target.html", os.path.join(self.folder, "link.html"))
        self.check("reverse.cu", "--html", "link.html", "--quiet", code=1)
        self.assertTrue(os.path.islink(os.path.join(self.folder, "link.html")))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "target.html")))
        os.mkfifo(os.path.join(self.folder, "pipe"))
        with subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE, text=True) as reader:
            self.check("reverse.cu", "--sarif", "pipe", "--quiet", code=1)
            self.assertIn("reverse.cu", reader.communicate(timeout=60)[0])

    def test_an_error_that_is_suppressed_does_not_hide_another(self):
        self.write("copy.cu", SUPPRESSED_COPY)
        result = self.check("copy.cu")
        self.assertIn("warning: unchecked error", result.stdout)
        self.assertIn("1 suppressed", result.stdout)

    def test_errors_come_before_warnings(self):
        self.write("kind.cu", "__global__ void k(int *p) { p[0] += 1; }\nint main() { int *p, h = 0; cudaMalloc(&p, 4);\n"
                              "cudaMemcpy(p, &h, 4, cudaMemcpyDeviceToHost); k<<<1, 1>>>(p);\n"
                              "cudaDeviceSynchronize(); }\n")
        tiers = re.findall(r"(?m)^(error|warning): ", self.check("kind.cu", code=1).stdout)
        self.assertEqual(tiers, sorted(tiers))
        self.assertEqual(set(tiers), {"error", "warning"})

    def test_a_comment_that_suppresses_nothing_is_told(self):
        self.write("reverse.cu", RACE.replace("tile[127 - threadIdx.x];", "tile[127 - threadIdx.x]; // heddle: allow rase"))
        result = self.check("reverse.cu", code=1)
        self.assertIn("note: reverse.cu:6: this comment suppresses nothing: there is no kind of finding called 'rase' "
                      "(did you mean race?); there are ", result.stdout)

    def test_an_endless_loop_is_not_waited_for_twice(self):
        self.write("loop.cu", "__global__ void k(volatile int *p) { while (*p == 0) ; }\nint main() { int *p; "
                              "cudaMalloc(&p, 4); cudaMemset(p, 0, 4);\nk<<<1, 1>>>(p); cudaDeviceSynchronize(); }\n")
        document = json.loads(self.check("loop.cu", "--json", code=1).stdout)
        self.assertEqual([finding["kind"] for finding in document["findings"] if finding["tier"] == "error"], ["spin"])
        self.assertEqual(document["runs"], 1)

    def test_a_program_that_only_calls_libraries_is_checked(self):
        self.write("blas.cu", "#include <cublas_v2.h>\nint main() { float *x, one = 1; cublasHandle_t h;\n"
                              "cudaMalloc(&x, 64); cudaMemset(x, 0, 64); cublasCreate(&h);\n"
                              "cublasSscal(h, 16, &one, x, 1); cudaDeviceSynchronize();\n"
                              "cublasDestroy(h); cudaFree(x); }\n")
        result = self.check("blas.cu")
        self.assertEqual(self.last_line(result), "clean: 2 schedules, arguments of 1 library call, 0 findings")
        self.assertIn("note: the program launched no kernel of its own: what it passes to libraries", result.stdout)

    def test_a_program_that_only_calls_algorithms_of_thrust_is_checked(self):
        self.write("sorted.cu", "#include <thrust/device_vector.h>\n#include <thrust/sort.h>\n#include <thrust/reduce.h>\n"
                                "int main() { thrust::device_vector<int> v(9, 1); thrust::sort(v.begin(), v.end());\n"
                                "return thrust::reduce(v.begin(), v.end()) != 9; }\n")
        for arguments in ([], ["--grade"]):
            result = self.check("sorted.cu", *arguments)
            self.assertEqual(self.last_line(result), "clean: 2 schedules, arguments of 2 library calls, 0 findings")

    def test_a_rule_for_all_kinds_suppresses_all(self):
        self.write("reverse.cu", RACE)
        self.write("known", "all kernel:reverse\n")
        self.assertIn("1 suppressed", self.last_line(self.check("reverse.cu", "--suppress", "known")))

    def test_wrong_usage_is_one_line_and_exit_2(self):
        self.write("x.cu", ADD)
        for arguments in ([], ["nosuch.cu"], [self.folder], ["--schedules", "0", "x.cu"], ["/dev/null"],
                          ["--std", "c++99", "x.cu"],
                          ["--suppress", "nosuch", "x.cu"], ["--op", "nosuch", "x.cu"], ["--gpu", "h2000", "x.cu"]):
            with self.subTest(arguments):
                self.assertEqual(self.check(*arguments, code=2).stderr.count("\n"), 1)

    def test_an_operator_that_is_almost_right_is_suggested(self):
        self.write("matmul.cu", MATMUL.replace("SUM", "0"))
        self.assertIn("did you mean matmul?", self.check("matmul.cu", "--op", "matmull", code=2).stderr)
        self.assertIn("did you mean matmul_forward?", self.check("matmul.cu", "--op", "matmul_foward", code=2).stderr)
        self.assertNotIn("did you mean", self.check("matmul.cu", "--op", "zzzzzzzzzz", code=2).stderr)

    def test_a_program_in_which_nothing_was_checked_is_not_called_clean(self):
        self.write("none.cu", "__global__ void k(int *a) { a[0] = 1; }\nint main() { }\n")
        result = self.check("none.cu")
        self.assertEqual(self.last_line(result), "nothing was checked: no kernel was launched")
        self.assertIn("note: the program launched no kernel: only its calls of the CUDA runtime", result.stdout)
        self.assertEqual(json.loads(self.check("none.cu", "--json").stdout)["status"], "nothing checked")
        self.write("plain.cpp", "int main() { }\n")  # nothing in it refers to the simulated GPU
        self.assertEqual(self.last_line(self.check("plain.cpp")), "nothing was checked: no kernel was launched")
        self.write("guard.cu", GUARDED)
        result = self.check("guard.cu")
        self.assertEqual(self.last_line(result), "nothing was checked: no kernel used memory")
        self.assertEqual(self.last_line(self.check("guard.cu", "--", "all")).split(":")[0], "clean")

    def test_an_index_outside_an_array_is_marked_and_named(self):
        self.write("rows.cu", ROWS)
        result = self.check("rows.cu", code=1)
        self.assertRegex(result.stdout, r"index 16 is outside the bounds of t(\[y\])?, an array of type '?int ?\[16\]")
        lines = result.stdout.split("\n")
        mark = next(line for line in lines if "^~" in line)
        self.assertEqual(lines[lines.index(mark) - 1][mark.index("^"):mark.rindex("~") + 1], "t[y][x + 1]")
        self.assertNotIn("allocation", result.stdout)
        self.assertIn("make the array as large", result.stdout)

    def test_a_pointer_that_was_never_set_has_a_cure_of_its_own(self):
        self.write("none.cu", NO_MEMORY)
        result = self.check("none.cu", code=1)
        self.assertIn("write of 4 bytes through a null pointer", result.stdout)
        self.assertIn("check what cudaMalloc returns", result.stdout)
        self.assertNotIn("if (i < n)", result.stdout)
        self.assertNotIn("made no access to memory", result.stdout)

    def test_no_array_is_named_where_the_column_may_be_another_ones(self):
        self.write("two.cu", TWO_ARRAYS)
        result = self.check("two.cu", code=1)
        self.assertRegex(result.stdout, r"index 16 is outside the bounds of (a, )?an array of type '?int ?\[16\]")

    def test_a_race_names_a_reader_beside_the_one_that_overwrites(self):
        self.write("total.cu", OVERWRITTEN)
        result = self.check("total.cu", code=1)
        self.assertRegex(result.stdout, r"read +total.cu:7 +block \(0,0,0\) thread \([1-9][0-9]*,0,0\)")
        self.assertIn("total.cu:9  block (0,0,0) thread (0,0,0)", result.stdout)

    def test_an_index_off_by_a_matrix_does_not_land_in_the_next_one(self):
        self.write("next.cu", NEXT)
        result = self.check("next.cu", code=1)
        self.assertIn("error: out-of-bounds access to global memory a in kernel add\n", result.stdout)
        self.assertIn("read of 4 bytes beyond the end of an allocation", result.stdout)
        self.assertIn("a, 1024 bytes of global memory, allocated at next.cu:6; 260 bytes past its end", result.stdout)
        self.assertEqual(self.last_line(result), "1 error, 0 warnings")

    def test_a_local_variable_that_was_never_set_is_told(self):
        self.write("unset.cu", UNSET.replace("SET", ""))
        result = self.check("unset.cu")
        self.assertIn("warning: uninitialised read\n", result.stdout)
        self.assertIn("  source    unset.cu:3\n", result.stdout)
        self.assertIn("Give the variable a value where it is declared.", result.stdout)
        self.check("unset.cu", "--strict", code=1)
        self.write("unset.cu", UNSET.replace("SET", "").replace("for (int i = 0; i < 4; i++)\n        s +=",
                                                                "if (threadIdx.x > 5)\n        s ="))
        self.assertRegex(self.check("unset.cu").stdout, r"(?m)^note: the compiler thinks .*: .*\bs\b.* at unset.cu:\d+; ")
        unused = "__global__ void nobodys(float *x) { float s; x[threadIdx.x] = s; }\n"  # which nothing calls
        self.write("unset.cu", UNSET.replace("SET", "= 0") + unused)
        self.assertEqual(self.last_line(self.check("unset.cu")).split(":")[0], "clean")

    def test_a_card_that_does_not_exist_is_wrong_usage(self):
        self.write("add.cu", ADD)
        self.assertIn("there is no card called 'h2000'; there are h200,",
                      self.check("add.cu", "--gpu", "h2000", code=2).stderr)
        self.check("add.cu", "--gpu", "a100")
        self.check("add.cu", "--gpu", "RTX 4090")

    def test_racing_writes_of_one_value_are_a_warning(self):
        self.write("flag.cu", FLAG.replace("VALUE", "1"))
        result = self.check("flag.cu")
        self.assertIn("warning: data race on global memory flag in kernel raise\n", result.stdout)
        self.assertRegex(self.last_line(result), r"^no errors, 1 warning: [2-9] schedules, [\d,]+ accesses$")
        document = json.loads(self.check("flag.cu", "--json").stdout)
        self.assertEqual((document["status"], document["clean"], document["passed"]), ("warnings", False, True))
        self.check("flag.cu", "--strict", code=1)
        self.assertIn("warning: data race", self.check("flag.cu", "--schedules", "1").stdout)
        self.write("flag.cu", FLAG.replace("VALUE", "threadIdx.x"))
        self.assertIn("error: data race", self.check("flag.cu", code=1).stdout)

    def test_a_loop_whose_state_comes_again_is_endless_without_waiting_for_the_limit(self):
        self.environment["SIM_SPIN_LIMIT"] = "1000"
        self.write("endless.cu", ENDLESS)
        result = self.check("endless.cu", code=1).stdout
        self.assertIn("error: endless loop in kernel halve\n  a thread loops forever: nothing that the loop "
                      "depends on changes any more\n  loop      endless.cu:5  block (0,0,0) thread (0,0,0)\n", result)
        self.assertIn("\n      5 |     while (k >= 0) {\n        |     ^~~~~\n", result)
        self.write("long.cu", LONG_LOOPS)
        self.assertIn("0 findings", self.last_line(self.check("long.cu")))

    def test_results_that_depend_on_the_order_are_a_warning(self):
        self.write("order.cu", ORDER)
        result = self.check("order.cu").stdout
        self.assertIn("warning: result depends on the order of execution in kernel queue\n  Copy number 1 to the "
                      "host differs between schedule 0 and schedule 1: 48 of its 65 elements, the first of them "
                      "element 1, which is 1 in the one and 48 in the other.\n", result)
        self.assertRegex(result, r"\n  copy +order.cu:9\n")
        self.assertRegex(result, r"\n  write +order.cu:2  block \(47,0,0\) thread \(0,0,0\)\n")
        self.assertIn("memory    list, 260 bytes of global memory, allocated at order.cu:6; 4 bytes at offset 4", result)
        document = json.loads(self.check("order.cu", "--json", "--schedules", "4").stdout)
        self.assertEqual([finding["kind"] for finding in document["findings"]], ["order-dependent"])

    def test_a_comparison_that_skips_a_needed_atomic_is_an_error(self):
        self.write("guard.cu", GUARDED_MAXIMUM.replace("OPERAND", "1000 - 2 * value"))
        result = self.check("guard.cu", code=1).stdout
        self.assertIn("error: data race on global memory best in kernel largest\n", result)
        self.assertIn("in another order the value here is different", result)
        self.assertIn("Compare with the very value that the atomic is given", result)
        self.write("guard.cu", GUARDED_MAXIMUM.replace("OPERAND", "value"))
        result = self.check("guard.cu").stdout
        self.assertIn("warning: data race on global memory best in kernel largest\n", result)
        self.assertNotIn("result depends on the order", result)

    def test_streams_and_threads_of_the_host_may_copy_in_any_order(self):
        self.write("streams.cu", STREAMS)
        self.assertIn("0 findings", self.last_line(self.check("streams.cu")))
        self.write("threads.cu", THREADS.replace("FIRST", "1 + schedule").replace("SECOND", "2 - schedule"))
        self.assertIn("0 findings", self.last_line(self.check("threads.cu")))
        self.write("threads.cu", THREADS.replace("FIRST", "1").replace("SECOND", "2 + schedule"))
        self.assertIn("warning: result depends on the order of execution\n  A copy to the host, where several "
                      "host threads", self.check("threads.cu").stdout)

    def test_a_sum_of_floats_may_round_as_the_order_wants(self):
        self.write("sum.cu", SUM)
        self.assertIn("0 findings", self.last_line(self.check("sum.cu")))

    def test_results_that_change_every_time_are_not_blamed_on_the_order(self):
        self.write("clock.cu", CLOCK)
        result = self.check("clock.cu", "--schedules", "4")
        self.assertEqual(result.stdout.count("note: two runs in the same order gave different results"), 1)
        self.assertNotIn("warning", result.stdout)

    def test_the_manual_names_every_flag_and_variable(self):
        with open(os.path.join(ROOT, "docs", "simulator.md"), encoding="utf-8") as file:
            manual = file.read()
        helps = [[HEDDLE, "check", "--help"], [os.path.join(os.path.dirname(HEDDLE), "simcc"), "--help"]]
        for command in helps:
            text = subprocess.run(command, capture_output=True, text=True, env=self.environment, check=True,
                                  timeout=PATIENCE).stdout
            for option in re.findall(r"(?m)^  (--?[A-Za-z-]+)", text):
                with self.subTest(option):
                    self.assertRegex(manual, rf"(?m)^\| .*`{option}[ =`]")
        for folder, _, names in os.walk(os.path.join(ROOT, "src", "sim")):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    for variable in re.findall(r'(?:getenv|text_from|number_from)\("(SIM_[A-Z_]+)"', file.read()):
                        with self.subTest(variable):
                            self.assertRegex(manual, rf"(?m)^\| `{variable}=")


if __name__ == "__main__":
    unittest.main()
