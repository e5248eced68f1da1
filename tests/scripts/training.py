#!/usr/bin/env python3
"""Training's result file and page: scripts/train-docs on a small result file, how runs are merged, what becomes of the
targets, and gpu-check's parts with everything that needs a GPU played.

    training.py
"""
import copy
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing is left in the source tree
from gpu_faults import Faults  # noqa: E402,F401: its tests run with these
from loading import ROOT, gpu_check, module, written_by  # noqa: E402
from sanitizers import Sanitizers  # noqa: E402,F401: likewise

DOCS = os.path.join(ROOT, "scripts", "train-docs")
training = module(os.path.join(ROOT, "scripts", "training.py"))


def own(precision, batch, microseconds, device="cuda", kernels="fused"):
    return {"device": device, "kernels": kernels, "precision": precision, "batch": batch, "status": "measured",
            "microseconds": microseconds, "low": microseconds, "high": microseconds, "rate": 1e6 * batch / microseconds,
            "steps": 500}


def peer(framework, precision, batch, mode, microseconds):
    return {"framework": framework, "precision": precision, "batch": batch, "mode": mode, "microseconds": microseconds,
            "images_per_second": 1e6 * batch / microseconds, "loss": 0.1}


STEPS = {"format": "heddle bench network 1", "job": "train", "model": "cnn", "data_place": "auto",
         "device_name": "NVIDIA Test", "driver": "1.2", "runtime": "13.0", "machine": "Linux x86_64",
         "cpu_name": "Some CPU", "threads": 4, "version": "0.1", "date": "2001-02-03T04:05:06Z",
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
                        peer("torch", "fp32", 1024, "graph", 1800.0),
                        {"framework": "torch", "precision": "tf32", "batch": 1024, "mode": "compile",
                         "error": "no compiler"}]}
