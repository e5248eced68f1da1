#!/usr/bin/env python3
"""How peers/gradients_gpu.py tells rounding from edges: that a decision on its edge may be taken either way, and that
nothing else passes for one: no wrong gradient, and no mask that is wrong far from an edge. On a network of a few
windows in plain Python; where PyTorch is installed, on the course's CNN as well. And how what was measured is judged.

    gradients.py
"""
import importlib.util
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "peers"))

import edges  # noqa: E402
import gradients_judged  # noqa: E402

BOUND, FLOOR, ROUNDING = 4e-6, 1e-7, 1e-7
NOBODY = edges.NOBODY


class Rules(unittest.TestCase):
    def test_the_first_of_the_largest_wins_and_nobody_below_zero(self):
        self.assertEqual(edges.winner([0.1, 0.5, 0.5, 0.2]), 1)
        self.assertEqual(edges.winner([-0.1, -0.5, -0.5, 0.0]), NOBODY)

    def test_what_is_far_from_its_edges_has_no_other_side(self):
        for window in ([1.0, 0.9, 0.5, -2.0], [-1.0, -0.9, -0.5, -2.0], [1.0, 1.0 - 2 * BOUND, 0, 0], [2 * BOUND],
                       [-2 * BOUND]):
            self.assertEqual(edges.other_sides(window, BOUND), [], window)

    def test_a_value_at_zero_may_be_on_either_side_of_relu(self):
        (place, margin), = edges.other_sides([-1.0, 1e-7, -1.0, -1.0], BOUND)
        self.assertEqual((place, margin), (NOBODY, 1e-7))
        (place, margin), = edges.other_sides([-1.0, -1.0, -1e-7, -1.0], BOUND)
        self.assertEqual((place, margin), (2, 1e-7))
        self.assertEqual(edges.other_sides([-1e-7], BOUND), [(0, 1e-7)])

    def test_either_of_two_that_are_nearly_equal_may_win(self):
        (place, margin), = edges.other_sides([0.5, 0.1, 0.5 + 1e-6, 0.2], BOUND)
        self.assertEqual(place, 0)
        self.assertAlmostEqual(margin, 1e-6, places=12)

    def test_rivals_that_relu_hides_are_none(self):
        self.assertEqual(edges.other_sides([-0.5, -0.5 - 1e-6, -1, -1], BOUND), [])

    def test_places_with_the_same_pixels_are_no_rivals(self):
        self.assertEqual(edges.other_sides([0.5, 0.5, 0.5, 0.5], BOUND), [])


class Small:
    """Windows of four patches, one filter for each part: the gradient of a filter is the sum over its windows of what
    comes from above times the winner's patch. Some windows are put on an edge."""

    PARTS, WINDOWS, TAPS = 3, 40, 5

    def __init__(self, seed, near=6):
        draw = random.Random(seed)
        self.draw = draw
        self.filters = [[draw.gauss(0, 1) for _ in range(self.TAPS)] for _ in range(self.PARTS)]
        self.windows = [(draw.randrange(self.PARTS), draw.gauss(0, 1),
                         [[draw.gauss(0, 1) for _ in range(self.TAPS)] for _ in range(4)])
                        for _ in range(self.WINDOWS)]
        for number in range(near):
            self.put_on_edge(number)
        self.won = [edges.winner(self.values(number)) for number in range(self.WINDOWS)]
        self.right = self.gradient(self.won)
        self.lengths = [math.sqrt(dot(part, part)) for part in self.right]
        self.near = [(number, place) for number in range(self.WINDOWS)
                     for place, _ in edges.other_sides(self.values(number), BOUND)]
        self.moves = [self.relative(self.gradient(self.turned([one])), self.right) for one in self.near]

    def values(self, number):
        part, _, patches = self.windows[number]
        return [dot(self.filters[part], patch) for patch in patches]

    def put_on_edge(self, number):
        """Moves patches along their filter until the largest is 1e-7 from zero, or from the next."""
        part, _, patches = self.windows[number]
        values, own = self.values(number), self.filters[part]
        best = values.index(max(values))
        wanted = dict.fromkeys(range(4), -1.0)
        wanted.update({best: 1e-7} if number % 2 else {best: 1.0, (best + 1) % 4: 1.0 - 1e-7})
        for place, value in wanted.items():
            step = (value - values[place]) / dot(own, own)
            patches[place] = [one + step * weight for one, weight in zip(patches[place], own)]

    def gradient(self, won):
        found = [[0.0] * self.TAPS for _ in range(self.PARTS)]
        for (part, above, patches), place in zip(self.windows, won):
            if place != NOBODY:
                found[part] = [one + above * pixel for one, pixel in zip(found[part], patches[place])]
        return found

    def turned(self, decisions):
        won = list(self.won)
        for number, place in decisions:
            won[number] = place
        return won

    def rounded(self, gradient, size=ROUNDING):
        return [[one + size * length * self.draw.gauss(0, 1) / self.TAPS for one in part]
                for part, length in zip(gradient, self.lengths)]

    def relative(self, found, right):
        return [[(one - other) / length for one, other in zip(part, its)]
                for part, its, length in zip(found, right, self.lengths)]

    def taken(self, found):
        residual = self.relative(found, self.right)
        chosen = edges.choose([dot(part, part) for part in residual],
                              [[dot(move[p], residual[p]) for move in self.moves] for p in range(self.PARTS)],
                              [[[dot(one[p], other[p]) for other in self.moves] for one in self.moves]
                               for p in range(self.PARTS)], FLOOR)
        return [self.near[i] for i in chosen]

    def error(self, found):
        """As it is judged: against the gradient with the decisions that were found, the worst part's."""
        right = self.gradient(self.turned(self.taken(found)))
        return max(math.sqrt(dot(part, part)) for part in self.relative(found, right))


