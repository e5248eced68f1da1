#!/usr/bin/env python3
"""peers/accuracy_gpu.py with heddle and PyTorch played: what is taken from what they print, and what is made of it.

    accuracy.py
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "peers"))
import accuracy_gpu  # noqa: E402

LOG = """heddle: info: training step, batch 128: cnn_step by 06_tf32_wgmma (fused, tf32)
heddle: info: training step, batch 128: sgd_update by 02_vectorised (tuned, fp32)
heddle: info: training step, batch 96: cnn_train by 07_fp16_wgmma (fused, fp16)
heddle: info: evaluation, batch 5000: conv2d_forward by 07_implicit_gemm (tuned, fp32)
"""


class Played:
    """Programs: seconds of each `heddle train` in turn, and what `heddle eval` finds."""

    def __init__(self, seconds, accuracy=0.9904, reached=True):
        self.seconds, self.accuracy, self.reached, self.caches = list(seconds), accuracy, reached, []

    def lines_of(self, command, environment=None):
        self.caches.append((environment or {}).get("XDG_CACHE_HOME"))
        end = {"event": "result", "epochs": 2, "reached": self.reached, "best_accuracy": 0.99}
        return [end], self.seconds.pop(0), ""

    def run(self, command, **_):
        assert command[1] == "eval", command
        return types.SimpleNamespace(stdout=json.dumps({"accuracy": self.accuracy}))


def race(played, cold, runs, until=0.99):
    options = types.SimpleNamespace(heddle="heddle", data="data", model="cnn.json", heddle_device="cuda",
                                    cold_runs=cold, runs=runs, until=until, race=accuracy_gpu.Settings(64, 0.03, 0.9, 2))
    with tempfile.TemporaryDirectory() as scratch, \
            unittest.mock.patch.object(accuracy_gpu, "lines_of", played.lines_of), \
            unittest.mock.patch.object(accuracy_gpu.subprocess, "run", played.run):
        return accuracy_gpu.race_heddle(options, "bf16", scratch)


class Quality(unittest.TestCase):
    def test_the_rungs_of_whole_steps_are_taken_from_the_log(self):
        self.assertEqual(accuracy_gpu.rungs_of(LOG), ["06_tf32_wgmma", "07_fp16_wgmma"])
        self.assertEqual(accuracy_gpu.rungs_of(""), [])

    def test_any_model_is_as_good_within_the_spread_of_pytorch(self):
        def found(spread, ours, theirs, in_bytes=None):
            options = types.SimpleNamespace(jobs=1, precisions=["bf16"], seeds=2, spread=spread, int8=in_bytes is not None)
            with unittest.mock.patch.object(accuracy_gpu, "heddle_accuracy", lambda *_: (ours, [], in_bytes)), \
                    unittest.mock.patch.object(accuracy_gpu, "torch_accuracies", lambda *_: (theirs, "9")), \
                    contextlib.redirect_stdout(io.StringIO()):
                return accuracy_gpu.quality(options, "", accuracy_gpu.Settings(64, 0.03, 0.9, 2), 0)["results"][0]
        self.assertFalse(found(False, 0.975, [0.97, 0.99])["met"])
        self.assertTrue(found(True, 0.975, [0.97, 0.99])["met"])
        self.assertFalse(found(True, 0.955, [0.97, 0.99])["met"])
        self.assertEqual(found(True, 0.975, [0.97, 0.99], 0.974)["int8_mean"], 0.974)

    def test_a_model_for_larger_images_is_made_for_these(self):
        with tempfile.TemporaryDirectory() as scratch:
            small = accuracy_gpu.for_these_images(accuracy_gpu.model_file.path_of("vgg"), scratch)
            self.assertEqual(accuracy_gpu.model_file.read(small).input, (1, 28, 28))
            same = accuracy_gpu.model_file.path_of("lenet5")
            self.assertEqual(accuracy_gpu.for_these_images(same, scratch), same)


class Race(unittest.TestCase):
    def test_runs_without_choices_have_a_cache_of_their_own_and_count(self):
        played = Played([1.2, 0.9, 0.7, 0.8, 0.75])
        found = race(played, cold=2, runs=3)
        self.assertEqual(found["without_choices"], [1.2, 0.9])
        self.assertEqual((found["all"], found["seconds"]), ([0.7, 0.8, 0.75], 0.75))
        self.assertEqual(len({cache for cache in played.caches[:2] if cache}), 2)
        self.assertEqual(played.caches[2:], [None] * 3)
        self.assertFalse(accuracy_gpu.race_is_won(found, 0.99), "a first run takes more than a second")
        self.assertTrue(accuracy_gpu.race_is_won(dict(found, without_choices=[0.95, 0.9]), 0.99))
        self.assertTrue(accuracy_gpu.race_is_won(dict(found, without_choices=[]), 0.99))

    def test_every_checkpoint_has_to_be_as_good_as_told(self):
        found = race(Played([0.7] * 3, accuracy=0.9890), cold=1, runs=2)
        self.assertFalse(accuracy_gpu.race_is_won(found, 0.99))
        self.assertFalse(accuracy_gpu.race_is_won({"error": "seed 1 ended at 98.00 %"}, 0.99))
        with self.assertRaises(RuntimeError):
            race(Played([0.7], reached=False), cold=0, runs=1)


if __name__ == "__main__":
    unittest.main()