GRADIENTS = {"format": 1, "date": "2001-02-03T04:07:00Z", "results": [
    {"kernels": "fused", "precision": "tf32", "batch": 7, "seeds": 2, "errors": {"conv1.weight": 3e-3},
     "errors_raw": {"conv1.weight": 3e-3, "norm1.bias": 5e-2}, "peer_errors": {"conv1.weight": 1e-3},
     "peer_errors_raw": {"conv1.weight": 1e-3, "norm1.bias": 1e-4}, "peer_precision": "tf32", "worst": "conv1.weight",
     "worst_ratio": 3.0, "allowed": 2, "met": False},
    {"kernels": "fused", "precision": "fp32", "batch": 7, "errors": {"conv1.weight": 1e-7},
     "errors_max": {"conv1.weight": 3e-7}, "errors_raw": {"conv1.weight": 4e-5},
     "peer_errors_raw": {"conv1.weight": 2e-5}, "peer_errors": {"conv1.weight": 2e-7},
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
                     "heddle": {"seconds": 0.61, "all": [0.7, 0.6, 0.61], "epochs": [2, 2, 2], "accuracy_on_cpu": 0.99,
                                "choices_kept": False},
                     "pytorch": {"error": "not installed"}}}
# What `heddle trace --json` writes of a run with streamed images.
COPIES = {"seconds": 0.5, "kernel_seconds": 0.4, "streams": 3, "dropped": 0, "rows": [
    {"kind": "kernel", "name": "cnn_forward", "count": 100, "seconds": 0.4, "longest": 0.005},
    {"kind": "copy in", "name": "copy in", "count": 10, "seconds": 0.02, "longest": 0.003, "bytes": 1e9,
     "under_kernels": 0.019}]}
# What tests/nn/faults/gpu_faults.sh writes.
FAULTS = [{"fault": "trap", "exit_code": 1, "told": "heddle: a \"trap\"", "intact": True, "goes_on": True, "passed": True},
          {"fault": "memory", "exit_code": 1, "told": "heddle: no memory", "intact": True, "goes_on": True, "passed": True}]
LIMITS = [{"batch": 1024, "precision": "bf16", "rung": "08_bf16_wgmma", "date": "2001-02-03T04:09:00Z", "kernels": [
    {"kernel": "cnn_prepare", "microseconds": 5.0, "facts": []},
    {"kernel": "cnn_forward", "microseconds": 20.0, "facts": ["Busiest: something."]}]}]


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
        other, driver = {"device_name": "NVIDIA Other"}, {"driver": "9.9"}
        words = "has device_name NVIDIA Test, this run NVIDIA Other"
        for section, found in (("train", dict(STEPS, **other)), ("streamed", dict(STREAMED, **other)),
                               ("peers", dict(PEER_RUN, device="NVIDIA Other")),
                               ("gradients", dict(GRADIENTS, **other)), ("accuracy", dict(ACCURACY, **other)),
                               ("copies", dict(COPIES, **other)),
                               ("limits", dict(other, date="today", results=LIMITS))):
            with self.assertRaisesRegex(training.Trouble, words):
                training.merged(whole(), section, copy.deepcopy(found))
        for section, found in (("train", STEPS), ("peers", PEER_RUN), ("gradients", GRADIENTS), ("accuracy", ACCURACY)):
            with self.assertRaisesRegex(training.Trouble, "has driver 1.2, this run 9.9"):
                training.merged(whole(), section, copy.deepcopy(dict(found, **driver)))
        training.merged(whole(), "peers", copy.deepcopy(dict(PEER_RUN, device="NVIDIA Test", driver="1.2")))

    def test_a_file_that_only_the_peers_have_named_a_card_in_is_of_that_card(self):
        made = training.merged(None, "peers", copy.deepcopy(dict(PEER_RUN, device="NVIDIA Other")))
        with self.assertRaisesRegex(training.Trouble, "has device_name NVIDIA Other, this run NVIDIA Test"):
            training.merged(made, "train", copy.deepcopy(STEPS))

    def test_a_row_that_failed_stands_beside_the_earlier_figure(self):
        late = "2001-02-09T00:00:00Z"
        made = training.merged(whole(), "peers", {"date": late, "versions": {"jax": "JAX 10"}, "results": [
            {"framework": "jax", "precision": "tf32", "batch": 1024, "mode": "scan", "error": "no time left"},
            {"framework": "torch", "precision": "tf32", "batch": 1024, "mode": "compile", "error": "again none"}]})
        kept = training.fastest_peer(made["peers"]["results"], 1024, "tf32")
        self.assertEqual((kept["microseconds"], kept["date"][:10], kept["version"]), (950.0, "2001-02-03", "JAX 9"))
        self.assertEqual(kept["failed"], {"date": late, "error": "no time left"})
        newest, = (row for row in made["peers"]["results"] if row["mode"] == "compile")
        self.assertEqual((newest["error"], newest["date"]), ("again none", late))
        made = training.merged(made, "train", dict(copy.deepcopy(STEPS), date=late, results=[
            dict(own("tf32", 1024, 1.0), microseconds=None, status="failed", message="no memory")]))
        step = training.fastest_own(made, 1024, "tf32")
        self.assertEqual((step["microseconds"], step["failed"]["error"]), (100.0, "no memory"))
        made = training.merged(made, "gradients", {"date": late, "results": [
            {"kernels": "fused", "precision": "fp32", "batch": 7, "error": "no GPU"}]})
        self.assertEqual([("errors" in row, "failed" in row) for row in made["gradients"]["results"]],
                         [(True, False), (True, True)])
        docs = module(DOCS)
        told = "measured 2001-02-03; failed on 2001-02-09: "
        self.assertIn("| 1024 | tf32 | JAX | scan | %sno time left |" % told, docs.failed_peers(made))
        self.assertIn("| 9.5 × | %sno memory |" % told, docs.road(made))
        key = dict(made["streamed"]["results"][0], microseconds=None, message="lost")
        made = training.merged(made, "streamed", dict(copy.deepcopy(STEPS), date=late, results=[key]))
        self.assertIn(" | %slost |" % told, docs.streamed(made))
        self.assertIn("| 0, 1 of 5 | %sno GPU |" % told, docs.gradients(made))
        again = training.merged(made, "peers", copy.deepcopy(PEER_RUN))
        self.assertNotIn("failed", training.fastest_peer(again["peers"]["results"], 1024, "tf32"))

    def test_a_row_stands_at_the_precision_that_was_asked_for(self):
        row = dict(own("fp32", 3, 20.0), asked_precision="tf32")
        rows = training.merged(whole(), "train", dict(copy.deepcopy(STEPS), results=[row]))["train"]["results"]
        self.assertEqual([(row["precision"], row["computed_in"]) for row in rows if row["batch"] == 3], [("tf32", "fp32")])
        self.assertFalse(any("asked_precision" in row for row in rows))

    def test_every_row_of_peers_has_the_version_and_date_of_its_run(self):
        made = whole()
        del made["peers"]["results"][0]["version"]  # as older files are: it is of their section's
        made = training.merged(made, "peers", {"date": "2001-02-09T00:00:00Z", "versions": {"torch": "PyTorch 10"},
                                               "results": [peer("torch", "tf32", 64, "graph", 500.0)]})
        rows = made["peers"]["results"]
        self.assertEqual((rows[-1]["version"], rows[-1]["date"]), ("PyTorch 10", "2001-02-09T00:00:00Z"))
        self.assertEqual([row.get("version") for row in rows[:2]], ["JAX 9", "PyTorch 9"])
        self.assertTrue(all("date" in row for row in rows))
        self.assertIn("Peers: JAX 9; PyTorch 10; PyTorch 9.", module(DOCS).machine(made))

    def test_accounts_are_kept_while_they_are_of_what_runs_and_misses(self):
        def account(batch, precision, date, *kernels, rung="08"):
            return dict({"date": date} if date else {}, batch=batch, precision=precision, rung=rung,
                        kernels=[{"kernel": one, "microseconds": 1.0, "facts": []} for one in kernels])

        def limits_after(*results, date="2001-02-05", of=()):
            slow = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0), own("tf32", 1024, 100.0)])
            made = dict(training.merged(whole(), "train", slow), limits=list(of))
            made = training.merged(made, "limits", {"date": date, "results": [copy.deepcopy(one) for one in results]})
            return [(one["batch"], one["precision"], one.get("date"), one["kernels"][0]["kernel"])
                    for one in made["limits"]]
        old, few = account(4096, "bf16", None, "old"), account(64, "bf16", "2001-02-05", "few")
        new = account(1024, "bf16", None, "new")
        only = [(1024, "bf16", "2001-02-05", "new")]
        self.assertEqual(limits_after(new), only)
        self.assertEqual(limits_after(new, of=[account(1024, "bf16", None, "old")]), only)
        # Of another batch: gone if it is older and of other kernels or another rung, not if it is of the same run.
        self.assertEqual(limits_after(new, of=[old]), only)
        self.assertEqual(limits_after(new, of=[account(4096, "bf16", "2001-02-04", "new", rung="07")]), only)
        self.assertEqual(limits_after(new, of=[account(4096, "bf16", "2001-02-04", "new")]),
                         [(4096, "bf16", "2001-02-04", "new")] + only)
        self.assertEqual(limits_after(new, of=[few]), [(64, "bf16", "2001-02-05", "few")] + only)
        # Of a target that is reached, or of none.
        self.assertEqual(limits_after(account(1024, "tf32", None, "new"), account(1024, "fp16", None, "new")), [])

    def test_an_account_goes_when_its_target_is_reached(self):
        slow = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        made = training.merged(training.merged(whole(), "train", slow), "limits",
                               {"date": "2001-02-05", "results": copy.deepcopy(LIMITS)})
        self.assertEqual(len(made["limits"]), 1)
        fast = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 1.0)])
        self.assertEqual(training.merged(made, "train", fast)["limits"], [])

    def test_the_fastest_peer_is_that_of_all_frameworks_and_modes(self):
        fastest = [(row["precision"], row["mode"]) for row in whole()["peers"]["results"] if row.get("fastest")]
        self.assertEqual(sorted(fastest), [("bf16-pure", "graph"), ("fp32", "graph"), ("tf32", "scan")])

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

    def test_modes_without_a_figure_are_named(self):
        docs, made = module(DOCS), whole()
        told = docs.unmeasured(made).splitlines()
        self.assertIn("- bf16 at 1024: 1 of 19 modes, only JAX's `scan`.", told)
        self.assertIn("- tf32 at 1024: 2 of 19 modes, only JAX's `scan`; PyTorch's `eager`.", told)
        self.assertIn("- fp32 and bf16-pure at 1024: 1 of 19 modes, only PyTorch's `graph`.", told)
        self.assertIn("- fp32, tf32, bf16 and bf16-pure at 64, 256 and 4096: none of 19 modes.", told)
        self.assertIn("Of these 3 fastest peers, none was measured again with nothing else on the GPU.", told)
        training.fastest_peer(made["peers"]["results"], 1024, "tf32")["twice"] = [950.0, 960.0]
        self.assertIn("peers, 1 was measured again with nothing else on the GPU: JAX's `scan` at 1024 in tf32, 950 µs "
                      "first and 960 alone.", docs.unmeasured(made))
        made["peers"]["results"] = [peer(framework, "tf32", 64, mode, 1.0) for framework in docs.train_gpu.MODES
                                    for mode in docs.train_gpu.MODES[framework]]
        told = docs.unmeasured(made).splitlines()
        self.assertEqual(told[0], "- tf32 at 64: all 19 modes.")
        del made["peers"]["results"][0]["microseconds"]
        told = docs.unmeasured(made).splitlines()
        self.assertEqual(told[0], "- tf32 at 64: 18 of 19 modes, all but JAX's `scan`.")

    def test_the_cost_of_streaming_is_against_the_same_resident_step(self):
        made = whole()
        self.assertAlmostEqual(training.streamed_cost(made, made["streamed"]["results"][0]), 0.04)


