"""`heddle train --profile`, `heddle profile` and `heddle devices --watch`, as people use them."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree

HAS_SIM = len(sys.argv) > 2 and sys.argv.pop(2) == "sim"
from command import HEDDLE, Command  # noqa: E402
from terminal import Terminal  # noqa: E402

# Two GPUs, of which the second tells neither its load nor its power.
NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (char *)0 + index + 1; return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned size) { name[0] = 'G'; name[1] = 0; return size < 2; }
int nvmlDeviceGetUtilizationRates(void *device, unsigned *load) { load[0] = 37; return device != (void *)1; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *power) { *power = 412500; return device != (void *)1; }
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *power) { *power = 700000; return device != (void *)1; }
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *all) { all[0] = 8 << 20; all[2] = 2 << 20; return 0; }
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *clock) { *clock = 1000 * kind; return device != (void *)1; }
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *celsius) { *celsius = 64; return kind; }
"""
NCU = """#!/bin/sh
echo "$@" > "$(dirname "$0")/words"
cat <<'END'
==PROF== Connected
"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","ns","%"
"0","saxpy","(256, 1, 1)","(4096, 1, 1)","2,500","88.5"
END
"""


class TrainProfile(Command):
    def rows_of(self, result):
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        return lines[-1]["profile"]

    def test_a_step_is_shown_by_layer_and_operator(self):
        folder = os.path.join(self.home, "here")
        shown = self.train_in(folder, "--device", "cpu", "--profile", "--out", "run").stdout
        self.assertRegex(shown, r"profile of \d+ steps on cpu")
        self.assertRegex(shown, r"forward +linear1 +linear_forward +cpu_\w+ +\d+")
        self.assertRegex(shown, r"backward +linear2 +linear_backward +cpu_\w+")
        self.assertRegex(shown, r"update +sgd_update +cpu_\w+")
        self.assertRegex(shown, r"a step takes [\d.]+ µs: load [\d.]+ µs .*forward .*backward .*update .*nothing runs for")
        self.assertIn("wrote run/profile.svg\n", shown)
        picture = xml.etree.ElementTree.parse(os.path.join(folder, "run", "profile.svg")).getroot()
        titles = ["".join(title.itertext()) for title in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(title.startswith("linear1 linear_forward, cpu_") for title in titles), titles)
        with open(os.path.join(folder, "run", "profile.pftrace"), "rb") as file:
            trace = file.read()
        for name in (b"linear1 linear_forward", b"stream 1", b"host", b"images in", b"GFLOP/s"):
            self.assertIn(name, trace)

    def test_the_same_as_json_and_with_the_same_network_as_without(self):
        one, other = os.path.join(self.home, "one"), os.path.join(self.home, "other")
        profile = self.rows_of(self.train_in(one, "--device", "cpu", "--profile=step.svg", "--json", "--out", "run"))
        self.train_in(other, "--device", "cpu", "--out", "run")
        self.assertEqual(os.listdir(one + "/run"), os.listdir(other + "/run"))  # the picture is where it was asked for
        self.assertTrue(os.path.getsize(one + "/step.svg") > 1000)
        with open(one + "/run/last.safetensors", "rb") as a, open(other + "/run/last.safetensors", "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(profile["device"], "cpu")
        self.assertEqual(profile["lanes"], ["stream 1", "host"])
        steps = 7 - 2  # of 16 images, 100 in all; without the first and the last
        self.assertEqual(profile["steps"], steps)
        self.assertEqual([row["phase"] for row in profile["rows"]],
                         sorted((row["phase"] for row in profile["rows"]),
                                key=["load", "forward", "backward", "update"].index))
        forward = [row for row in profile["rows"] if row["layer"] == "linear1" and row["phase"] == "forward"][0]
        self.assertEqual((forward["operator"], forward["calls"], forward["host"]), ("linear_forward", steps, False))
        self.assertGreater(forward["flops_per_second"], 0)
        self.assertIn(forward["bound"], ("memory", "f32 peak"))
        spent = sum(row["seconds"] for row in profile["rows"]) + profile["gap_seconds"]
        self.assertAlmostEqual(spent, profile["seconds"], delta=0.02 * profile["seconds"])

    def test_a_file_that_cannot_be_written_is_told_before_training(self):
        folder = os.path.join(self.home, "here")
        result = self.train_in(folder, "--device", "cpu", "--profile=missing/x.pftrace", "--out", "run", code=1)
        self.assertIn("missing/x.pftrace", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertFalse(os.path.exists(folder + "/run"))

    def test_a_run_that_has_ended_is_not_to_be_resumed_for_a_profile_that_cannot_be_written(self):
        folder = os.path.join(self.home, "here")
        result = self.train_in(folder, "--device", "cpu", "--profile=/dev/full", "--out", "run", code=1)
        self.assertEqual(result.stderr, "heddle: /dev/full: cannot write: No space left on device\n")

    def test_profile_of_a_training_is_its_option(self):
        folder = os.path.join(self.home, "here")
        os.mkdir(folder)
        result = subprocess.run([HEDDLE, "profile", "--out", "x.pftrace", "--", HEDDLE, "train", "--data", "synth:count=40",
                                 "--model", "mlp", "--epochs", "1", "--device", "cpu"], cwd=folder, text=True,
                                capture_output=True, check=True, timeout=300)
        self.assertIn("wrote x.pftrace; open it at https://ui.perfetto.dev\n", result.stdout)

    if HAS_SIM:
        def test_the_simulated_gpu_has_a_profile_too(self):
            folder = os.path.join(self.home, "here")
            shown = self.train_in(folder, "--device", "sim", "--kernels", "naive", "--batch", "10", "--data",
                                  "synth:count=30", "--profile", "--out", "run").stdout
            self.assertIn("how long the simulation takes, not how long a GPU would", shown)
            self.assertRegex(shown, r"load +gather +01_naive")
            self.assertRegex(shown, r"forward +linear1 +linear_forward +01_naive")


class Kernel(Command):
    def programs(self, ncu):
        folder = os.path.join(self.home, "bin")
        os.mkdir(folder)
        if ncu:
            with open(folder + "/ncu", "w", encoding="utf-8") as file:
                file.write(ncu)
            os.chmod(folder + "/ncu", 0o755)
        return folder

    def test_one_kernel_is_reported(self):
        folder = self.programs(NCU)
        path = folder + ":" + os.environ["PATH"]
        shown = self.run_heddle("profile", "--kernel", "saxpy", "--", "./mine", "--big", PATH=path).stdout
        self.assertEqual(shown.splitlines()[:2], ["saxpy, grid (4096, 1, 1), block (256, 1, 1)",
                                                  "  limited by             arithmetic and issue: at 88 % of its peak"])
        with open(folder + "/words", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"^--csv --page raw .* --kernel-name regex:\^saxpy\$ ./mine --big\n$")
        result = json.loads(self.run_heddle("profile", "--kernel", "saxpy", "--json", "--", "./mine", PATH=path).stdout)
        self.assertEqual((result["kernel"], result["seconds"], result["compute_percent"]), ("saxpy", 2.5e-6, 88.5))

    def test_without_ncu_one_line_says_what_to_install(self):
        if os.path.exists("/usr/local/cuda/bin/ncu") or os.path.exists("/opt/nvidia/nsight-compute/ncu"):
            path, code = self.programs("#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - no permission'\n"), 3
            words = "as root"
        else:
            path, code, words = self.programs(None), 3, "install Nsight Compute"
        result = self.run_heddle("profile", "--kernel", "saxpy", "--", "./mine", PATH=path, code=code)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn(words, result.stderr)

    def test_a_kernel_has_no_timeline(self):
        result = self.run_heddle("profile", "--kernel", "x", "--out", "y.pftrace", "--", "./mine", code=2)
        self.assertIn("leave out --out", result.stderr)


class Watch(Command):
    def setUp(self):
        super().setUp()
        source, library = os.path.join(self.home, "nvml.c"), os.path.join(self.home, "libnvidia-ml.so.1")
        with open(source, "w", encoding="utf-8") as file:
            file.write(NVML)
        subprocess.run(["cc", "-shared", "-fPIC", "-w", source, "-o", library], check=True)

    def test_lines_in_a_pipe(self):
        lines = self.run_heddle("devices", "--watch", "--count", "1", LD_LIBRARY_PATH=self.home).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], r"^cpu  load \d+ %  memory .* of .*iB$")
        self.assertEqual(lines[1], "cuda:0  load 37 %  memory 2 MiB of 8 MiB  power 412 of 700 W  1000 MHz, memory 2000 MHz, "
                                   "64 °C")
        self.assertEqual(lines[2], "cuda:1  memory 2 MiB of 8 MiB  64 °C")

    def test_objects_with_json(self):
        result = self.run_heddle("devices", "--watch", "--count", "2", "--every", "0.1", "--json",
                                 LD_LIBRARY_PATH=self.home)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["sample", "sample", "result"])
        self.assertEqual(lines[2]["samples"], 2)
        devices = lines[0]["devices"]
        self.assertEqual([one["device"] for one in devices], ["cpu", "cuda:0", "cuda:1"])
        self.assertEqual((devices[1]["load"], devices[1]["watts"], devices[1]["celsius"]), (0.37, 412.5, 64))
        self.assertNotIn("load", devices[2])
        self.assertTrue(0 <= devices[0]["load"] <= 1)

    def test_without_a_driver_the_cpu_is_watched(self):
        with open(os.path.join(self.home, "libnvidia-ml.so.1"), "w", encoding="utf-8") as file:
            file.write("no library")
        lines = self.run_heddle("devices", "--watch", "--count", "1", LD_LIBRARY_PATH=self.home).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["cpu"])

    def test_a_terminal_is_drawn_in_and_left_as_it_was(self):
        environment = dict(os.environ, LD_LIBRARY_PATH=self.home, LC_ALL="C.UTF-8", TERM="xterm")
        terminal = Terminal(HEDDLE, ["devices", "--watch", "--every", "0.1"], environment=environment, rows=24, columns=80)
        while terminal.said.count(b"press Ctrl-C") < 2:
            self.assertTrue(terminal.read(), terminal.said)
        os.kill(terminal.child, signal.SIGINT)
        while terminal.read():
            pass
        _, outcome = os.waitpid(terminal.child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(outcome), 130)
        said = terminal.said.decode()
        self.assertEqual(said.count("\033[?25l"), 1)
        self.assertTrue(said.rstrip().endswith("\033[?25h"), said[-200:])
        self.assertIn("\033[12A", said)  # over the picture before: three devices and a line below
        for line in re.sub(r"\033\[[?0-9]*[A-Za-z]", "", said).splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_what_does_not_go_together_is_refused(self):
        result = self.run_heddle("devices", "cpu", "--watch", code=2)
        self.assertIn("--watch shows all devices", result.stderr)


if __name__ == "__main__":
    unittest.main()
