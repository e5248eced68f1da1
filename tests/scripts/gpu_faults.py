"""tests/nn/faults/gpu_faults.sh with the program and the card played: what it asks, and what it writes of it. training.py runs
these tests with its own."""
import json
import os
import subprocess
import tempfile
import unittest

from loading import ROOT

FAULTS = ["trap", "address", "lost", "memory"]

# A run of one epoch, one that is broken by a fault, one that goes on, an evaluation. In the place of {spoil} a test
# has what is to go wrong.
HEDDLE = r'''#!/bin/sh
echo "${HEDDLE_FAULT-}" "$@" >>"$PLAYED.asked"
at=$2
while [ $# -gt 0 ]; do
    [ "$1" != --out ] || out=$2
    case $1 in eval) job=eval ;; --resume) resumed=yes ;; --json) job=on ;; 1) short=yes ;; esac
    shift
done
{spoil}
if [ "${job-}" = eval ]; then
    [ -e "$at" ] && echo "accuracy 90 %"
    exit
fi
if [ -n "${HEDDLE_FAULT-}" ]; then
    [ -n "${resumed-}" ] || { mkdir -p "$out" && echo epoch 1 >"$out/last.safetensors"; }
    case $HEDDLE_FAULT in
    trap) echo 'heddle: "step": unspecified launch failure \ here' >&2 ;;
    address) echo "heddle: an illegal memory access" >&2 ;;
    lost) echo "heddle: no device is available: busy or unavailable" >&2 ;;
    memory) echo "heddle: out of memory" >&2 ;;
    esac
    [ "$HEDDLE_FAULT" = memory ] || echo "heddle: resume with: heddle train --resume" >&2
    exit 1
fi
[ -z "${short-}" ] || { mkdir -p "$out" && echo epoch 1 >"$out/last.safetensors"; }
[ "${job-}" != on ] || echo '{"event":"trained","epoch":2}
{"event":"result","reached":true}'
'''


class Faults(unittest.TestCase):
    def look(self, spoil="", code=0):
        """(rows by fault, what was printed, what heddle was asked); `spoil`: shell commands of the played program."""
        with tempfile.TemporaryDirectory() as folder:
            heddle, file = os.path.join(folder, "heddle"), os.path.join(folder, "seen.json")
            with open(heddle, "w", encoding="utf-8") as program:
                program.write(HEDDLE.replace("{spoil}", spoil))
            os.chmod(heddle, 0o755)
            done = subprocess.run([os.path.join(ROOT, "tests", "nn", "faults", "gpu_faults.sh"), heddle, "", "--json", file],
                                  env=dict(os.environ, PLAYED=heddle), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True)
            self.assertEqual(done.returncode, code, done.stdout)
            with open(file, encoding="utf-8") as seen, open(heddle + ".asked", encoding="utf-8") as asked:
                rows = json.load(seen)["results"]
                self.assertEqual([row["fault"] for row in rows], FAULTS)
                return {row["fault"]: row for row in rows}, done.stdout, asked.read().splitlines()

    def seen(self, rows, name):
        return [rows[fault][name] for fault in FAULTS]

    def test_every_fault_is_told_in_a_line_and_the_run_goes_on(self):
        rows, _, asked = self.look()
        for name, expected in (("exit_code", 1), ("intact", True), ("goes_on", True), ("passed", True)):
            self.assertEqual(self.seen(rows, name), [expected] * 4, name)
        self.assertEqual(rows["trap"]["told"], 'heddle: "step": unspecified launch failure \\ here')
        struck, = (line for line in asked if line.startswith("memory "))
        self.assertIn(" --resume --epochs 1000000 ", struck, "memory is gone from a run that has a checkpoint to lose")

    def test_a_checkpoint_that_is_not_byte_for_byte_the_one_before_is_not_intact(self):
        rows, printed, _ = self.look('[ "${HEDDLE_FAULT-}" != memory ] || echo more >>"$out/last.safetensors"', code=1)
        self.assertEqual(self.seen(rows, "intact"), [True, True, True, False])
        self.assertEqual(self.seen(rows, "passed"), [True, True, True, False])
        self.assertIn("memory: the last checkpoint is not the one before the fault", printed)

    def test_a_checkpoint_that_cannot_be_evaluated_is_not_intact(self):
        rows, _, _ = self.look('[ "${job-}" != eval ] || case $at in */address/*) exit 1 ;; esac', code=1)
        self.assertEqual(self.seen(rows, "intact"), [True, False, True, True])
        self.assertEqual(self.seen(rows, "goes_on"), [True] * 4)

    def test_a_run_that_ends_well_without_training_has_not_gone_on(self):
        rows, _, _ = self.look('''[ "${job-}" != on ] || { echo '{"event":"result","reached":true}'; exit; }''', code=1)
        self.assertEqual(self.seen(rows, "goes_on"), [False] * 4)
        self.assertEqual(self.seen(rows, "intact"), [True] * 4)

    def test_a_fault_that_cannot_be_made_fails_and_says_so(self):
        rows, printed, _ = self.look('''[ "${HEDDLE_FAULT-}" != lost ] || {
            echo "gpu_fault: cuDevicePrimaryCtxReset failed: error 3" >&2; exit 70; }''', code=1)
        self.assertEqual(self.seen(rows, "passed"), [True, True, False, True])
        self.assertEqual((rows["lost"]["exit_code"], rows["lost"]["intact"], rows["lost"]["goes_on"]), (70, None, None))
        self.assertIn("lost: this fault cannot be made here\n    gpu_fault: cuDevicePrimaryCtxReset failed: error 3", printed)

    def test_another_exit_code_or_more_lines_or_other_words_are_not_as_asked(self):
        for what, told in (("exit 2", "exit code 2, not 1"), ("exit 1", "not one line"), ("kill -9 $$", "exit code 137, not 1"),
                           ("echo 'heddle: well' >&2; exit 1", "nothing of 'illegal memory"),
                           ("printf 'an illegal address\\nmore\\n' >&2; exit 1", "not one line")):
            rows, printed, _ = self.look('''[ "${HEDDLE_FAULT-}" != address ] || {
                mkdir "$out"; echo epoch 1 >"$out/last.safetensors"; %s; }''' % what, code=1)
            self.assertEqual(self.seen(rows, "passed"), [True, False, True, True], what)
            self.assertIn("address: " + told, printed)


if __name__ == "__main__":
    unittest.main()
