#!/usr/bin/env python3
"""Training's result file and page: scripts/train-docs on a small result file, how runs are merged, what becomes of the
targets, gpu-check's parts with everything that needs a GPU played, and the order in which the peers are run.

    training.py
"""
import copy
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(ROOT, "scripts", "train-docs")
PEERS = os.path.join(ROOT, "peers", "train_gpu.py")


def module(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace("-", "_").replace(".py", ""), path)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = made
    loader.exec_module(made)
    return made


training = module(os.path.join(ROOT, "scripts", "training.py"))
clocks = module(os.path.join(ROOT, "peers", "clocks.py"))


def own(precision, batch, microseconds, device="cuda", kernels="fused"):
    return {"device": device, "kernels": kernels, "precision": precision, "batch": batch, "status": "measured",
            "microseconds": microseconds, "low": microseconds, "high": microseconds, "rate": 1e6 * batch / microseconds,
            "steps": 500}


def peer(framework, precision, batch, mode, microseconds):
    return {"framework": framework, "precision": precision, "batch": batch, "mode": mode, "microseconds": microseconds,
            "images_per_second": 1e6 * batch / microseconds, "loss": 0.1}


STEPS = {"format": "heddle bench network 1", "job": "train", "data_place": "auto", "device_name": "NVIDIA Test",
         "driver": "1.2", "runtime": "13.0", "machine": "Linux x86_64", "cpu_name": "Some CPU", "threads": 4,
         "version": "0.1", "date": "2001-02-03T04:05:06Z",
         "clocks": {"processor_before": 1980, "processor_after": 1950, "memory_before": 1, "memory_after": 1},
         "results": [own("fp32", 1024, 90000.0, "cpu"), own("fp32", 1024, 5000.0, kernels="naive"),
                     own("tf32", 1024, 100.0),
                     {"device": "cuda", "kernels": "fused", "precision": "bf16", "batch": 1024, "status": "failed",
                      "message": "no | such rung"}]}
STREAMED = dict(STEPS, data_place="streamed", results=[own("tf32", 1024, 104.0)])
INFER = dict(STEPS, job="infer", results=[own("bf16", 1, 20.0)])
PEER_RUN = {"format": 1, "date": "2001-02-03T04:06:00Z", "versions": {"jax": "JAX 9", "torch": "PyTorch 9"},
            "results": [peer("jax", "tf32", 1024, "scan", 950.0), peer("torch", "tf32", 1024, "eager", 4000.0),
                        peer("torch", "bf16-pure", 1024, "graph", 700.0), peer("jax", "bf16", 1024, "scan", 800.0),
                        {"framework": "torch", "precision": "tf32", "batch": 1024, "mode": "compile",
                         "error": "no compiler"}]}
GRADIENTS = {"format": 1, "date": "2001-02-03T04:07:00Z", "results": [
    {"kernels": "fused", "precision": "tf32", "batch": 7, "errors": {"conv1.weight": 3e-3},
     "peer_errors": {"conv1.weight": 1e-3}, "peer_precision": "tf32", "worst": "conv1.weight", "worst_ratio": 3.0,
     "allowed": 2, "met": False},
    {"kernels": "fused", "precision": "fp32", "batch": 7, "errors": {"conv1.weight": 1e-7},
     "errors_max": {"conv1.weight": 3e-7}, "peer_errors": {"conv1.weight": 2e-7},
     "peer_errors_max": {"conv1.weight": 2e-7}, "peer_precision": "fp32", "worst": "conv1.weight", "worst_ratio": 0.5,
     "edges": {"bound": 4e-6, "near": [3, 2], "taken": [],
               "peer_taken": [{"stage": "hidden", "at": [1, 2], "place": -1, "margin": 1e-8, "instead_of": 0,
                               "seed": 2}]},
     "allowed": 2, "met": True}]}
SETTINGS = {"batch": 128, "lr": 0.1, "momentum": 0.0, "epochs": 5, "schedule": "linear"}
ACCURACY = {"format": 1, "date": "2001-02-03T04:08:00Z",
            "quality": {"settings": SETTINGS, "seeds": 2, "torch": "9", "results": [
                {"precision": "tf32", "heddle": [0.991, 0.993], "pytorch": [0.992, 0.992], "heddle_mean": 0.992,
                 "pytorch_mean": 0.992, "met": True}]},
            "race": {"settings": SETTINGS, "until": 0.99, "precision": "bf16", "runs": 3, "met": True,
                     "heddle": {"seconds": 0.61, "all": [0.6, 0.61, 0.7], "epochs": [2, 2, 2], "accuracy_on_cpu": 0.99},
                     "pytorch": {"error": "not installed"}}}
