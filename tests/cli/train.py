"""`heddle train` and its model files, as a person uses them: folders, targets, resuming, what is refused.

    train.py path/to/heddle
"""

import json
import os
import resource
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from command import HEDDLE, Command, write_png  # noqa: E402


class Train(Command):
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
            said = self.run_heddle("train", f"--recipe={path}", code=2).stderr
            self.assertIn(why, said)
            self.assertIn(path, said)
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

    def test_int8_is_for_inference_and_is_evaluated_beside_fp32(self):
        self.run_heddle("train", "--model", "mlp", "--data", "synth:count=400", "--epochs", "2", "--device", "cpu", "--quiet",
                        "--out", self.home + "/run")
        run = [self.home + "/run", "--device", "cpu", "--precision", "int8", "--calibrate", "40"]
        found = json.loads(self.run_heddle("eval", *run, "--json").stdout.splitlines()[-1])
        self.assertLessEqual(abs(found["accuracy"] - found["fp32_accuracy"]), 0.03)
        self.assertIn("percentage points", self.run_heddle("eval", *run).stdout)
        self.run_heddle("predict", *run, "--count", "3")
        self.assertIn("not 'int8'", self.run_heddle("train", "--precision", "int8", code=2).stderr)

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

    def test_a_damaged_file_is_failed_work_and_a_mistake_in_a_model_file_wrong_usage(self):
        self.train_in(self.home, "--quiet", "--out", "run")
        checkpoint, there = self.home + "/run/last.safetensors", self.home + "/there"
        predict = ["predict", checkpoint]
        predict += ["--device", "cpu"]
        train = ["train", "--data", "synth:count=20", "--out", self.home + "/other", "--model"]
        for words, content in ((train, '{"layers": ['), (train, '{"layers": [{"type": "convv"}]}'),
                               (train, '{"layers": [{"type": "flatten"}]}'), (["eval"], "cut"), (predict, "no PNG")):
            with open(there, "w") as file:
                file.write(content)
            code = 2 if words == train else 1
            self.assertEqual(self.run_heddle(*words, there, code=code).stderr.count("\n"), 1)
        for words in (train, ["eval"], predict):
            for name in (self.home + "/nosuch", self.home):
                self.assertEqual(self.run_heddle(*words, name, code=2).stderr.count("\n"), 1)

    def test_every_built_in_model_trains(self):
        for model in ("cnn", "mlp", "lenet", "vgg", "resnet", "mlp3", "wide-cnn"):
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
            with open(path, "w") as file:
                json.dump({"layers": layers}, file)
            said = self.run_heddle("train", "--device", "cpu", "--data", "synth:count=80", "--model", path, "--batch", "64",
                                   "--quiet", "--out", self.home + "/run", code=2)
            self.assertIn(words, said.stderr)
            self.assertEqual(said.stderr.count("\n"), 1, said.stderr)

    def test_a_model_file_for_other_images_is_built_for_the_data_and_says_so(self):
        path = self.home + "/model.json"
        for given, note in (((3, 32, 32, 10), "images of 3×32×32, the data have 1×28×28"),
                            ((1, 28, 28, 7), "7 classes, the data have 10"), ((1, 28, 28, 10), None)):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"input": dict(zip(("channels", "height", "width", "classes"), given)),
                           "layers": [{"type": "flatten"}, {"type": "linear", "features": "classes"}]}, file)
            said = self.run_heddle("train", "--device", "cpu", "--data", "synth:count=20", "--model", path, "--epochs", "1",
                                   "--out", self.home + "/run", "--overwrite").stdout
            line = f"input   the model file names {note}: built for the data\n"
            self.assertEqual([row for row in said.splitlines(True) if row.startswith("input")], [line] if note else [])

    def test_a_last_batch_that_batchnorm_cannot_train_with_is_named(self):
        path = self.home + "/model.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"layers": [{"type": "conv2d", "channels": 2, "kernel": 28}, {"type": "batchnorm2d"}, {"type": "flatten"},
                                  {"type": "linear", "features": "classes"}]}, file)
        train = ["train", "--device", "cpu", "--data", "synth:count=17", "--model", path, "--epochs", "1", "--quiet"]
        said = self.run_heddle(*train, "--batch", "8", "--out", self.home + "/run", code=2).stderr
        self.assertIn("the last batch of an epoch has 1 image, the rest of 17 in batches of 8: choose another --batch", said)
        self.assertNotIn("batchnorm2d_inference", said)
        self.assertIn("choose a larger --batch", self.run_heddle(*train, "--batch", "1", "--out", self.home + "/one",
                                                                 code=2).stderr)
        self.run_heddle(*train, "--batch", "5", "--out", self.home + "/two")

    def test_options_that_would_have_no_effect_or_fail_late_are_refused_first(self):
        train = ["train", "--device", "cpu", "--data", "synth:count=8", "--model", "mlp", "--epochs", "1", "--quiet", "--out",
                 self.home + "/run"]
        said = self.run_heddle(*train, "--momentum", "0.5", code=2).stderr
        self.assertIn("--momentum has no effect with --optimizer sgd", said)
        with open(self.home + "/file", "w"):
            pass
        said = self.run_heddle(*train, f"--tensorboard={self.home}/file", code=1).stderr
        self.assertIn("cannot create this folder", said)
        self.assertEqual(os.listdir(self.home), ["file"])
        self.run_heddle(*train, "--momentum", "0.5", "--optimizer", "momentum", f"--tensorboard={self.home}/board")

    def test_a_model_without_int8_says_which_layer_and_why(self):
        path = self.home + "/model.json"
        conv = {"type": "conv2d", "channels": 4, "padding": 1}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"layers": [conv, {"type": "residual", "layers": [{"type": "relu"}, conv]}, {"type": "globalavgpool"},
                                  {"type": "linear", "features": "classes"}]}, file)
        self.run_heddle("train", "--device", "cpu", "--data", "synth:count=16", "--model", path, "--epochs", "1", "--quiet",
                        "--out", self.home + "/run")
        why = "no int8 for layer residual1.relu1 (relu, which has to follow a conv2d or linear layer)"
        said = self.run_heddle("export", self.home + "/run", "--onnx", self.home + "/q.onnx", "--precision", "int8", code=1)
        self.assertIn(why, said.stderr)
        self.assertEqual(said.stderr.count("\n"), 1, said.stderr)
        self.assertIn(why, self.run_heddle("eval", self.home + "/run", "--device", "cpu", "--precision", "int8").stderr)

    def test_images_of_another_size_are_told_with_the_size_to_ask_for(self):
        self.run_heddle("train", "--device", "cpu", "--data", "synth:count=16,size=12,channels=3", "--model", "mlp", "--epochs",
                        "1", "--quiet", "--out", self.home + "/run")
        for words in (["eval"], ["predict", "--count", "1"]):
            said = self.run_heddle(words[0], self.home + "/run", "--data", "synth", "--device", "cpu", *words[1:], code=2).stderr
            self.assertIn("takes 3×12×12; use --data synth:size=12,channels=3", said)

    def test_several_names_are_checked_before_the_first_prediction(self):
        self.train_in(self.home, "--quiet", "--out", "run")
        write_png(self.home + "/x.png", 28, [list(range(28))] * 28)
        said = self.run_heddle("predict", self.home + "/run", self.home + "/x.png", self.home + "/nosuch.png", code=2)
        self.assertEqual(said.stdout, "")
        self.assertTrue(said.stderr.endswith(f"heddle: {self.home}/nosuch.png: No such file or directory\n"), said.stderr)

    def test_what_has_weights_is_no_model(self):
        self.train_in(self.home, "--quiet", "--out", "run")
        with open(self.home + "/net.onnx", "w"):
            pass
        for name, hint in (("run", "--init {}/best.safetensors"), ("run/last.safetensors", "--init {}"),
                           ("net.onnx", "heddle import {}")):
            path = f"{self.home}/{name}"
            said = self.run_heddle("train", "--data", "synth:count=20", "--model", path, "--out", self.home + "/no", code=2)
            self.assertIn(hint.format(path), said.stderr)

    def test_a_key_that_a_model_file_gives_twice_is_refused(self):
        path = self.home + "/model.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"layers": [{"type": "flatten"}, {"type": "linear", "features": 5, "features": "classes"}]}')
        said = self.run_heddle("train", "--data", "synth:count=20", "--model", path, "--out", self.home + "/run", code=2)
        self.assertEqual(said.stderr, f'heddle: {path}: "features" is given twice in entry 2 of "layers"\n')
        self.assertEqual(os.listdir(self.home), ["model.json"])


if __name__ == "__main__":
    unittest.main()
