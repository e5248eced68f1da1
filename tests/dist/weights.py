"""Several ranks must train to the weights of one process with the same global batch, up to rounding: synchronised
batchnorm, dropout, short last batches and batches smaller than the number of ranks included.

    weights.py HEDDLE MPIRUN [sim]

With `sim`, on the simulated GPU: what ranks with a GPU each run, but for NCCL.
"""

import sys
import tempfile
import unittest

import ranks

HEDDLE, MPIRUN, *DEVICE = sys.argv[1:]
# Of the largest number of a tensor: some hundred roundings of a float. AdamW divides a gradient by its own size, and where
# that is next to nothing its rounding shows.
TOLERANCE = 2e-5
ADAMW_TOLERANCE = 2e-4


class Weights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-ranks-")
        self.addCleanup(self.folder.cleanup)
        # On a CPU more channels than travel together.
        self.network = ranks.network_file(self.folder.name, 8 if DEVICE else 137)

    def train(self, name, launcher, *options):
        out = f"{self.folder.name}/{name}"
        ranks.run(*launcher, HEDDLE, "train", "--model", self.network, "--out", out, "--quiet", *options)
        return ranks.tensors(out + "/last.safetensors")

    def assert_near(self, found, wanted, start, tolerance):
        self.assertEqual(found.keys(), wanted.keys())
        moved = 0
        for name, values in wanted.items():
            scale = max(abs(value) for value in values)
            distance = max(abs(a - b) for a, b in zip(values, found[name]))
            self.assertLessEqual(distance, tolerance * scale, name)
            if name in start and scale > 0:
                moved = max(moved, max(abs(a - b) for a, b in zip(values, start[name])) / scale)
        self.assertGreater(moved, 100 * tolerance, "nothing was learned, so there is nothing to compare")

    def compare(self, count, *options, together=4, tolerance=TOLERANCE):
        options = ("--data", f"synth:count={count}", *options)
        start = self.train("start", (), *options, "--epochs", "0")
        alone = self.train("alone", (), *options, "--epochs", "1")
        found = self.train("together", (MPIRUN, "-n", str(together)), *options, "--epochs", "1")
        self.assert_near(found, alone, start, tolerance)


class OnTheCpu(Weights):
    def test_momentum_with_fused_kernels_and_a_short_last_batch(self):
        self.compare(70, "--batch", "32", "--optimizer", "momentum", "--bucket", "0.002")

    def test_adamw_with_unfused_kernels(self):
        self.compare(96, "--batch", "32", "--optimizer", "adamw", "--lr", "0.001", "--kernels", "tuned",
                     tolerance=ADAMW_TOLERANCE)

    def test_a_batch_smaller_than_the_number_of_ranks(self):
        self.compare(11, "--batch", "3", "--lr", "0.01", "--bucket", "0")


class OnAGpu(Weights):
    def test_momentum_with_a_short_last_batch(self):
        self.compare(7, "--batch", "5", "--optimizer", "momentum", "--device", *DEVICE, together=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], defaultTest="OnAGpu" if DEVICE else "OnTheCpu", verbosity=2)
