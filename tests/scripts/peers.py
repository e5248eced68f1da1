#!/usr/bin/env python3
"""What runs beside heddle, without a GPU: the order in which PyTorch and JAX are run and measured alone, that they wait
for a free card, what is read of a card's clock, and whether a race began with choices of earlier runs.

    peers.py
"""
import contextlib
import importlib.util
import io
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
PEERS = os.path.join(ROOT, "peers", "train_gpu.py")
sys.path.insert(0, os.path.join(ROOT, "peers"))
import accuracy_gpu  # noqa: E402
import clocks  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import training  # noqa: E402


class Race(unittest.TestCase):
    def test_choices_that_are_kept_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, ".cache", "heddle"))
            for environment in ({"XDG_CACHE_HOME": os.path.join(folder, ".cache")}, {"HOME": folder},
                                {"HOME": folder, "XDG_CACHE_HOME": "relative"}):
                path = os.path.join(folder, ".cache", "heddle", "tune-NVIDIA-Test-0.1.0.json")
                with unittest.mock.patch.dict(os.environ, environment, clear=True):
                    self.assertFalse(accuracy_gpu.choices_kept())
                    with open(path, "w", encoding="utf-8"):
                        self.assertTrue(accuracy_gpu.choices_kept())
                os.remove(path)


