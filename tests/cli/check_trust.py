"""`heddle check` on what a hostile or unlucky user gives it: names, outputs, sandboxes and compilers.

    check_trust.py path/to/heddle
"""

import errno
import glob
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from check_trial import ADD, HEDDLE, PATIENCE, PLAYED_BWRAP, Trial, hide_landlock

# Plays nvcc, which hands names and values to a shell between double quotes: whatever it is given, where it runs and
# where it may write is evaluated. Then it reads what it is to judge, and says that the first line is not legal.
SHELL_NVCC = """#!/bin/bash
for word in "$@" "$PWD" "$TMPDIR"; do eval "last=\\"$word\\""; done
for last; do :; done
name=$(sed -n 's/^#include "\\(.*\\)"$/\\1/p' "$last")
echo "$name(1): error: calling a __host__ function from a __global__ function is not allowed"
exit 1
"""


class Trust(Trial):
    # --- names --------------------------------------------------------------------------------------------------------

    def test_no_name_and_no_value_is_run_by_a_shell(self):
        self.play_nvcc(SHELL_NVCC)
        self.environment["MARK"] = os.path.join(self.scratch.name, "mark")
        harm = "$(touch $MARK)`touch $MARK`"
        folder = os.path.dirname(self.write(f"folder {harm};'/-x {harm}.cu"))
        value = f"VALUE=\"{harm} a'b\""
        for where, name in ((self.folder, f"folder {harm};'/-x {harm}.cu"), (folder, f"./-x {harm}.cu")):
            result = self.check(name, "-D", value, "-I", f"folder {harm};'", code=1, folder=where)
            self.assertIn("error: not legal CUDA\n  nvcc: calling a __host__ function", result.stdout)
            self.assertIn(f"-x {harm}.cu:1\n", result.stdout)
            self.assertIn(f"value {harm} a'b\n", result.stdout)
        self.assertEqual(sorted(os.listdir(self.scratch.name)), ["mine", "temporary", "tools"])

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
    def test_nvcc_judges_a_file_whatever_its_name_is(self):
        self.environment["MARK"] = os.path.join(self.scratch.name, "mark")
        name = "a $(touch $MARK) 'b'/`touch $MARK`;touch $MARK\\.cu"
        self.write(os.path.dirname(name) + "/one.h", "#define ONE rand()\n")
        self.write(name, '#include <cstdlib>\n#include "one.h"\n' + ADD.replace("= 1", "= ONE"))
        result = self.check(name, "--nvcc", "-D", "VALUE=\"$(touch $MARK)\"", code=1)
        self.assertIn('nvcc: calling a __host__ function("rand") from a __global__ function("add")', result.stdout)
        self.assertIn(f"  source    {name}:7\n", result.stdout)
        self.assertEqual(len(os.listdir(self.folder)), 1)
        self.assertFalse(os.path.exists(self.environment["MARK"]))

    def test_a_name_that_the_compiler_would_read_options_from_is_a_name(self):
        self.write("folder", "-fplugin=/nowhere.so")
        self.write("x.cpp", "-fplugin=/nowhere.so")
        self.write("@folder/main.cu")
        self.write("@x.cpp", "int unused;\n")
        self.check("@folder/main.cu", "@x.cpp", "-I", "@folder", "--no-nvcc")

    def test_a_name_may_be_as_long_as_the_file_system_allows(self):
        name = "n" * 252 + ".cu"
        self.write(name, ADD.replace("a[threadIdx.x]", "a[threadIdx.x + 1]"))
        self.assertIn(name + ":5 ", self.check(name, "--no-nvcc", code=1).stdout)

    def test_a_file_that_is_too_large_is_refused(self):
        with open(self.write("x.cu"), "ab") as file:
            file.truncate(1 << 30)
        self.assertRegex(self.check("x.cu", code=1).stderr, "x.cu: larger than the 16 MiB allowed for such a file\n$")

    def test_a_name_that_cannot_be_included_is_refused(self):
        for name in ('a"b/x.cu', "a\nint b;/x.cu"):
            self.write(name)
            for words in ([name], ["plain.cu", "-I", os.path.dirname(name)]):
                self.write("plain.cu")
                said = self.check(*words, code=2).stderr
                self.assertRegex(said, "^heddle: [^\n]*: compilers cannot include a file whose path has a double quote[^\n]*\n$")

    def test_nvcc_is_not_run_in_a_folder_whose_name_is_a_command(self):
        self.play_nvcc(SHELL_NVCC)
        self.write("x.cu")
        self.environment["MARK"] = os.path.join(self.scratch.name, "mark")
        self.environment["TMPDIR"] = os.path.join(self.temporary, "$(touch $MARK)")
        os.mkdir(self.environment["TMPDIR"])
        self.assertIn("set TMPDIR to another folder", self.check("x.cu", code=2, clean_up=False).stderr)
        self.assertEqual(os.listdir(self.folder), ["x.cu"])
        self.assertFalse(os.path.exists(self.environment["MARK"]))

    # --- reports ------------------------------------------------------------------------------------------------------

    def test_a_report_never_overwrites_an_input(self):
        self.write("x.cu")
        self.write("rules", "race *\n")
        os.symlink("x.cu", os.path.join(self.folder, "link"))
        os.link(os.path.join(self.folder, "x.cu"), os.path.join(self.folder, "hard"))
        before = {name: os.stat(os.path.join(self.folder, name)) for name in os.listdir(self.folder)}
        for option in ("--sarif=", "--html=", "--json=", "--trace="):
            for name in ("x.cu", "./x.cu", "../mine/x.cu", "link", "hard", "rules", "/proc/self/cwd/x.cu"):
                said = self.check("x.cu", "--suppress", "rules", option + name, code=2).stderr
                self.assertEqual(said, f"heddle: {option[:-1]} {name} would overwrite an input file; give the report a name "
                                       "of its own\n")
        self.assertIn("name the same file", self.check("x.cu", "--sarif", "out", "--html", "out", code=2).stderr)
        self.assertEqual({name: os.stat(os.path.join(self.folder, name)) for name in os.listdir(self.folder)}, before)

    def test_a_report_replaces_nothing_but_a_report(self):
        self.write("x.cu", '#include "values"\n' + ADD)
        for content in ("#pragma once\n", "{1, 2, 3},\n", "{\"a\", 1},\n", "\177ELF", "done: 3 %\n",
                        "<!doctype html>\n<title>My thesis</title>\n", '{"version": "0.2.0", "configurations": []}\n'):
            path = self.write("values", content)
            before = os.stat(path)
            os.symlink("values", os.path.join(self.folder, "link"))
            for option in ("--sarif=", "--html=", "--json=", "--trace="):
                for name in ("values", "link"):
                    said = self.check("x.cu", option + name, code=2).stderr
                    self.assertRegex(said, f"^heddle: {option[:-1]} {name} would overwrite a file that is not a report [^\n]*\n$")
            after = os.stat(path)
            for what in ("st_ino", "st_mtime_ns", "st_size"):
                self.assertEqual(getattr(after, what), getattr(before, what))
            os.unlink(os.path.join(self.folder, "link"))

    def test_a_report_replaces_the_old_one_as_a_whole(self):
        self.write("x.cu")
        reports = {"--sarif": "out.sarif", "--html": "out.html", "--trace": "out.trace", "--json": "out.json"}
        words = [f"{option}={name}" for option, name in reports.items()]
        self.write("out.json", "")
        self.check("x.cu", "--no-nvcc", *words)
        old = {}
        for name in reports.values():
            path = os.path.join(self.folder, name)
            os.link(path, path + ".old")
            with open(path, encoding="utf-8") as file:
                old[path] = file.read()
        self.check("x.cu", "--no-nvcc", *words)
        for path, content in old.items():
            self.assertFalse(os.path.samefile(path, path + ".old"))
            with open(path + ".old", encoding="utf-8") as file:
                self.assertEqual(file.read(), content)
        self.assertEqual(len(os.listdir(self.folder)), 9)

    def test_a_program_cannot_redirect_a_report(self):
        precious = os.path.join(self.scratch.name, "precious")
        with open(precious, "w", encoding="utf-8") as file:
            file.write('{"version": 2, "heddle": "0"}')
        os.mkdir(os.path.join(self.folder, "reports"))
        self.write("x.cu", "#include <sys/stat.h>\n#include <unistd.h>\nint main()\n{\n"
                           "    symlink(\"../precious\", \"precious\");\n    mkfifo(\"x.json\", 0600);\n"
                           "    rename(\"reports\", \"moved\");\n    symlink(\"..\", \"reports\");\n}\n")
        self.check("x.cu", "--no-nvcc", "--html", "precious", "--json=x.json", "--sarif", "reports/precious")
        self.assertTrue(all(os.path.isfile(os.path.join(self.folder, name)) for name in ("precious", "x.json", "moved/precious")))
        os.symlink(precious, os.path.join(self.folder, "link"))
        self.assertIn("outside of the working folder", self.check("x.cu", "--html", "link", code=2).stderr)
        with open(precious, encoding="utf-8") as file:
            self.assertEqual(file.read(), '{"version": 2, "heddle": "0"}')

    def test_what_the_program_writes_is_not_replaced_by_a_report(self):
        old = '{"version": 2, "heddle": "0"}'
        for before, mode in ((None, "w"), (old, "a")):
            for option in ("--json=", "--html="):
                if before:
                    self.write("out", before)
                self.write("x.cu", f'#include <cstdio>\nint main() {{ FILE *file = fopen("out", "{mode}");'
                                   ' fprintf(file, "mine"); return fclose(file); }\n')
                said = self.check("x.cu", "--no-nvcc", "--schedules", "1", option + "out", code=1)
                self.assertEqual(said.stderr, "heddle: out was written while the check ran; give the report a name of its own\n")
                with open(os.path.join(self.folder, "out"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), (before or "") + "mine")
                os.unlink(os.path.join(self.folder, "out"))

    # --- containment --------------------------------------------------------------------------------------------------

    def run_harm(self, *options, before=None):
        """The check's document, and what the program could do."""
        with open(os.path.join(self.scratch.name, "precious"), "w", encoding="utf-8") as file:
            file.write("precious")
        result = self.check("harm.cu", "--no-nvcc", "--json", *options, clean_up="--no-sandbox" not in options, before=before)
        return json.loads(result.stdout), dict(line.split() for line in result.stderr.splitlines())

    def test_a_program_is_contained(self):
        self.write("harm.cu", """#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
void tell(const char *what, bool could) { printf("%s %s\\n", what, could ? "yes" : "no"); }
bool writes(const std::string &path) { return open(path.c_str(), O_WRONLY | O_CREAT, 0600) >= 0; }
int main()
{
    tell("working-folder", writes("new"));
    tell("temporary-folder", writes(std::string(getenv("TMPDIR")) + "/new"));
    tell("standard-output", writes("/dev/stdout"));
    tell("new-file", writes("../new"));
    tell("old-file", writes("../precious"));
    tell("removing", unlink("../precious") == 0);
    tell("moving", rename("new", "../moved") == 0);
    tell("socket", socket(AF_INET, SOCK_DGRAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}
""")
        for before in (hide_landlock, None):
            document, could = self.run_harm(before=before)
            contained = re.search("bubblewrap" if before else "Landlock|bubblewrap", document["sandbox"])
            allowed = {"working-folder", "temporary-folder", "standard-output"}
            if not contained:  # an old kernel, or a container that hides it
                allowed |= {"new-file", "old-file", "removing", "moving"}
            if "seccomp" not in document["sandbox"]:
                allowed.add("socket")
            self.assertEqual({name for name, answer in could.items() if answer == "yes"}, allowed)
            self.assertEqual(any("nothing limits where the program can write" in note for note in document["notes"]),
                             not contained)
            for name in ("new", "moved"):
                if os.path.exists(os.path.join(self.scratch.name, name)):
                    os.unlink(os.path.join(self.scratch.name, name))
        doctor = subprocess.run([HEDDLE, "doctor", "--json"], capture_output=True, text=True, check=False).stdout
        words = "not contained" if document["sandbox"] == "none" else "contained by " + document["sandbox"]
        self.assertIn(words, doctor)
        document, could = self.run_harm("--no-sandbox", "--schedules", "1")
        self.assertEqual(document["sandbox"], "off")
        self.assertEqual(set(could.values()), {"yes"})

    def test_a_program_cannot_change_the_machine(self):
        self.write("harm.cu", """#include <cstdio>
#include <cstring>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
void tell(const char *what, bool could) { printf("%s %s\\n", what, could ? "yes" : "no"); }
int main()
{
    char name[256];
    cpu_set_t cores;
    rlimit limit;
    sched_getaffinity(0, sizeof cores, &cores);
    gethostname(name, sizeof name);
    tell("hostname", sethostname(name, strlen(name)) == 0);
    tell("device", mknod("device", S_IFCHR | 0600, 0x103) == 0);
    int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    tell("shared-memory", memory >= 0);
    shmctl(memory, IPC_RMID, nullptr);
    tell("own-limit", getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0);
    tell("other-limit", prlimit(getppid(), RLIMIT_CORE, &limit, nullptr) == 0);
    tell("own-priority", setpriority(PRIO_PROCESS, 0, 19) == 0);
    tell("other-priority", setpriority(PRIO_PROCESS, getppid(), 19) == 0);
    tell("priority-of-all", setpriority(PRIO_USER, 0, 19) == 0);
    tell("own-cores", sched_setaffinity(0, sizeof cores, &cores) == 0);
    tell("other-cores", sched_setaffinity(getppid(), sizeof cores, &cores) == 0);
    tell("other-disk-priority", syscall(SYS_ioprio_set, 1, getppid(), 3 << 13) == 0);
    tell("key", syscall(SYS_add_key, "user", "heddle-test", "x", 1, -4) >= 0);
}
""")
        document, could = self.run_harm()
        allowed = {"own-limit", "own-priority", "own-cores"}
        if "seccomp" not in document["sandbox"]:
            allowed |= {"shared-memory", "other-limit", "other-priority", "priority-of-all", "other-cores",
                        "other-disk-priority", "key"}
        self.assertEqual({name for name, answer in could.items() if answer == "yes"}, allowed)

    def test_bubblewrap_is_used_where_it_works(self):
        self.write("x.cu")
        self.environment["WORDS"] = words = os.path.join(self.scratch.name, "words")
        self.play("bwrap", PLAYED_BWRAP)
        self.check("x.cu", "--no-nvcc", before=hide_landlock)
        with open(words, encoding="utf-8") as file:
            tried, first, second = file.read().splitlines()
        self.assertTrue(tried.endswith(" -- true"))
        self.assertEqual(first, second)
        folder = os.path.realpath(self.folder)
        self.assertRegex(first, f"^--ro-bind / / .* --cap-drop ALL --bind {folder} {folder} --bind (.*/run) \\1 "
                                ".* -- .*/program$")
        self.play("bwrap", "#!/bin/sh\nexit 1\n")
        said = self.check("x.cu", "--no-nvcc", before=hide_landlock).stdout
        self.assertIn("note: nothing limits where the program can write: the kernel has no Landlock, and bubblewrap", said)

    def test_a_program_cannot_keep_the_check_waiting(self):
        self.write("x.cu", """#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>
int main() { mkfifo(getenv("SIM_REPORT"), 0600); }
""")
        self.assertIn("left no report", self.check("x.cu", "--no-nvcc", code=1).stdout)

    def test_a_program_may_empty_its_temporary_folder(self):
        self.write("x.cu", ADD.replace("#include", "#include <cstdlib>\n#include", 1)
                   .replace("    printf", "    system(\"rm -r $TMPDIR/*; ls -A $TMPDIR\");\n    printf"))
        self.assertRegex(self.check("x.cu", "--no-nvcc").stdout, "clean: 2 schedules, ")

    # --- projects -----------------------------------------------------------------------------------------------------

    def check_command(self, script, code=0, **how):
        """Checks a command of a shell; $WORK is the folder that the check works in."""
        self.write("x.cu")
        build = "WORK=${SIM_REPORT%/reports/}\nnvcc x.cu -o x || exit 9\n"
        return self.check("--", "sh", "-c", build + script, code=code, **how)

    def test_a_command_cannot_have_the_check_write_or_remove_elsewhere(self):
        precious = os.path.join(self.scratch.name, "precious")
        os.mkdir(precious)
        kept = os.path.join(precious, "kept")
        with open(kept, "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink(kept, os.path.join(precious, "link"))
        for folder in ("programs", "program-0", "programs/0", "run/0", "reports/0"):
            for name in ("values", "progress", "report-1.json"):
                self.check_command(f"mkdir -p $WORK/{folder}; ln -s {kept} $WORK/{folder}/{name}; ./x < /dev/null")
            self.check_command(f"ln -s {precious} $WORK/{folder}; ./x < /dev/null")
            with open(kept, encoding="utf-8") as file:
                self.assertEqual(file.read(), "kept", folder)
            self.assertEqual(sorted(os.listdir(precious)), ["kept", "link"], folder)
        for name in ("run/input", "input", "run/values", "run/compiled", "run/progress", "reports/0000.run",
                     "reports/0000.json", "reports/0001.run"):
            self.check_command(f"ln -sf {kept} $WORK/{name}; echo 1 | ./x")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        self.assertEqual(sorted(os.listdir(precious)), ["kept", "link"])

    def test_a_command_above_the_temporary_folder_cannot_reach_the_check(self):
        self.write("x.cu")
        script = "WORK=${SIM_REPORT%/reports/}; nvcc mine/x.cu -o x || exit 9; ./x; echo in $WORK"
        result = self.check("--", "sh", "-c", script, folder=self.scratch.name)
        work = re.search("^in (.*)$", result.stdout, re.MULTILINE).group(1)
        self.assertFalse(work.startswith(self.scratch.name))
        self.assertFalse(os.path.exists(work))
        self.assertIn("it is barely contained", self.check(os.path.join(self.folder, "x.cu"), "--no-nvcc", folder="/").stdout)

    def test_a_command_cannot_keep_the_check_waiting(self):
        for name in ("reports/0000.run", "run/compiled", "run/input"):
            self.check_command(f"rm -f $WORK/{name}; mkfifo $WORK/{name}; ./x")
        report = "$WORK/reports/0000.json"
        self.assertIn("left no report", self.check_command(f"./x; rm {report}; mkfifo {report}", code=1).stdout)
        self.check_command("mkfifo y.cu; printf 's%s/y.cu\\0' \"$PWD\" >> $SIM_BUILT; ./x")
        self.check_command("./x; rm x; mkfifo x")

    def test_a_pipe_is_not_opened_again_for_other_orders(self):
        said = self.check_command("mkfifo in; echo 1 > in & ./x < in").stdout
        self.assertIn("note: only one order was checked: the program's standard input is no regular file", said)
        self.assertRegex(said, "clean: 1 schedule, ")
        said = self.check_command("echo 1 > file; ./x < file").stdout
        self.assertRegex(said, "clean: 2 schedules, ")

    def test_other_orders_are_run_where_nothing_came_from_a_terminal_or_pipe(self):
        for given, orders in (("", "2 schedules"), ("1\n", "1 schedule")):
            self.assertRegex(self.check_command("cat; ./x", given=given).stdout, f"clean: {orders}, ")

    def test_a_command_that_a_signal_ends_is_not_clean(self):
        said = self.check_command("./x; kill -SEGV $$", code=1).stdout
        self.assertIn("error: program died\n  The command was ended by SIGSEGV", said)
        said = self.check("--", "sh", "-c", "kill -SEGV $$", code=1).stderr
        self.assertRegex(said, "^heddle: `sh -c 'kill -SEGV \\$\\$'` was ended by SIGSEGV .* and ran no program")

    def test_a_damaged_record_of_a_start_costs_only_that_program(self):
        said = self.check_command("./x; : > $WORK/reports/0007.run").stdout
        self.assertIn("note: 1 program was not checked: the record of how it was started is damaged", said)

    def test_a_program_that_fails_is_told_what_it_may_not_do(self):
        self.write("x.cu", "int main() { return 3; }\n")
        document = json.loads(self.check("x.cu", "--no-nvcc", "--json", code=1).stdout)
        self.assertEqual("Landlock" in document["sandbox"], any("use --no-sandbox" in note for note in document["notes"]))
        self.assertNotIn("sandbox", self.check("x.cu", "--no-nvcc", "--no-sandbox", code=1).stdout)
        self.write("x.cu", "int main() { void *p; cudaMalloc(&p, 4); cudaFree(p); cudaFree(p); return 3; }\n")
        said = self.check("x.cu", "--no-nvcc", code=1).stdout
        self.assertIn("error: invalid free", said)
        self.assertNotIn("sandbox", said)

    # --- what is left -------------------------------------------------------------------------------------------------

    def writer(self, pipe):
        """The pipe, open for writing; None if nobody reads it."""
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            self.assertEqual(error.errno, errno.ENXIO)
            return None

    def has_reader(self, pipe):
        writer = self.writer(pipe)
        if writer is not None:
            os.close(writer)
        return writer is not None

    def wait_until(self, condition):
        """Returns what the condition gives, once that is true."""
        end = time.monotonic() + PATIENCE
        while not (found := condition()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return found

    def test_a_process_in_a_session_of_its_own_ends_with_the_check(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        self.write("x.cu", """#include <fcntl.h>
#include <unistd.h>
int main()
{
    int started[2];
    char byte = 0;
    pipe(started);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            open("pipe", O_RDONLY | O_NONBLOCK);
            write(started[1], &byte, 1);
            sleep(1000);
        }
        _exit(0);
    }
    return read(started[0], &byte, 1) != 1;
}
""")
        self.check("x.cu", "--no-nvcc", "--unwatched")
        self.assertFalse(self.has_reader(pipe))

    def test_nothing_is_left_of_a_check_that_is_killed_while_it_compiles(self):
        pipe = os.path.join(self.folder, "pipe.h")
        os.mkfifo(pipe)
        self.write("x.cu", f'#define PIPE "{pipe}"\n#include PIPE\nint main() {{ }}\n')  # no other form is let through
        with subprocess.Popen([HEDDLE, "check", "--no-nvcc", "x.cu"], env=self.environment, cwd=self.folder,
                              stdout=subprocess.DEVNULL) as check:
            writer = self.wait_until(lambda: self.writer(pipe))  # kept open: the compiler would see the end of the file
            try:
                check.kill()
                check.wait()
                self.wait_until(lambda: not self.has_reader(pipe))
            finally:
                os.close(writer)
        self.write("x.cu")
        self.check("x.cu", "--no-nvcc")

    def test_a_compiler_that_uses_too_much_memory_is_stopped(self):
        doubled = "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(40))
        self.write("x.cu", f"#define A0 int\n{doubled}A40 x;\nint main() {{ }}\n")
        said = self.check("x.cu", "--no-nvcc", "--memory", "0.3", code=1).stdout
        self.assertIn("x.cu: the compiler was stopped: it used more than 0.3 GB of memory\n", said)

    def test_a_pipe_is_no_input(self):
        os.mkfifo(os.path.join(self.folder, "pipe.cu"))
        self.write("x.cu")
        self.assertIn("not a regular file", self.check("pipe.cu", code=2).stderr)
        for option in ("--suppress", "--expect"):
            self.assertIn("a pipe, not a file", self.check("x.cu", option, "pipe.cu", code=2).stderr)
        self.write("x.cu", '#include "pipe.cu"\n__global__ void add(int *a) { *a = 1; }\n')
        self.assertIn("nothing to run", self.check("x.cu", code=2).stderr)
        for name in ("pipe.cu", "/dev/zero"):
            self.write("x.cu", f'#include "{name}"\n' + ADD)
            said = self.check("x.cu", "--no-nvcc", code=1).stdout
            self.assertIn(f"{name} is a pipe or a device: include a regular file", said)
            self.write("x.cu", f'#if 0\n#include "{name}"\n#endif\n' + ADD)
            self.check("x.cu", "--no-nvcc")

    def test_a_pipe_gets_a_report_if_somebody_reads_it(self):
        self.write("x.cu")
        os.mkfifo(os.path.join(self.folder, "pipe"))
        said = self.check("x.cu", "--no-nvcc", "--json=pipe", code=2).stderr
        self.assertEqual(said, "heddle: pipe: a pipe that nothing reads from; start its reader first\n")
        reader, writer = os.pipe()
        subprocess.run([HEDDLE, "check", "--no-nvcc", "x.cu", f"--json=/dev/fd/{writer}"], env=self.environment, check=True,
                       cwd=self.folder, capture_output=True, timeout=PATIENCE, pass_fds=[writer])
        os.close(writer)
        with open(reader, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], "clean")

    def test_a_damaged_precompiled_header_is_made_again(self):
        self.environment["XDG_CACHE_HOME"] = os.path.join(self.scratch.name, "cache")
        self.write("x.cu")
        self.check("x.cu", "--no-nvcc")
        header, = glob.glob(self.environment["XDG_CACHE_HOME"] + "/**/*.[gp]ch", recursive=True)
        size = os.path.getsize(header)
        os.truncate(header, size // 2)
        self.check("x.cu", "--no-nvcc")
        self.assertGreater(os.path.getsize(header), size * 0.9)

    # --- nvcc's answer ------------------------------------------------------------------------------------------------

    def test_a_slow_nvcc_is_waited_for(self):
        self.play_nvcc(SHELL_NVCC.replace("name=", "sleep 2\nname="))
        self.write("x.cu")
        self.assertIn("error: not legal CUDA", self.check("x.cu", code=1).stdout)

    def test_a_source_that_nvcc_has_not_judged_is_never_clean(self):
        self.write("x.cu")
        for script in ("kill -9 $$", "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"; exit 9"):
            self.play_nvcc("#!/bin/sh\n" + script + "\n")
            lines = self.check("x.cu", "--json=x.json", code=1).stdout.splitlines()
            self.assertEqual(lines[-1], "unfinished: nvcc was stopped; here 2 schedules, 64 accesses, 0 findings")
            with open(os.path.join(self.folder, "x.json"), encoding="utf-8") as file:
                document = json.load(file)
            self.assertEqual([document[key] for key in ("nvcc", "status", "clean", "passed")],
                             ["no answer", "no answer from nvcc", False, False])
        missing = "echo 'In file included from x.cu:1:'; echo 'x.h: error: no such file'; exit 1"
        for script, answer in (("exit 0", "accepted"), (missing, "not judged")):
            self.play_nvcc("#!/bin/sh\n" + script + "\n")
            document = json.loads(self.check("x.cu", "--json", "--quiet").stdout)
            self.assertEqual([document["nvcc"], document["status"]], [answer, "clean"])
        self.assertIn("nvcc could not judge the source: x.h: error: no such file", document["notes"])
        self.assertEqual(json.loads(self.check("x.cu", "--json", "--quiet", "--no-nvcc").stdout)["nvcc"], "not asked")


if __name__ == "__main__":
    unittest.main()
