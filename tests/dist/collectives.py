"""`heddle bench collectives` between ranks: every collective, every size, checked, and bandwidths that follow from the
times.

    collectives.py HEDDLE MPIRUN
"""

import json
import subprocess
import sys
import unittest

import ranks

HEDDLE, MPIRUN = sys.argv[1:3]


class Collectives(unittest.TestCase):
    def measure(self, count):
        said = ranks.run(MPIRUN, "-n", str(count), HEDDLE, "bench", "collectives", "--largest", "0.25", "--seconds",
                         "0.001", "--json", "-")
        return json.loads(said)

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
