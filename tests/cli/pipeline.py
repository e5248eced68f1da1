"""`heddle pipeline` as a person uses it: one way and the comparison, on cpu and on sim; its files; bad options.

    pipeline.py path/to/heddle
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
SMALL = ["--batches", "6", "--bytes", "8K", "--work", "3", "--rounds", "2"]
HAS_SIM = os.path.exists(os.path.join(os.path.dirname(HEDDLE), "libheddle-sim.so"))


class Pipeline(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.scratch.cleanup()

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def run_pipeline(self, *arguments, code=0):
        result = subprocess.run([HEDDLE, "pipeline", *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def refused(self, *arguments, says):
        result = self.run_pipeline(*arguments, code=2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says, result.stderr)

    def test_without_a_choice_it_compares(self):
        text = self.run_pipeline("--device", "cpu", *SMALL).stdout
        for row in ("1 stream ", "3 streams ", "pageable memory", "the same, blocking streams",
                    "callbacks queue the next batch", "callbacks on their own stream", "first stream high priority of 6",
                    "limit: ", "stream 2"):
            self.assertIn(row, text)

    def test_one_way_is_one_run_with_its_timeline(self):
        self.run_pipeline("--device", "cpu", "--streams", "2", "--callbacks", *SMALL, "--json=" + self.path("all.json"),
                          "--trace", self.path("trace.json"), "--html", self.path("page.html"))
        with open(self.path("all.json"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual((found["format"], found["device"], found["batches"], found["bytes"], found["work"]),
                         ("heddle pipeline 1", "cpu", 6, 8192, 3))
        self.assertEqual(len(found["runs"]), 1)
        run = found["runs"][0]
        self.assertEqual((run["streams"], run["queued_by"], run["memory"], run["checked"]),
                         (2, "callbacks", "pinned", True))
        self.assertEqual([one["stream"] for one in run["timeline"]], [0, 1, 0, 1, 0, 1])
        self.assertAlmostEqual(run["of_limit"], run["limit"] / run["milliseconds"])
        self.assertEqual(run["limit"], run["alone"][run["slowest"]])
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sorted(event["name"] for event in events if event["ph"] == "X"),
                         sorted(f"{stage} {b}" for stage in ("copy in", "compute", "copy out") for b in range(6)))
        self.assertTrue(all(event["dur"] >= 0 for event in events if event["ph"] == "X"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<rect"), 18)
        self.assertNotIn("http", page)

    def test_json_alone_goes_to_standard_output(self):
        result = self.run_pipeline("--device", "cpu", "--memory", "pageable", *SMALL, "--json")
        self.assertEqual(json.loads(result.stdout)["runs"][0]["memory"], "pageable")
        self.assertEqual(result.stderr, "")

    @unittest.skipUnless(HAS_SIM, "built without the sim device")
    def test_the_simulated_gpu_checks_and_shows_no_time(self):
        text = self.run_pipeline("--device", "sim", "--json=" + self.path("sim.json")).stdout
        self.assertIn("reports no timings", text)
        self.assertIn("correct: callbacks queue the next", text)
        self.assertNotIn(" ms", text)
        with open(self.path("sim.json"), encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        self.assertTrue(all(run["checked"] and run["milliseconds"] is None and run["limit"] is None for run in runs))
        self.refused("--device", "sim", "--trace", self.path("no.json"), says="does not report timings")

    def test_what_makes_no_sense_is_refused_in_one_line(self):
        self.refused("--bytes", "6", says="multiple of 4")
        self.refused("--bytes", "lots", says="multiple of 4")
        self.refused("--bytes", "-16M", says="multiple of 4")
        self.refused("--bytes", "nan", says="multiple of 4")
        self.refused("--bytes", "0x40", says="multiple of 4")
        self.refused("--device", "cpu", "--bytes", "8G", says="a multiple of 4 from 4 to 8589934588 is possible")
        self.refused("--device", "gpu", says="did you mean 'cuda'?")
        self.refused("--streams", "0", says="--streams")
        self.refused("--streams", "65", says="--streams")
        self.refused("--batches", "0", says="--batches")
        self.refused("--work", "0", says="--work")
        self.refused("--memory", "hot", says="pinned")
        self.refused("--compare", "--callbacks", says="leave it out")
        self.refused("--ahead", says="--callbacks")
        self.refused("--speed", "9", says="--speed")

    def test_a_file_that_cannot_be_written_is_failed_work_before_it_begins(self):
        for option in ("--html", "--trace", "--json"):
            result = self.run_pipeline("--device", "cpu", "--streams", "1", "--batches", "4096",
                                       option + "=" + self.path("no/page.html"), code=1)
            self.assertIn("no/page.html: No such file or directory", result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertIn("Is a directory", self.run_pipeline("--html", self.scratch.name, code=1).stderr)

    def test_one_is_not_several(self):
        text = self.run_pipeline("--device", "cpu", "--streams", "1", "--batches", "1", "--bytes", "8K", "--work", "1",
                                 "--html", self.path("page.html")).stdout
        self.assertRegex(text, "^1 batch of 8 KiB .*; 1 multiply-add per element\n")

    def test_memory_that_is_not_there_is_said(self):
        result = self.run_pipeline("--device", "cpu", "--streams", "1", "--bytes", "4G", "--batches", "4096", code=1)
        self.assertIn("asked for", result.stderr)


if __name__ == "__main__":
    unittest.main()
