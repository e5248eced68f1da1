#!/usr/bin/env python3
"""How peers/gradients_gpu.py tells rounding from edges: that a decision on its edge may be taken either way, and that
nothing else passes for one: no wrong gradient, and no mask that is wrong far from an edge. On a network of a few
windows in plain Python; where PyTorch is installed, on the course's as well.

    gradients.py
"""
import importlib.util
import math
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "peers"))

import edges  # noqa: E402

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


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Course(unittest.TestCase):
    """The course's network, random parameters and images, and gradients with planted decisions as `found`."""

    @classmethod
    def setUpClass(cls):
        import torch
        import cnn_decisions
        import cnn_torch
        torch.manual_seed(1)
        shapes = [(32, 1, 3, 3), (32,), (32,), (32,), (64, 32, 3, 3), (64,), (64,), (64,), (128, 3136), (128,),
                  (10, 128), (10,)]
        step = {"parameters/" + name: torch.randn(shape) * 0.1 for name, shape in zip(cnn_torch.NAMES, shapes)}
        step["parameters/norm1.weight"], step["parameters/norm2.weight"] = torch.ones(32), torch.ones(64)
        step["images"] = torch.randint(0, 256, (4, 1, 28, 28), dtype=torch.uint8)
        step["labels"] = torch.randint(0, 10, (4,))
        cls.decisions, cls.torch, cls.step = cnn_decisions, torch, step
        cls.edges = cnn_decisions.Edges(step, "cpu", 200 * BOUND)  # a batch of four has few that are nearer

    def rounded(self, gradients):
        return {name: (one * (1 + ROUNDING * self.torch.randn_like(one))) for name, one in gradients.items()}

    def with_decisions(self, chosen):
        forced = {}
        for stage, at, place, _ in chosen:
            forced.setdefault(stage, {})[at] = place
        return self.rounded(self.decisions.Network(self.step, "cpu", forced).gradients)

    def error(self, found):
        right, _ = self.edges.fitted(found, FLOOR)
        return max(((found[name] - right[name]).norm() / self.decisions.against(name, right)).item() for name in right)

    def test_there_are_candidates_in_both_blocks(self):
        self.assertLessEqual({"block1", "block2"}, {stage for stage, _, _, _ in self.edges.near})

    def test_planted_sides_are_found(self):
        for first in range(3):
            numbers = list(range(first, len(self.edges.near), 3))
            found = self.with_decisions([self.edges.near[i] for i in numbers])
            self.assertEqual(self.edges.fitted(found, FLOOR)[1], numbers)
            self.assertLess(self.error(found), 10 * ROUNDING)

    def test_a_mask_that_is_wrong_far_from_an_edge_stays_an_error(self):
        for stage in self.decisions.Network(self.step, "cpu").stages:
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
