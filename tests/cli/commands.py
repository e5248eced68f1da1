"""The built command, as a person uses it: help, exit codes, suggestions, JSON. train.py and data.py have the tests of those two.

    commands.py path/to/heddle
"""

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from command import HEDDLE, Command  # noqa: E402

COMMANDS = ["learn", "train", "eval", "predict", "export", "import", "bench", "check", "lsp", "pipeline", "profile", "trace",
            "data", "ops", "devices", "doctor", "help", "version"]
ACTIONS = [["data", "list"], ["data", "show"], ["data", "get"]] + [
    ["learn", action] for action in ("init", "show", "run", "next", "hint", "list", "reset", "solution", "progress", "verify")]
TOPICS = [["bench", "train"], ["bench", "infer"], ["bench", "out-of-core"], ["bench", "collectives"]]


class Commands(Command):
    # --- help ---------------------------------------------------------------------------------------------------------

    def test_every_command_has_help_with_an_example(self):
        for words in [[command] for command in COMMANDS] + ACTIONS + TOPICS:
            with self.subTest(words):
                result = self.run_heddle(*words, "--help")
                self.assertIn("Usage: heddle " + " ".join(words), result.stdout)
                self.assertIn("Example", result.stdout)
                self.assertIn("--help", result.stdout)
                self.assertEqual(result.stderr, "")
                self.assertEqual(self.run_heddle("help", *words).stdout, result.stdout)

    def test_help_fits_a_hundred_columns(self):
        for words in [[]] + [[command] for command in COMMANDS] + ACTIONS + TOPICS:
            for line in self.run_heddle("help", *words).stdout.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_the_page_of_a_topic_has_the_options_that_go_with_it(self):
        options = {words[1]: re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", self.run_heddle("help", *words).stdout)
                   for words in TOPICS}
        self.assertIn("batch", options["train"])
        self.assertIn("gradients", options["train"])
        for topic in ("train", "infer"):
            self.assertIn("peers", options[topic])
        self.assertNotIn("shape", options["train"])
        for option, value in (("gradients", "f"), ("data-place", "auto"), ("seed", "1")):
            self.assertNotIn(option, options["infer"])
            self.assert_refused(["bench", "infer", "--" + option, value],
                                f"heddle bench: --{option} does not apply to `bench infer`")
        self.assertIn("shape", options["out-of-core"])
        self.assertIn("largest", options["collectives"])
        for option in ("threads", "seed"):  # ranks share the cores out, and send the same numbers always
            self.assertNotIn(option, options["collectives"])
            self.assert_refused(["bench", "collectives", "--" + option, "1"],
                                f"heddle bench: --{option} does not apply to `bench collectives`")
        self.assertNotIn("largest", options["out-of-core"])
        self.assert_refused(["help", "bench", "matmul"],
                            "heddle help: bench has no topic 'matmul'; see `heddle help bench`")

    def test_the_page_of_a_topic_speaks_of_that_topic(self):
        infer = self.run_heddle("help", "bench", "infer").stdout
        for word in ("backward", "learn"):
            self.assertIn(word, self.run_heddle("help", "bench", "train").stdout)
            self.assertNotIn(word, infer)
        self.assertIn("`infer` measures", infer)
        for topic, default in (("train", "1 on cpu, 0.2 on cuda"), ("collectives", "0.01")):
            self.assertIn(f"--seconds S                  length of a round; default: {default}\n",
                          self.run_heddle("help", "bench", topic).stdout)
        for words in TOPICS:
            options = self.run_heddle("help", *words).stdout.split("\nOptions:")[1]
            self.assertNotRegex(options, r"(train|infer|collectives): ", "on a page of its own no option says so")
        self.assertRegex(self.run_heddle("help", "bench").stdout, r"--batch N,N +train, infer: images")

    def test_the_overview_names_every_command(self):
        overview = self.run_heddle("help").stdout
        for command in COMMANDS:
            self.assertRegex(overview, rf"(?m)^  {command} ")
        self.assertEqual(self.run_heddle("--help").stdout, overview)
        self.assertEqual(self.run_heddle("-h").stdout, overview)

    def test_no_command_is_wrong_usage_and_shows_the_commands(self):
        result = self.run_heddle(code=2)
        self.assertEqual(result.stdout, "")
        self.assertIn("Commands:", result.stderr)

    def test_data_without_an_action_is_wrong_usage(self):
        self.assertIn("Actions:", self.run_heddle("data", code=2).stderr)

    def test_commands_run_and_leak_nothing(self):
        folder = self.folder_of_images()
        for words in (["version"], ["devices", "--json"], ["doctor"], ["ops", "matmul"], ["ops", "--json"],
                      ["data", "list"], ["data", "show", folder]):
            with self.subTest(words):
                self.run_heddle(*words, leaks=True)
        with open(f"{folder}/t10k-labels-idx1-ubyte", "ab") as file:
            file.write(b"x")
        self.run_heddle("data", "show", folder, leaks=True, code=1)

    # --- wrong usage --------------------------------------------------------------------------------------------------

    def test_a_precision_that_the_device_lacks_is_refused_before_anything_is_opened(self):
        for command in (["train"], ["eval", "none.safetensors"], ["predict", "none.safetensors", "--index", "0"]):
            self.assert_refused(command + ["--device", "cpu", "--precision", "bf16"],
                                "heddle: --precision bf16 needs --device cuda or --device sim: the CPU computes in fp32")
        self.assert_refused(["train", "--device", "cpu", "--data-place", "streamed"],
                            "heddle: --data-place streamed needs --device cuda: the CPU reads the dataset where it is")
        self.assert_refused(["train", "--deterministic", "--unordered"],
                            "heddle: --deterministic and --unordered exclude each other; give one of them")

    def test_predict_wants_the_checkpoint_first(self):
        self.assert_refused(["predict", "seven.png"],
                            "heddle predict: the checkpoint comes first: heddle predict CHECKPOINT seven.png")

    def on_a_terminal(self, *words, columns=80, **environment):
        terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        variables = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", ASAN_OPTIONS="detect_leaks=0", **environment)
        process = subprocess.Popen(["heddle", *words], executable=HEDDLE, stdout=end, env=variables)
        os.close(end)
        drawn = b""
        with open(terminal, "rb", buffering=0) as reader:
            try:
                while part := reader.read(1 << 16):  # a terminal gives what has arrived, not all there will be
                    drawn += part
            except OSError:
                pass  # how a terminal says that nobody writes to it any more
        self.assertEqual(process.wait(timeout=300), 0)
        return drawn

    def drawn_on_a_terminal(self, *options, **environment):
        return self.on_a_terminal("data", "show", "synth:count=10", "--count", "1", *options, **environment)

    def test_a_narrow_terminal_cuts_no_command_or_path(self):
        for one in json.loads(self.run_heddle("data", "list", "--json", HEDDLE_DATA=self.home).stdout)["datasets"]:
            said = self.on_a_terminal("data", "list", columns=60, HEDDLE_DATA=self.home, HOME=self.home).decode()
            self.assertIn(f"{one['name']}: {one['where']}\r\n", said)

    def test_no_color_keeps_colours_away(self):
        self.assertIn(b"\x1b[", self.drawn_on_a_terminal(NO_COLOR=""))
        self.assertNotIn(b"\x1b", self.drawn_on_a_terminal(NO_COLOR="1"))
        self.assertIn(b"\x1b[", self.drawn_on_a_terminal("--style", "blocks", NO_COLOR="1"))

    def test_wrong_names_suggest_the_nearest(self):
        self.assert_refused(["trian"], "heddle: unknown command 'trian'; did you mean train?")
        self.assert_refused(["--versoin"], "heddle: unknown option --versoin; did you mean --version?")
        self.assert_refused(["data", "lst"], "heddle data: unknown action 'lst'; did you mean list?")
        self.assert_refused(["data", "show", "--cuont", "3"],
                            "heddle data show: unknown option --cuont; did you mean --count?")
        self.assert_refused(["help", "dotcor"], "heddle help: unknown command 'dotcor'; did you mean doctor?")
        self.assert_refused(["ops", "conv2"], "heddle ops: unknown operator or ladder 'conv2'; did you mean conv2d?")
        self.assert_refused(["ops", "matmul/01_naive"],
                            "heddle ops: takes a rung only with --sass or --ptx: `heddle ops matmul` shows the whole "
                            "ladder")
        self.assertRegex(self.run_heddle("ops", "conv").stdout, r"(?m)^see also: conv2d,")

    def play(self, tool, script):
        """A program of that name in a folder of its own; returns a PATH that begins with the folder."""
        folder = os.path.join(self.home, "bin")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, tool), "w") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(os.path.join(folder, tool), 0o755)
        return folder + ":" + os.environ["PATH"]

    def compiler(self):
        """A PATH with nvcc on it: the real one, or one that has compiled saxpy and layernorm before."""
        if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
            return os.environ["PATH"]
        return self.play("nvcc", "while [ $# -gt 1 ]; do [ \"$1\" != -o ] || out=$2; shift; done\n"
                                 "for i in 1 2 3 4; do printf '.visible .entry _Z5saxpyiPf(\\n)\\n{\\n\\t.loc\\t1 13 9\\n"
                                 "\\tfma.rn.f32 \\t%%f4, %%f2, %%f1, %%f3;\\n}\\n'; case $1 in *saxpy*) break; esac; done "
                                 "> $out\n"
                                 "printf '.file\\t1 \"%s\"\\n' \"$PWD/$1\" >> $out\n"
                                 "echo \"Compiling entry function '_Z11saxpy_naiveifPKfPf' for 'sm_90a'\" >&2\n"
                                 "echo 'Used 9 registers' >&2\n")

    def test_a_rung_is_shown_as_it_was_compiled(self):
        path = self.compiler()
        shown = self.run_heddle("ops", "saxpy/01_naive", "--ptx", "--arch", "sm_80", PATH=path).stdout
        self.assertRegex(shown, r"\n13 \|         y\[i\] = alpha \* x\[i\] \+ y\[i\];\n(        .*\n)*        fma.rn.f32 ")
        document = json.loads(self.run_heddle("ops", "saxpy/01_naive", "--ptx", "--json", PATH=path).stdout)
        self.assertEqual(document["functions"][0]["name"][:5], "saxpy")
        self.assertTrue(any("fma" in line.get("instruction", "") for line in document["functions"][0]["code"]))
        self.assertIn("--kernel TEXT", self.run_heddle("ops", "layernorm/04_vectorised", "--ptx", PATH=path).stdout)

    def test_machine_code_is_shown_as_it_was_disassembled(self):
        self.compiler()
        path = self.play("nvdisasm", "[ -s code.cubin ] || exit 1\n"
                         "printf '\\t.section\\t.text._Z11saxpy_naiveifPKfPf,\"ax\"\\n"
                         "\\t//## File \"x/src/ops/saxpy/01_naive.cu\", line 13\\n/*0000*/ FFMA R1, R2, R3, R4 ;\\n'\n")
        shown = self.run_heddle("ops", "saxpy/01_naive", "--sass", PATH=path).stdout
        self.assertRegex(shown, r"saxpy_naive +1 +[1-9]\d* +0 +0 +0\n")  # ptxas says how many registers
        self.assertIn("        FFMA R1, R2, R3, R4 ;\n", shown)

    def test_a_rung_that_has_no_code_of_ours_is_refused(self):
        for words, why in ((["matmul/cublas", "--ptx"], "cublas calls a library, whose kernels are not in heddle's sources"),
                           (["matmul/nope", "--ptx"], "matmul has no rung 'nope'; `heddle ops matmul` lists them"),
                           (["matmul", "--ptx"], "name a rung, as in matmul/01_naive; `heddle ops matmul` lists them"),
                           (["matmul/cpu_naive", "--ptx"],
                            "cpu_naive is a rung for the cpu device; only those for cuda are compiled by nvcc"),
                           (["saxpy/01_naive", "--ptx", "--arch", "sm_90;x"],
                            "--arch takes a name such as sm_90a, not 'sm_90;x'"),
                           (["saxpy/01_naive", "--ptx", "--source", "/dev"],
                            "--source /dev: not a folder with heddle's sources")):
            self.assert_refused(["ops", *words], "heddle: " + why)
        self.assert_refused(["ops", "--sass"], "heddle ops: --sass and --ptx need a rung, such as saxpy/01_naive")

    def test_words_of_other_programs_suggest_ours(self):
        for theirs, ours in (("--learning-rate", "--lr"), ("--batch_size", "--batch"), ("--dataset", "--data"),
                             ("--weight_decay", "--weight-decay"), ("--output-dir", "--out")):
            self.assert_refused(["train", theirs, "1"], f"heddle train: unknown option {theirs}; did you mean {ours}?")
        self.assert_refused(["train", "mine.json"],
                            "heddle train: takes no arguments, but got 'mine.json'; did you mean --model mine.json?")
        path = self.home + "/mine.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"layers": []}')
        for command in (["eval", path], ["predict", path, "seven.png"]):
            self.assert_refused(command, f"heddle: {path} is a model file, not a checkpoint; train it first: heddle train "
                                f"--model {path}")

    def test_commands_that_are_suggested_can_be_copied(self):
        folder = self.home + "/two words"
        os.mkdir(folder)
        said = self.train_in(folder, "--out", folder + "/run").stdout
        suggested = re.search(r"(?m)^try     (\S*heddle .*)$", said).group(1)
        self.assertEqual(shlex.split(suggested)[2], folder + "/run/best.safetensors")
        self.assert_refused(["predict", folder + "/seven.png"],
                            f"heddle predict: the checkpoint comes first: heddle predict CHECKPOINT '{folder}/seven.png'")
        self.assert_refused(["train", "my images"],
                            "heddle train: takes no arguments, but got 'my images'; did you mean --data 'my images'?")
        with open(folder + "/own.cu", "w", encoding="utf-8") as file:
            file.write("void relu(const float *input, float *output, int n) {}\n")
        said = self.run_heddle("bench", folder + "/own.cu", "--device", "cpu", code=3).stderr
        self.assertIn(f"`heddle check '{folder}/own.cu' --op relu_forward`", said)
        said = self.run_heddle("check", folder + "/own.cu", "64 64", code=2).stderr
        self.assertIn(f"heddle check '{folder}/own.cu' -- '64 64'\n", said)

    def test_a_file_is_given_once(self):
        self.assert_refused(["check", "--suppress", "a", "--suppress", "b", "x.cu"],
                            "heddle check: --suppress is given twice, but takes one file")

    def test_every_command_refuses_an_unknown_option(self):
        for words in [[command] for command in COMMANDS] + ACTIONS:
            with self.subTest(words):
                result = self.run_heddle(*words, "--no-such-option-anywhere", code=2)
                self.assertIn("unknown option --no-such-option-anywhere", result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_wrong_values_are_told_in_one_line(self):
        self.assert_refused(["data", "show", "--count", "0"],
                            "heddle data show: --count 0 is out of range: 1 to 10000")
        self.assert_refused(["data", "show", "--count=many"],
                            "heddle data show: --count needs an integer, not 'many'")
        self.assert_refused(["data", "show", "--split", "tset"],
                            "heddle data show: --split must be one of train, test, not 'tset'; did you mean test?")
        self.assert_refused(["--log", "loud", "version"],
                            "heddle: --log must be one of error, warn, info, debug, not 'loud'")
        self.assert_refused(["version", "now"], "heddle version: takes no arguments, but got 'now'")
        self.assert_refused(["train", "synth"],
                            "heddle train: takes no arguments, but got 'synth'; did you mean --data synth?")
        self.assert_refused(["data", "get"], "heddle data get: needs NAME; see `heddle data get --help`")
        self.assert_refused(["help", "ops", "list"], "heddle help: ops has no actions, but got 'list'")

    def test_a_full_disk_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["help"], ["ops"], ["ops", "--json"], ["version"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([HEDDLE, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^heddle: cannot write to standard output(: No space left on device)?\n$")

    # --- trace -------------------------------------------------------------------------------------------------------

    def trace(self, script, *options, code=0):
        """A program that writes its spans itself, as libheddle-cupti.so would where there is a GPU."""
        open(os.path.join(self.home, "libheddle-cupti.so"), "w").close()
        return self.run_heddle("trace", *options, "--", "sh", "-c", script, code=code, HEDDLE_MODULES=self.home)

    def test_trace_shows_what_ran_at_the_same_time(self):
        spans = r"printf 'K 1000 5000 7 0 _Z4workPf\nI 2000 3000 8 4000\nO 4000 6000 8 1000\n' >> $HEDDLE_TRACE_SPANS"
        out = os.path.join(self.home, "trace.json")
        told = self.trace(spans, "--out", out).stdout
        self.assertIn("3 kernels and copies on 2 streams in 0.005 ms; a kernel ran 80.0 % of the time", told)
        rows = {line[:8].strip(): line.split() for line in told.splitlines()}
        self.assertEqual(rows["copy in"][-2:], ["4.00", "100.0"])
        self.assertEqual(rows["copy out"][-1], "50.0")
        with open(out, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["traceEvents"]), 3)
        summary = json.loads(self.trace(spans, "--json").stdout)
        self.assertEqual([row["name"] for row in summary["rows"]], ["work", "copy out", "copy in"])

    def test_trace_ends_as_the_program_does(self):
        self.trace("exit 7", code=7)
        for number in (signal.SIGKILL, signal.SIGXFSZ):
            self.assertIn(f"signal {number.value}",
                          self.trace(f"kill -{number.value} $$", code=128 + number.value).stderr)
        self.assertEqual(self.trace("exit 0", code=1).stderr, "heddle: sh did not use a GPU: there is nothing to "
                                                              "show\n")
        self.assertIn("cannot run", self.run_heddle("trace", "--", "nosuch", code=127, HEDDLE_MODULES=self.home).stderr)

    def test_trace_without_its_module(self):
        told = self.run_heddle("trace", "--", "true", code=3, HEDDLE_MODULES=self.home + "/nowhere").stderr
        self.assertIn("built without CUPTI", told)
        self.assert_refused(["trace"], "heddle trace: needs -- PROGRAM [ARGUMENT...]; see `heddle trace --help`")

    # --- JSON ---------------------------------------------------------------------------------------------------------

    def json_commands(self):
        small = ["--data", "synth:count=8", "--model", "mlp", "--device", "cpu"]
        train = ["train", *small, "--epochs", "2", "--out", self.home + "/run", "--overwrite"]
        self.run_heddle(*train, "--quiet")
        return {
            "train": (train, ["started", "saved", "trained", "evaluated", "saved"]),
            "eval": (["eval", self.home + "/run", "--device", "cpu"], []),
            "predict": (["predict", self.home + "/run", "--count", "2", "--device", "cpu"], ["prediction"]),
            "bench": (["bench", "add_forward", "--device", "cpu", "--shape", "n=9", "--seconds", "0.001"], ["measured"]),
            "bench train": (["bench", "train", *small, "--batch", "4", "--seconds", "0.001", "--kernels", "naive"],
                            ["measured"]),
            "pipeline": (["pipeline", "--device", "cpu", "--streams", "1", "--batches", "1", "--bytes", "4K", "--work",
                          "1"], []),
            "data list": (["data", "list"], []), "ops": (["ops", "add_forward"], []), "devices": (["devices", "cpu"], []),
            "doctor": (["doctor"], []), "version": (["version"], []),
        }

    def test_json_has_one_form_everywhere(self):
        for name, (words, events) in self.json_commands().items():
            with self.subTest(name):
                lines = [json.loads(line) for line in self.run_heddle(*words, "--json").stdout.splitlines()]
                self.assertEqual(lines[-1]["event"], "result")
                self.assertEqual([line["event"] for line in lines[:len(events)]], events)
                self.assertNotIn("result", [line["event"] for line in lines[:-1]])
                path = self.home + "/result.json"
                self.assertFalse(self.run_heddle(*words, "--json=" + path).stdout.startswith("{"))
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(set(json.load(file)) | {"event"}, set(lines[-1]))
                if "device" in lines[-1] and name != "devices":
                    self.assertEqual((lines[-1]["device"], lines[-1]["device_reason"]), ("cpu", "--device"))

    def test_quiet_json_is_the_result_alone(self):
        words, _ = self.json_commands()["train"]
        lines = self.run_heddle(*words, "--quiet", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["event"] for line in lines], ["result"])

    def test_a_failure_is_an_object_too(self):
        done = self.run_heddle("eval", self.home + "/nosuch", "--json", code=2)
        error = json.loads(done.stdout)
        self.assertEqual((error["event"], error["exit_code"]), ("error", 2))
        self.assertEqual(done.stderr, f"heddle: {error['message']}\n")
        self.assertEqual(self.run_heddle("eval", self.home + "/nosuch", code=2).stdout, "")

    def test_a_file_for_json_is_written_with_an_equals_sign(self):
        for words in (["version"], ["bench"], ["eval"]):
            self.assertEqual(self.run_heddle(*words, "--json", "a.json", code=2).stderr,
                             f"heddle {words[0]}: --json takes its file with an equals sign: --json=a.json\n")

    # --- the default device -------------------------------------------------------------------------------------------

    def default_devices(self, *device, **environment):
        """What every command that runs something says of its device, as text and as JSON."""
        small = ["--data", "synth:count=8", "--model", "mlp"]
        self.run_heddle("train", "--device", "cpu", *small, "--epochs", "1", "--quiet", "--out", self.home + "/run",
                        "--overwrite")
        for words in (["train", *small, "--batch", "4", "--epochs", "1", "--out", self.home + "/other", "--overwrite"],
                      ["eval", self.home + "/run"], ["predict", self.home + "/run", "--index", "0"],
                      ["bench", "add_forward", "--shape", "n=9", "--seconds", "0.001"],
                      ["bench", "train", *small, "--batch", "4", "--seconds", "0.001", "--kernels", "naive",
                       "--gradients", self.home + "/step"],
                      ["pipeline", "--streams", "1", "--batches", "1", "--bytes", "4K", "--work", "1"]):
            done = self.run_heddle(*words, *device, **environment)
            yield words, re.findall(r"(?m)^device  (.*)$", done.stdout + done.stderr)

    def test_every_command_chooses_the_same_device_and_says_why(self):
        for words, said in self.default_devices(HEDDLE_MODULES=self.home):
            with self.subTest(words):
                if "--gradients" in words:  # says nothing
                    continue
                self.assertEqual(len(said), 1)
                self.assertRegex(said[0], r"^cpu.* \(default: heddle was built without CUDA\)$")
        for words, said in self.default_devices("--device", "cpu", HEDDLE_MODULES=self.home):
            self.assertNotIn("default", "".join(said))

    def test_a_gpu_that_works_is_the_default(self):
        simulated = os.path.join(os.path.dirname(HEDDLE), "libheddle-sim.so")
        if not os.path.exists(simulated):
            self.skipTest("built without the simulated GPU, which stands in for a real one")
        modules = self.home + "/modules"
        os.mkdir(modules)
        os.symlink(simulated, modules + "/libheddle-cuda.so")
        for words, said in self.default_devices(HEDDLE_MODULES=modules):
            with self.subTest(words):
                if "--gradients" not in words:
                    self.assertRegex(said[0], r"^sim.* \(default: a CUDA GPU is available\)$")
        for words, said in self.default_devices("--device", "cpu", HEDDLE_MODULES=modules):
            self.assertNotIn("sim", "".join(said))

    # --- version, devices, doctor, ops --------------------------------------------------------------------------------

    def test_known_gpus_are_listed(self):
        gpus = {row["gpu"]: row for row in json.loads(self.run_heddle("devices", "--known", "--json").stdout)["gpus"]}
        self.assertEqual(gpus["h200"]["capability"], 90)
        self.assertTrue(all(row["generation"] and row["flops"] > 0 for row in gpus.values()), gpus)
        self.assertIn("rtx4090", self.run_heddle("devices", "--known").stdout)
        self.run_heddle("devices", "cpu", "--known", code=2)

    def test_version(self):
        short = self.run_heddle("--version").stdout
        self.assertRegex(short, r"^heddle \d+\.\d+\.\d+\n$")
        for words in [["-V"]] + [[*command, flag] for command in [["train"], ["bench", "train"], ["data", "list"], ["help"]]
                                 for flag in ("-V", "--version")]:
            self.assertEqual(self.run_heddle(*words).stdout, short)
        self.assertTrue(self.run_heddle("version").stdout.startswith(short))
        parts = json.loads(self.run_heddle("version", "--json").stdout)
        for name in ("heddle", "compiler", "instructions", "zlib", "cJSON", "libdw", "FFTW", "build", "sanitizers"):
            self.assertTrue(parts[name])
        self.assertEqual(parts["devices"][0], "cpu")
        built = [name for name in ("sim", "cuda") if os.path.exists(f"{os.path.dirname(HEDDLE)}/libheddle-{name}.so")]
        self.assertEqual(parts["devices"][1:], built)
        self.assertRegex(parts["commit"], "^([0-9a-f]{40}|unknown)$")

    def test_the_log_level_may_stand_before_and_after_the_command(self):
        self.run_heddle("--log", "debug", "version")
        self.run_heddle("--log=debug", "version", "--log", "error")

    def test_devices_has_the_cpu(self):
        self.assertIn("cpu", self.run_heddle("devices").stdout)
        devices = {one["device"]: one for one in json.loads(self.run_heddle("devices", "--json").stdout)["devices"]}
        self.assertTrue(devices["cpu"]["present"])
        self.assertGreaterEqual(devices["cpu"]["processors"], 1)
        self.assertGreater(devices["cpu"]["memory_total"], 0)
        self.assertEqual(sorted(devices), ["cpu", "cuda", "sim"])
        for one in devices.values():
            self.assertTrue(one["present"] or one["why"])
        if os.path.exists(os.path.join(os.path.dirname(HEDDLE), "libheddle-sim.so")):
            self.assertTrue(devices["sim"]["present"], devices["sim"].get("why"))

    def test_what_doctor_starts_has_its_signals_back(self):
        with open(self.home + "/python3", "w") as file:
            file.write("#!/bin/sh\ngrep SigIgn /proc/self/status\n")
        os.chmod(self.home + "/python3", 0o755)
        text = self.run_heddle("doctor", PATH=self.home + ":" + os.environ["PATH"]).stdout
        ignored = int(re.search(r"torch SigIgn:\s+([0-9a-f]+)", text).group(1), 16)
        self.assertEqual(ignored >> (signal.SIGXFSZ - 1) & 1, 0)

    def test_doctor_knows_every_job_and_how_to_get_what_lacks(self):
        text = self.run_heddle("doctor").stdout
        jobs = json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"]
        self.assertEqual(len(jobs), 13)
        for job in jobs:
            self.assertIn(job["job"], text)
            self.assertIn(job["state"], ("ok", "limited", "missing"))
            self.assertTrue(job["detail"])
            self.assertEqual(bool(job["advice"]), job["state"] != "ok", job)
        self.assertNotEqual(jobs[0]["state"], "missing")
        without = json.loads(self.run_heddle("doctor", "--json", PATH="/nowhere").stdout)["jobs"]
        self.assertEqual([job["state"] for job in without if job["job"] == "check CUDA programs"], ["missing"])
        state = {job["job"]: job["state"] for job in jobs}
        if state["run on a GPU"] == "missing":
            self.assertEqual(state["trace a GPU program"], "missing")

    def test_ops_lists_operators_and_shows_ladders(self):
        operators = json.loads(self.run_heddle("ops", "--json").stdout)["operators"]
        names = [one["name"] for one in operators]
        self.assertEqual(len(names), len(set(names)))
        listing = self.run_heddle("ops").stdout
        for one in operators:
            with self.subTest(one["name"]):
                self.assertIn(one["name"], listing)
                self.assertTrue(one["summary"] and one["ladder"] and one["operands"])
                for rung in one["ladder"]:
                    self.assertTrue(rung["note"], rung["name"])
                    self.assertIn(rung["device"], ("cpu", "cuda", "sim"))
                    self.assertIn(rung["tier"], ("naive", "tuned", "vendor", "fused"))
                for gradient in one["gradients"]:
                    self.assertIn(gradient, names)
                page = self.run_heddle("ops", one["name"]).stdout
                for word in [rung["name"] for rung in one["ladder"]] + [each["name"] for each in one["operands"]]:
                    self.assertIn(word, page)

    def test_ops_takes_a_ladder_for_all_its_operators(self):
        of_ladder = json.loads(self.run_heddle("ops", "elementwise", "--json").stdout)["operators"]
        self.assertGreater(len(of_ladder), 1)
        self.assertEqual({one["ladder_name"] for one in of_ladder}, {"elementwise"})
        by_first_part = json.loads(self.run_heddle("ops", "conv2d", "--json").stdout)["operators"]
        self.assertLessEqual({"conv2d", "conv2d_relu"}, {one["ladder_name"] for one in by_first_part})

    def test_ops_lists_engines_of_a_name_only(self):
        self.assert_refused(["ops", "--engines"], "heddle ops: --engines needs a NAME and has no JSON form")
        self.assert_refused(["ops", "conv2d", "--shape", "n=1"], "heddle ops: --shape needs --engines")


if __name__ == "__main__":
    unittest.main()
