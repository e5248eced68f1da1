"""`heddle check -- COMMAND` and `heddle check --cmake DIR` on small projects.

    check_project.py path/to/heddle
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from check_environment import check_environment

HEDDLE = os.path.abspath(sys.argv.pop(1))
PROJECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "projects")
PATIENCE = 400


class Project(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.temporary = os.path.join(self.scratch.name, "temporary")
        self.folder = os.path.join(self.scratch.name, "project")
        os.mkdir(self.temporary)
        # A toolkit that the person has is not the one that is used.
        self.environment = check_environment(TMPDIR=self.temporary, CUDA_HOME="/nowhere", MAKEFLAGS="",
                                             MAKELEVEL="0")

    def tearDown(self):
        self.scratch.cleanup()

    def copy(self, name):
        shutil.copytree(os.path.join(PROJECTS, name), self.folder)

    def check(self, *arguments, code):
        result = subprocess.run([HEDDLE, "check", *arguments], capture_output=True, text=True, env=self.environment,
                                cwd=self.folder, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, code, f"{arguments}:\n{result.stdout}\n{result.stderr}")
        self.assertEqual(os.listdir(self.temporary), [])
        return result

    def test_a_makefile_builds_with_our_nvcc_and_all_programs_are_checked(self):
        self.copy("make")
        result = self.check("--json=report.json", "--", "make", "run", code=1)
        self.assertIn("1 device, last 189\n", result.stdout)
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual([(finding["kind"], finding["program"], finding["kernel"]) for finding in report["findings"]],
                         [("out-of-bounds", "beyond", "fill")])
        place = report["findings"][0]["places"][0]
        self.assertEqual((os.path.basename(place["file"]), place["line"]), ("beyond.cu", 8))
        self.assertEqual(sorted(kernel["kernel"] for kernel in report["kernels"]), ["fill", "scale"])
        self.assertIn("clean the build", result.stdout)
        # What is built already is checked as it is: its programs have the simulator in them.
        again = self.check("--", "sh", "-c", "./scale 40 && cd .. && project/scale 8", code=0)
        self.assertIn("1 device, last 117\n1 device, last 21\n", again.stdout)
        self.assertRegex(again.stdout, r"clean: 2 schedules, [\d,]+ accesses, 0 findings\n$")

    def test_a_new_toolkit_has_what_makefiles_name(self):
        os.mkdir(self.folder)
        self.environment["SIM_CACHE"] = os.path.join(self.scratch.name, "cache", "sim")
        names = ["bin/nvcc", "include/cuda_runtime.h", "lib/libcudart.so", "lib64/libcudart.so", "lib64/stubs/libcuda.so",
                 "nvvm/libdevice"]
        shown = self.check("--", "sh", "-c", "cd $CUDA_HOME && ls -d %s" % " ".join(names), code=2)
        self.assertEqual(shown.stdout.split()[:len(names)], names, shown.stderr)
        self.assertTrue(os.listdir(os.path.join(self.scratch.name, "cache")))

    def test_a_program_that_was_built_and_not_run_is_named(self):
        self.copy("make")
        result = self.check("--", "make", "scale", code=2)
        self.assertEqual(result.stderr, "heddle: `make scale` built scale but ran no program: give a command that runs "
                                        "them, such as `make run`\n")
        outside = os.path.join(self.scratch.name, "outside")
        result = self.check("--", "sh", "-c", f"make all && ./scale && echo > {outside}; true", code=0)
        self.assertIn("note: built but not run, so not checked: beyond\n", result.stdout)
        doctor = subprocess.run([HEDDLE, "doctor"], capture_output=True, text=True, check=False).stdout
        self.assertEqual(os.path.exists(outside), "Landlock" not in doctor)

    def test_commands_that_do_not_fit_are_told_in_one_line(self):
        os.mkdir(self.folder)
        self.assertEqual(self.check("--", "no-such-command", code=2).stderr,
                         "heddle: no-such-command: command not found\n")
        self.assertRegex(self.check("--", "true", code=2).stderr, r"^heddle: `true` compiled nothing with nvcc: .*\n$")
        self.assertEqual(self.check("--", "sh", "-c", "exit 7", code=1).stderr,
                         "heddle: `sh -c 'exit 7'` ended with status 7 and ran no program that nvcc built\n")
        self.assertRegex(self.check(code=2).stderr, r"^heddle: nothing to check: .*\n$")
        self.assertRegex(self.check("--op", "matmul", "--", "make", code=2).stderr, r"^heddle: --op is for .*\n$")
        self.assertRegex(self.check("--cmake", ".", "-UNAME", code=2).stderr,
                         r"^heddle: -UNAME is for a check of files; --cmake passes only -D NAME=VALUE on\n$")
        self.assertRegex(self.check("--cmake", ".", code=2).stderr, r"there is no CMakeLists\.txt\n$")

    def test_what_make_was_told_before_is_kept(self):
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "Makefile"), "w", encoding="utf-8") as file:
            file.write("all:\n\t@echo make $(firstword $(MAKEFLAGS)) $(SIZE) $(CUDA_HOME)\n")
        for given in ("k -- SIZE=3", "-k SIZE=3"):
            self.environment["MAKEFLAGS"] = given
            self.assertRegex(self.check("--", "make", code=2).stdout, r"^make k 3 /.*/nvcc-[0-9a-f]{16}\n$")

    def test_what_a_gpu_computes_otherwise_is_noted(self):
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "x.cu"), "w", encoding="utf-8") as file:
            file.write("__global__ void f(float *a) { *a = __expf(2); }\nint main()\n{\n    float *a;\n"
                       "    cudaMalloc(&a, 4);\n    f<<<1, 1>>>(a);\n    cudaFree(a);\n}\n")
        said = self.check("--", "sh", "-c", "nvcc x.cu -o x && ./x", code=0).stdout
        self.assertIn("note: approximate: __expf (line 1); a GPU gives other last bits\n", said)

    def test_a_program_left_in_the_toolkit_is_not_run_by_later_checks(self):
        self.copy("make")
        self.environment["XDG_CACHE_HOME"] = os.path.join(self.scratch.name, "cache")
        self.check("--", "sh", "-c", "make scale && ./scale", code=0)
        nvcc, = glob.glob(self.environment["XDG_CACHE_HOME"] + "/**/bin/nvcc", recursive=True)
        with open(os.path.join(os.path.dirname(nvcc), "make"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho not make\n")
        os.chmod(file.name, 0o755)
        self.assertNotIn("not make", self.check("--", "sh", "-c", "make scale; ./scale", code=0).stdout)
        self.assertEqual(os.listdir(os.path.dirname(nvcc)), ["nvcc"])

    def test_a_source_that_does_not_compile_fails_the_build(self):
        self.copy("make")
        with open(os.path.join(self.folder, "steps.cu"), "a", encoding="utf-8") as file:
            file.write("int wrong = missing;\n")
        result = self.check("--", "make", "run", code=1)
        self.assertIn("steps.cu:8:13: error:", result.stderr)
        self.assertIn("ended with status 2 and ran no program", result.stderr)

    def test_cmake_builds_elsewhere_and_runs_every_program(self):
        self.copy("cmake")
        before = sorted(os.listdir(self.folder))
        result = self.check("--cmake", ".", "-D", "WRONG=ON", "--", "96", code=1)
        self.assertIn("96\n", result.stdout)
        self.assertIn("error: data race on global memory", result.stdout)
        self.assertIn("  program   racing\n", result.stdout)
        self.assertTrue(result.stdout.endswith("\n1 error, 0 warnings\n"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_cmake_project_that_fails_shows_why(self):
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("message(FATAL_ERROR \"no such thing ${LONG}\")\n")
        result = self.check("--cmake", ".", code=1)
        self.assertIn("no such thing", result.stdout)
        self.assertTrue(result.stdout.endswith("note: cmake failed\nnot built\n"))
        value = "x" * 3000
        self.assertIn(value, self.check("--cmake", ".", "-D", f"LONG={value}", code=1).stdout)

    def test_the_exit_status_of_a_program_of_cmake_counts(self):
        os.mkdir(self.folder)
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES CUDA)\nadd_executable(x x.cu)\n")
        with open(os.path.join(self.folder, "x.cu"), "w", encoding="utf-8") as file:
            file.write("int main() { return 3; }\n")
        self.assertIn("note: a program ended with status 3\n", self.check("--cmake", ".", code=1).stdout)

    def test_an_interrupt_of_cmake_is_an_interrupt(self):
        os.mkdir(self.folder)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(f"execute_process(COMMAND sh -c \"echo > '{pipe}'; sleep 1000\")\n")
        with subprocess.Popen([HEDDLE, "check", "--cmake", "."], env=self.environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
            with open(pipe, encoding="ascii") as file:
                file.read()
            check.send_signal(signal.SIGINT)
            check.communicate(timeout=PATIENCE)
        self.assertEqual(check.returncode, 130)


if __name__ == "__main__":
    unittest.main(verbosity=2)