class Clocks(unittest.TestCase):
    LINES = ("1980, 1980, 120.5, 700.00, Not Active, Not Active, Not Active, Not Active, Not Active\n"  # at rest
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

    def test_the_card_is_named_where_there_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "nvidia-smi")
            for says, found in (("echo NVIDIA Test, 1.2", {"device_name": "NVIDIA Test", "driver": "1.2"}),
                                ("echo No devices were found; exit 6", {}), ("echo what", {})):
                with open(program, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n%s\n" % says)
                os.chmod(program, 0o755)
                self.assertEqual(clocks.card(program), found)
            self.assertEqual(clocks.card(os.path.join(folder, "none")), {})


def peers_with(worker, folder):
    """peers/train_gpu.py, whose workers are this program."""
    path = os.path.join(folder, "worker.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(worker)
    program = importlib.util.module_from_spec(importlib.util.spec_from_file_location("train_gpu", PEERS))
    program.__spec__.loader.exec_module(program)
    program.__file__ = path  # what is started as a worker
    return program


# Says what it finds: its folder of choices, and whether other workers are there. The second figure of a mode differs.
ALONE_WORKER = """import json, os, sys
mode = sys.argv[sys.argv.index('--modes') + 1]
alone = 'TORCHINDUCTOR_CACHE_DIR' in os.environ
mine = os.path.join(os.environ['NOTES'], '%d.running' % os.getpid())
open(mine, 'w').close()
if '--turns' in sys.argv:
    print(json.dumps({'ready': 1}), flush=True)
    sys.stdin.readline()
times = {'eager': [10], 'graph': [5, 6], 'compile': [7, 4], 'max-autotune': [8, None]}[mode]
row = {'model': 'cnn', 'framework': 'torch', 'precision': 'fp32', 'batch': 8, 'mode': mode}
if times[alone] is None:
    row['error'] = 'it broke'
else:
    row.update(microseconds=times[alone], low=1, high=9, images_per_second=1, loss=1, prepare_seconds=1)
others = [name for name in os.listdir(os.environ['NOTES']) if name.endswith('.running')]
names = ('TORCHINDUCTOR_CACHE_DIR', 'TRITON_CACHE_DIR', 'JAX_ENABLE_COMPILATION_CACHE', 'XLA_FLAGS')
note = {'mode': mode, 'alone': alone, 'running': len(others), **{name: os.environ.get(name) for name in names}}
if alone:
    note['kept'] = os.listdir(os.environ['TORCHINDUCTOR_CACHE_DIR'])
    open(os.path.join(os.environ['TORCHINDUCTOR_CACHE_DIR'], 'chosen'), 'w').close()
with open(os.path.join(os.environ['NOTES'], 'notes'), 'a') as file:
    file.write(json.dumps(note) + '\\n')
os.remove(mine)
print(json.dumps(row), flush=True)
"""


# Notes what it does and whether the file GO is there then.
GO_WORKER = """import json, os, sys
def note(what):
    with open(os.environ['NOTES'], 'a') as file:
        file.write('%s %s\\n' % (what, os.path.exists(os.environ['GO'])))
modes = sys.argv[sys.argv.index('--modes') + 1].split(',')
def prepare(mode):
    print('{this is no row', flush=True)  # as a compiler may print
    note('prepares ' + mode)
def measure(mode):
    note('measures ' + mode)
    print(json.dumps({'model': 'cnn', 'framework': 'torch', 'precision': 'fp32', 'batch': 8, 'mode': mode, 'low': 1,
                      'high': 1, 'microseconds': 1, 'images_per_second': 1, 'loss': 1, 'prepare_seconds': 1}),
          flush=True)
if '--turns' in sys.argv:
    for mode in modes:
        prepare(mode)
    print(json.dumps({'ready': len(modes)}), flush=True)
    if sys.stdin.readline():
        for mode in modes:
            measure(mode)
else:
    for mode in modes:
        prepare(mode)
        measure(mode)
"""


class Go(unittest.TestCase):
    def run_with(self, *arguments, sleep):
        """The rows, and what the workers noted. `sleep` is called, with the folder, wherever the program waits; what it
        returns is how many seconds have passed."""
        passed = [0]

        def wait(_):
            passed[0] += sleep(folder)

        with tempfile.TemporaryDirectory() as folder:
            program = peers_with(GO_WORKER, folder)
            program.time = types.SimpleNamespace(sleep=wait, monotonic=lambda: time.monotonic() + passed[0])
            self.go, self.notes = os.path.join(folder, "go"), os.path.join(folder, "notes")
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "eager,graph", "--go", self.go, *arguments]
            with unittest.mock.patch.object(sys, "argv", arguments), \
                    unittest.mock.patch.dict(os.environ, {"NOTES": self.notes, "GO": self.go}):
                rows, _ = program.run_all(program.parse())
            return rows, self.noted()

    def noted(self):
        if not os.path.exists(self.notes):
            return []
        with open(self.notes, encoding="utf-8") as file:
            return file.read().splitlines()

    def free_the_card(self, _):
        """Makes the file, when a worker that does not wait for it would have measured."""
        end = time.monotonic() + 20
        while not self.noted() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)
        with open(self.go, "w", encoding="utf-8"):
            return 0

    def test_nobody_measures_before_the_file_is_there_however_many_there_are(self):
        for arguments in (["--jobs", "1"], ["--jobs", "1", "--split", "1"], ["--jobs", "2", "--split", "1"]):
            rows, notes = self.run_with(*arguments, sleep=self.free_the_card)
            self.assertEqual([(row["mode"], row.get("microseconds")) for row in rows], [("eager", 1), ("graph", 1)])
            self.assertEqual([note for note in notes if note.startswith("measures")],
                             ["measures eager True", "measures graph True"], arguments)
            self.assertEqual(sum(note.startswith("prepares") for note in notes), 2)
            self.assertIn("prepares eager False", notes, "it prepares beside other work")

    def test_nothing_is_measured_where_the_file_does_not_come(self):
        for arguments in (["--jobs", "1"], ["--jobs", "2", "--split", "1"]):
            rows, notes = self.run_with(*arguments, sleep=lambda _: 10000)
            self.assertEqual([(row["mode"], row.get("error")) for row in rows],
                             [(mode, "%s was not there in time" % self.go) for mode in ("eager", "graph")])
            self.assertEqual(sorted(notes), ["prepares eager False", "prepares graph False"])

    def test_a_worker_measures_when_it_is_told_to_and_not_when_nobody_is_left(self):
        for said, measured in (("go\n", 1), ("", 0)):
            rows = work_with(lambda *_: (lambda: lambda steps: None, lambda: 0.1), said, "--modes", "eager")
            self.assertEqual([rows[0], rows[1]], [{"version": "1", "device": "card"}, {"ready": 1}])
            self.assertEqual(sum("microseconds" in row for row in rows), measured)

    def test_what_found_no_memory_beside_others_is_tried_alone(self):
        tried = []

        def train(mode, batch):
            tried.append((mode, batch))
            if mode == "graph" and tried.count((mode, batch)) == 1:
                raise RuntimeError("CUDA out of memory")
            if mode == "compile":
                raise RuntimeError("no compiler")
            return lambda: lambda steps: None, lambda: 0.1

        how = ["--modes", "graph,eager,compile", "--batches", "8,9"]
        for said, graphs in (("go\ngo\n", 2), ("go\n", 0)):
            tried.clear()
            rows = work_with(train, said, *how)
            steps = [(row["mode"], row["batch"], row.get("error")) for row in rows if "mode" in row]
            compiled = [("compile", batch, "RuntimeError: no compiler") for batch in (8, 9)]
            measured = [("eager", 8, None), ("eager", 9, None)]
            alone = [("graph", 8, None), ("graph", 9, None)] if graphs else []
            self.assertEqual(steps, compiled + measured + alone)
            self.assertIn({"ready": 2}, rows)
            self.assertIn({"left": 2}, rows)
            self.assertLess(tried.index(("eager", 8)), len(tried) - graphs, "those that failed come last")