def dot(one, other):
    return sum(a * b for a, b in zip(one, other))


SEEDS = range(20)


class Windows(unittest.TestCase):
    def test_those_on_an_edge_are_candidates_and_no_others(self):
        for seed in SEEDS:
            self.assertEqual(sorted({number for number, _ in Small(seed).near}), list(range(6)))

    def test_without_any_other_side_nothing_is_taken(self):
        for seed in SEEDS:
            small = Small(seed)
            self.assertEqual(small.taken(small.rounded(small.right)), [])

    def test_the_sides_that_a_program_took_are_found(self):
        for seed in SEEDS:
            small = Small(seed)
            for count in range(1, len(small.near) + 1):
                other = small.draw.sample(small.near, count)
                found = small.rounded(small.gradient(small.turned(other)))
                self.assertEqual(small.taken(found), sorted(other))
                self.assertLess(small.error(found), 10 * ROUNDING)

    def test_a_mask_that_is_wrong_far_from_an_edge_stays_an_error(self):
        for seed in SEEDS:
            small = Small(seed)
            for number in range(6, 12):
                other = NOBODY if small.won[number] != NOBODY else 0
                wrong = small.gradient(small.turned([(number, other)]))
                size = max(math.sqrt(dot(part, part)) for part in small.relative(wrong, small.right))
                self.assertGreater(small.error(small.rounded(wrong)), 0.1 * size, (seed, number))
                both = small.gradient(small.turned([(number, other), small.near[0]]))
                self.assertGreater(small.error(small.rounded(both)), 0.1 * size, (seed, number))

    def test_a_wrong_gradient_stays_an_error(self):
        for seed in SEEDS:
            small = Small(seed)
            scaled = [[1.001 * one for one in part] for part in small.right]
            self.assertGreater(small.error(small.rounded(scaled)), 0.9e-3)
            missing = [[0.0] * small.TAPS] + small.right[1:]
            self.assertGreater(small.error(small.rounded(missing)), 0.1)

    def test_a_part_of_a_side_is_none(self):
        for seed in SEEDS:
            small = Small(seed, near=1)
            move = small.moves[0]
            size = max(math.sqrt(dot(part, part)) for part in move)
            for share in (-1, 0.25, 0.5, 0.75, 2):
                found = [[one + share * length * more for one, more in zip(part, its)]
                         for part, its, length in zip(small.right, move, small.lengths)]
                self.assertGreater(small.error(small.rounded(found)), 0.2 * size, (seed, share))

    def test_a_gradient_without_numbers_is_explained_by_nothing(self):
        small = Small(1)
        found = [[float("nan")] * small.TAPS] + small.right[1:]
        self.assertEqual(small.taken(found), [])