# What `heddle trace --json` writes of a run with streamed images.
COPIES = {"seconds": 0.5, "kernel_seconds": 0.4, "streams": 3, "dropped": 0, "rows": [
    {"kind": "kernel", "name": "cnn_forward", "count": 100, "seconds": 0.4, "longest": 0.005},
    {"kind": "copy in", "name": "copy in", "count": 10, "seconds": 0.02, "longest": 0.003, "bytes": 1e9,
     "under_kernels": 0.019}]}
LIMITS = [{"batch": 1024, "precision": "bf16", "rung": "08_bf16_wgmma", "kernels": [
    {"kernel": "cnn_forward", "microseconds": 25.0, "facts": ["Busiest: something."]}]}]


def whole():
    made = None
    for section, found in (("train", STEPS), ("streamed", STREAMED), ("infer", INFER), ("peers", PEER_RUN),
                           ("gradients", GRADIENTS), ("accuracy", ACCURACY),
                           ("copies", dict(COPIES, batch=1024, precision="bf16", date="today"))):
        made = training.merged(made, section, copy.deepcopy(found))
    return made


class Results(unittest.TestCase):
    def test_a_row_that_is_measured_again_takes_the_place_of_the_earlier_one(self):
        again = dict(copy.deepcopy(STEPS), date="2001-02-04T00:00:00Z", results=[own("tf32", 1024, 90.0),
                                                                                 own("tf32", 64, 30.0)])
        made = training.merged(whole(), "train", again)
        self.assertEqual(len(made["train"]["results"]), 5)
        found = training.fastest_own(made, 1024, "tf32")
        self.assertEqual((found["microseconds"], found["date"]), (90.0, "2001-02-04T00:00:00Z"))
        self.assertEqual({row["date"] for row in made["train"]["results"]},
                         {"2001-02-03T04:05:06Z", "2001-02-04T00:00:00Z"})

    def test_a_run_of_one_framework_keeps_the_version_of_the_other(self):
        made = training.merged(whole(), "peers", dict(copy.deepcopy(PEER_RUN), versions={"jax": "JAX 10"}))
        self.assertEqual(made["peers"]["versions"], dict(PEER_RUN["versions"], jax="JAX 10"))

    def test_results_of_another_card_are_not_mixed_in(self):
        with self.assertRaisesRegex(training.Trouble, "of another device_name: NVIDIA Test, and this is NVIDIA Other"):
            training.merged(whole(), "train", dict(copy.deepcopy(STEPS), device_name="NVIDIA Other"))

    def test_the_fastest_peer_is_that_of_all_frameworks_and_modes(self):
        fastest = [(row["precision"], row["mode"]) for row in whole()["peers"]["results"] if row.get("fastest")]
        self.assertEqual(sorted(fastest), [("bf16-pure", "graph"), ("tf32", "scan")])

    def test_targets_are_judged_against_the_fastest_peer_of_the_same_class(self):
        target = {"batch": 1024, "precision": "tf32", "at_least": 9}
        verdict = training.judge(target, whole())
        self.assertEqual((verdict["reached"], verdict["met"]), (9.5, True))
        self.assertFalse(training.judge(dict(target, at_least=10), whole())["met"])
        self.assertIsNone(training.judge(dict(target, precision="bf16"), whole())["reached"])
        rows = [peer("jax", "fp32", 1024, "scan", 900.0)]
        self.assertEqual(training.fastest_peer(rows, 1024, "tf32x3"), rows[0])

    def test_a_target_stays_open_while_a_framework_has_no_figure(self):
        made = whole()
        for row in made["peers"]["results"]:
            if row["framework"] == "jax" and row["precision"] == "tf32":
                del row["microseconds"]
                row["error"] = "no time left"
        verdict = training.judge({"batch": 1024, "precision": "tf32", "at_least": 9}, made)
        self.assertEqual((verdict["reached"], verdict["unheard"], verdict["met"]), (40.0, ["jax"], False))

    def test_the_cost_of_streaming_is_against_the_same_resident_step(self):
        made = whole()
        self.assertAlmostEqual(training.streamed_cost(made, made["streamed"]["results"][0]), 0.04)


