#!/usr/bin/env python3
"""How runs of PyTorch and JAX are merged into training's result file: which figure of a mode stays, and where the
command of a run is kept; and how result files are laid out. What else is merged stands in training.py.

    merging.py
"""
import copy
import glob
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import training  # noqa: E402
import result_file  # noqa: E402

DAY = "2001-02-%02dT00:00:00Z"


def run(day, *figures, version="PyTorch 9", command=None, framework="torch"):
    """A run's document; a figure is (mode, microseconds), or (mode, what went wrong)."""
    rows = [dict({"framework": framework, "precision": "bf16", "batch": 64, "mode": mode},
                 **({"error": value} if isinstance(value, str) else {"microseconds": value, "low": value - 1}))
            for mode, value in figures]
    return {"format": 1, "date": DAY % day, "versions": {framework: version} if version else {}, "results": rows,
            **({"command": command} if command else {})}


def after(*runs, whole=None):
    """The peers' section after these runs."""
    for one in runs:
        whole = training.merged(whole, "peers", copy.deepcopy(one))
    return whole["peers"]


def row_after(*runs):
    row, = after(*runs)["results"]
    return row


def shown(row):
    later = row.get("later")
    return (row["microseconds"], row["date"], row.get("version"), later and (later["microseconds"], later["date"]))


class Figures(unittest.TestCase):
    def test_a_slower_figure_of_the_same_version_stands_beside_the_faster_one(self):
        row = row_after(run(1, ("graph", 176.0), command="one"), run(2, ("graph", 183.0), command="two"))
        self.assertEqual(row, {"framework": "torch", "precision": "bf16", "batch": 64, "mode": "graph",
                               "microseconds": 176.0, "low": 175.0, "date": DAY % 1, "version": "PyTorch 9",
                               "command": "one", "later": {"microseconds": 183.0, "date": DAY % 2}, "fastest": True})

    def test_of_slower_figures_only_the_last_is_kept(self):
        runs = [run(1, ("graph", 176.0)), run(2, ("graph", 183.0)), run(3, ("graph", 180.0))]
        self.assertEqual(shown(row_after(*runs)), (176.0, DAY % 1, "PyTorch 9", (180.0, DAY % 3)))

    def test_a_faster_or_equal_figure_takes_the_place_of_all_before_it(self):
        for figure in (170.0, 176.0):
            row = row_after(run(1, ("graph", 176.0)), run(2, ("graph", 183.0)), run(3, ("graph", figure)))
            self.assertEqual(shown(row), (figure, DAY % 3, "PyTorch 9", None))
            self.assertEqual(row["low"], figure - 1)

    def test_rows_of_older_files_have_the_version_that_their_section_has(self):
        whole = training.merged(None, "peers", run(1, ("graph", 176.0)))
        del whole["peers"]["results"][0]["version"]
        found = training.merged(whole, "peers", run(2, ("graph", 183.0)))["peers"]["results"]
        self.assertEqual([(row["microseconds"], row["version"], row["later"]["microseconds"]) for row in found],
                         [(176.0, "PyTorch 9", 183.0)])

    def test_a_figure_of_another_version_or_of_none_is_replaced_and_replaces(self):
        for first, second in (("PyTorch 9", "PyTorch 10"), ("PyTorch 9", None), (None, "PyTorch 9"), (None, None)):
            row = row_after(run(1, ("graph", 176.0), version=first), run(2, ("graph", 183.0), version=second))
            self.assertEqual(shown(row), (183.0, DAY % 2, second, None))

    def test_the_faster_stays_in_whichever_order_runs_are_merged(self):
        slow, fast = run(2, ("graph", 183.0)), run(1, ("graph", 176.0))
        self.assertEqual(row_after(slow, fast), row_after(fast, slow))
        fast_last = run(3, ("graph", 176.0))
        self.assertEqual(shown(row_after(fast_last, slow)), (176.0, DAY % 3, "PyTorch 9", None),
                         "an older figure is not a later one")

    def test_a_run_that_is_merged_twice_changes_nothing(self):
        runs = [run(1, ("graph", 176.0)), run(2, ("graph", 183.0))]
        for again in runs:
            self.assertEqual(row_after(*runs, again), row_after(*runs))

    def test_a_failure_stands_beside_the_faster_figure_until_the_mode_runs_again(self):
        runs = [run(1, ("graph", 176.0)), run(2, ("graph", 183.0)), run(3, ("graph", "no memory"))]
        row = row_after(*runs)
        self.assertEqual(shown(row), (176.0, DAY % 1, "PyTorch 9", (183.0, DAY % 2)))
        self.assertEqual(row["failed"], {"date": DAY % 3, "error": "no memory"})
        row = row_after(*runs, run(4, ("graph", 184.0)))
        self.assertEqual(shown(row), (176.0, DAY % 1, "PyTorch 9", (184.0, DAY % 4)))
        self.assertNotIn("failed", row)
        self.assertEqual(shown(row_after(run(1, ("graph", "no memory")), run(2, ("graph", 183.0)))),
                         (183.0, DAY % 2, "PyTorch 9", None))

    def test_a_mode_that_a_run_has_twice_is_one_row(self):
        self.assertEqual(row_after(run(1, ("graph", 176.0), ("graph", 183.0)))["microseconds"], 176.0)

    def test_the_fastest_peer_is_found_among_the_figures_that_stay(self):
        rows = after(run(1, ("graph", 176.0), ("eager", 180.0)), run(2, ("graph", 190.0)))["results"]
        self.assertEqual([row["mode"] for row in rows if row.get("fastest")], ["graph"])
        self.assertEqual(training.fastest_peer(rows, 64, "bf16")["microseconds"], 176.0)

    def test_of_our_own_rows_the_last_run_counts(self):
        facts = dict.fromkeys(training.FACTS, "some")
        whole = None
        for day, microseconds in ((1, 20.0), (2, 25.0)):
            whole = training.merged(whole, "train", dict(facts, date=DAY % day, results=[
                {"device": "cuda", "kernels": "fused", "precision": "bf16", "batch": 64, "microseconds": microseconds,
                 "version": "0.1"}]))
        row, = whole["train"]["results"]
        self.assertEqual(shown(row), (25.0, DAY % 2, "0.1", None))


