"""`heddle check` on programs that end as they should not: too late, too large, by signals, around the C library.

    check_ends.py path/to/heddle
"""

import os
import re
import signal
import subprocess
import time
import unittest

from check_trial import ADD, HEDDLE, PATIENCE, PLAYED_BWRAP, Trial, hide_landlock


class Ends(Trial):
    def test_a_program_that_does_not_end_is_ended(self):
        self.write("loop.cu", "int main() { for (volatile int i = 0;; i++) { } }\n")
        result = self.check("loop.cu", "--no-nvcc", "--timeout", "1", code=1)
        self.assertIn("error: program did not end\n", result.stdout)

    def test_what_was_found_before_the_time_was_up_is_told(self):
        wrong = ADD.replace("a[threadIdx.x]", "a[threadIdx.x + 1]")
        for way in ("for (;;);", "pause();"):
            self.write("loop.cu", wrong.replace("#include", "#include <unistd.h>\n#include", 1)
                       .replace("    printf", f"    {way}\n    printf"))
            said = self.check("loop.cu", "--no-nvcc", "--timeout", "2", code=1).stdout
            self.assertIn("error: out-of-bounds access", said)
            self.assertIn("error: program did not end\n", said)
            self.assertTrue(said.endswith("2 errors, 0 warnings\n"), said)

    def test_racing_writes_of_a_program_that_does_not_end_are_compared(self):
        for value, tier in (("1", "warning"), ("threadIdx.x", "error")):
            self.write("loop.cu", "#include <unistd.h>\n" + ADD.replace("a[threadIdx.x] = 1", f"a[0] = {value}")
                       .replace("    printf", "    pause();\n    printf"))
            said = self.check("loop.cu", "--no-nvcc", "--timeout", "2", code=1).stdout
            self.assertIn(f"{tier}: data race", said)
            self.assertEqual(said.count("program did not end"), 1, said)

    def test_findings_that_are_lost_with_a_program_that_ignores_its_end_are_named_as_lost(self):
        for way, lost in (("signal(SIGTERM, SIG_IGN); pause();", True), ("raise(SIGSTOP); pause();", False)):
            self.write("loop.cu", ADD.replace("a[threadIdx.x]", "a[threadIdx.x + 1]")
                       .replace("#include", "#include <signal.h>\n#include <unistd.h>\n#include", 1)
                       .replace("    printf", f"    {way}\n    printf"))
            said = self.check("loop.cu", "--no-nvcc", "--timeout", "2", code=1).stdout
            self.assertEqual("stopped by force, so what had been found until then is lost:" in said, lost, said)
            self.assertEqual("error: out-of-bounds access" in said, not lost)

    def test_a_program_that_takes_all_memory_is_ended(self):
        eat = "for (;;) memset(malloc(1 << 20), 1, 1 << 20);"
        started_by_a_thread = f"std::thread([] {{ if (fork() == 0) {eat} pause(); }}).join();"
        for body in (eat, started_by_a_thread):
            self.write("eat.cu", "#include <cstdlib>\n#include <cstring>\n#include <thread>\n#include <unistd.h>\n"
                                 f"int main() {{ {body} }}\n")
            result = self.check("eat.cu", "--no-nvcc", "--memory", "0.5", code=1)
            self.assertIn("error: memory limit reached\n", result.stdout)

    def test_a_wild_write_of_host_code_is_a_finding(self):
        self.write("wild.cu", "int main() { *(volatile int *)64 = 1; }\n")
        self.check("wild.cu", "--no-nvcc", code=1)

    def test_a_program_that_leaves_without_its_destructors_is_judged(self):
        for way in ("_exit(0)", "std::quick_exit(0)"):
            self.write("leave.cu", ADD.replace("#include", "#include <cstdlib>\n#include <unistd.h>\n#include", 1)
                       .replace("a[threadIdx.x]", "a[threadIdx.x + 1]").replace("    printf", f"    {way};\n    printf"))
            said = self.check("leave.cu", "--no-nvcc", code=1).stdout
            self.assertIn("error: out-of-bounds access", said)
            self.assertNotIn("value", said)

    def test_a_program_that_ends_around_the_c_library_is_not_clean(self):
        self.write("leave.cu", "#include <sys/syscall.h>\n#include <unistd.h>\n"
                               "int main() { syscall(SYS_exit_group, 0); }\n")
        said = self.check("leave.cu", "--no-nvcc", code=1).stdout
        self.assertIn("error: program died\n  It ended with status 0 and left no report, so nothing was checked", said)

    def test_kernels_that_the_end_of_the_program_cuts_off_are_named(self):
        self.write("cut.cu", ADD.replace("    cudaDeviceSynchronize();", "    cudaLaunchHostFunc(0, end, a);\n"
                                         "    add<<<1, 32>>>(a);\n    cudaDeviceSynchronize();")
                   .replace("int main", "#include <cstdlib>\nvoid end(void *) { exit(0); }\nint main"))
        said = self.check("cut.cu", "--no-nvcc").stdout
        self.assertIn("note: the program ended while 1 kernel was queued or running: it was not checked to the end", said)

    def test_a_child_that_calls_cuda_is_named_and_leaves_the_report_alone(self):
        self.write("x.cu", """#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
__global__ void add(int *a, int n) { a[threadIdx.x + n] = 1; }
int main(int count, char **)
{
    int *a;
    cudaMalloc(&a, 128);
    add<<<1, 32>>>(a, count > 1);
    cudaDeviceSynchronize();
    cudaFree(a);
    if (getenv("AGAIN"))
        return 0;
    setenv("AGAIN", "1", 1);
    if (fork() == 0)
        exit(printf("%s\\n", cudaGetErrorName(cudaMalloc(&a, 128))));
    if (fork() == 0)
        execl("/proc/self/exe", "x", nullptr);
    while (wait(nullptr) > 0) { }
}
""")
        said = self.check("x.cu", "--no-nvcc").stdout
        self.assertIn("note: a process that the program started called CUDA: what it did was not checked\n", said)
        self.assertIn("cudaErrorInitializationError\n", said)
        self.assertIn("error: out-of-bounds access", self.check("x.cu", "--no-nvcc", "--", "wrong", code=1).stdout)

    def test_an_exit_status_in_bubblewrap_is_no_signal(self):
        self.environment["WORDS"] = os.path.join(self.scratch.name, "words")
        self.play("bwrap", PLAYED_BWRAP)
        self.write("x.cu", "int main() { return 139; }\n")
        said = self.check("x.cu", "--no-nvcc", code=1, before=hide_landlock).stdout
        self.assertIn("note: the program ended with status 139\n", said)
        self.assertNotIn("SIGSEGV", said)
        self.play("bwrap", PLAYED_BWRAP.replace("exec \"$@\"", "\"$@\""))
        self.write("x.cu", "#include <csignal>\nint main() { return raise(SIGKILL); }\n")
        self.assertIn("SIGKILL", self.check("x.cu", "--no-nvcc", code=1, before=hide_landlock).stdout)

    def test_a_crash_behind_the_report_is_an_error_in_bubblewrap_too(self):
        self.environment["WORDS"] = os.path.join(self.scratch.name, "words")
        self.play("bwrap", PLAYED_BWRAP.replace("exec \"$@\"", "\"$@\""))
        self.write("x.cu", "#include <csignal>\n__attribute__((destructor)) static void crash() { raise(SIGSEGV); }\n"
                           "int main() { return 3; }\n")
        for how in ({}, {"before": hide_landlock}):
            said = self.check("x.cu", "--no-nvcc", "--any-status", code=1, **how).stdout
            self.assertIn("error: program died\n  It was ended by SIGSEGV", said)

    def start_loop(self):
        self.write("loop.cu", '#include <cstdio>\n#include <unistd.h>\n'
                              'int main() { printf("%d\\n", (int)getpid()); fflush(stdout); for (;;) pause(); }\n')
        process = subprocess.Popen([HEDDLE, "check", "loop.cu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        return process, int(process.stdout.readline())

    def wait_for_end_of(self, process):
        for _ in range(400):
            try:
                with open(f"/proc/{process}/stat", encoding="ascii") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return
            except (FileNotFoundError, ProcessLookupError):  # it may end between open and read
                return
            time.sleep(0.05)
        self.fail(f"process {process} is still there")

    def test_an_interrupt_ends_everything(self):
        heddle, program = self.start_loop()
        heddle.send_signal(signal.SIGINT)
        self.assertNotEqual(heddle.wait(PATIENCE), 0)
        heddle.communicate()
        self.wait_for_end_of(program)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_killed_check_takes_its_program_along_and_is_swept(self):
        heddle, program = self.start_loop()
        heddle.kill()
        heddle.communicate()
        self.wait_for_end_of(program)
        self.assertNotEqual(os.listdir(self.temporary), [])
        self.write("three.cu", "int main() { return 0; }\n")
        self.check("three.cu", "--no-nvcc")

    def test_a_kept_program_is_there_and_named(self):
        self.write("three.cu", "int main() { return 0; }\n")
        result = self.check("three.cu", "--no-nvcc", "--keep", clean_up=False)
        folder = re.search(r"note: the program and its reports are in (\S+)", result.stdout).group(1)
        self.assertEqual(subprocess.run([os.path.join(folder, "program")], env=self.environment, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
