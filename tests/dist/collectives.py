"""`heddle bench collectives` between ranks: every collective, every size, checked, and bandwidths that follow from the
times.

    collectives.py HEDDLE MPIRUN
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import ranks

HEDDLE, MPIRUN = sys.argv[1:3]


class Collectives(unittest.TestCase):
    def measure(self, count):
        said = ranks.run(MPIRUN, "-n", str(count), HEDDLE, "bench", "collectives", "--largest", "0.25", "--seconds",
                         "0.001", "--json")
        lines = [json.loads(line) for line in said.splitlines()]
        self.assertEqual([line["event"] for line in lines], ["measured"] * (len(lines) - 1) + ["result"])
        self.assertEqual(len(lines[-1]["rows"]), len(lines) - 1)
        return lines[-1]

    def test_all_collectives_are_right_at_all_sizes(self):
        count = 3  # so that parts do not come out even
        found = self.measure(count)
        self.assertEqual(found["ranks"], count)
        factor = {"all-reduce": 2 * (count - 1) / count, "broadcast": 1, "all-gather": (count - 1) / count,
                  "reduce-scatter": (count - 1) / count}
        self.assertEqual({row["collective"] for row in found["rows"]}, set(factor))
        for row in found["rows"]:
            self.assertTrue(row["right"], row)
            self.assertGreater(row["microseconds"], 0)
            rate = row["bytes"] / row["microseconds"] / 1e3
            self.assertAlmostEqual(row["algorithm_bandwidth"] / rate, 1, places=6)
            self.assertAlmostEqual(row["bus_bandwidth"] / rate / factor[row["collective"]], 1, places=6)
        sizes = [row["bytes"] for row in found["rows"] if row["collective"] == "all-reduce"]
        self.assertEqual((sizes[0], sizes[-1]), (8, 1 << 18))

    def test_a_process_alone_is_told_what_to_do(self):
        done = subprocess.run([HEDDLE, "bench", "collectives"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=ranks.environment())
        self.assertEqual(done.returncode, 2)
        self.assertIn("mpirun -n 4 heddle bench collectives", done.stderr)

    def told(self, count, *command, **variables):
        """What the ranks of heddle itself say on standard error, and the exit code of mpirun."""
        done = subprocess.run([MPIRUN, "-n", str(count), HEDDLE, *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(ranks.environment(), **variables), timeout=60)
        self.assertEqual(done.stdout, "")
        return [line for line in done.stderr.splitlines() if line.startswith("heddle")], done.returncode

    def test_what_is_wrong_with_a_command_is_said_once(self):
        for command, words, code in (
                (["train", "--epohcs", "3"], "heddle train: unknown option --epohcs; did you mean --epochs?", 2),
                (["train", "--data", "nosuch"], "heddle: unknown dataset or folder nosuch", 2),
                (["train", "--dist", "nccl", "--data", "synth:count=20"], "heddle: --dist nccl needs GPUs", 2),
                (["bench", "collectives", "--dist", "nccl", "--device", "cpu"],
                 "heddle: --dist nccl needs GPUs", 2),
                (["bench", "collectives", "--json=/nowhere/x"], "heddle: /nowhere/x: No such file or directory", 1)):
            said, exit_code = self.told(3, *command)
            self.assertEqual(len(said), 1, (command, said))
            self.assertTrue(said[0].startswith(words), said[0])
            self.assertEqual(exit_code, code, command)

    def test_one_rank_has_nobody_to_exchange_with(self):
        said, code = self.told(1, "bench", "collectives", "--dist", "mpi")
        self.assertEqual(code, 2)
        self.assertIn("collectives need several ranks", said[0])

    def test_ranks_without_gpus_are_told_of_mpi_and_of_no_device_that_has_no_time(self):
        mpi = os.path.join(os.path.dirname(os.path.abspath(HEDDLE)), "libheddle-mpi.so")
        with tempfile.TemporaryDirectory() as modules:  # as in a build without CUDA
            os.symlink(mpi, modules + "/libheddle-mpi.so")
            said, code = self.told(2, "bench", "collectives", "--device", "cuda", HEDDLE_MODULES=modules)
        self.assertEqual((len(said), code), (1, 3), said)
        self.assertTrue(said[0].startswith("heddle: no cuda device: "), said[0])
        self.assertIn("; `mpirun -n 4 heddle bench collectives` measures CPUs over MPI", said[0])
        self.assertNotIn("sim", said[0])

    def test_the_table_is_aligned(self):
        said = ranks.run(MPIRUN, "-n", "2", HEDDLE, "bench", "collectives", "--largest", "0.001", "--seconds", "0.001")
        lines = said.splitlines()
        self.assertRegex(lines.pop(0), r"^device  cpu \(default: ")
        self.assertEqual(lines[0], "2 ranks over MPI")
        self.assertEqual({len(line.rstrip()) for line in lines[1:]}, {len(lines[1].rstrip())})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
