"""Stops `heddle train` in a terminal the ways people do. Ctrl-C, SIGTERM and closing the terminal finish the step and
save; resuming then ends in the same bits as a run that was never stopped. A second Ctrl-C ends it at once. What the
caller ignores, as nohup does, stays ignored.

    interrupt.py HEDDLE
"""

import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile

BATCH = "16"
TRAIN = ["train", "--data", "synth:count=640", "--model", "cnn", "--epochs", "2", "--batch", BATCH, "--threads", "1"]
DEADLINE = 120  # seconds without a word from the command: it hangs


def fail(text):
    sys.exit(f"interrupt.py: {text}")


class Terminal:
    """The command with a terminal of its own."""

    def __init__(self, heddle, arguments, ignore_hangup=False):
        self.said = b""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            if ignore_hangup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.execv(heddle, [heddle, *arguments])

    def read(self):
        """False at the end of what is said."""
        if not select.select([self.terminal], [], [], DEADLINE)[0]:
            os.kill(self.child, signal.SIGKILL)
            fail(f"it hangs after:\n{self.text()}")
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # Linux's way of saying that the other side is closed
            part = b""
        self.said += part
        return part != b""

    def text(self):
        return self.said.decode(errors="replace")

    def wait_for(self, text):
        while text not in self.text():
            if not self.read():
                fail(f"'{text}' was never said:\n{self.text()}")

    def end(self):
        """Exit code, or minus the signal."""
        while self.read():
            pass
        os.close(self.terminal)
        return self.wait()

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def expect(condition, what, terminal):
    if not condition:
        fail(f"{what}:\n{terminal.text()}")


def run(heddle, *arguments):
    done = subprocess.run([heddle, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail(f"heddle {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def resume_and_compare(heddle, folder, whole, how):
    said = run(heddle, "train", "--out", str(folder), "--resume", "--batch", BATCH)  # unchanged: no reason to refuse
    if "resumed at epoch" not in said:
        fail(f"{how}: nothing was left to resume\n{said}")
    for name in ("last.safetensors", "best.safetensors"):
        if (folder / name).read_bytes() != (whole / name).read_bytes():
            fail(f"{how}: {name} differs from that of the run that was never stopped")


def changed_setting_refused(heddle, folder):
    done = subprocess.run([heddle, "train", "--out", str(folder), "--resume", "--batch", "32"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 2 or done.stdout != "heddle: --batch cannot change while resuming; leave it out\n":
        fail(f"another batch while resuming: exit code {done.returncode}\n{done.stdout}")


def stopped_gently(heddle, folder, whole, how, stop):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder), "--folder", str(folder.parent)])
    terminal.wait_for("epoch 1/2")
    stop(terminal)
    code = terminal.end()
    expect(code == 1, f"{how}: exit code {code}, not 1", terminal)
    for text in ("finishing the step and saving", "stopped on request at epoch", "saved, resume to go on",
                 f"heddle train --out {folder} --resume --folder {folder.parent}"):
        expect(text in terminal.text(), f"{how}: '{text}' is not said", terminal)
    resume_and_compare(heddle, folder, whole, how)


def terminal_closed(heddle, folder, whole):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder)])
    terminal.wait_for("epoch 1/2")
    os.close(terminal.terminal)
    code = terminal.wait()
    expect(code == 1, f"closing the terminal: exit code {code}, not 1", terminal)
    resume_and_compare(heddle, folder, whole, "closing the terminal")


def hangup_ignored(heddle, folder, whole):
    terminal = Terminal(heddle, [*TRAIN, "--out", str(folder)], ignore_hangup=True)
    terminal.wait_for("epoch 1/2")
    os.kill(terminal.child, signal.SIGHUP)
    code = terminal.end()
    expect(code == 0, f"an ignored SIGHUP: exit code {code}, not 0", terminal)
    if (folder / "last.safetensors").read_bytes() != (whole / "last.safetensors").read_bytes():
        fail("an ignored SIGHUP: last.safetensors differs")


def stopped_at_once(heddle, folder):
    terminal = Terminal(heddle, [*TRAIN, "--epochs", "1000", "--out", str(folder)])
    terminal.wait_for("epoch 1/1000")
    os.write(terminal.terminal, b"\x03\x03")
    code = terminal.end()
    # Both may arrive as one; then it is the gentle way.
    expect(code in (-signal.SIGINT, 1), f"Ctrl-C twice: exit code {code}", terminal)
    run(heddle, "predict", str(folder / "last.safetensors"), "--index", "0")


def main():
    if len(sys.argv) != 2:
        fail("usage: interrupt.py HEDDLE")
    heddle = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="heddle-interrupt-") as name:
        folder = pathlib.Path(name)
        whole = folder / "whole"
        run(heddle, *TRAIN, "--out", str(whole), "--quiet")
        stopped_gently(heddle, folder / "ctrl-c", whole, "Ctrl-C", lambda one: os.write(one.terminal, b"\x03"))
        stopped_gently(heddle, folder / "term", whole, "SIGTERM", lambda one: os.kill(one.child, signal.SIGTERM))
        terminal_closed(heddle, folder / "closed", whole)
        hangup_ignored(heddle, folder / "ignored", whole)
        stopped_at_once(heddle, folder / "twice")
        changed_setting_refused(heddle, whole)
    print("Ctrl-C, SIGTERM and a closed terminal save; resuming gives the same bits")


if __name__ == "__main__":
    main()
