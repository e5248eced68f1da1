"""`heddle bench train` and `infer` as a person uses them: rates of whole networks, and their comparison with PyTorch and JAX.

    bench_network.py path/to/heddle
"""

import json
import os
import re
import struct
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from bench_case import BenchCase  # noqa: E402

NETWORK = ["--model", "mlp", "--data", "synth:count=100", "--batch", "20", "--seconds", "0.02", "--rounds", "3"]


class BenchNetwork(BenchCase):
    def test_train_and_infer_give_a_rate(self):
        for job in ("train", "infer"):
            how = [job, "--device", "cpu", "--kernels", "fused", *NETWORK]
            document = json.loads(self.bench(*how, "--json").stdout.splitlines()[-1])
            self.assertEqual((document["format"], document["job"]), ("heddle bench network 1", job))
            row = document["results"][0]
            self.assertGreater(row["rate"], 0)
            self.assertTrue(row["low"] <= row["microseconds"] <= row["high"])
            self.assertEqual((min(row["rounds"]), sorted(row["rounds"])[1], max(row["rounds"])),
                             (row["low"], row["microseconds"], row["high"]))
            self.assertEqual(len(row["rounds"]), 3)
            self.assertEqual("loss" in row, job == "train")
            self.assertGreater(row["start_seconds"], 0)
            self.assertNotIn("sustained", row)
            shown = self.bench(*how, "--json=" + self.file).stdout
            self.assertRegex(shown, r"µs per \w+ +± +images/s")
            spread = float(re.search(r"fused +fp32 +[0-9.]+ +([0-9.]+)%", shown)[1])
            self.assertIn("times vary by up to" in shown, [spread > 20.05, spread > 19.95], shown)
            with open(self.file, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["job"], job)

    def test_the_road_has_every_part_of_the_ladders_at_every_batch(self):
        document = self.document("train", "--device", "cpu", *NETWORK, "--batch", "20,50")
        self.assertEqual([(row["batch"], row["kernels"], row["precision"]) for row in document["results"]],
                         [(batch, kernels, "fp32") for batch in (20, 50)
                          for kernels in ("naive", "tuned", "vendor", "fused")])
        self.assertEqual(["start_seconds" in row for row in document["results"]], [True] + 7 * [False])
        for key in ("device_name", "cpu_name", "machine", "version", "date", "clocks", "data_place"):
            self.assertIn(key, document)

    def test_a_row_names_the_precision_that_it_was_computed_in(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write('{"name": "own", "layers": [{"type": "flatten"}, {"type": "linear", "features": 8}, {"type": "gelu"}, '
                       '{"type": "linear", "features": "classes"}]}')
        how = ["infer", "--device", "cpu", "--precision", "int8", *NETWORK[2:], "--model"]
        result = self.bench(*how, self.file)
        self.assertRegex(result.stdout, r"\n +20 +cpu +fused +fp32 .* not int8: no such kernels\n")
        self.assertNotIn("naive", result.stdout)
        self.assertRegex(result.stderr, r"^heddle: warning: model own is computed in fp32: fused kernels have no int8 for "
                                        r"layer gelu1 \(gelu\); see .*models.md\n$")
        result = self.bench(*how, "mlp", "--kernels", "naive,fused", "--json")
        rows = json.loads(result.stdout.splitlines()[-1])["results"]
        self.assertEqual([(row["kernels"], row["precision"], row.get("asked_precision")) for row in rows],
                         [("naive", "fp32", "int8"), ("fused", "int8", None)])
        self.assertIn("naive kernels have no int8: model mlp is computed in fp32", result.stderr)

    def test_a_batch_larger_than_the_data_has_no_figure_and_says_why(self):
        result = self.bench("train", "--device", "cpu", "--kernels", "fused", *NETWORK, "--batch", "20,101",
                            "--json=" + self.file, code=2)
        self.assertIn("batch 101, fused kernels in fp32: a batch of 101, but the dataset has 100 images", result.stderr)
        with open(self.file, encoding="utf-8") as file:
            self.assertEqual([row["status"] for row in json.load(file)["results"]], ["measured", "failed"])

    def test_sustained_is_shown_beside_the_rounds(self):
        for job in ("train", "infer"):
            result = self.bench(job, "--device", "cpu", "--kernels", "fused", *NETWORK, "--sustained", "0.1",
                                "--json=" + self.file)
            self.assertIn("sustained µs", result.stdout)
            with open(self.file, encoding="utf-8") as file:
                document = json.load(file)
            row = document["results"][0]
            self.assertEqual(document["sustained_seconds"], 0.1)
            self.assertIn("%.1f" % row["sustained"], result.stdout)
            self.assertTrue(row["low"] / 20 < row["sustained"] < 20 * row["high"])
        self.assertNotIn("sustained", self.bench("train", "--device", "cpu", "--kernels", "fused", *NETWORK).stdout)

    def blank_images(self, count=200):
        """A folder with a set called mnist that nobody can learn: blank images whose labels go round."""
        folder = os.path.join(self.scratch.name, "data", "mnist")
        os.makedirs(folder)
        for part in ("train", "t10k"):
            with open(os.path.join(folder, part + "-images-idx3-ubyte"), "wb") as file:
                file.write(struct.pack(">IIII", 0x803, count, 28, 28) + bytes(count * 28 * 28))
            with open(os.path.join(folder, part + "-labels-idx1-ubyte"), "wb") as file:
                file.write(struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count)))
        return os.path.dirname(folder)

    def test_training_that_has_not_learnt_has_no_figure_and_says_its_loss(self):
        train = ["train", "--device", "cpu", "--kernels", "fused", "--model", "mlp", "--data", "mnist", "--folder",
                 self.blank_images(), "--seconds", "0.001", "--threads", "1", "--json=" + self.file]
        self.bench(*train, "--batch", "200", "--rounds", "3")  # some ten steps, in which nobody learns
        result = self.bench(*train, "--batch", "20", "--rounds", "3", "--sustained", "2", code=1)
        said = r"the loss is 2\.3\d* after \d+ steps, not below 1\.5: the network has not learnt"
        self.assertRegex(result.stderr, "batch 20, fused kernels in fp32: " + said)
        self.assertRegex(result.stdout, "– .*" + said)
        with open(self.file, encoding="utf-8") as file:
            row = json.load(file)["results"][0]
        self.assertEqual(row["status"], "failed")
        self.assertRegex(row["message"], said)
        self.assertNotIn("microseconds", row)
        # Nobody knows whether a network learns that has fewer images a step.
        self.bench(*train, "--batch", "7", "--rounds", "3", "--sustained", "0.5")

    def test_mistakes_about_networks_are_explained(self):
        self.assert_refused(["train", "--batch", "6x"],
                            "heddle: --batch takes integers from 1 to 1048576, as in 64,1024, not '6x'")
        self.assert_refused(["train", "--batch", "64,0x10"],
                            "heddle: --batch takes integers from 1 to 1048576, as in 64,1024, not '0x10'")
        self.assert_refused(["train", "--kernels", "naive,fuse"],
                            "heddle: --kernels takes a list of naive, tuned, vendor, fused, not 'fuse'; did you mean "
                            "fused?")
        self.assert_refused(["mine.json", "--batch", "64"], "heddle bench: mine.json is no operator; for a model file, use "
                            "heddle bench train --model mine.json")
        self.assert_refused(["train", "--quick"], "heddle bench: --quick applies to operators, not to train and infer; for a "
                            "short run, use --seconds 0.1 --rounds 3")
        self.assert_refused(["train", "--rounds", "2"], "heddle bench: --rounds 2 is out of range: 3 to 64")
        self.assert_refused(["matmul", "--sustained", "2"],
                            "heddle bench: --sustained applies only to `bench train` and `bench infer`")
        self.assert_refused(["train", "--device", "cpu", "--precision", "bf16"], "heddle: --precision bf16 needs "
                            "--device cuda or --device sim: the CPU computes in fp32")
        self.assert_refused(["train", "--device", "cpu", "--data-place", "streamed"], "heddle: --data-place streamed "
                            "needs --device cuda: the CPU reads the dataset where it is")
        self.assert_refused(["infer", "lenet"], "heddle bench: unexpected argument 'lenet'; did you mean --model lenet?")
        self.assert_refused(["matmul", "lenet"], "heddle bench: unexpected argument 'lenet'")
        self.assert_refused(["train", "--device", "sim"], "heddle: the simulated GPU does not report timings, so "
                                                          "`bench train` cannot run there; `heddle train --device "
                                                          "sim --data synth:count=64` trains on it")
        self.assert_refused(["train", "--device", "cpu", *NETWORK, "--gradients", self.file],
                            "heddle: --gradients needs exactly one batch size, one of --kernels and one --precision")

    def test_images_have_the_size_that_the_model_file_names(self):
        for channels, height, width, classes, data in ((3, 12, 12, 10, "synth:count=8192,size=12,channels=3"),
                                                       (3, 20, 30, 7, "3×20×30 noise, 7 classes"),
                                                       (3, 224, 224, 1000, "3×224×224 noise, 1000 classes"),
                                                       (1, 4, 4, 2, "1×4×4 noise, 2 classes")):
            with open(self.file, "w", encoding="utf-8") as file:
                json.dump({"input": {"channels": channels, "height": height, "width": width, "classes": classes},
                           "layers": [{"type": "globalavgpool"}, {"type": "linear", "features": "classes"}]}, file)
            for job in ("infer", "train"):
                result = self.bench(job, "--device", "cpu", "--kernels", "fused", "--model", self.file, "--seconds",
                                    "0.001", "--rounds", "3", "--batch", "8", "--json")
                self.assertEqual(json.loads(result.stdout.splitlines()[-1])["data"], data)

    # --- PyTorch and JAX ----------------------------------------------------------------------------------------------

    def with_peers(self, job, model, rows):
        """The document, and what the peers' program, which is played and finds these rows, was asked for."""
        asked = os.path.join(self.scratch.name, "asked.json")
        with open(os.path.join(self.scratch.name, "train_gpu.py"), "w", encoding="utf-8") as file:
            file.write("import json, sys\n"
                       "words = dict(zip(sys.argv[1:-1:2], sys.argv[2::2]), quick='--quick' in sys.argv)\n"
                       "words['network'] = json.load(open(words['--model']))\n"
                       f"json.dump(words, open({asked!r}, 'w'))\n"
                       f"json.dump({{'results': {rows!r}}}, open(words['--json'], 'w'))\n"
                       "print('raw output')\n")
        result = self.bench(job, "--device", "cpu", "--kernels", "fused", "--model", model, "--peers", "auto",
                            *NETWORK[2:], "--json=" + self.file, HEDDLE_PEERS=self.scratch.name)
        self.assertEqual(result.stderr, "", "the table says it")
        with open(asked, encoding="utf-8") as words, open(self.file, encoding="utf-8") as document:
            return result.stdout, json.load(document), json.load(words)

    def test_every_model_is_given_to_the_peers_and_compared_with_their_fastest_mode(self):
        own = os.path.join(self.scratch.name, "own.json")
        with open(own, "w", encoding="utf-8") as file:
            file.write('{"name": "own", "layers": [{"type": "flatten"}, {"type": "linear", "features": "classes"}]}')
        rows = [{"framework": "jax", "mode": "step", "precision": "fp32", "batch": 20, "microseconds": 5e6},
                {"framework": "torch", "mode": "channels-last", "precision": "fp32", "batch": 20, "microseconds": 4e6},
                {"framework": "torch", "mode": "eager", "precision": "fp32", "batch": 21, "microseconds": 1},
                {"framework": "torch", "mode": "compile", "precision": "fp32", "batch": 20, "error": "no compiler"}]
        for job in ("train", "infer"):
            for model, name in (("mlp", "mlp"), ("cnn", "cnn"), (own, "own")):
                shown, document, asked = self.with_peers(job, model, rows)
                row = document["results"][0]
                self.assertAlmostEqual(row["ratio"], 4e6 / row["microseconds"])
                self.assertEqual((row["peer"], row["peer_mode"]), ("torch", "channels-last"))
                self.assertRegex(shown, r"cpu +fused .* PyTorch, channels-last\n")
                self.assertNotIn("no compiler", shown, "of a framework that has a figure")
                self.assertEqual((asked["--job"], asked["--batches"], asked["--precisions"], asked["--device"],
                                  asked["quick"]), (job, "20", "fp32", "cpu", True))
                self.assertEqual((asked["network"]["name"], asked["network"]["input"]),
                                 (name, {"channels": 1, "height": 28, "width": 28, "classes": 10}))
                self.assertFalse(os.path.exists(asked["--model"]), "what was written for them is gone")

    def test_a_missing_framework_is_a_row_that_says_so(self):
        for name in ("torch", "jax"):  # whatever is installed, these are found first
            with open(os.path.join(self.scratch.name, name + ".py"), "w", encoding="utf-8") as file:
                file.write("raise ImportError('not here')\n")
        result = self.bench("train", "--device", "cpu", "--kernels", "fused", *NETWORK, "--peers", "all",
                            PEERS_PYTHON=sys.executable, PYTHONPATH=self.scratch.name)
        for name in ("PyTorch", "JAX"):
            self.assertRegex(result.stdout, rf"20 +{name} .*– +– +ImportError: not here\n")
        self.assertIn("PyTorch and JAX were not measured: neither ran here; set PEERS_PYTHON", result.stdout)

    def test_frameworks_that_are_not_installed_are_one_line(self):
        python = os.path.join(self.scratch.name, "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without packages
        os.chmod(python, 0o755)
        result = self.bench("train", "--device", "cpu", "--kernels", "fused", *NETWORK, "--peers", "auto",
                            PEERS_PYTHON=python)
        self.assertEqual(result.stderr, "")
        self.assertTrue(result.stdout.endswith(
            f"\nnot installed for {python[:64]}: JAX and PyTorch; to compare with them, install torch and jax with pip, or "
            "set PEERS_PYTHON to a Python that has them\n"), result.stdout)

    def test_what_the_peers_print_is_shown_if_it_is_all_there_is(self):
        with open(os.path.join(self.scratch.name, "train_gpu.py"), "w", encoding="utf-8") as file:
            file.write("print('half way', flush=True)\nraise SystemExit('this is why')\n")
        result = self.bench("infer", "--device", "cpu", "--kernels", "fused", *NETWORK, "--peers", "auto",
                            HEDDLE_PEERS=self.scratch.name)
        self.assertEqual(result.stderr, "half way\nthis is why\n")
        self.assertIn("\nPyTorch and JAX were not measured: neither ran here; set PEERS_PYTHON", result.stdout)

    def test_peers_that_are_not_where_they_are_said_to_be_are_one_line(self):
        result = self.bench("infer", "--device", "cpu", "--kernels", "fused", *NETWORK, "--peers", "auto",
                            HEDDLE_PEERS="/nowhere")
        self.assertEqual(result.stderr, "")
        self.assertTrue(result.stdout.endswith("\nPyTorch and JAX were not measured: HEDDLE_PEERS is /nowhere, which does "
                                               "not have the scripts for that\n"), result.stdout)

    def test_gradients_of_one_step_are_written_with_what_they_belong_to(self):
        self.bench("train", "--device", "cpu", "--kernels", "fused", "--data", "synth:count=64", "--batch", "3",
                   "--gradients", self.file)
        with open(self.file, "rb") as file:
            content = file.read()
        header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        self.assertEqual(header["images"]["shape"], [3, 1, 28, 28])
        self.assertEqual(header["gradients/conv2.weight"]["shape"], header["parameters/conv2.weight"]["shape"])
        self.assertEqual(len([name for name in header if name.startswith("gradients/")]), 12)


if __name__ == "__main__":
    unittest.main()
