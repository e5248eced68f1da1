"""`heddle runs` and the curve that every run keeps, as a person uses them.

    runs.py path/to/heddle
"""

import glob
import json
import os
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from command import HEDDLE, Command  # noqa: E402
from terminal import Terminal  # noqa: E402


def crc32c(data):
    """Bit by bit, as the definition has it, and masked as TensorFlow's records have it."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(content):
    while content:
        length, checked = struct.unpack("<QI", content[:12])
        data, (sum_of_data,) = content[12:12 + length], struct.unpack("<I", content[12 + length:16 + length])
        if (checked, sum_of_data) != (crc32c(content[:8]), crc32c(data)):
            raise ValueError("a record's CRC is wrong")
        yield data
        content = content[16 + length:]


def fields(data):
    """A protobuf message as {field: value}: bytes stay bytes, numbers of 4 and 8 bytes are float and double."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3] = varint()
            continue
        size = {1: 8, 2: None, 5: 4}[key & 7]
        size = varint() if size is None else size
        part = data[at:at + size]
        if len(part) != size:
            raise ValueError("a field goes beyond its message")
        at += size
        found[key >> 3] = part if key & 7 == 2 else struct.unpack({8: "<d", 4: "<f"}[size], part)[0]
    return found


def read_events(folder):
    """The text of the settings and, by tag, the scalars of a folder's event file."""
    paths = glob.glob(folder + "/events.out.tfevents.*")
    if len(paths) != 1:
        raise ValueError(f"{folder} has {len(paths)} event files")
    with open(paths[0], "rb") as file:
        first, *events = [fields(record) for record in records(file.read())]
    if first[3] != b"brain.Event:2":
        raise ValueError("it does not begin with its version")
    text, scalars = None, {}
    for event in events:
        value = fields(fields(event[5])[1])
        if 8 in value:
            tensor = fields(value[8])
            assert (value[1], tensor[1], fields(fields(tensor[2])[2])[1], fields(fields(value[9])[1])[1]) == \
                (b"settings", 7, 1, b"text")
            text = tensor[8].decode()
        else:
            scalars.setdefault(value[1].decode(), []).append((event[2], value[2], event[1]))
    return text, scalars