class Page(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.results = os.path.join(self.scratch.name, "results.json")
        self.page = os.path.join(self.scratch.name, "page.md")
        names = ["machine", "road", "peers", "failed-peers", "targets", "streamed", "infer", "gradients", "quality", "race"]
        with open(self.page, "w", encoding="utf-8") as file:
            file.write("".join("words\n\n<!-- figures: %s -->\n<!-- end -->\n" % name for name in names))
        training.save(self.results, whole())

    def tearDown(self):
        self.scratch.cleanup()

    def docs(self, *arguments, code=0):
        done = subprocess.run([sys.executable, DOCS, "--results", self.results, "--page", self.page, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def text(self):
        with open(self.page, encoding="utf-8") as file:
            return file.read()

    def test_every_figure_comes_from_the_results(self):
        self.docs()
        self.docs("--check")
        text = self.text()
        for line in ("| 1024 | cuda | fused | tf32 | 100 | 10240000 | 9.5 × |  |",
                     "| 1024 | cuda | fused | bf16 | – | – | – | no \\| such rung |",
                     "| JAX | scan | **950** | 800 |  |",
                     "| 1024 | tf32 | PyTorch | compile | no compiler |",
                     "| 1024 | tf32 | 100 | 950 | JAX, scan | 9.0 × | 9.5 × | reached |",
                     "| 1024 | fused | tf32 | 104 | +4.0 % | reached |", "| 1 | cuda | fused | bf16 | 20.0 | 50000 |",
                     "| fused | tf32 | 7 | conv1.weight | 3.0e-03 | 1.0e-03 (tf32) | 3.0 × | – | – | **above 2** |",
                     "| fused | fp32 | 7 | conv1.weight | 1.0e-07 | 2.0e-07 (fp32) | 0.5 × | 1.5 × | 0, 1 of 5 |  |",
                     "| tf32 | 99.20 % | 99.20 % | 99.10 % to 99.30 % |  |",
                     "| heddle | 0.61 s | 0.60 to 0.70 s | 2, 2, 2 |",
                     "NVIDIA Test, driver 1.2, CUDA 13.0; Linux x86_64, Some CPU with 4 threads"):
            self.assertIn(line, text)

    def test_stored_gradients_are_judged_by_the_rules_of_today(self):
        made = whole()
        row = made["gradients"]["results"][1]
        row["errors_max"]["conv1.weight"] = 9e-7
        training.save(self.results, made)
        self.assertTrue(row["met"], "what the file says")
        self.docs()
        self.assertIn("| 0.5 × | 4.5 × | 0, 1 of 5 | **largest above 2, in conv1.weight** |", self.text())

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        self.docs()
        text = self.text()
        self.assertIn("9.5 ×", text)
        with open(self.page, "w", encoding="utf-8") as file:
            file.write(text.replace("9.5 ×", "19.5 ×"))
        self.assertIn("does not say what", self.docs("--check", code=1))

    def test_without_results_the_page_says_so(self):
        os.remove(self.results)
        self.docs()
        self.assertIn("Not measured yet.", self.text())
        self.docs("--check")

    def test_a_block_that_nobody_makes_is_an_error(self):
        with open(self.page, "w", encoding="utf-8") as file:
            file.write("<!-- figures: speeed -->\n<!-- end -->\n")
        self.assertIn("there are no figures 'speeed'", self.docs(code=1))


class GpuCheck(unittest.TestCase):
    def test_its_parts_fill_the_result_file(self):
        check = module(os.path.join(ROOT, "scripts", "gpu-check"))
        played = {"bench": STEPS, "train_gpu.py": PEER_RUN, "gradients_gpu.py": GRADIENTS, "accuracy_gpu.py": ACCURACY}

        def play(command):
            name = "bench" if command[1] == "bench" else os.path.basename(command[1])
            if name == "ladder-limits":
                return 0, 1.0
            document = COPIES if name == "trace" else STREAMED if "streamed" in command else INFER if "infer" in command else played[name]
            with open(command[command.index("--json") + 1], "w", encoding="utf-8") as file:
                json.dump(document, file)
            return 0, 1.0

        check.show_and_run = play
        with tempfile.TemporaryDirectory() as folder:
            options = types.SimpleNamespace(
                training=os.path.join(folder, "training.json"), build=folder, merge=False, quick=True, batches="1024",
                peer_modes=None, peer_precisions=None, peer_jobs=1, peer_seconds=60, peer_go=None,
                mnist=folder, skip=None, kernels="fused")
            table = check.Table()
            for part in (check.train, check.gradients, check.accuracy):
                part(options, table)
            self.assertFalse(table.failed())
            self.assertEqual(len(table.rows), 9)
            found = training.load(options.training)
            self.assertRegex(found["copies"].pop("date"), "^20")
            expected = whole()
            expected["copies"].pop("date")
            self.assertEqual(found, expected)

    def test_the_page_shows_copies_and_what_limits_a_step_that_misses(self):
        docs = module(DOCS)
        self.assertIn("| copy in | 10 | 1000 | 20.0 | 50.0 | 95.0 % |", docs.copies(whole()))
        steps = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        results = dict(training.merged(whole(), "train", steps), limits=LIMITS)
        told = docs.limits(results)
        self.assertIn("a step takes 120 µs; its 1 kernels, each alone, 25.0 µs", told)
        self.assertIn("| cnn_forward | 25.0 | Busiest: something. |", told)
        fast = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 1.0)])
        self.assertEqual(docs.limits(dict(training.merged(whole(), "train", fast), limits=LIMITS)),
                         "No target is missed.")