class Commands(unittest.TestCase):
    def commands(self, *runs, whole=None):
        return {row["mode"]: row.get("command") for row in after(*runs, whole=whole)["results"]}

    def test_runs_that_end_in_the_same_second_have_their_own_commands(self):
        found = self.commands(run(1, ("scan", 5.0), framework="jax", version="JAX 9", command="one"),
                              run(1, ("graph", 6.0), ("eager", "no memory"), command="two"))
        self.assertEqual(found, {"scan": "one", "graph": "two", "eager": "two"})

    def test_a_row_has_the_command_of_the_run_that_its_figure_is_of(self):
        first = run(1, ("graph", 176.0), ("eager", 500.0), ("compile", 300.0), ("channels-last", "x"), command="one")
        second = run(2, ("graph", 170.0), ("eager", 501.0), ("compile", "x"), ("channels-last", "y"), command="two")
        self.assertEqual(self.commands(first, second),
                         {"graph": "two", "eager": "one", "compile": "one", "channels-last": "two"})
        section = after(first, second)
        self.assertNotIn("commands", section)
        self.assertNotIn("command", section, "that of one run is not that of all rows")

    def test_commands_of_older_files_are_kept_while_rows_of_their_runs_are(self):
        old = after(run(1, ("graph", 176.0), ("eager", 500.0)), run(2, ("scan", 5.0), framework="jax"))
        for stored in ({"commands": {DAY % 1: "one", DAY % 2: "two"}, "command": "two", "date": DAY % 2},
                       {"commands": {DAY % 1: "one"}, "command": "two", "date": DAY % 2}):
            whole = {"format": training.FORMAT, "peers": {**old, **stored}}
            new = run(3, ("graph", 170.0), ("scan", 4.0), command="three")  # of PyTorch's: JAX's scan is another row
            found = after(new, whole=copy.deepcopy(whole))
            self.assertEqual(found["commands"], {DAY % 1: "one", DAY % 2: "two"})
            self.assertEqual(sorted((row["framework"], row["mode"], row.get("command")) for row in found["results"]
                                    if "command" in row), [("torch", "graph", "three"), ("torch", "scan", "three")])
            found = after(new, run(4, ("eager", 400.0), command="four"), whole=copy.deepcopy(whole))
            self.assertEqual(found["commands"], {DAY % 2: "two"})

    def test_files_without_commands_have_none_made_up(self):
        found = after(run(1, ("graph", 176.0)), run(2, ("eager", 5.0), command="two"))
        self.assertNotIn("commands", found)
        self.assertEqual({row["mode"]: row.get("command") for row in found["results"]}, {"graph": None, "eager": "two"})


class Stored(unittest.TestCase):
    def test_the_stored_file_takes_a_run(self):
        if not os.path.exists(training.RESULTS):
            self.skipTest("there are no results")
        whole = training.load(training.RESULTS)
        before = training.fastest_peer(whole["peers"]["results"], 64, "bf16")
        count = len(whole["peers"]["results"])
        found = {"date": "2101-01-01T00:00:00Z", "command": "later", "results": [
            {**{key: before[key] for key in training.KEYS["peers"]}, "microseconds": before["microseconds"] + 1}],
            "versions": {before["framework"]: before.get("version", "none")}}
        peers = training.merged(whole, "peers", found)["peers"]
        self.assertEqual(len(peers["results"]), count)
        if before.get("version"):
            self.assertEqual(training.fastest_peer(peers["results"], 64, "bf16")["later"]["date"], found["date"])


class Files(unittest.TestCase):
    def test_a_row_is_one_line_whatever_it_holds(self):
        document = {"format": 1, "clocks": {"before": 1980, "after": 1950}, "part": {"none": [], "times": [1, 2]},
                    "results": [{"rung": "01", "edges": {"taken": [{"at": [3]}]}}, {"rung": None, "right": True}]}
        self.assertEqual(result_file.text_of(document), '''{
 "format": 1,
 "clocks": {"before": 1980, "after": 1950},
 "part": {
  "none": [],
  "times": [1, 2]
 },
 "results": [
  {"rung": "01", "edges": {"taken": [{"at": [3]}]}},
  {"rung": null, "right": true}
 ]
}''')

    def test_committed_results_have_one_row_per_line(self):
        paths = glob.glob(os.path.join(ROOT, "results", "*.json"))
        self.assertTrue(paths)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            laid_out = result_file.text_of(json.loads(text)) + "\n"  # C writes some numbers with a digit more
            self.assertEqual([line[:4] for line in text.splitlines()], [line[:4] for line in laid_out.splitlines()], path)


if __name__ == "__main__":
    unittest.main()
