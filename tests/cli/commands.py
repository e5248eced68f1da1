"""The built command, as a person uses it: help, exit codes, suggestions, datasets, JSON.

    commands.py path/to/heddle
"""

import fcntl
import json
import os
import pty
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import zlib

HEDDLE = os.path.abspath(sys.argv.pop(1))

COMMANDS = ["learn", "train", "eval", "predict", "bench", "check", "pipeline", "trace", "data", "ops", "devices",
            "doctor", "help", "version"]
ACTIONS = [["data", "list"], ["data", "show"], ["data", "get"]] + [
    ["learn", action] for action in ("init", "show", "run", "next", "hint", "list", "reset", "solution", "progress", "verify")]
TOPICS = [["bench", "train"], ["bench", "infer"], ["bench", "out-of-core"], ["bench", "collectives"]]


def write_idx(path, dims, payload):
    with open(path, "wb") as file:
        file.write(struct.pack(">BBBB", 0, 0, 8, len(dims)) + struct.pack(f">{len(dims)}I", *dims) + bytes(payload))


def write_png(path, width, rows, alpha=False):
    """Grey pixels, eight bits each; with alpha, each is followed by its opacity."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 4 if alpha else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                   chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))


class Command(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.home = self.scratch.name

    def tearDown(self):
        self.scratch.cleanup()

    def run_heddle(self, *arguments, code=0, leaks=False, **environment):
        """Looking for leaks as the program ends takes seconds in a build with sanitizers: only where asked for."""
        variables = {key: value for key, value in os.environ.items()
                     if key not in ("HEDDLE_DATA", "HEDDLE_LOG", "XDG_DATA_HOME")}
        variables.update(HOME=self.home, **environment)
        if not leaks:
            variables["ASAN_OPTIONS"] = variables.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        result = subprocess.run(["heddle", *arguments], executable=HEDDLE,
                                capture_output=True, text=True, env=variables, timeout=300)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def folder_of_images(self):
        """A dataset of 3 × 2 pixels with 4 classes: image i is all one grey, its label i % 4."""
        folder = os.path.join(self.home, "tiny")
        os.mkdir(folder)
        for split, count in (("train", 8), ("t10k", 5)):
            write_idx(f"{folder}/{split}-images-idx3-ubyte", (count, 2, 3), [40 * (i // 6) % 256 for i in range(6 * count)])
            write_idx(f"{folder}/{split}-labels-idx1-ubyte", (count,), [i % 4 for i in range(count)])
        return folder

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
        self.assertRegex(self.run_heddle("help", "bench", "collectives").stdout, r"0\.01\s+for\s+collectives")

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

    def assert_refused(self, arguments, message):
        result = self.run_heddle(*arguments, code=2)
        self.assertEqual(result.stderr, message + "\n")
        self.assertEqual(result.stdout, "")

    def test_a_precision_that_the_device_lacks_is_refused_before_anything_is_opened(self):
        for command in (["train"], ["eval", "none.safetensors"], ["predict", "none.safetensors", "--index", "0"]):
            self.assert_refused(command + ["--device", "cpu", "--precision", "bf16"],
                                "heddle: --precision bf16 needs --device cuda or --device sim: the CPU computes in fp32")
        self.assert_refused(["train", "--device", "cpu", "--data-place", "streamed"],
                            "heddle: --data-place streamed needs --device cuda: the CPU reads the dataset where it is")
        self.assert_refused(["train", "--deterministic", "--unordered"],
                            "heddle: --deterministic and --unordered exclude each other; give one of them")

    def test_a_recipe_sets_options_that_the_command_line_overrides(self):
        path = os.path.join(self.home, "recipe.json")
        with open(path, "w") as file:
            file.write('{"data": "synth:count=32", "epochs": 2, "device": "cpu", "quiet": true}')
        out = self.run_heddle("train", "--recipe", path, "--epochs", "1", "--out", os.path.join(self.home, "run")).stdout
        self.assertIn("trained 1 epoch", out)
        for text, why in (('{"epochz": 2}', "unknown option --epochz"), ('{"lr": []}', "must be text, a number or true"),
                          ('{"recipe": "course"}', "cannot name another"), ("[]", "expected an object"),
                          ('{"": 2}', "an option has no name"), ('{"lr": -0.1}', "--lr -0.1 is out of range"),
                          ('{"epochs": 1e17}', "--epochs 100000000000000000 is out")):
            with open(path, "w") as file:
                file.write(text)
            code = 2 if text[2:4] in ("ep", "lr") and "[]" not in text else 1
            self.assertIn(why, self.run_heddle("train", f"--recipe={path}", code=code).stderr)
        self.run_heddle("train", "--recipe", "course", "--data", "synth:count=64", "--epochs", "1", "--device", "cpu", "--out",
                        os.path.join(self.home, "course"))

    def test_training_ends_when_the_accuracy_asked_for_is_reached(self):
        train = ["train", "--data", "synth:count=600", "--model", "mlp", "--epochs", "4", "--out", self.home + "/run",
                 "--json"]
        for until, epochs, reached in ((0.01, 1, True), (1, 4, False)):
            rows = self.run_heddle(*train, "--until", str(until), "--overwrite").stdout.splitlines()
            end = json.loads(rows[-1])
            self.assertEqual((end["event"], end["epochs"], end["until"], end["reached"]),
                             ("result", epochs, until, reached))
        self.run_heddle(*train, "--until", "0.01", "--overwrite")
        whole = self.run_heddle("train", "--out", self.home + "/run", "--resume", "--json").stdout.splitlines()
        self.assertEqual(json.loads(whole[-1])["epochs"], 4)

    def test_a_run_that_ends_without_the_accuracy_asked_for_says_so(self):
        train = ["train", "--data", "synth:count=200", "--model", "mlp", "--epochs", "2", "--out", self.home + "/run",
                 "--overwrite"]
        for quiet in ([], ["--quiet"]):
            said = self.run_heddle(*train, *quiet, "--until", "1").stdout.splitlines()
            self.assertEqual(said[-1], "until   1 was not reached in 2 epochs; use --epochs N for more")
        self.assertNotIn("reached", self.run_heddle(*train).stdout)
        said = self.run_heddle("train", "--data", "synth:count=64", "--epochs", "0", "--until", "0.5", "--out",
                               self.home + "/none").stdout.splitlines()
        self.assertEqual(said[-1], "until   0.5 was not reached in 0 epochs; use --epochs N for more")

    def test_an_accuracy_that_any_network_reaches_is_refused(self):
        for zero in ("0", "0.0", "-0"):
            self.assert_refused(["train", "--data", "synth:count=64", "--until", zero],
                                "heddle: --until 0 is reached by any network; give an accuracy above 0, such as 0.99")
        self.assert_refused(["train", "--until", "1.5"], "heddle train: --until 1.5 is out of range: 0 to 1 (a "
                                                         "fraction: 99 % is 0.99)")

    def test_a_run_that_ends_early_says_that_the_accuracy_was_reached(self):
        train = ["train", "--data", "synth:count=200", "--model", "mlp", "--out", self.home + "/run", "--overwrite",
                 "--until", "0.01", "--epochs"]
        for epochs in ("3", "1"):
            for quiet in ([], ["--quiet"]):
                self.assertEqual(self.run_heddle(*train, epochs, *quiet).stdout.splitlines()[-1],
                                 f"until   0.01 was reached in epoch 1 of {epochs}")

    def test_an_accuracy_is_said_to_be_reached_in_the_epoch_that_reached_it(self):
        train = ["train", "--data", "synth:count=200", "--model", "mlp", "--out", self.home + "/run"]
        self.run_heddle(*train, "--epochs", "3")
        resume = ["train", "--out", self.home + "/run", "--resume", "--until", "0.01"]
        self.assertEqual(self.run_heddle(*resume).stdout.splitlines()[-1],
                         "until   0.01 was reached before this run was resumed")
        self.assertNotIn("reached_in", json.loads(self.run_heddle(*resume, "--json").stdout.splitlines()[-1]))
        self.assertEqual(self.run_heddle(*resume, "--epochs", "5").stdout.splitlines()[-1],
                         "until   0.01 was reached in epoch 4 of 5")
        end = json.loads(self.run_heddle(*train, "--overwrite", "--epochs", "2", "--until", "0.01",
                                         "--json").stdout.splitlines()[-1])
        self.assertEqual((end["reached"], end["reached_in"], end["epochs"]), (True, 1, 1))

    def test_predictions_do_not_depend_on_how_many_are_made_at_a_time(self):
        self.run_heddle("train", "--data", "synth:count=100", "--model", "mlp", "--epochs", "1", "--out",
                        self.home + "/run", "--quiet")
        said = []
        for batch in ("1", "4", "11", "256"):
            lines = self.run_heddle("predict", self.home + "/run/best.safetensors", "--index", "2", "--count", "11",
                                    "--json", "--batch", batch).stdout.splitlines()
            said.append([json.loads(line) for line in lines[:-1]])
            self.assertEqual((json.loads(lines[-1])["event"], json.loads(lines[-1])["images"], len(lines)),
                             ("result", 11, 12))
            for one, first in zip(said[-1], said[0]):
                self.assertEqual((one["image"], one["class"], one["label"]),
                                 (first["image"], first["class"], first["label"]))
                for chance, expected in zip(one["probabilities"], first["probabilities"]):
                    self.assertAlmostEqual(chance, expected, places=5)

    def train_in(self, folder, *options, code=0, **named):
        """A run of a moment, from a folder of its own: what is not told goes to runs/."""
        os.makedirs(folder, exist_ok=True)
        result = subprocess.run([HEDDLE, "train", "--data", "synth:count=100", "--model", "mlp", "--epochs", "1",
                                 *options], cwd=folder, capture_output=True, text=True, timeout=300,
                                env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"), **named)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_a_second_run_has_a_folder_of_its_own_unless_it_replaces_the_first(self):
        self.train_in(self.home, "--quiet")
        self.assertIn("→ runs/synth-mlp-2\n", self.train_in(self.home).stdout)
        self.assertIn("→ runs/synth-mlp\n", self.train_in(self.home, "--overwrite").stdout)
        self.assertEqual(sorted(os.listdir(self.home + "/runs")), ["synth-mlp", "synth-mlp-2"])
        said = self.run_heddle("train", "--out", self.home + "/runs/synth-mlp", "--resume", "--epochs", "0").stdout
        self.assertIn("nothing left to train: the run has completed 1 epoch, more than --epochs; ", said)

    def test_runs_begun_at_the_same_moment_take_folders_of_their_own(self):
        command = [HEDDLE, "train", "--data", "synth:count=100", "--model", "mlp", "--epochs", "1", "--quiet"]
        runs = [subprocess.Popen(command, cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0")) for _ in range(4)]
        said = [run.communicate(timeout=300)[0] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 4, said)
        names = ["synth-mlp", "synth-mlp-2", "synth-mlp-3", "synth-mlp-4"]
        self.assertEqual(sorted(os.listdir(self.home + "/runs")), names)
        for name in names:
            self.assertEqual(sum(f"runs/{name}/best.safetensors\n" in text for text in said), 1, said)

    def test_a_run_that_could_not_begin_leaves_no_folder(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        said = self.train_in(self.home, "--quiet", code=1, preexec_fn=limit).stderr
        self.assertIn("runs/synth-mlp/last.safetensors: cannot write: File too large\n", said)
        self.assertNotIn("resume with", said)
        self.assertEqual(os.listdir(self.home), [])

    def test_a_save_that_fails_says_how_to_go_on(self):
        train = ["--quiet", "--out", "run", "--epochs", "2000", "--save-every", "0"]
        process = subprocess.Popen([HEDDLE, "train", "--data", "synth:count=100", "--model", "mlp", *train],
                                   cwd=self.home, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        while not os.path.exists(self.home + "/run/best.safetensors"):
            self.assertIsNone(process.poll())
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100000, 100000))
        said = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, 1)
        self.assertRegex(said, r"cannot write: File too large; last\.safetensors is whole, as of the (start|end of epoch "
                               r"\d+): mend that, then resume to go on from there\n"
                               r"heddle: resume with: heddle train --out run --resume\n$")

    def test_a_resumed_run_is_not_credited_with_what_was_done_before(self):
        path = self.home + "/run/last.safetensors"
        process = subprocess.Popen([HEDDLE, "train", "--data", "synth:count=4000", "--batch", "400", "--epochs", "1",
                                    "--threads", "1", "--out", self.home + "/run", "--save-every", "0.001", "--quiet"],
                                   stderr=subprocess.DEVNULL, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        while not os.path.exists(path):
            self.assertIsNone(process.poll())
        began = os.stat(path).st_ino
        while os.stat(path).st_ino == began:  # until the first step is saved
            self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(timeout=300), 128 + signal.SIGTERM)
        said = self.run_heddle("train", "--out", self.home + "/run", "--resume", "--threads", "1").stdout
        # Where it goes on there is no rate yet, and from there it is measured.
        self.assertRegex(said, r"resumed at epoch 1, image (\d+) of 4000\nepoch 1/1 +\d+ %  \1/4000 images  loss .*\n"
                               r"epoch 1/1 +\d+ %  \d+/4000 images  \d+ images/s  ")

    def test_the_log_says_which_rung_every_operator_got(self):
        said = self.run_heddle("train", "--device", "sim", "--kernels", "naive", "--precision", "bf16", "--model", "mlp",
                               "--data", "synth:count=4", "--batch", "4", "--epochs", "1", "--quiet", "--log", "info",
                               "--out", self.home + "/run").stderr
        self.assertIn("heddle: info: training step, batch 4: linear_forward by 01_naive (naive, fp32)\n", said)

    def test_a_run_in_a_precision_that_the_cpu_has_not_is_told_to_name_its_device(self):
        self.run_heddle("train", "--device", "sim", "--precision", "bf16", "--model", "mlp", "--data", "synth:count=8",
                        "--batch", "4", "--epochs", "1", "--quiet", "--out", self.home + "/run")
        said = self.run_heddle("train", "--out", self.home + "/run", "--resume", "--epochs", "2", "--device", "cpu",
                               code=2).stderr
        self.assertEqual(said, "heddle: %s/run: started in bf16, which the CPU does not support; resume with --device cuda "
                               "or --device sim\n" % self.home)

    def test_a_run_that_diverged_is_not_told_to_change_while_it_is_resumed(self):
        first = self.train_in(self.home, "--quiet", "--out", "run", "--lr", "1e5", code=1).stderr
        self.assertNotIn("start a new run", first)
        again = self.run_heddle("train", "--out", self.home + "/run", "--resume", "--quiet", code=1).stderr
        self.assertIn("start a new run with --lr below 100000\n", again)

    def test_a_limit_on_the_size_of_files_is_told_as_a_full_disk_is(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        result = self.train_in(self.home, "--quiet", "--out", "run", code=1, preexec_fn=limit)
        self.assertIn("last.safetensors: cannot write: File too large", result.stderr)
        self.assertEqual([name for name in os.listdir(self.home + "/run") if name.endswith(".tmp")], [])

    def test_a_file_with_mistakes_is_failed_work_and_one_that_is_not_there_wrong_usage(self):
        self.train_in(self.home, "--quiet", "--out", "run")
        checkpoint, there = self.home + "/run/last.safetensors", self.home + "/there"
        predict = ["predict", checkpoint]
        predict += ["--device", "cpu"]
        train = ["train", "--data", "synth:count=20", "--out", self.home + "/other", "--model"]
        for words, content in ((train, '{"layers": ['), (train, '{"layers": [{"type": "convv"}]}'),
                               (train, '{"layers": [{"type": "flatten"}]}'), (["eval"], "cut"), (predict, "no PNG")):
            with open(there, "w") as file:
                file.write(content)
            self.assertEqual(self.run_heddle(*words, there, code=1).stderr.count("\n"), 1)
        for words in (train, ["eval"], predict):
            for name in (self.home + "/nosuch", self.home):
                self.assertEqual(self.run_heddle(*words, name, code=2).stderr.count("\n"), 1)

    def test_every_built_in_model_trains(self):
        for model in ("cnn", "mlp", "lenet", "vgg", "resnet"):
            said = self.run_heddle("train", "--device", "cpu", "--data", "synth:count=16", "--model", model, "--batch", "8",
                                   "--epochs", "1", "--out", self.home + "/" + model)
            self.assertIn("trained 1 epoch", said.stdout + said.stderr)

    def test_a_model_file_that_makes_no_sense_is_refused_in_one_line(self):
        path, end = self.home + "/model.json", [{"type": "flatten"}, {"type": "linear", "features": "classes"}]
        halve, inside = {"type": "maxpool2d"}, {"type": "relu"}
        for _ in range(4):
            inside = {"type": "residual", "layers": [inside]}
        for layers, words in (
                ([{"type": "residual", "layers": [halve]}, *end],
                 'layer 1: residual: its layers give 1×14×14, but its input is 1×28×28; add a "projection"'),
                ([{"type": "residual", "layers": []}, *end], "layer 1: residual: its list of layers is empty"),
                ([inside, *end], "layer 1, layer 1, layer 1, layer 1: lists of layers are nested more than 4 deep"),
                ([{"type": "conv2d", "channels": 4, "groups": 3}, *end],
                 "layer 1: conv2d: 3 groups do not divide 1 input and 4 output channels evenly"),
                ([{"type": "flatten"}, {"type": "linear", "features": 1 << 24}, *end], "at most 2^30 are possible"),
                ([{"type": "conv2d", "channels": 65536, "kernel": 1}, {"type": "relu"}, {"type": "globalavgpool"}, end[1]],
                 "layer relu1: a batch of 64 has more than 2147483647 elements here; choose a smaller batch")):
            code = 2 if "smaller batch" in words else 1  # --batch is wrong, or the file
            with open(path, "w") as file:
                json.dump({"layers": layers}, file)
            said = self.run_heddle("train", "--device", "cpu", "--data", "synth:count=80", "--model", path, "--batch", "64",
                                   "--quiet", "--out", self.home + "/run", code=code)
            self.assertIn(words, said.stderr)
            self.assertEqual(said.stderr.count("\n"), 1, said.stderr)

    def test_a_key_that_a_model_file_gives_twice_is_refused(self):
        path = self.home + "/model.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"layers": [{"type": "flatten"}, {"type": "linear", "features": 5, "features": "classes"}]}')
        said = self.run_heddle("train", "--data", "synth:count=20", "--model", path, "--out", self.home + "/run", code=1)
        self.assertEqual(said.stderr, f'heddle: {path}: "features" is given twice in entry 2 of "layers"\n')
        self.assertEqual(os.listdir(self.home), ["model.json"])

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
                            "heddle ops: does not take a rung: `heddle ops matmul` shows the whole ladder")
        self.assertRegex(self.run_heddle("ops", "conv").stdout, r"(?m)^see also: conv2d,")

    def test_commands_that_are_suggested_can_be_copied(self):
        folder = self.home + "/two words"
        os.mkdir(folder)
        said = self.train_in(folder, "--out", folder + "/run").stdout
        suggested = re.search(r"(?m)^try     (heddle .*)$", said).group(1)
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
        for name in ("heddle", "compiler", "instructions", "zlib", "cJSON"):
            self.assertTrue(parts[name])

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
        ignored = int(re.search(r"PyTorch SigIgn:\s+([0-9a-f]+)", text).group(1), 16)
        self.assertEqual(ignored >> (signal.SIGXFSZ - 1) & 1, 0)

    def test_doctor_knows_every_job_and_how_to_get_what_lacks(self):
        text = self.run_heddle("doctor").stdout
        jobs = json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"]
        self.assertEqual(len(jobs), 12)
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

    # --- data ---------------------------------------------------------------------------------------------------------

    def test_data_list(self):
        sets = {one["name"]: one for one in json.loads(self.run_heddle("data", "list", "--json").stdout)["datasets"]}
        self.assertTrue(sets["synth"]["present"])
        self.assertFalse(sets["mnist"]["present"] and self.home in sets["mnist"]["where"])
        text = self.run_heddle("data", "list").stdout
        for name in ("fashion", "mnist", "synth"):
            self.assertIn(name, sets)
            self.assertIn(name, text)

    def test_data_show_draws_a_folder(self):
        folder = self.folder_of_images()
        lines = self.run_heddle("data", "show", folder, "--count", "2", "--index", "3").stdout.splitlines()
        self.assertIn("5 images, 1 × 2 × 3, 4 classes", lines[0])
        self.assertEqual(lines[2:4], ["===    ***", "#3: 3  #4: 0"])
        many = self.run_heddle("data", "show", folder, "--count", "100", "--split", "train").stdout
        self.assertIn("#7:", many)
        self.assertNotIn("#8:", many)

    def test_data_show_draws_digits_with_their_labels(self):
        shown = self.run_heddle("data", "show", "synth:count=50,seed=3", "--count", "2").stdout
        self.assertRegex(shown, r"#0: \d +#1: \d")
        self.assertRegex(shown, r"[*#%@]{2}")
        blocks = self.run_heddle("data", "show", "synth:count=50,seed=3", "--count", "1", "--style", "blocks").stdout
        self.assertIn("▀", blocks)

    def test_data_show_writes_a_png(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        path = os.path.join(self.home, "sheet.png")
        result = self.run_heddle("data", "show", self.folder_of_images(), "--count", "4", "--png", path)
        with open(path, "rb") as file:
            content = file.read()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        self.assertIn(f"4 images, {width} × {height} pixels", result.stdout)
        self.assertEqual(struct.unpack(">I", content[29:33])[0], zlib.crc32(content[12:29]))

    def test_an_image_of_one_colour_is_told_of(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        self.train_in(self.home, "--quiet", "--out", "run")
        for name, dot in (("blank.png", 200), ("dot.png", 0)):
            path = os.path.join(self.home, name)
            write_png(path, 28, [[200] * 28] * 27 + [[200] * 27 + [dot]])
            said = self.run_heddle("predict", self.home + "/run/best.safetensors", path, "--device", "cpu").stderr
            self.assertEqual(said, "" if dot == 0 else "heddle: warning: %s has only one colour: the answer means "
                                                       "nothing\n" % path)

    def test_a_drawing_on_a_transparent_ground_is_seen_whatever_its_colour(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        self.train_in(self.home, "--quiet", "--out", "run")
        stroke = [[255 if 20 < x < 26 and 5 < y < 45 else 0 for x in range(50)] for y in range(50)]
        pictures = {"black": ([[v for opacity in row for v in (0, opacity)] for row in stroke], True),
                    "white": ([[v for opacity in row for v in (255, opacity)] for row in stroke], True),
                    "paper": ([[255 - opacity for opacity in row] for row in stroke], False)}
        said = {}
        for name, (rows, alpha) in pictures.items():
            write_png(f"{self.home}/{name}.png", 50, rows, alpha)
            done = self.run_heddle("predict", self.home + "/run", f"{self.home}/{name}.png", "--json")
            self.assertNotIn("one colour", done.stderr)
            said[name] = json.loads(done.stdout.splitlines()[0])["probabilities"]
        for name in ("white", "paper"):
            for chance, expected in zip(said[name], said["black"]):
                self.assertAlmostEqual(chance, expected, places=5)

    def test_a_digit_for_a_small_dataset_is_cut_to_its_ink(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        folder = os.path.join(self.home, "eight by eight")
        os.mkdir(folder)
        for split, count in (("train", 40), ("t10k", 8)):
            bars = [255 if x in (3, 4) else 0 for _ in range(count) for y in range(8) for x in range(8)]
            write_idx(f"{folder}/{split}-images-idx3-ubyte", (count, 8, 8), bars)
            write_idx(f"{folder}/{split}-labels-idx1-ubyte", (count,), [i % 2 for i in range(count)])
        self.run_heddle("train", "--data", folder, "--model", "mlp", "--epochs", "1", "--quiet", "--out", self.home + "/run")
        path = self.home + "/bar.png"
        write_png(path, 50, [[0 if 30 < x < 41 and 3 < y < 44 else 255 for x in range(50)] for y in range(50)])
        self.assertIn("50×50 cut to the ink, 10×40, scaled to 2×8, centred in 8×8",
                      self.run_heddle("predict", self.home + "/run", path).stdout)

    def test_a_folder_of_image_files_is_a_dataset(self):
        if not json.loads(self.run_heddle("version", "--json").stdout)["libpng"][0].isdigit():
            self.skipTest("built without libpng")
        folder, run = os.path.join(self.home, "bars"), os.path.join(self.home, "run")
        for axis, name in enumerate(("lying", "standing")):
            os.makedirs(f"{folder}/{name}")
            for i in range(40):
                rows = [[255 if abs((y, x)[axis] - i % 20 - 4) < 2 else 0 for x in range(28)] for y in range(28)]
                write_png(f"{folder}/{name}/{i}.png", 28, rows)
        train = ("train", "--data", folder, "--model", "mlp", "--epochs", "4", "--out", run)
        said = self.run_heddle(*train).stdout
        self.assertIn(f"{folder}, 72 training and 8 test images", said)
        self.assertNotIn("\nimages ", said)
        self.assertEqual(json.loads(self.run_heddle("eval", run, "--json").stdout)["classes"], ["lying", "standing"])
        self.assertRegex(self.run_heddle("predict", run, folder + "/lying/7.png").stdout,
                         r"7.png: (lying|standing) \([0-9.]+ %\); next: ")
        self.assertIn("test split: 8 images, 1 × 28 × 28, 2 classes\n", self.run_heddle("data", "show", folder).stdout)
        # another size, which eval takes from the network
        said = self.run_heddle(*train, "--overwrite", "--image-size", "20x12").stdout
        self.assertIn("\nimages  28×28, scaled to 20×12; --image-size sets another size\n", said)
        self.run_heddle("eval", run)
        self.assert_refused(["train", "--out", run, "--resume", "--image-size", "20x20"],
                            "heddle: --image-size cannot change while resuming; leave it out")
        self.assert_refused(["train", "--data", folder, "--image-size", "20x"],
                            "heddle: --image-size 20x is not a size: write 64x48, width first, or 64; a side has 1 to 4096 "
                            "pixels")
        self.assert_refused(["train", "--data", "synth:count=10", "--image-size", "20"],
                            "heddle: --image-size is for folders of PNG or JPEG files; synth has 28×28 images")
        os.rename(folder + "/lying", folder + "/sitting")
        self.assert_refused(["eval", run, "--device", "cpu"], f"heddle: {os.path.realpath(folder)}: class sitting is not one of "
                            "those the network was trained on")

    def test_augmentation_is_shown_kept_and_checked(self):
        run = os.path.join(self.home, "run")
        train = ["train", "--data", "synth:count=40", "--model", "mlp", "--epochs", "1", "--out", run]
        said = self.run_heddle(*train, "--augment", "flip,crop:2").stdout
        self.assertIn(", seed 1, crop:2,flip, fused kernels", said)
        resume = ["train", "--out", run, "--resume", "--epochs", "2"]
        self.assert_refused(resume + ["--augment", "crop:3,flip"],
                            "heddle: --augment cannot change while resuming; leave it out")
        self.assertIn("crop:2,flip", self.run_heddle(*resume).stdout)
        self.assertIn("crop:2,flip", self.run_heddle(*resume, "--augment", "crop:2,flip").stdout)
        self.assertNotIn("none", self.run_heddle(*train, "--overwrite").stdout)
        self.assert_refused(train + ["--overwrite", "--augment", "rotate"],
                            'heddle: augmentation "rotate" is not understood: write crop:N, flip and shift:N, each at most '
                            "once, with commas between, or none; N is 1 to 127 pixels")
        self.assertIn("shift:28 moves images of 28×28 out of sight",
                      self.run_heddle(*train, "--overwrite", "--augment", "shift:28", code=2).stderr)

    def test_data_show_says_what_is_wrong(self):
        folder = self.folder_of_images()
        result = self.run_heddle("data", "show", folder, "--index", "5", code=2)
        self.assertIn("--index 5 is out of range", result.stderr)
        with open(f"{folder}/t10k-images-idx3-ubyte", "ab") as file:
            file.write(b"x")
        result = self.run_heddle("data", "show", folder, code=1)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertTrue(result.stderr.startswith("heddle: "))
        self.run_heddle("data", "show", os.path.join(self.home, "nosuch"), code=2)

    def test_a_dataset_that_is_not_here_says_how_to_get_it(self):
        if any(one["name"] == "mnist" and one["present"] for one in
               json.loads(self.run_heddle("data", "list", "--json").stdout)["datasets"]):
            self.skipTest("mnist is installed system-wide")
        result = self.run_heddle("data", "show", "mnist", code=3)
        self.assertIn("heddle data get mnist", result.stderr)

    def test_data_get_tells_what_failed(self):
        result = self.run_heddle("data", "get", "nosuch", code=2)
        self.assertTrue(result.stderr.startswith("heddle: "))
        result = self.run_heddle("data", "get", "mnist", "--to", self.home, "--mirror", "http://127.0.0.1:9/", code=1)
        self.assertIn("127.0.0.1:9", result.stderr)


if __name__ == "__main__":
    unittest.main()
