"""The command in a terminal of its own, for tests that press keys and stop it as people do."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios

DEADLINE = 120  # seconds without a word from the command: it hangs
COLUMNS = 100


class Terminal:
    def __init__(self, heddle, arguments, folder=None, environment=None, rows=0, ignore_hangup=False,
                 columns=COLUMNS):
        self.said, self.heard, self.before = b"", 0, ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            if folder:
                os.chdir(folder)
            if rows:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            if ignore_hangup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.execve(heddle, ["heddle", *arguments], environment or os.environ)

    def read(self):
        """False at the end of what is said."""
        if not select.select([self.terminal], [], [], DEADLINE)[0]:
            os.kill(self.child, signal.SIGKILL)
            raise AssertionError(f"it hangs after:\n{self.text()}")
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # Linux's way of saying that the other side is closed
            part = b""
        self.said += part
        return part != b""

    def text(self):
        """All that was said."""
        return self.said.decode(errors="replace")

    def wait_for(self, text):
        """Waits for it behind what was waited for before; self.before is what was said up to there."""
        wanted = text.encode()
        while wanted not in self.said[self.heard:]:
            if not self.read():
                raise AssertionError(f"'{text}' was never said:\n{self.text()}")
        at = self.said.index(wanted, self.heard)
        self.before = self.said[self.heard:at].decode(errors="replace")
        self.heard = at + len(wanted)

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def end(self):
        """Exit code, or minus the signal."""
        while self.read():
            pass
        os.close(self.terminal)
        return self.wait()

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