def work_with(train, said, *arguments):
    """What a worker says whose framework's modes are made by `train`; `said` is what it is told."""
    played = types.SimpleNamespace(version="1", device_name=lambda: "card", train=train, release=lambda: None)
    with tempfile.TemporaryDirectory() as folder:
        program = peers_with("", folder)
    told = io.StringIO()
    arguments = ["train_gpu.py", "--worker", "torch", "--batches", "8", "--seconds", "0", "--turns", *arguments]
    with unittest.mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(told), \
            unittest.mock.patch.object(sys, "stdin", io.StringIO(said)), \
            unittest.mock.patch.dict(program.peer_worker.FRAMEWORKS, torch=lambda *_: played):
        program.peer_worker.work(program.parse())
    return [json.loads(line) for line in told.getvalue().splitlines()]


class Checks(unittest.TestCase):
    def test_blocks_are_as_long_as_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            worker = peers_with("", folder).peer_worker
        clock = [0.0]

        def run(steps):
            clock[0] += 0.02 * steps

        options = types.SimpleNamespace(job="train", steps=100, block_seconds=0.5, seconds=0, clocks=False)
        framework = types.SimpleNamespace(train=lambda *_: (lambda: run, lambda: 0.1, 10))
        model = types.SimpleNamespace(classes=10)
        with unittest.mock.patch.object(worker.timing.time, "perf_counter", lambda: clock[0]):
            for seconds, steps in ((0.5, 20), (0.01, 10), (60, 100), (0, 100)):
                options.block_seconds = seconds
                row = worker.Task(framework, options, model, "scan", 8).measured()
                self.assertEqual(row["steps_a_block"], steps)
                self.assertAlmostEqual(row["microseconds"], 20000)

    def test_a_slow_network_may_learn_after_the_timing(self):
        with tempfile.TemporaryDirectory() as folder:
            worker = peers_with("", folder).peer_worker
        for after, learns in ((0, True), (900, True), (5000, False)):
            done = [0]

            def run(steps):
                done[0] += steps

            def check():
                return worker.learns(run, lambda: 0.1 if done[0] >= after else 2.0, 10)

            if learns:
                self.assertEqual(check(), {"loss": 0.1})
            else:
                self.assertRaises(ArithmeticError, check)

    def test_a_network_that_has_not_learnt_has_no_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            worker = peers_with("", folder).peer_worker
        self.assertEqual(worker.has_learnt(1.4, 10), {"loss": 1.4})
        for loss, classes in ((1.6, 10), (0.5, 2), (float("nan"), 10)):
            with self.assertRaisesRegex(ArithmeticError, "it has not learnt"):
                worker.has_learnt(loss, classes)