class Runs(Command):
    def runs(self, *arguments, code=0, utf8=True):
        result = subprocess.run([HEDDLE, "runs", *arguments], cwd=self.home, capture_output=True, text=True, timeout=60,
                                env=dict(os.environ, LC_ALL="C.UTF-8" if utf8 else "C", ASAN_OPTIONS="detect_leaks=0"))
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def json(self, *arguments):
        return json.loads(self.runs(*arguments, "--json").stdout)

    def curve(self, name):
        return os.path.join(self.home, "runs", name, "curve.jsonl")

    def rows(self, name):
        with open(self.curve(name)) as file:
            return [json.loads(line) for line in file]

    def two_runs(self):
        self.train_in(self.home, "--epochs", "2")
        self.train_in(self.home, "--epochs", "2", "--batch", "25", "--optimizer", "momentum")

    def test_where_nobody_has_trained_there_are_no_runs(self):
        self.assertIn("no runs in runs; `", self.runs().stdout)
        self.assertEqual(self.json()["runs"], [])
        self.assertIn("nowhere: cannot list the runs in it", self.runs("--in", "nowhere", code=2).stderr)

    def test_a_run_keeps_its_curve(self):
        out = self.train_in(self.home, "--epochs", "2", "--json").stdout.splitlines()
        told = [json.loads(line) for line in out]
        rows = self.rows("synth-mlp")
        self.assertEqual([row["event"] for row in rows],
                         ["started", *["step"] * 7, "evaluated", *["step"] * 7, "evaluated", "ended"])
        settings = rows[0]["settings"]
        self.assertEqual({key: settings[key] for key in ("model", "data", "device", "precision", "batch", "lr", "seed")},
                         {"model": "mlp", "data": "synth:count=100", "device": "cpu", "precision": "fp32", "batch": 16,
                          "lr": 0.05, "seed": 1})
        for epoch in (1, 2):
            steps = [row for row in rows if row["event"] == "step" and row["epoch"] == epoch]
            trained = next(row for row in told if row["event"] == "trained" and row["epoch"] == epoch)
            self.assertEqual(sum(row["images"] for row in steps), 100)
            self.assertAlmostEqual(sum(row["images"] * row["loss"] for row in steps) / 100, trained["loss"], places=5)
            tested = [row for row in rows if row["event"] == "evaluated"][epoch - 1]
            shown = next(row for row in told if row["event"] == "evaluated" and row["epoch"] == epoch)
            self.assertAlmostEqual(tested["accuracy"], shown["accuracy"], places=6)
        self.assertEqual(rows[-1]["state"], "complete")

    def test_the_list_has_the_newest_first_with_its_figures(self):
        self.two_runs()
        os.utime(self.curve("synth-mlp"), (2e9, 2e9))
        lines = self.runs().stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["run", "synth-mlp", "synth-mlp-2"])
        self.assertEqual(lines[1].split()[:6], ["synth-mlp", "mlp", "synth:count=100", "cpu", "fp32", "2/2"])
        self.assertIn("complete", lines[1])
        self.assertRegex(lines[1], "[▁▂▃▄▅▆▇█]{8}")
        self.assertRegex(self.runs(utf8=False).stdout, "(?m)^synth-mlp .*complete  [_.'-]{8}")
        for run in self.json()["runs"]:
            tests = [row for row in self.rows(run["name"]) if row["event"] == "evaluated"]
            self.assertEqual(run["best_accuracy"], max(row["accuracy"] for row in tests))
            self.assertEqual((run["epochs"], run["state"], run["resumed"]), (2, "complete", 0))
            self.assertNotIn("points", run)

    def test_the_list_fits_the_terminal(self):
        self.two_runs()
        for columns, missing in ((80, ("device", "precision", "images/s")), (100, ("precision",)), (120, ())):
            terminal = Terminal(HEDDLE, ["runs"], self.home, dict(os.environ, LC_ALL="C.UTF-8"), rows=24, columns=columns)
            self.assertEqual(terminal.end(), 0)
            lines = terminal.text().splitlines()
            self.assertLessEqual(max(len(line) for line in lines), columns)
            titles = lines[0].split()
            for title in ("run", "model", "data", "device", "precision", "epochs", "best", "images/s", "state", "loss"):
                self.assertEqual(title in titles, title not in missing, (columns, title))
            self.assertRegex(lines[1], "[▁▂▃▄▅▆▇█]{8}")

    def test_two_runs_are_compared_by_the_settings_that_differ(self):
        self.two_runs()
        out = self.runs("synth-mlp", "runs/synth-mlp-2/").stdout
        self.assertRegex(out, "(?m)^ +A synth-mlp +B synth-mlp-2$")
        self.assertRegex(out, "(?m)^batch +16 +25$")
        self.assertRegex(out, "(?m)^optimizer +sgd +momentum$")
        self.assertRegex(out, "(?m)^momentum +- +0.9$")
        self.assertRegex(out, r"(?ms)^same in all: .*seed\s+1,")
        self.assertNotRegex(out, "(?m)^seed ")
        self.assertIn("training loss\n", out)
        self.assertIn("test accuracy\n", out)
        compared = self.json("synth-mlp", "synth-mlp-2")
        self.assertEqual(compared["differ"], ["batch", "optimizer", "momentum"])
        points = compared["runs"][1]["points"]
        self.assertEqual([point["step"] for point in points], list(range(1, 9)))
        self.assertEqual(len(compared["runs"][1]["tests"]), 2)

    def test_one_run_is_shown_with_its_settings_and_curves(self):
        self.two_runs()
        out = self.runs("synth-mlp-2").stdout
        self.assertRegex(out, "(?m)^lr +0.05$")
        self.assertIn("└───", out)
        self.assertNotIn("same in all", out)
        plain = self.runs("synth-mlp-2", utf8=False).stdout
        self.assertTrue(plain.isascii())
        self.assertIn("+---", plain)

    def test_a_name_that_is_not_there_says_which_is_meant(self):
        self.two_runs()
        self.assertEqual(self.runs("synth-mpl", code=2).stderr,
                         "heddle: there is no run synth-mpl in runs; did you mean synth-mlp?\n")
        self.assertIn("lists those that there are", self.runs("unheard-of-things", code=2).stderr)
        os.mkdir(self.home + "/runs/empty")
        self.assertIn("there is no run in runs/empty", self.runs("empty", code=2).stderr)
        self.assertEqual(len(self.json()["runs"]), 2)

    def test_runs_that_were_killed_or_damaged_or_made_before_there_were_curves_are_told(self):
        for _ in range(3):
            self.train_in(self.home)
        with open(self.curve("synth-mlp")) as file:
            whole = file.read()
        with open(self.curve("synth-mlp"), "w") as file:
            file.write(whole[:whole.index('{"event":"ended"') + 9])
        with open(self.curve("synth-mlp-2"), "w") as file:
            file.write(whole.replace('"event":"step"', '"event":"st', 1))
        os.remove(self.curve("synth-mlp-3"))
        listed = {run["name"]: run for run in self.json()["runs"]}
        self.assertEqual([listed[name]["state"] for name in ("synth-mlp", "synth-mlp-2", "synth-mlp-3")],
                         ["killed", "complete", "no curve"])
        for field in ("epochs", "best_accuracy", "loss"):
            self.assertEqual(listed["synth-mlp-2"][field], listed["synth-mlp"][field])
        self.assertEqual(listed["synth-mlp-3"]["best_accuracy"], listed["synth-mlp"]["best_accuracy"])
        self.assertIn("runs/synth-mlp-2/curve.jsonl: line 2 is damaged", self.runs().stderr)
        with open(self.curve("synth-mlp-2"), "w") as file:
            file.write(whole.replace('"event":"ended"', '\0'))
        self.assertEqual(self.json("synth-mlp-2")["runs"][0]["state"], "damaged")
        with open(self.curve("synth-mlp-2"), "w") as file:
            file.write("{}\n")
        told = self.runs()
        self.assertIn("this is not the curve of a run", told.stderr)
        self.assertNotIn("synth-mlp-2 ", told.stdout)

    def test_what_a_file_holds_does_not_play_on_the_terminal(self):
        self.train_in(self.home)
        with open(self.curve("synth-mlp")) as file:
            whole = file.read()
        with open(self.curve("synth-mlp"), "w") as file:
            file.write(whole.replace('"data":"synth', '"data":"\\u001b[2J\\nsynth').replace('"complete"', '"\\u001b[31mred"')
                       .replace('"kernels"', '"\\u001b]0;title\\u0007"'))
        os.rename(self.home + "/runs/synth-mlp", self.home + "/runs/\033[7mrun")
        for arguments in ([], ["\033[7mrun"], ["\033[7mrun", "runs/\033[7mrun"]):
            out = self.runs(*arguments).stdout
            self.assertNotIn("\033", out)
            self.assertNotIn("\007", out)
            self.assertIn("?[31mred", out)

    def test_a_resumed_run_goes_on_with_its_curve(self):
        self.train_in(self.home, "--epochs", "2", "--out", "runs/whole")
        self.train_in(self.home, "--epochs", "2", "--out", "runs/parts", "--until", "0.01")
        first = self.rows("parts")
        self.assertEqual((first[-1]["event"], first[-1]["state"], first[-1]["step"]), ("ended", "complete", 7))
        subprocess.run([HEDDLE, "train", "--resume", "--out", "runs/parts"], cwd=self.home, check=True, timeout=60,
                       capture_output=True, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))

        def points(name):
            return [(row["step"], row["epoch"], row["loss"], row["accuracy"]) for row in self.rows(name)
                    if row["event"] in ("step", "evaluated")]
        self.assertEqual(points("parts"), points("whole"))
        self.assertEqual(self.json("parts")["runs"][0]["resumed"], 1)
        self.assertRegex(self.runs("parts").stdout, "resumed 1 time\n")

    def test_a_resumed_run_says_which_line_of_its_curve_is_damaged(self):
        self.train_in(self.home, "--epochs", "2", "--until", "0.01")
        with open(self.curve("synth-mlp")) as file:
            whole = file.read()
        with open(self.curve("synth-mlp"), "w") as file:
            file.write(whole.replace('"event":"step"', '\0', 1))
        told = subprocess.run([HEDDLE, "train", "--resume", "--out", "runs/synth-mlp"], cwd=self.home, check=True, text=True,
                              timeout=60, capture_output=True, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        self.assertIn("curve.jsonl: line 2 is damaged; 1 damaged line was removed, the others are kept", told.stderr)
        self.assertEqual([row["step"] for row in self.rows("synth-mlp") if row["event"] == "step"], list(range(2, 15)))

    def check_events(self, folder, name):
        text, scalars = read_events(os.path.join(self.home, folder))
        rows = self.rows(name)
        self.assertIn("| model | mlp |\n", text)
        self.assertIn("| batch | 16 |\n", text)
        for tag, event, field in (("loss/train", "step", "loss"), ("accuracy/train", "step", "accuracy"),
                                  ("learning_rate", "step", "learning_rate"),
                                  ("images_per_second", "step", "images_per_second"),
                                  ("loss/test", "evaluated", "loss"), ("accuracy/test", "evaluated", "accuracy")):
            expected = [(row["step"], row[field]) for row in rows if row["event"] == event]
            self.assertEqual([step for step, _, _ in scalars[tag]], [step for step, _ in expected], tag)
            for (_, value, _), (_, wanted) in zip(scalars[tag], expected):
                self.assertAlmostEqual(value, wanted, delta=1e-6 * max(1, abs(wanted)), msg=tag)
            times = [time for _, _, time in scalars[tag]]
            self.assertEqual(times, sorted(times))
            self.assertTrue(abs(times[-1] - os.stat(self.curve(name)).st_mtime) < 60)

    def test_tensorboard_is_told_the_curve(self):
        self.train_in(self.home, "--epochs", "2", "--tensorboard")
        self.check_events("runs/synth-mlp", "synth-mlp")
        self.train_in(self.home, "--tensorboard", "--overwrite")  # no second file beside that of the run that is gone
        self.check_events("runs/synth-mlp", "synth-mlp")
        self.train_in(self.home)
        with self.assertRaisesRegex(ValueError, "0 event files"):
            read_events(self.home + "/runs/synth-mlp-2")

    def test_tensorboard_is_told_of_a_resumed_run_from_its_start(self):
        self.train_in(self.home, "--epochs", "3", "--until", "0.01")
        subprocess.run([HEDDLE, "train", "--resume", "--out", "runs/synth-mlp/", "--tensorboard=logs/all"],
                       cwd=self.home, check=True, timeout=60, capture_output=True,
                       env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        self.check_events("logs/all/synth-mlp", "synth-mlp")

    def test_a_folder_that_tensorboard_cannot_have_is_told_before_the_first_step(self):
        with open(self.home + "/file", "w"):
            pass
        told = self.train_in(self.home, "--tensorboard=file", code=1)
        self.assertIn("file: cannot create this folder: a file of that name exists", told.stderr)
        self.assertNotIn("100 %", told.stdout)

    def test_overwriting_a_run_begins_its_curve_anew(self):
        self.train_in(self.home, "--epochs", "2")
        self.train_in(self.home, "--overwrite")
        self.assertEqual([row["event"] for row in self.rows("synth-mlp")],
                         ["started", *["step"] * 7, "evaluated", "ended"])


if __name__ == "__main__":
    unittest.main()