class Page(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.results = os.path.join(self.scratch.name, "results.json")
        self.page = os.path.join(self.scratch.name, "page.md")
        names = ["machine", "road", "peers", "failed-peers", "targets", "unmeasured", "against-16-bits", "streamed",
                 "gradients", "faults", "quality", "race", "in-short"]
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
                     "| JAX | scan |  | **950** | 800 |  |",
                     "| 1024 | tf32 | PyTorch | compile | no compiler |",
                     "| 1024 | tf32 | 100 (100 to 100) | 950 | JAX, scan (2001-02-03 04:06) | 2 of 19 | 9.0 × | 9.5 × | met |",
                     "| 1024 | fused | tf32 | 104 | +4.0 % | met |",
                     "| 1024 | cuda | naive | fp32 | 5000 | 204800 | 0.36 × |  |", "2 seeds per row.",
                     "| fused | tf32 | 7 | conv1.weight | 3.0e-03 | 1.0e-03 (tf32) | 3.0 × | – | 500 × (norm1.bias) | – | "
                     "**above 2** |",
                     "| fused | fp32 | 7 | conv1.weight | 1.0e-07 | 2.0e-07 (fp32) | 0.50 × | 1.5 × | 2.0 × | 0, 1 of 5 |  |",
                     "| tf32 | 99.20 % | 99.20 % | 99.10 % to 99.30 % | 99.20 % to 99.20 % | not recorded |  |",
                     "| heddle | 0.61 s | 0.70, 0.60, 0.61 s | 2, 2, 2 |",
                     "Before the first run the tuning cache was empty.",
                     "instead of the fastest tf32 peer, the speed-up is 7.0 at batch 1024.",
                     "| cnn | 1024 | `tf32` | 100 | 950 (JAX) | **9.5 ×** |",
                     "NVIDIA Test, driver 1.2, CUDA 13.0; Linux x86_64, Some CPU with 4 threads"):
            self.assertIn(line, text)

    def test_stored_gradients_are_judged_by_the_rules_of_today(self):
        made = whole()
        row = made["gradients"]["results"][1]
        row["errors_max"]["conv1.weight"] = 9e-7
        training.save(self.results, made)
        self.assertTrue(row["met"], "what the file says")
        self.docs()
        self.assertIn("| 0.50 × | 4.5 × | 2.0 × | 0, 1 of 5 | **largest above 2, in conv1.weight** |", self.text())

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        self.docs()
        text = self.text()
        self.assertIn("9.5 ×", text)
        with open(self.page, "w", encoding="utf-8") as file:
            file.write(text.replace("9.5 ×", "19.5 ×"))
        self.assertIn("does not say what", self.docs("--check", code=1))

    def test_without_results_of_a_part_the_page_says_so(self):
        training.save(self.results, {"format": training.FORMAT})
        self.docs()
        self.assertIn("Not measured yet.", self.text())
        self.docs("--check")

    def test_without_a_result_file_the_page_stays(self):
        self.docs()
        before = self.text()
        os.remove(self.results)
        self.assertIn("No such file", self.docs(code=1))
        self.assertEqual(self.text(), before)

    def test_a_block_that_nobody_makes_is_an_error(self):
        with open(self.page, "w", encoding="utf-8") as file:
            file.write("<!-- figures: speeed -->\n<!-- end -->\n")
        self.assertIn("there are no figures 'speeed'", self.docs(code=1))

    def test_the_page_shows_what_the_sanitizer_said(self):
        docs = module(DOCS)
        one = {"clean": ["cnn_step", "cnn_train"], "not_clean": ["nn.whole_steps/a"], "most_images": 300,
               "date": "2001-02-03T04:05:06Z"}
        self.assertIn("| racecheck | 2 of 3 | nn.whole_steps/a | 1 to 300 | 2001-02-03 |",
                      docs.sanitizer({"sanitizer": {"racecheck": one}}))
        self.assertEqual(docs.sanitizer({}), docs.NOTHING)

    def test_the_page_shows_what_became_of_a_run_whose_card_failed(self):
        docs = module(DOCS)
        found = {"date": "2001-02-03T04:05:06Z", "results": [
            FAULTS[0], dict(FAULTS[1], exit_code=139, intact=False, passed=False),
            {"fault": "lost", "exit_code": 70, "told": "gpu_fault: no", "intact": None, "goes_on": None, "passed": False}]}
        told = docs.faults({"faults": found}).splitlines()
        self.assertEqual(told[2:], [
            "| a kernel traps | 1 | heddle: a \"trap\" | yes | yes |  | 2001-02-03 |",
            "| the GPU is out of memory | 139 | heddle: no memory | **no** | yes | **unexpected** | 2001-02-03 |",
            "| the driver loses the GPU | 70 | gpu_fault: no | – | – | **unexpected** | 2001-02-03 |"])
        self.assertEqual(docs.faults({}), docs.NOTHING)

    def test_a_failure_of_the_same_day_is_told_by_the_minute(self):
        docs = module(DOCS)

        def told(then, failed):
            return docs.later_failure({"date": then, "failed": {"date": failed, "error": "lost"}})
        self.assertEqual(told("2001-02-03T04:05:06Z", "2001-02-03T07:08:09Z"),
                         "measured 2001-02-03, 04:05; failed at 07:08: lost")
        self.assertEqual(told("2001-02-03T04:05:06Z", "2001-02-03T04:05:09Z"),
                         "measured 2001-02-03, 04:05:06; failed at 04:05:09: lost")
        self.assertEqual(told("2001-02-03T04:05:06Z", "2001-02-04T04:05:06Z"),
                         "measured 2001-02-03; failed on 2001-02-04: lost")

    def test_a_long_message_is_cut_behind_a_word(self):
        docs = module(DOCS)
        for most, cut in ((18, "of which 33.38 MiB"), (17, "of which 33.38 …"), (16, "of which 33.38 …"),
                          (15, "of which …")):
            self.assertEqual(docs.shortened("of which 33.38 MiB", most), cut)
        self.assertEqual(docs.shortened("abcdefgh", 5), "abc …")
        self.assertEqual(docs.shortened("two\nlines", 9), "two lines")

    def test_the_page_shows_quality_at_a_large_batch_beside_the_other(self):
        docs = module(DOCS)
        large = dict(ACCURACY["quality"], settings=dict(SETTINGS, batch=1024))
        told = docs.quality(dict(whole(), accuracy=dict(ACCURACY, quality_large=large)))
        self.assertEqual(told.count("| tf32 | 99.20 % | 99.20 % |"), 2)
        self.assertIn("|\n\n2 seeds, 5 epochs, batch 1024, learning rate 0.1", told, "two tables, not one")

    def test_the_page_names_the_rungs_of_quality_and_the_races_without_choices(self):
        docs = module(DOCS)
        found = copy.deepcopy(ACCURACY)
        found["quality"]["results"][0]["rungs"] = ["06_tf32_wgmma"]
        self.assertIn("| `06_tf32_wgmma` |", docs.quality(dict(whole(), accuracy=found)))
        self.assertIn("| not recorded |", docs.quality(dict(whole(), accuracy=ACCURACY)))
        found["race"]["heddle"]["without_choices"] = [0.9, 0.95, 1.1]
        self.assertIn("| heddle, empty tuning cache | 0.95 s | 0.90, 0.95, 1.10 s |",
                      docs.race(dict(whole(), accuracy=found)))

    def test_the_page_shows_a_sustained_figure_where_there_is_one(self):
        docs = module(DOCS)
        self.assertNotIn("heddle, last", docs.targets(whole()))
        steps = dict(copy.deepcopy(STEPS), sustained_seconds=10, results=[dict(own("bf16", 1024, 95.0), sustained=101.0)])
        results = training.merged(whole(), "sustained", steps)
        told = docs.targets(results)
        self.assertIn("heddle, last 5 of 10 s, µs |", told)
        self.assertRegex(told, r"\| 1024 \| bf16 \|.*\| 101 \|")
        self.assertEqual(results["train"], whole()["train"], "the step itself is as it was measured")

    def test_the_page_shows_copies_and_what_limits_a_step_that_misses(self):
        docs = module(DOCS)
        self.assertIn("| copy in | 10 | 1000 | 20.0 | 50.0 | 95.0 % |", docs.copies(whole()))
        steps = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        results = dict(training.merged(whole(), "train", steps), limits=LIMITS)
        told = docs.limits(results)
        self.assertIn("(`08_bf16_wgmma`, 2001-02-03): a step takes 120 µs; its 2 kernels, each run alone, take 25.0 µs, of "
                      "which 5.00 are of `cnn_prepare`, which runs once per graph of many steps.", told)
        self.assertIn("| cnn_forward | 20.0 | Busiest: something. |", told)
        fast = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 1.0)])
        self.assertEqual(docs.limits(dict(training.merged(whole(), "train", fast), limits=LIMITS)),
                         "All targets are met.")

    def test_the_page_says_what_held_the_clock(self):
        docs = module(DOCS)
        clock = {"megahertz": 1500, "most_megahertz": 1980, "watts": 690, "most_watts": 700, "held_by": ["the power limit"]}
        steps = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        told = docs.limits(dict(training.merged(whole(), "train", steps), limits=[dict(LIMITS[0], clock=clock)]))
        self.assertIn("many steps. While it trains, the GPU runs at 1500 of 1980 MHz and draws 690 of 700 W; its clock is "
                      "limited by the power limit.", told)