class Peers(unittest.TestCase):
    def test_what_nobody_has_is_refused_before_anything_runs(self):
        for arguments, words in ((["--modes", "eager,sacn"], "no framework has the mode 'sacn'; their words are "),
                                 (["--modes", "scan graph"], "no framework has the mode 'scan graph'"),
                                 (["--frameworks", "tensor"], "there is no framework 'tensor'; there are jax, torch"),
                                 (["--precisions", "fp8"], "there is no precision 'fp8'"),
                                 (["--model", "nothing.json"], "nothing.json: [Errno 2] No such file or directory"),
                                 (["--job", "infer", "--modes", "scan"], "no framework has the mode 'scan'"),
                                 (["--model", "cnn,cnn"], "two model files are called 'cnn'"),
                                 (["--jobs", "0"], "--jobs 0: at least one process is needed")):
            done = subprocess.run([sys.executable, PEERS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stdout)

    def modes(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            program = peers_with("", folder)
        with unittest.mock.patch.object(sys, "argv", ["train_gpu.py", "--precisions", "fp32", *arguments]):
            return {(job.name, job.framework): job.modes for job in program.jobs(program.parse())}

    def test_modes_are_those_that_mean_something_for_the_network_and_the_device(self):
        asked = ["--model", "mlp3,lenet5", "--modes", "graph,graph channels-last,eager,scan,scan nchw"]
        self.assertEqual(self.modes(*asked), {
            ("mlp3", "torch"): ["graph", "eager"], ("mlp3", "jax"): ["scan"],
            ("lenet5", "torch"): ["graph", "graph channels-last", "eager"], ("lenet5", "jax"): ["scan", "scan nchw"]})
        self.assertEqual(self.modes(*asked, "--device", "cpu")["lenet5", "torch"], ["eager"])
        for job in ("train", "infer"):
            for device in ("cuda", "cpu"):
                for modes in self.modes("--job", job, "--device", device, "--quick").values():
                    self.assertTrue(modes, (job, device))

    def test_a_framework_that_is_missing_is_a_row_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("torch", "jax"):  # whatever is installed, these are found first
                with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
                    file.write("raise ImportError('not here')\n")
            path = os.path.join(folder, "peers.json")
            done = subprocess.run([sys.executable, PEERS, "--batches", "8", "--precisions", "fp32", "--modes",
                                   "scan,eager,compile graph", "--split", "1", "--jobs", "2", "--json", path],
                                  env=dict(os.environ, PYTHONPATH=folder), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("--modes 'scan,eager,compile graph' --split 1", training.load(path)["command"])
            rows = training.load(path)["results"]
            self.assertEqual([(row["framework"], row["mode"], row["error"]) for row in rows],
                             [(framework, mode, "ImportError: not here")
                              for framework, mode in (("jax", "scan"), ("torch", "eager"),
                                                      ("torch", "compile graph"))])

    def test_a_mode_that_takes_too_long_does_not_cost_those_that_are_ready(self):
        worker = ("import json, sys, time\n"
                  "mode = sys.argv[sys.argv.index('--modes') + 1]\n"
                  "if mode == 'eager':\n"
                  "    time.sleep(60)\n"
                  "print(json.dumps({'ready': 1}), flush=True)\n"
                  "sys.stdin.readline()\n"
                  "print(json.dumps({'model': 'cnn', 'framework': 'torch', 'precision': 'fp32', 'batch': 8,\n"
                  "                  'mode': mode, 'low': 1, 'high': 1, 'microseconds': 1, 'images_per_second': 1,\n"
                  "                  'loss': 1, 'prepare_seconds': 1}), flush=True)\n")
        with tempfile.TemporaryDirectory() as folder:
            program = peers_with(worker, folder)
            program.MEASURING_SECONDS = 1  # of the 12, ten are for getting ready
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "eager,graph", "--split", "1", "--jobs", "2", "--total-seconds", "12", "--seconds", "0"]
            with unittest.mock.patch.object(sys, "argv", arguments):
                rows, _ = program.run_all(program.parse())
        self.assertEqual([(row["mode"], row.get("microseconds"), row.get("error")) for row in rows],
                         [("eager", None, "no time left"), ("graph", 1, None)])

    def test_what_is_not_ready_in_time_waits_until_the_others_are_measured(self):
        worker = ("import json, os, sys, time\n"
                  "mode = sys.argv[sys.argv.index('--modes') + 1]\n"
                  "while mode == 'eager' and not os.path.exists(os.environ['MEASURED']):\n"
                  "    time.sleep(0.01)\n"
                  "print(json.dumps({'ready': 1}), flush=True)\n"
                  "sys.stdin.readline()\n"
                  "print(json.dumps({'model': 'cnn', 'framework': 'torch', 'precision': 'fp32', 'batch': 8,\n"
                  "                  'mode': mode, 'low': 1, 'high': 1, 'microseconds': 1, 'images_per_second': 1,\n"
                  "                  'loss': 1, 'prepare_seconds': 1}), flush=True)\n"
                  "open(os.environ['MEASURED'], 'w').close()\n")
        with tempfile.TemporaryDirectory() as folder:
            program = peers_with(worker, folder)
            program.MEASURING_SECONDS, program.PREPARING_SHARE = 30, 0.05  # of the 60, three are for getting ready
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "eager,graph", "--split", "1", "--jobs", "2", "--total-seconds", "60", "--seconds", "0"]
            with unittest.mock.patch.object(sys, "argv", arguments), \
                    unittest.mock.patch.dict(os.environ, {"MEASURED": os.path.join(folder, "measured")}):
                rows, _ = program.run_all(program.parse())
        self.assertEqual([(row["mode"], row.get("microseconds")) for row in rows], [("eager", 1), ("graph", 1)])

    def test_the_fastest_are_measured_once_more_alone_and_without_choices_made_before(self):
        with tempfile.TemporaryDirectory() as folder:
            program = peers_with(ALONE_WORKER, folder)
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "eager,graph,compile,max-autotune", "--split", "1", "--jobs", "4", "--alone", "3"]
            flags = "--xla_gpu_autotune_level=4 --xla_gpu_per_fusion_autotune_cache_dir=/tmp/x"
            environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("TRITON", "TORCH"))}
            environment.update(NOTES=folder, XLA_FLAGS=flags)
            with unittest.mock.patch.object(sys, "argv", arguments), \
                    unittest.mock.patch.dict(os.environ, environment, clear=True):
                rows, _ = program.run_all(program.parse())
            with open(os.path.join(folder, "notes"), encoding="utf-8") as file:
                notes = [json.loads(line) for line in file]
        kept = {row["mode"]: (row["microseconds"], row.get("alone"), row.get("twice"), row.get("alone_error"))
                for row in rows}
        self.assertEqual(kept, {"eager": (10, None, None, None), "graph": (5, None, [5, 6], None),
                                "compile": (4, True, [7, 4], None), "max-autotune": (8, None, None, "it broke")})
        second = [note for note in notes if note["alone"]]
        self.assertEqual([note["mode"] for note in second], ["graph", "compile", "max-autotune"])
        self.assertEqual([note["running"] for note in second], [1, 1, 1])
        self.assertEqual([note["kept"] for note in second], [[], [], []])
        self.assertEqual({note["JAX_ENABLE_COMPILATION_CACHE"] for note in second}, {"false"})
        self.assertEqual({note["XLA_FLAGS"] for note in second}, {"--xla_gpu_autotune_level=4"})
        self.assertEqual({note["XLA_FLAGS"] for note in notes if not note["alone"]}, {flags})
        self.assertEqual(len({note["TRITON_CACHE_DIR"] for note in notes} - {None}), 1)

    def test_second_measurements_end_with_the_time_that_there_is(self):
        with tempfile.TemporaryDirectory() as folder:
            program = peers_with(ALONE_WORKER, folder)
            arguments = ["train_gpu.py", "--batches", "8", "--precisions", "fp32", "--frameworks", "torch", "--modes",
                         "graph", "--alone", "1", "--total-seconds", "15"]  # starting alone takes longer
            with unittest.mock.patch.object(sys, "argv", arguments), \
                    unittest.mock.patch.dict(os.environ, {"NOTES": folder}):
                rows, _ = program.run_all(program.parse())
        self.assertEqual([(row["microseconds"], row.get("twice")) for row in rows], [(5, None)])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_pytorch_trains_alone_once_more(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "peers.json")
            done = subprocess.run([sys.executable, PEERS, "--device", "cpu", "--batches", "8", "--precisions", "fp32",
                                   "--frameworks", "torch", "--modes", "eager,channels-last", "--seconds", "0",
                                   "--images", "512", "--alone", "1", "--json", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            document = training.load(path)
            self.assertEqual(document["device"], "cpu")
            self.assertEqual(sorted("twice" in row for row in document["results"]), [False, True])
            again, = (row for row in document["results"] if "twice" in row)
            self.assertEqual(again["microseconds"], min(again["twice"]))
            self.assertEqual(again.get("alone", False), again["twice"][1] < again["twice"][0])


if __name__ == "__main__":
    unittest.main()
