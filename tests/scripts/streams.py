#!/usr/bin/env python3
"""The page of the pipeline: scripts/stream-docs on small results, what it makes of them, and what it refuses; and
gpu-check's part that measures them, with everything that needs a GPU played.

    streams.py
"""
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from loading import ROOT, gpu_check, written_by  # noqa: E402

DOCS = os.path.join(ROOT, "scripts", "stream-docs")


def run(name, streams, milliseconds, **more):
    made = {"name": name, "streams": streams, "memory": "pinned", "kind": "non-blocking", "default_work": False,
            "queued_by": "loop", "priority": False, "ordered": False, "work": 100, "milliseconds": milliseconds,
            "alone": {"copy in": 20.0, "compute": 25.0, "copy out": 15.0, "both ways": 30.0}, "slowest": "compute",
            "limit": 25.0, "of_limit": 25.0 / milliseconds, "stages_at_once": 60.0 / milliseconds, "urgent_batch": 1.0,
            "other_batch": 2.0, "checked": True}
    made.update(more)
    return made


PIPELINE = {"format": "heddle pipeline 1", "machine": "Linux x86_64", "device": "cuda", "device_name": "NVIDIA Test",
            "processors": 4, "driver": "1.2", "runtime": "13.0", "version": "0.1", "date": "2001-02-03T04:05:06Z",
            "clocks": {"processor_before": 1980, "processor_after": 1950}, "batches": 50, "bytes": 16 << 20,
            "work": 100, "rounds": 5,
            "runs": [run("1 stream", 1, 60.0), run("3 streams", 3, 26.0), run("4 streams", 4, 27.0),
                     run("pageable memory", 3, 25.5, memory="pageable"),
                     run("first stream urgent", 3, 30.0, priority=True),
                     run("one round of work", 3, 25.0, work=1, slowest="copy in", limit=20.0, of_limit=0.8)]}
UNIFIED = {"format": "heddle unified memory 1", "device_name": "NVIDIA Test", "runtime": 13000, "driver": 13000,
           "date": "2001-02-03T04:05:06Z", "bytes": 64 << 20, "sparse": 64, "rounds": 9,
           "rows": [{"name": "explicit copies", "all": 2.5, "sparse": 2.25}], "verdict": "Copies | win."}
DYNAMIC = {"format": "heddle dynamic parallelism 1", "device_name": "NVIDIA Test", "runtime": 12040, "driver": 13000,
           "date": "2001-02-04T04:05:06Z", "row_count": 10, "elements": 1000, "long_rows": 2, "rounds": 15,
           "rows": [{"name": "one flat launch", "microseconds": 12.345}], "verdict": "Flat."}
NAMES = ["machine", "stages", "runs", "target", "cpu", "unified-memory", "dynamic-parallelism", "out-of-core"]


def rung(name, seconds, limit=0.5, limited_by="arithmetic"):
    return {"rung": name, "right": True, "error_share": 0.1, "seconds": seconds, "limit_seconds": limit,
            "limited_by": limited_by, "product_gflops": 4000.0}


PRODUCT = {"m": 10000, "n": 10000, "k": 10000, "memory_kib": 1024, "workspace_bytes": 1 << 30, "pin_seconds": 1.0,
           "copy_in_seconds": 0.02, "copy_out_seconds": 0.01, "copy_both_seconds": 0.025,
           "rungs": [rung("01_one_stream", 1.0), rung("02_streams", 0.525), rung("cublas_xt", 0.75)]}
OUT_OF_CORE = {"format": "heddle bench out-of-core 1", "machine": "Linux x86_64", "device": "cuda",
               "device_name": "NVIDIA Test", "driver": "1.2", "runtime": "13.0", "version": "0.1",
               "date": "2001-02-03T04:05:06Z", "clocks": {"processor_before": 1980, "processor_after": 1950},
               "seed": "1", "complete": True, "results": [PRODUCT]}


