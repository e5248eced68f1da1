#!/usr/bin/env python3
"""gpu-check's part zoo with everything that needs a GPU played, how its result file is merged, and the page that
scripts/zoo-docs makes of a made-up one.

    zoo.py
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing is left in the source tree
from loading import ROOT, gpu_check, written_by  # noqa: E402

check = gpu_check()
zoo = check.zoo
DOCS = os.path.join(ROOT, "scripts", "zoo-docs")
PAGE = os.path.join(ROOT, "docs", "zoo-measured.md")
FACTS = {"device": "cuda", "device_name": "NVIDIA Test", "driver": "1.2", "runtime": "13.0", "machine": "Linux x86_64",
         "cpu_name": "Some CPU", "threads": 4, "version": "0.1", "date": "2001-02-03T04:05:06Z",
         "clocks": {"processor_before": 1980, "processor_after": 1950}}
VERSIONS = {"torch": "PyTorch 9", "jax": "JAX 9"}


def after(command, word):
    return command[command.index(word) + 1]


def own_document(command, microseconds):
    """What `heddle bench` writes; bf16 fails."""
    rows = []
    for batch in after(command, "--batch").split(","):
        for precision in after(command, "--precision").split(","):
            row = {"device": "cuda", "kernels": "fused", "precision": precision, "batch": int(batch)}
            time = microseconds * (0.5 if precision == "tf32x3" else 1)
            row.update({"status": "failed", "message": "no such rung"} if precision == "bf16" else
                       {"status": "measured", "microseconds": time, "low": time, "high": time, "steps": 9})
            rows.append(row)
    rows[0]["start_seconds"] = 3.5
    return dict(FACTS, job=command[2], results=rows)


def peer_document(command, times):
    """What peers/train_gpu.py writes: `times` has microseconds by mode, or an error."""
    rows = []
    for path in after(command, "--model").split(","):
        for precision in after(command, "--precisions").split(","):
            for batch in after(command, "--batches").split(","):
                for mode in after(command, "--modes").split(","):
                    row = {"model": os.path.basename(path)[:-5], "precision": precision, "batch": int(batch),
                           "framework": "jax" if mode.split()[0] in ("scan", "step") else "torch", "mode": mode}
                    told = times.get(mode, "no time left")
                    rows.append(dict(row, **({"error": told} if isinstance(told, str) else {"microseconds": told})))
    return {"date": "2001-02-03T05:00:00Z", "versions": VERSIONS, "device": "NVIDIA Test", "driver": "1.2",
            "results": rows}


class Zoo(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.scratch.name, "zoo.json")
        self.asked = []

    def tearDown(self):
        self.scratch.cleanup()

    def options(self, *arguments):
        with unittest.mock.patch.object(sys, "argv", ["gpu-check", "zoo", "--zoo", self.file, *arguments]):
            return check.parse()

    def measure(self, *arguments, microseconds=100.0, times=()):
        """The result file after a run, and the table; self.asked has the commands."""
        self.asked, table = [], check.Table()

        def play(command, env=None):
            self.asked.append((command, env))
            own = command[1] == "bench"
            document = own_document(command, microseconds) if own else peer_document(command, dict(times))
            with open(written_by(command), "w", encoding="utf-8") as file:
                json.dump(document, file)
            return 0, 1.0

        with contextlib.redirect_stdout(io.StringIO()) as self.said:
            zoo.measure(self.options(*arguments), table, play)
        return zoo.load(self.file), table

    def figures(self, results, **wanted):
        return {(row["framework"], row["mode"], row["precision"]): row.get("microseconds", row.get("error"))
                for row in results["results"] if all(row[name] == value for name, value in wanted.items())}

    def test_heddle_comes_first_then_the_peers_that_say_most(self):
        self.measure("--models", "lenet5,mlp", "--peer-seconds", "500")
        names = [(command[2], after(command, "--model")) for command, _ in self.asked if command[1] == "bench"]
        lenet = os.path.join(ROOT, "examples", "models", "lenet5.json")
        self.assertEqual(names, [("train", lenet), ("train", lenet), ("infer", lenet),
                                 ("train", "mlp"), ("train", "mlp"), ("infer", "mlp")])
        peers = [command for command, _ in self.asked[len(names):]]
        self.assertEqual([(after(command, "--job"), after(command, "--modes")) for command in peers],
                         [(job, stage[job]) for stage in zoo.STAGES for job in zoo.JOBS])
        self.assertEqual({after(command, "--batches") for command in peers}, {"64,1024", "1,64,1024,10000"})
        self.assertTrue(all(float(after(command, "--total-seconds")) <= 500 for command in peers))
        self.assertIn("train: geometric mean", self.measure("--models", "mlp", times={"graph": 300.0}) and
                      self.said.getvalue())

    def test_a_cold_start_has_empty_caches_and_a_warm_one_those_it_left(self):
        results, _ = self.measure("--models", "cnn,mlp", "--skip-peers", "--jobs", "infer,train")
        caches = [env["XDG_CACHE_HOME"] for _, env in self.asked]
        self.assertEqual([caches.count(one) for one in caches], 6 * [3])
        self.assertEqual([(row["model"], row["mode"], row["seconds"]) for row in results["starts"]],
                         [(model, mode, 3.5) for model in ("cnn", "mlp") for mode in ("cold", "warm")])
        self.assertFalse(os.path.exists(caches[0]))

    def test_fp32_is_the_faster_of_fp32_and_tf32x3(self):
        results, table = self.measure("--models", "cnn", "--jobs", "train", "--batches", "64",
                                      times={"graph": 300.0, "scan": 200.0, "compile graph": "no compiler"})
        self.assertFalse(table.failed())
        pairs = {pair["precision"]: pair for pair in zoo.compared(results, "train")}
        self.assertEqual((pairs["fp32"]["own"]["precision"], pairs["fp32"]["peer"]["mode"], pairs["fp32"]["ratio"]),
                         ("tf32x3", "scan", 4.0))
        self.assertEqual((pairs["tf32"]["ratio"], pairs["bf16"]["ratio"]), (2.0, None))
        self.assertAlmostEqual(zoo.mean(pairs.values()), 8 ** 0.5)
        with_figure, without = zoo.modes_run(results, "train", pairs["fp32"])
        self.assertEqual(sorted(with_figure), [("jax", "scan"), ("torch", "graph")])
        self.assertIn(("torch", "compile graph", "no compiler"), without)
        self.assertIn(("jax", "scan nchw", "no time left"), without)

    def test_layouts_are_modes_only_where_a_network_has_convolutions(self):
        modes_in = {}
        for model in ("cnn", "mlp"):
            results, _ = self.measure("--models", model, "--jobs", "train", "--batches", "64", times={"graph": 300.0})
            modes_in[model] = zoo.modes_of(results, "train", zoo.compared(results, "train")[0])
        self.assertEqual(modes_in, {"cnn": (1, 8), "mlp": (1, 4)})

    def test_a_single_image_is_compared_with_modes_that_predict_it_alone(self):
        modes = "graph,pipelined folded compile graph channels-last"
        results, _ = self.measure("--models", "cnn", "--jobs", "infer", "--batches", "1,64", "--peer-modes", modes,
                                  times={"graph": 300.0, "pipelined folded compile graph channels-last": 200.0})
        self.assertEqual({pair["batch"]: pair["peer"]["mode"] for pair in zoo.compared(results, "infer")},
                         {1: "graph", 64: "pipelined folded compile graph channels-last"})

    def test_merging_replaces_only_what_was_measured(self):
        how = ["--models", "mlp", "--jobs", "train", "--batches", "64", "--precisions", "fp32"]
        self.measure(*how, times={"graph": 300.0, "compile graph": 250.0})
        results, _ = self.measure(*how, "--merge", microseconds=120.0,
                                  times={"graph": 290.0, "scan": 280.0, "compile graph": 260.0})
        found = self.figures(results, job="train", batch=64)
        self.assertEqual(found["heddle", "fused", "fp32"], 120.0, "of our own rows the last counts")
        self.assertEqual(found["torch", "graph", "fp32"], 290.0)
        self.assertEqual(found["torch", "compile graph", "fp32"], 250.0, "of a peer's the fastest")
        self.assertEqual(found["jax", "scan", "fp32"], 280.0)
        results, _ = self.measure(*how, "--merge", "--only-peers", "--batches", "64,1024", times={})
        again = self.figures(results, job="train", batch=64)
        self.assertEqual(again, found, "what was not run keeps its figure")
        self.assertNotIn("failed", str(results["results"]))
        self.assertEqual(set(self.figures(results, batch=1024).values()), {"no time left"})
        results, _ = self.measure(*how, "--skip-peers")
        self.assertEqual(len(results["results"]), 2, "without --merge the first new rows replace all")

    def test_rows_of_two_cards_do_not_stand_in_one_file(self):
        self.measure("--models", "mlp", "--skip-peers")
        with unittest.mock.patch.dict(FACTS, device_name="NVIDIA Other"), \
                self.assertRaisesRegex(zoo.Trouble, "has device_name NVIDIA Test, this run NVIDIA Other"):
            self.measure("--models", "mlp", "--skip-peers", "--merge")

    def test_a_run_that_left_nothing_fails_and_keeps_the_file(self):
        before, _ = self.measure("--models", "mlp", "--skip-peers")
        table = check.Table()
        with contextlib.redirect_stdout(io.StringIO()):
            zoo.measure(self.options("--models", "mlp"), table, lambda *_, **__: (1, 1.0))
        self.assertTrue(table.failed())
        self.assertEqual(zoo.load(self.file), before)

    def test_mistakes_are_refused_before_anything_runs(self):
        for arguments, says in ((["--models", "lenet"], "--models: there is no 'lenet'; there are lenet5, "),
                                (["--jobs", "predict"], "--jobs: there is no 'predict'; there are train, infer"),
                                (["--precisions", "fp8"], "--precisions: there is no 'fp8'"),
                                (["--skip-peers", "--only-peers"], "leave nothing to measure")):
            with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
                self.options(*arguments)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(says, said.getvalue())

    # --- the page -----------------------------------------------------------------------------------------------------

    def docs(self, *arguments):
        done = subprocess.run([sys.executable, DOCS, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_the_page_is_made_of_the_file(self):
        times = {"graph": 150.0, "scan": 300.0, "step": 120.0, "compile graph": "no compiler: none"}
        results, _ = self.measure("--models", "cnn,vgg", "--batches", "64", times=times)
        page = os.path.join(self.scratch.name, "page.md")
        with open(PAGE, encoding="utf-8") as file, open(page, "w", encoding="utf-8") as made:
            made.write(file.read() + "\n<!-- figures: zoo-in-short -->\n<!-- end -->\n"
                       "\n<!-- figures: in-short -->\nof another script\n<!-- end -->\n")
        self.assertEqual(self.docs("--results", self.file, "--page", page), (0, ""))
        self.assertEqual(self.docs("--results", self.file, "--page", page, "--check"), (0, ""))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for line in ("NVIDIA Test, driver 1.2, CUDA 13.0; Linux x86_64, Some CPU with 4 threads.",
                     "Peers: JAX 9; PyTorch 9.",
                     "| cnn | 64 | fp32 | 50.0 (by tf32x3) | 150 | PyTorch, graph | 2 of 8 | 3.00 | 1.2 | reached |",
                     "| vgg | 64 | tf32 | 100 | 150 | PyTorch, graph | 2 of 8 | 1.50 | 1.5 | reached |",
                     "| cnn | 64 | bf16 | no such rung | 150 | PyTorch, graph | 2 of 8 | – | 1.2 |  |",
                     "| cnn | 64 | fp32 | 50.0 (by tf32x3) | 120 | JAX, step | 2 of 8 | 2.40 | 3 | missed |",
                     "**6 of 6 rows lack a mode**",
                     "Geometric mean over 4 of 6 rows: **2.12 ×** (wanted: 2). 4 reach what is wanted of them.",
                     "| cnn | cold | fp32 at batch 64 | 3.50 | 10 |",
                     "Other networks: a training step of `vgg` is 1.50 to ",
                     "of another script",
                     "| train | PyTorch | graph | 6 | 6 |  |",
                     "| train | PyTorch | compile graph | 0 | 0 | no compiler |"):
            self.assertIn(line, text)
        timed = dict(next(row for row in results["results"] if row["job"] == "infer" and row["precision"] == "int8"))
        quality = {"data": "mnist", "model": "vgg", "precision": "bf16", "heddle": [0.98, 0.99], "pytorch": [0.97, 0.99],
                   "int8": [0.98, 0.98], "met": True}
        zoo.save(self.file, dict(results, quality=[quality], results=results["results"] + [
            dict(timed, precision="bf16", mode="played", microseconds=2 * timed["microseconds"])]))
        self.assertEqual(self.docs("--results", self.file, "--page", page), (0, ""))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("| vgg | 64 | 100 | 200 | 2.00 |", text)
        self.assertIn("| mnist | vgg | bf16 | 98.50 (98.00 to 99.00) | 98.00 (97.00 to 99.00) | 98.00 (98.00 to 98.00) "
                      "| reached |", text)
        zoo.save(self.file, dict(results, version="0.2"))
        code, said = self.docs("--results", self.file, "--page", page, "--check")
        self.assertEqual((code, said), (1, page + " is out of date: run scripts/zoo-docs\n"))

    def test_without_a_file_it_says_so(self):
        code, said = self.docs("--results", self.file, "--check")
        self.assertEqual((code, said), (1, "zoo-docs: %s is not there yet: `scripts/gpu-check zoo` writes it\n" % self.file))


if __name__ == "__main__":
    unittest.main()