class Choice(unittest.TestCase):
    """What is chosen where noise of one part is far larger than the others': numbers of two parts, one vector each."""

    def test_what_fits_one_noisy_part_and_spoils_another_is_left(self):
        # The first part's residual is 1e-3 of noise, of which the vector has a little; the second's is 1e-7.
        residual, vector = [[1e-3, 1e-3], [1e-7]], [[2e-4, 0.0], [1e-5]]
        sizes = [dot(part, part) for part in residual]
        along = [[dot(part, its)] for part, its in zip(residual, vector)]
        gram = [[[dot(part, part)]] for part in vector]
        self.assertLess(sum(gram[p][0][0] - 2 * along[p][0] for p in range(2)), 0, "the sum alone would take it")
        self.assertEqual(edges.choose(sizes, along, gram, FLOOR), [])

    def test_what_hardly_changes_anything_is_left(self):
        self.assertEqual(edges.choose([1e-6], [[1e-9]], [[[1e-9]]], FLOOR), [])
        self.assertEqual(edges.choose([1e-6], [[0.9e-6]], [[[0.9e-6]]], FLOOR), [0])

    def test_without_candidates_nothing_is_chosen(self):
        self.assertEqual(edges.choose([1e-6, 1e-7], [[], []], [[], []], FLOOR), [])


def decisions(opened=0, closed=0, earlier=0, later=0):
    made = []
    for count, place, instead_of in ((opened, 2, NOBODY), (closed, NOBODY, 2), (earlier, 0, 3), (later, 3, 1)):
        made += count * [{"stage": "block1", "at": [0, 0, 0, 0], "place": place, "margin": 1e-7,
                          "instead_of": instead_of, "seed": 1}]
    return made


def row(own, peer, taken=(), peer_taken=(), precision="fp32", kernels="fused"):
    """Measured errors of one parameter, a number for each seed; the peer's as well."""
    made = {"kernels": kernels, "precision": precision, "batch": 7, "peer_precision": "fp32"}
    for prefix, values in (("", own), ("peer_", peer)):
        seeds = [{"conv1.weight": value, "conv2.weight": 1e-7} for value in values]
        made[prefix + "errors"] = gradients_judged.over_seeds(seeds, statistics.median)
        made[prefix + "errors_max"] = gradients_judged.over_seeds(seeds, max)
    if precision in gradients_judged.WITH_EDGES:
        made["edges"] = {"bound": BOUND, "near": [100], "taken": list(taken), "peer_taken": list(peer_taken)}
    return made