class Page(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.page = self.write("page.md", "".join("words\n\n<!-- figures: %s -->\n<!-- end -->\n" % name
                                                  for name in NAMES))
        self.results = os.path.join(self.scratch.name, "results.json")
        self.products = os.path.join(self.scratch.name, "products.json")

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, content):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def docs(self, *arguments, code=0):
        done = subprocess.run([sys.executable, DOCS, "--results", self.results, "--out-of-core", self.products,
                               "--page", self.page, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def text(self):
        with open(self.page, encoding="utf-8") as file:
            return file.read()

    def merge_all(self):
        self.docs("--merge", "pipeline=" + self.write("p.json", PIPELINE), "cpu=" + self.write("c.json", PIPELINE),
                  "unified_memory=" + self.write("u.json", UNIFIED),
                  "dynamic_parallelism=" + self.write("d.json", DYNAMIC))
        self.docs()

    def test_every_figure_comes_from_the_results(self):
        self.merge_all()
        self.docs("--check")
        for line in ("NVIDIA Test, driver 1.2, CUDA 13.0, Linux x86_64; heddle 0.1, 2001-02-03.",
                     "50 batches of 16 MiB, 100 multiply-adds per element, median of 5 rounds. "
                     "Limit: compute, 25.00 ms.", "| copy in | 20.00 | 400.0 | 41.9 |",
                     "| both copies at once | 30.00 | 600.0 | 55.9 |", "| 3 streams | 26.00 | 2.31 | 96.2 % |  |",
                     "| first stream urgent | 30.00 | 2.00 | 83.3 % | one batch takes 1.00 ms on the high-priority "
                     "stream, 2.00 on the others |", "| one round of work | 25.00 | 2.40 | 80.0 % | limit: copy in, 20.00 ms |",
                     "With 3 streams: 96.2 %, met.", "NVIDIA Test, 4 cores, Linux x86_64; 2001-02-03.",
                     "| explicit copies | 2.50 | 2.25 |", "Verdict: Copies | win.", "| one flat launch | 12.3 |",
                     "CUDA 12.4, median of 15; 2001-02-04."):
            self.assertIn(line, self.text())

    def test_only_plain_runs_reach_the_target(self):
        missed = dict(PIPELINE, runs=[run("3 streams", 3, 30.0), run("callbacks", 3, 25.1, queued_by="callbacks")])
        self.docs("--merge", "pipeline=" + self.write("p.json", missed))
        self.docs()
        self.assertIn("With 3 streams: 83.3 %, **missed**.", self.text())

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        self.merge_all()
        changed = self.text().replace("96.2 %", "99.2 %")
        self.assertNotEqual(changed, self.text())
        self.write("page.md", changed)
        self.assertIn("does not say what", self.docs("--check", code=1))

    def test_products_out_of_core_are_held_against_the_limit_and_the_vendor(self):
        self.write("products.json", OUT_OF_CORE)
        self.docs()
        self.docs("--check")
        for line in ("NVIDIA Test, driver 1.2, CUDA 13.0, Linux x86_64; heddle 0.1, 2001-02-03.",
                     "**m=10000 n=10000 k=10000**: 1.1 GiB in host memory, 1.0 GiB on the GPU. Link alone: 40.0 GB/s "
                     "in, 40.0 out; products alone: 4.0 TFLOP/s.",
                     "| 02_streams | 0.5250 | 3.8 | 0.952 (arithmetic) | 1.43 | correct |",
                     "- m=10000 n=10000 k=10000: 02_streams at 0.952 of the limit, 1.43 times the speed of cublas_xt: "
                     "met."):
            self.assertIn(line, self.text())
        self.assertNotIn("interrupted", self.text())

    def test_a_product_that_is_behind_missed_and_one_that_is_wrong_has_no_time(self):
        wrong = {"rung": "03_streams_tf32x3", "right": False, "message": "row 3 is off"}
        behind = dict(PRODUCT, rungs=[rung("02_streams", 0.53), wrong, rung("cublas_xt", 0.52)])
        slow = dict(PRODUCT, m=20000, rungs=[rung("02_streams", 0.6), rung("cublas_xt", 0.7)])
        self.write("products.json", dict(OUT_OF_CORE, complete=False, results=[behind, slow]))
        self.docs()
        for line in ("02_streams at 0.943 of the limit, 0.98 times the speed of cublas_xt: **missed**.",
                     "m=20000 n=10000 k=10000: 02_streams at 0.833 of the limit, 1.17 times the speed of cublas_xt: "
                     "**missed**.", "| 03_streams_tf32x3 |  |  |  |  | **row 3 is off** |", "The run was interrupted"):
            self.assertIn(line, self.text())

    def test_without_results_the_page_says_so(self):
        self.docs()
        self.assertEqual(self.text().count("Not measured yet."), len(NAMES))
        self.docs("--check")

    def test_what_is_no_result_is_refused(self):
        self.assertIn("its format is heddle unified memory 1",
                      self.docs("--merge", "pipeline=" + self.write("u.json", UNIFIED), code=1))
        untimed = dict(PIPELINE, runs=[dict(run("1 stream", 1, 60.0), milliseconds=None)])
        self.assertIn("has no timings", self.docs("--merge", "cpu=" + self.write("s.json", untimed), code=1))
        self.assertIn("PART is one of", self.docs("--merge", "speed=x.json", code=1))
        self.assertFalse(os.path.exists(self.results))
        self.write("products.json", {"device_name": "NVIDIA Test", "results": []})
        self.assertIn("is not a result of `heddle bench out-of-core --json`", self.docs(code=1))


class GpuCheck(unittest.TestCase):
    def measure(self, folder, fails=()):
        """The part with its commands played: a program whose name is in `fails` ends with 1 and writes nothing."""
        check = gpu_check()

        def play(command):
            name = os.path.basename(command[0])
            if name in fails:
                return 1, 1.0
            if name != "nvcc":
                document = {"heddle": PIPELINE, "unified_memory": UNIFIED, "dynamic_parallelism": DYNAMIC}[name]
                with open(written_by(command) or command[-1], "w", encoding="utf-8") as file:
                    json.dump(document, file)
            return 0, 1.0

        check.show_and_run = play
        table = check.Table()
        path = os.path.join(folder, "streams.json")
        check.streams(types.SimpleNamespace(streams=path, build=folder, quick=True), table)
        with open(path, encoding="utf-8") as file:
            return table, json.load(file), os.listdir(folder)

    def test_all_four_go_into_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            table, found, files = self.measure(folder)
        self.assertFalse(table.failed())
        self.assertEqual(len(table.rows), 5)
        self.assertEqual(found, {"format": "heddle streams 1", "pipeline": PIPELINE, "cpu": PIPELINE,
                                 "unified_memory": UNIFIED, "dynamic_parallelism": DYNAMIC})
        self.assertEqual(files, ["streams.json"])

    def test_what_fails_is_a_failure_and_the_rest_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            table, found, _ = self.measure(folder, fails=("nvcc",))
        self.assertTrue(table.failed())
        self.assertEqual(sorted(found), ["cpu", "format", "pipeline"])

    def shapes_with(self, free):
        """The shapes that out-of-core asks for on a host with so many GiB free, and its table."""
        check, asked = gpu_check(), []
        devices = json.dumps({"devices": [{"device": "cpu", "memory_free": free * 2 ** 30}]})
        check.run = lambda command: (0, devices, 0.1)

        def play(command):
            asked.extend(command[command.index("--shape") + 1].split(";"))
            with open(written_by(command), "w", encoding="utf-8") as file:
                json.dump(OUT_OF_CORE, file)
            return 0, 1.0

        check.show_and_run = play
        table = check.Table()
        with tempfile.TemporaryDirectory() as folder:
            check.out_of_core(types.SimpleNamespace(out_of_core=os.path.join(folder, "products.json"), build=folder,
                                                    quick=False), table)
        return asked, table

    def test_products_that_do_not_fit_the_host_are_left_out(self):
        asked, table = self.shapes_with(100)
        self.assertEqual((len(asked), asked[-1], table.failed()), (4, "m=131072 n=131072 k=1024", False))
        asked, table = self.shapes_with(64)
        self.assertEqual((len(asked), asked[-1], table.failed()), (3, "m=49152 n=49152 k=16384", False))
        asked, table = self.shapes_with(1)
        self.assertEqual((asked, table.failed()), ([], True))


if __name__ == "__main__":
    unittest.main()
