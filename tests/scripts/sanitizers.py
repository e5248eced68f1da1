"""gpu-check's part with compute-sanitizer, every job of it played: what is asked, and what account is stored. training.py
runs these tests with its own."""
import contextlib
import io
import json
import os
import tempfile
import types
import unittest
import unittest.mock

from loading import ROOT, gpu_check, module

training = module(os.path.join(ROOT, "scripts", "training.py"))


class Sanitizers(unittest.TestCase):
    def sanitize(self, outcome):
        """The part, with `outcome(tool, job)` in the place of what a job gives; its table, the account, what was printed,
        and the jobs' environments by tool, job and least batch."""
        check, asked = gpu_check(), {}

        def play(command, env=None, cwd=None):
            if "--json" in command:
                return 0, json.dumps({"operators": [
                    {"name": name, "ladder": [{"device": "cuda", "name": "01_a", "tier": "fused"}]}
                    for name in ("cnn_step", "cnn_train")]}), 0.1
            tool, job = command[command.index("--tool") + 1], command[-1]
            asked[tool, job, env.get("HEDDLE_TEST_LEAST")] = dict(env, there=os.path.isdir(env["XDG_CACHE_HOME"]))
            return outcome(tool, job)

        check.run = play
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed), \
                unittest.mock.patch.object(check.shutil, "which", lambda _: "there"):
            options = types.SimpleNamespace(training=os.path.join(folder, "training.json"), build=folder, ops=None,
                                            tools=check.sanitizing.TOOLS)
            table = check.Table()
            check.sanitizer(options, table)
            found = training.load(options.training)["sanitizer"]
        return {row[1]: row for row in table.rows}, found, printed.getvalue(), asked

    def test_the_sanitizers_account_has_every_tool_and_names_what_is_not_clean(self):
        def outcome(tool, job):
            bad = tool == "racecheck" and job.startswith("whole")
            return 99 if bad else 0, "========= a hazard\n1 test(s) run" if bad else "1 test(s) run", 2.0

        table, found, printed, asked = self.sanitize(outcome)
        self.assertEqual({tool: row[2] for tool, row in table.items()},
                         {"memcheck": "ok", "racecheck": "FAILED", "synccheck": "ok", "initcheck": "ok"})
        self.assertEqual(found["racecheck"]["not_clean"], ["nn.whole_steps/whole_steps_are_those* (exit code 99)"])
        self.assertEqual(found["racecheck"]["clean"], ["cnn_step", "cnn_train"] + [
            "nn.whole_steps/batches_of_every_size* of %s" % size for size in sorted(["1", "17", "66", "100", "133", "300"])])
        self.assertEqual(asked["racecheck", "batches_of_every_size*", "66"]["HEDDLE_TEST_MOST"], "66")
        self.assertEqual([len(found[tool]["clean"]) for tool in ("memcheck", "synccheck", "initcheck")], [4, 4, 4])
        self.assertEqual(asked["initcheck", "batches_of_every_size*", "1"]["HEDDLE_TEST_MOST"],
                         str(found["initcheck"]["most_images"]))
        self.assertEqual(asked["memcheck", "batches_of_every_size*", "1"]["HEDDLE_TEST_MOST"], "300")
        self.assertIn("racecheck nn.whole_steps/whole_steps_are_those*: NOT CLEAN, exit code 99 (2 s)\n========= a hazard",
                      printed)

    def test_a_sanitizer_that_ends_well_but_ran_nothing_is_not_clean(self):
        said = {"memcheck": "0 test(s) run", "synccheck": "no such test"}
        table, found, printed, _ = self.sanitize(lambda tool, job: (0, said.get(tool, "1 test(s) run"), 1.0))
        self.assertEqual({tool: row[2] for tool, row in table.items()},
                         {"memcheck": "FAILED", "racecheck": "ok", "synccheck": "FAILED", "initcheck": "ok"})
        self.assertEqual([len(found[tool]["not_clean"]) for tool in ("memcheck", "synccheck")], [4, 4])
        self.assertIn("cnn_train (nothing ran)", table["memcheck"][3])
        self.assertNotIn("exit code", printed)

    def test_a_sanitizer_that_does_not_end_is_not_clean(self):
        table, found, printed, _ = self.sanitize(
            lambda tool, job: (124, "[  ERROR   ] --- batch 3: it waits", 300.0) if tool == "initcheck" else
            (0, "1 test(s) run", 1.0))
        self.assertEqual({tool: row[2] for tool, row in table.items()},
                         {"memcheck": "ok", "racecheck": "ok", "synccheck": "ok", "initcheck": "FAILED"})
        self.assertEqual(len(found["initcheck"]["not_clean"]), 4)
        self.assertIn("initcheck cnn_train: NOT CLEAN, still running after 300 s (300 s)\n[  ERROR   ] --- batch 3: it waits",
                      printed)

    def test_a_sanitizer_that_cannot_be_started_leaves_what_the_others_found(self):
        def outcome(tool, job):
            if tool == "memcheck" and job.startswith("cnn_step"):
                raise OSError("no such program")
            return 0, "1 test(s) run", 1.0

        table, found, printed, _ = self.sanitize(outcome)
        self.assertEqual({tool: row[2] for tool, row in table.items()},
                         {"memcheck": "FAILED", "racecheck": "ok", "synccheck": "ok", "initcheck": "ok"})
        self.assertEqual((found["memcheck"]["not_clean"], len(found["memcheck"]["clean"])),
                         (["cnn_step (OSError: no such program)"], 3))
        self.assertEqual(len(found["racecheck"]["clean"]), 9)
        self.assertIn("memcheck cnn_step: NOT CLEAN, OSError: no such program", printed)

    def test_rungs_that_a_sanitizer_times_do_not_enter_the_users_cache(self):
        _, _, _, asked = self.sanitize(lambda tool, job: (0, "1 test(s) run", 1.0))
        caches = {environment["XDG_CACHE_HOME"] for environment in asked.values()}
        self.assertEqual(len(caches), len(asked), "each has its own")
        self.assertNotIn(os.environ.get("XDG_CACHE_HOME"), caches)
        self.assertTrue(all(environment["there"] for environment in asked.values()))
        self.assertFalse(any(os.path.exists(cache) for cache in caches), "and nothing of it is left")
