"""A rank is killed with SIGKILL: the others must end within ten seconds, each with a message that names it, and --resume
must go on to the very weights of a run that lost nobody. Ranks that fail for the same reason take none for lost.

    lost.py HEDDLE MPIRUN
"""

import os
import re
import signal
import sys
import tempfile
import time
import unittest

import ranks

HEDDLE, MPIRUN = sys.argv[1:3]
RANKS = 3
SECONDS = 10


class Lost(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-lost-")
        self.addCleanup(self.folder.cleanup)

    def train(self, name, *options):
        return (HEDDLE, "train", "--out", f"{self.folder.name}/{name}", "--json", "--save-every", "0.02", *options)

    def kill_one(self, command, victim):
        """Starts the job, kills a rank once something beyond the beginning is saved, and returns what was said."""
        job = ranks.start(MPIRUN, RANKS, *command)
        saves = 0
        for line in job.stdout:
            saves += '"saved"' in line
            if saves == 3:
                break
        processes = ranks.rank_processes(job)
        self.assertEqual(sorted(processes), list(range(RANKS)), "not all ranks are there")
        os.kill(processes[victim], signal.SIGKILL)
        begin = time.monotonic()
        try:
            said = job.communicate(timeout=SECONDS)[1]
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
        self.assertLess(time.monotonic() - begin, SECONDS)
        self.assertNotEqual(job.returncode, 0)
        for rank, process in processes.items():
            self.assertFalse(os.path.exists(f"/proc/{process}/exe"), f"rank {rank} is still there")
            if rank != victim:
                pattern = rf"heddle: rank {victim} \(pid {processes[victim]} on .+\) is gone; rank {rank} stops in epoch"
                self.assertRegex(said, pattern)
        self.assertEqual(len(re.findall(f"heddle: resume with: mpirun -n {RANKS} heddle train --out .*--resume", said)), 1, said)

    def test_a_lost_rank_ends_the_job_and_resuming_gives_the_same_weights(self):
        options = ("--model", ranks.network_file(self.folder.name), "--data", "synth:count=256", "--batch", "32",
                   "--epochs", "25", "--optimizer", "momentum", "--lr", "0.01")
        ranks.run(MPIRUN, "-n", str(RANKS), *self.train("whole", *options))
        self.kill_one(self.train("parts", *options), victim=1)
        self.kill_one(self.train("parts", "--resume"), victim=0)
        ranks.run(MPIRUN, "-n", str(RANKS), *self.train("parts", "--resume"))
        self.assertEqual(ranks.tensors(f"{self.folder.name}/parts/last.safetensors"),
                         ranks.tensors(f"{self.folder.name}/whole/last.safetensors"))

    def test_a_run_that_diverges_loses_nobody(self):
        job = ranks.start(MPIRUN, RANKS, *self.train("far", "--data", "synth:count=256", "--epochs", "2", "--lr", "1e6"))
        said = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 1)
        self.assertEqual(said.count("heddle: training diverged"), 1, said)  # by all, and said by the first
        self.assertNotIn("is gone", said)
        self.assertNotIn("--resume", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