class Accuracy(unittest.TestCase):
    def test_each_part_keeps_its_date(self):
        late, race = "2001-02-09T00:00:00Z", ACCURACY["race"]
        made = training.merged(whole(), "accuracy", {"date": late, "race": copy.deepcopy(race)})["accuracy"]
        self.assertEqual((made["race"]["date"], made["quality"]["date"]), (late, ACCURACY["date"]))
        self.assertIn("measured 2001-02-09 00:00 UTC", module(DOCS).race(dict(whole(), accuracy=made)))


class GpuCheck(unittest.TestCase):
    def test_old_figures_stay_until_there_are_new_ones(self):
        check = gpu_check()
        with tempfile.TemporaryDirectory() as folder:
            path, part = os.path.join(folder, "training.json"), os.path.join(folder, "part")
            training.save(path, whole())
            program = os.path.join(ROOT, "scripts", "gpu-check")
            done = subprocess.run([sys.executable, program, "train", "--build", folder, "--training", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual((done.returncode, done.stdout.count("\n")), (1, 1))
            self.assertIn("no heddle in " + folder, done.stdout)
            self.assertEqual(training.load(path), whole())
            options = types.SimpleNamespace(training=path, build=folder, anew=True)
            self.assertFalse(check.into_training(options, "train", part))
            self.assertEqual(training.load(path), whole())
            for section, document in (("streamed", STREAMED), ("infer", INFER)):
                training.save(part, document)
                self.assertTrue(check.into_training(options, section, part))
            self.assertEqual({"streamed", "infer"} & set(training.load(path)), {"streamed", "infer"})
            self.assertNotIn("peers", training.load(path))

    def test_its_parts_fill_the_result_file(self):
        check = gpu_check()
        played = {"bench": STEPS, "train_gpu.py": PEER_RUN, "gradients_gpu.py": GRADIENTS, "accuracy_gpu.py": ACCURACY}

        def play(command):
            name = "bench" if command[1] == "bench" else os.path.basename(command[1])
            if name == "ladder-limits":
                return 0, 1.0
            document = (COPIES if name == "trace" else STREAMED if "streamed" in command
                        else INFER if "infer" in command else played[name])
            with open(written_by(command), "w", encoding="utf-8") as file:
                json.dump(document, file)
            return 0, 1.0

        check.show_and_run = play
        with tempfile.TemporaryDirectory() as folder:
            options = types.SimpleNamespace(
                training=os.path.join(folder, "training.json"), build=folder, anew=False, quick=True, batches="1024",
                peer_modes=None, peer_precisions=None, peer_jobs=1, peer_alone=0, peer_seconds=60, peer_go=None,
                mnist=folder, skip=None, kernels="fused")
            table = check.Table()
            training.save(options.training, {"format": training.FORMAT, "sanitizer": {"racecheck": {}}})
            for part in (check.train, check.gradients, check.accuracy):
                part(options, table)
            self.assertFalse(table.failed())
            self.assertEqual(len(table.rows), 10)
            found = training.load(options.training)
            self.assertRegex(found["copies"].pop("date"), "^20")
            expected = whole()
            expected["copies"].pop("date")
            self.assertEqual(found.pop("sustained")["results"], found["train"]["results"])
            self.assertEqual(found.pop("sanitizer"), {"racecheck": {}}, "what an earlier part left there stays")
            self.assertEqual(found, expected)

    def faults(self, rows, code, before=None):
        """The part with its program played, which writes these rows (None: no file) and ends with `code`."""
        check = gpu_check()

        def play(command):
            if rows is not None:
                training.save(command[command.index("--json") + 1], {"results": rows})
            return code, "what was said", 3.0

        check.run = play
        table = check.Table()
        card = {"device_name": "NVIDIA Test", "driver": "1.2"}
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(check.clocks, "card", lambda: card):
            options = types.SimpleNamespace(training=os.path.join(folder, "training.json"), build=folder, anew=False)
            training.save(options.training, before or {"format": training.FORMAT})
            check.faults(options, table)
            return table.rows[0], training.load(options.training).get("faults")

    def test_what_was_seen_of_faults_is_stored_with_the_card_and_the_date(self):
        row, found = self.faults(FAULTS, 0)
        self.assertEqual(row[2:4], ("ok", "2 faults"))
        self.assertEqual((found["results"], found["device_name"], found["driver"]), (FAULTS, "NVIDIA Test", "1.2"))
        self.assertRegex(found["date"], "^20")

    def test_a_fault_that_was_not_told_as_asked_is_stored_and_fails(self):
        bad = [FAULTS[0], dict(FAULTS[1], exit_code=139, passed=False)]
        row, found = self.faults(bad, 1)
        self.assertEqual(row[2:4], ("FAILED", "unexpected: memory"))
        self.assertEqual(found["results"], bad)

    def test_faults_that_left_no_account_fail_and_leave_the_earlier_one(self):
        earlier = {"results": FAULTS, "date": "2001-02-03T04:05:06Z"}
        row, found = self.faults(None, 0, {"format": training.FORMAT, "faults": earlier})
        self.assertEqual((row[2], found), ("FAILED", earlier))


class Accounts(unittest.TestCase):
    def test_an_account_is_in_the_file_with_its_date(self):
        program = module(os.path.join(ROOT, "scripts", "ladder-limits"))
        program.clock_of_step = lambda *_: None
        program.account_of_step = lambda build, op, batch, precision: dict(
            {name: one for name, one in LIMITS[0].items() if name != "date"}, batch=batch, precision=precision)

        def accounts(path, **card):
            with unittest.mock.patch.object(program.clocks, "card", lambda: card):
                return program.accounts_of_training(types.SimpleNamespace(training=path, build=""), {"cnn_step": None})
        slow = dict(copy.deepcopy(STEPS), results=[own("bf16", 1024, 120.0)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "training.json")
            training.save(path, training.merged(whole(), "train", slow))
            self.assertEqual(accounts(path, device_name="NVIDIA Test", driver="1.2"), 0)
            found = training.load(path)["limits"]
            self.assertEqual(len(found), 11, "all but tf32 at 1024 are missed, or not measured")
            self.assertEqual({one["date"][:2] for one in found}, {"20"})
            with self.assertRaisesRegex(Exception, "has device_name"):
                accounts(path, device_name="NVIDIA Other")


if __name__ == "__main__":
    unittest.main()