class Judgement(unittest.TestCase):
    GOOD = [3e-7] * 8

    def why(self, *arguments, **named):
        made = gradients_judged.judged(row(*arguments, **named))
        self.assertEqual(made["met"], not made["why"])
        return "; ".join(made["why"])

    def of_decisions(self, taken, peer_taken, **named):
        return self.why(self.GOOD, self.GOOD, decisions(**taken), decisions(**peer_taken), **named)

    def test_as_good_as_the_peer_is_met(self):
        made = gradients_judged.judged(row([5e-7] * 7 + [5.9e-7], self.GOOD))
        self.assertEqual((made["met"], made["why"], made["worst"], made["largest"]),
                         (True, [], "conv1.weight", "conv1.weight"))
        self.assertAlmostEqual(made["worst_ratio"], 5 / 3)
        self.assertAlmostEqual(made["largest_ratio"], 5.9 / 3)

    def test_a_median_above_what_is_allowed_is_not(self):
        self.assertIn("above 2", self.why([7e-7] * 8, self.GOOD))
        self.assertEqual(self.why([7e-7] * 8, self.GOOD, precision="tf32x3"), "")
        self.assertEqual(self.why([7e-7] * 8, self.GOOD, kernels="naive"), "")
        self.assertIn("above 2", self.why([7e-7] * 8, self.GOOD, precision="bf16"))

    def test_what_is_allowed_ends_where_it_says(self):
        for times, named in ((2, {}), (2, {"precision": "bf16"}), (10, {"precision": "tf32x3"}),
                             (20, {"kernels": "naive"}), (20, {"kernels": "naive", "precision": "bf16"})):
            below, above = (times - 0.1) * 3e-7, (times + 0.1) * 3e-7
            self.assertEqual(self.why([below] * 8, self.GOOD, **named), "", named)
            self.assertIn("above %d" % times, self.why([above] * 8, self.GOOD, **named), named)
            if named.get("precision") != "bf16":
                self.assertEqual(self.why(self.GOOD[1:] + [below], self.GOOD, **named), "", named)
                self.assertEqual(self.why(self.GOOD[1:] + [above], self.GOOD, **named),
                                 "largest above %d, in conv1.weight" % times)

    def test_an_error_is_held_against_rounding_where_the_peer_has_none(self):
        self.assertEqual(self.why([1.9e-7] * 8, [0.0] * 8), "")
        self.assertIn("above 2", self.why([2.1e-7] * 8, [0.0] * 8))

    def test_a_gradient_that_is_wrong_in_one_seed_does_not_hide_behind_the_median(self):
        self.assertEqual(self.why([3e-7] * 7 + [1e-3], self.GOOD), "largest above 2, in conv1.weight")
        self.assertEqual(self.why([3e-7] * 7 + [4e-6], self.GOOD, precision="tf32x3"),
                         "largest above 10, in conv1.weight")

    def test_errors_against_plain_float64_are_shown_and_not_judged(self):
        made = row(self.GOOD, self.GOOD)
        self.assertNotIn("raw_ratio", gradients_judged.judged(made))
        made["errors_raw"] = {"conv1.weight": 4e-5, "conv2.weight": 5e-8}
        made["peer_errors_raw"] = {"conv1.weight": 2e-7, "conv2.weight": 1e-9}
        judged = gradients_judged.judged(made)
        self.assertEqual((judged["raw"], judged["met"]), ("conv1.weight", True))
        self.assertAlmostEqual(judged["raw_ratio"], 200)
        made["errors_raw"]["conv1.weight"] = 1e-8
        judged = gradients_judged.judged(made)
        self.assertEqual(judged["raw"], "conv2.weight")
        self.assertAlmostEqual(judged["raw_ratio"], 0.5)  # below the floor an error counts as that

    def test_where_edges_cannot_be_told_the_median_counts(self):
        self.assertEqual(self.why([3e-3] * 7 + [9e-2], [3e-3] * 8, precision="fp16"), "")

    def test_what_is_no_number_in_one_seed_is_never_met(self):
        for nothing in (math.nan, math.inf):
            for precision in ("fp32", "tf32", "bf16"):
                for place in (0, 4, 7):
                    spoilt = self.GOOD[:place] + [nothing] + self.GOOD[place + 1:]
                    self.assertIn("NaN: heddle's conv1.weight", self.why(spoilt, self.GOOD, precision=precision))
                    self.assertIn("NaN: PyTorch's conv1.weight",
                                  self.why(self.GOOD, spoilt, precision=precision))

    def test_what_is_no_number_in_any_of_its_figures_is_never_met(self):
        for prefix, whose in (("", "heddle's"), ("peer_", "PyTorch's")):
            for kind in ("errors", "errors_max", "errors_raw"):
                made = row(self.GOOD, self.GOOD, precision="bf16")
                made[prefix + kind] = dict(made[prefix + "errors"], **{"conv2.weight": math.nan})
                self.assertEqual(gradients_judged.judged(made)["why"][0], "NaN: %s conv2.weight" % whose, kind)

    def test_what_no_row_says_is_not_met(self):
        made = row(self.GOOD, self.GOOD)
        for missing in ("errors_max", "peer_errors_max", "edges"):
            without = {name: one for name, one in made.items() if name != missing}
            self.assertFalse(gradients_judged.judged(without)["met"], missing)
        unknown = row(self.GOOD, self.GOOD, decisions(earlier=1))
        del unknown["edges"]["taken"][0]["instead_of"]
        self.assertEqual(gradients_judged.judged(unknown)["why"], ["the sides of the decisions are not recorded"])
        failed = gradients_judged.judged({"kernels": "fused", "precision": "fp32", "batch": 7, "error": "no GPU"})
        self.assertEqual((failed["met"], failed["why"]), (False, ["no GPU"]))

    def test_decisions_that_rounding_takes_are_met(self):
        self.assertEqual(self.of_decisions({}, {}), "")
        self.assertEqual(self.of_decisions({"earlier": 4}, {}), "")
        self.assertEqual(self.of_decisions({"opened": 5, "closed": 2, "earlier": 9, "later": 4},
                                           {"opened": 2, "closed": 6, "earlier": 12, "later": 2}), "")

    def test_more_decisions_than_rounding_takes_are_not(self):
        self.assertEqual(self.of_decisions({"opened": 2, "closed": 3}, {}), "5 flipped decisions, PyTorch 0")
        many = {"opened": 10, "closed": 12, "earlier": 30, "later": 33}
        few = {"opened": 2, "closed": 2, "earlier": 8, "later": 8}
        self.assertEqual(self.of_decisions(many, few), "85 flipped decisions, PyTorch 20")
        self.assertEqual(self.of_decisions(many, few, kernels="naive"), "")

    def test_the_number_of_decisions_ends_where_it_says(self):
        peer = {"earlier": 1, "later": 1}
        for most, named in ((12, {}), (12, {"precision": "tf32x3"}), (44, {"kernels": "naive"})):
            half = most // 2
            self.assertEqual(self.of_decisions({"earlier": half, "later": half}, peer, **named), "")
            self.assertEqual(self.of_decisions({"earlier": half, "later": half + 1}, peer, **named),
                             "%d flipped decisions, PyTorch 2" % (most + 1))

    def test_sides_are_unlikely_below_one_in_a_thousand(self):
        peer = {"opened": 3, "closed": 3, "earlier": 6}
        self.assertEqual(self.of_decisions({"closed": 10}, peer), "")  # 1 in 512
        self.assertEqual(self.of_decisions({"closed": 11}, peer),  # 1 in 1024
                         "relu opened 0 times and closed 11 times")
        self.assertEqual(self.of_decisions({"later": 6}, peer), "")  # 1 in 462
        self.assertEqual(self.of_decisions({"later": 7}, peer),  # 1 in 1716
                         "windows won by earlier places 0 times and by later ones 7 times, PyTorch's 6 and 0")

    def test_a_relu_whose_edge_is_not_at_zero_is_not(self):
        peer = {"opened": 3, "closed": 5, "earlier": 6, "later": 6}
        self.assertIn("relu opened 0 times and closed 12 times", self.of_decisions({"closed": 12}, peer))
        self.assertIn("relu opened 14 times and closed 1 times", self.of_decisions({"opened": 14, "closed": 1}, peer))

    def test_a_window_that_prefers_its_last_place_is_not(self):
        told = self.of_decisions({"earlier": 1, "later": 15}, {"earlier": 12, "later": 2})
        self.assertEqual(told, "windows won by earlier places 1 times and by later ones 15 times, PyTorch's 12 and 2")

    def test_a_window_that_prefers_its_first_place_as_the_peer_does_is_met(self):
        self.assertEqual(self.of_decisions({"earlier": 18}, {"earlier": 12, "later": 2}), "")

    def test_a_moved_edge_of_relu_is_told_from_the_gradients_alone(self):
        taken = []
        for seed in SEEDS:
            small = Small(seed)
            closed = [(number, NOBODY) for number, won in enumerate(small.won)
                      if won != NOBODY and 0 < max(small.values(number)) < BOUND]
            self.assertTrue(closed)
            found = small.rounded(small.gradient(small.turned(closed)))
            self.assertLess(small.error(found), 10 * ROUNDING, "the error alone does not show it")
            taken += [{"place": place, "instead_of": small.won[number]} for number, place in small.taken(found)]
        made = row(self.GOOD, self.GOOD, taken, decisions(opened=10, closed=10, earlier=20, later=10))
        self.assertEqual(gradients_judged.judged(made)["why"],
                         ["relu opened 0 times and closed %d times" % len(taken)])

    def test_chances_are_those_of_the_tests_by_name(self):
        self.assertEqual([edges.chance_of_split(*split) for split in ((0, 0), (3, 3), (0, 1), (5, 0), (1, 4))],
                         [1.0, 1.0, 1.0, 2 / 32, 12 / 32])
        self.assertEqual(edges.chance_of_splits(0, 0, 3, 4), 1.0)
        self.assertAlmostEqual(edges.chance_of_splits(3, 1, 1, 3), 34 / 70)  # Fisher's own: tea and milk
        self.assertAlmostEqual(edges.chance_of_splits(8, 0, 0, 8), 2 / math.comb(16, 8))

    def test_stored_rows_are_judged_anew(self):
        rows = [row(self.GOOD, self.GOOD), dict(row([3e-7] * 7 + [1e-3], self.GOOD), met=True)]
        alone = {"results": rows}
        for document in (alone, {"train": {}, "gradients": alone}):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "results.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(document, file)
                program = [sys.executable, os.path.join(ROOT, "peers", "gradients_judged.py"), path]
                done = subprocess.run(program, stdout=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stdout.count("largest above 2, in conv1.weight"), 1)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(json.load(file), document)
                subprocess.run(program + ["--write"], stdout=subprocess.DEVNULL)
                with open(path, encoding="utf-8") as file:
                    found = json.load(file)
                self.assertEqual([one["met"] for one in found.get("gradients", found)["results"]], [True, False])


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Course(unittest.TestCase):
    """The course's network, random parameters and images, and gradients with planted decisions as `found`."""

    @classmethod
    def setUpClass(cls):
        import torch
        import decisions
        import model_file
        torch.manual_seed(1)
        cls.model = model_file.read("cnn")
        step = {"parameters/" + one.name: torch.randn(one.shape) * 0.1 for one in cls.model.parameters() if one.trained}
        step["parameters/norm1.weight"], step["parameters/norm2.weight"] = torch.ones(32), torch.ones(64)
        step["images"] = torch.randint(0, 256, (4, 1, 28, 28), dtype=torch.uint8)
        step["labels"] = torch.randint(0, 10, (4,))
        cls.decisions, cls.torch, cls.step = decisions, torch, step
        cls.edges = decisions.Edges(cls.model, step, "cpu", 200 * BOUND)  # a batch of four has few that are nearer

    def rounded(self, gradients):
        return {name: (one * (1 + ROUNDING * self.torch.randn_like(one))) for name, one in gradients.items()}

    def with_decisions(self, chosen):
        forced = {}
        for stage, at, place, *_ in chosen:
            forced.setdefault(stage, {})[at] = place
        return self.rounded(self.decisions.Network(self.model, self.step, "cpu", forced).gradients)

    def error(self, found):
        right, _ = self.edges.fitted(found, FLOOR)
        return max(((found[name] - right[name]).norm() / self.edges.size_of(name, right)).item() for name in right)

    def test_there_are_candidates_in_both_blocks(self):
        self.assertLessEqual({"relu1", "relu2"}, {stage for stage, *_ in self.edges.near})

    def test_every_candidate_is_another_side_than_that_of_float64(self):
        stages = {stage.name: stage for stage in self.decisions.Network(self.model, self.step, "cpu").stages}
        for stage, at, place, _, instead_of in self.edges.near:
            self.assertEqual(edges.winner(stages[stage].values[at].tolist()), instead_of)
            self.assertNotEqual(place, instead_of)

    def test_planted_sides_are_found(self):
        for first in range(3):
            numbers = list(range(first, len(self.edges.near), 3))
            found = self.with_decisions([self.edges.near[i] for i in numbers])
            self.assertEqual(self.edges.fitted(found, FLOOR)[1], numbers)
            self.assertLess(self.error(found), 10 * ROUNDING)

    def test_a_mask_that_is_wrong_far_from_an_edge_stays_an_error(self):
        for stage in self.decisions.Network(self.model, self.step, "cpu").stages:
            at = tuple(stage.values.max(-1).values.argmax().item() // stride % size
                       for stride, size in zip(strides(stage.place.shape), stage.place.shape))
            found = self.with_decisions([(stage.name, at, NOBODY, 1.0)])
            self.assertGreater(self.error(found), 1e-3, stage.name)

    def test_a_wrong_gradient_stays_an_error(self):
        for name, one in self.edges.gradients.items():
            found = self.rounded(self.edges.gradients)
            if name not in ("conv1.bias", "conv2.bias"):  # zero but for rounding
                found[name] = one * 1.0001
                self.assertGreater(self.error(found), 0.9e-4, name)


def strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


if __name__ == "__main__":
    unittest.main()