class Clocks(unittest.TestCase):
    LINES = ("1980, 1980, 120.5, 700.00, Not Active, Not Active, Not Active, Not Active, Not Active\n"  # not yet at work
             "1500, 1980, 690.0, 700.00, Active, Not Active, Not Active, Not Active, Not Active\n"
             "1480, 1980, 680.0, 700.00, Active, Not Active, Not Active, Not Active, Active\n"
             "1520, 1980, 695.0, 700.00, Active, Not Active, Not Active, Not Active, Not Active\n"
             "[N/A], 1980, 695.0, 700.00, Active, Not Active, Not Active, Not Active, Not Active\n"
             "1520, 1980, 69")  # cut off

    def test_only_samples_of_a_card_at_work_count(self):
        found = clocks.summary(self.LINES)
        self.assertEqual(found, {"megahertz": 1500, "most_megahertz": 1980, "watts": 690, "most_watts": 700,
                                 "held_by": ["the power limit"], "samples": 3})
        self.assertIsNone(clocks.summary("[N/A], [N/A]\n"))

    def test_samples_are_taken_while_something_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "nvidia-smi")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nwhile :; do printf '%s'; sleep 0.01; done\n" % self.LINES.splitlines()[1].join(
                    ["", "\\n"]))
            os.chmod(program, 0o755)
            found = clocks.while_running(lambda: time.sleep(0.3), program)
            self.assertEqual((found["megahertz"], found["held_by"]), (1500, ["the power limit"]))
            self.assertIsNone(clocks.while_running(lambda: None, os.path.join(folder, "none")))

    def test_the_page_says_what_held_the_clock(self):
        docs, clock = module(DOCS), clocks.summary(self.LINES)
        steps = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        told = docs.limits(dict(training.merged(whole(), "train", steps), limits=[dict(LIMITS[0], clock=clock)]))
        self.assertIn("25.0 µs. While they run, the card's clock runs at 1500 MHz of 1980 and it draws 690 W of 700; "
                      "the power limit holds the clock back.", told)


class Peers(unittest.TestCase):
    def test_a_framework_that_is_missing_is_a_row_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("torch", "jax"):  # whatever is installed, these are found first
                with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
                    file.write("raise ImportError('not here')\n")
            path = os.path.join(folder, "peers.json")
            done = subprocess.run([sys.executable, PEERS, "--batches", "8", "--precisions", "fp32", "--modes",
                                   "scan,eager,graph", "--split", "1", "--jobs", "2", "--json", path],
                                  env=dict(os.environ, PYTHONPATH=folder), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)
            rows = training.load(path)["results"]
            self.assertEqual([(row["framework"], row["mode"], row["error"]) for row in rows],
                             [(framework, mode, "ImportError: not here")
                              for framework, mode in (("jax", "scan"), ("torch", "eager"), ("torch", "graph"))])

    def test_a_mode_that_takes_too_long_does_not_cost_those_that_are_ready(self):
        worker = ("import json, sys, time\n"
                  "mode = sys.argv[sys.argv.index('--modes') + 1]\n"
                  "if mode == 'eager':\n"
                  "    time.sleep(60)\n"
                  "print(json.dumps({'ready': 1}), flush=True)\n"
                  "sys.stdin.readline()\n"
                  "print(json.dumps({'framework': 'torch', 'precision': 'fp32', 'batch': 8, 'mode': mode, 'low': 1,\n"
                  "                  'high': 1, 'microseconds': 1, 'images_per_second': 1, 'loss': 1,\n"
                  "                  'prepare_seconds': 1}), flush=True)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "worker.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(worker)
            program = importlib.util.module_from_spec(importlib.util.spec_from_file_location("train_gpu", PEERS))
            program.__spec__.loader.exec_module(program)
            program.__file__ = path  # what is started as a worker
            program.MEASURING_SECONDS = 1  # of the 12, ten are for getting ready
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "eager,graph", "--split", "1", "--jobs", "2", "--total-seconds", "12", "--seconds", "0"]
            with unittest.mock.patch.object(sys, "argv", arguments):
                rows, _ = program.run_all(program.parse())
        self.assertEqual([(row["mode"], row.get("microseconds"), row.get("error")) for row in rows],
                         [("eager", None, "no time left"), ("graph", 1, None)])


if __name__ == "__main__":
    unittest.main()
