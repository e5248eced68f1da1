"""The watch mode of `heddle learn`, in a terminal.

    learn_watch.py HEDDLE COURSE
"""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from learn_folder import BANK, FIRST, HEDDLE, LearnFolder  # noqa: E402
from terminal import DEADLINE  # noqa: E402


class LearnWatch(LearnFolder):
    def test_it_judges_each_save_and_takes_keys(self):
        self.run_heddle("next", "03.1")
        terminal = self.watch()
        terminal.wait_for(f"Your file: {self.file(FIRST)}")
        terminal.wait_for("Chapters 0 to 4 come before: `")
        terminal.wait_for("was never written")
        replacement = self.root / "replacement.cu"
        replacement.write_text(self.solution(FIRST))
        replacement.rename(self.file(FIRST))
        terminal.wait_for("Passed")
        terminal.wait_for("Press n for 06.10")
        terminal.press("n")
        terminal.wait_for("at most 1 allowed")
        self.file(BANK).write_text(self.start(BANK).replace("tile[TILE][TILE];", "tile[TILE][TILE]"))
        terminal.wait_for("A semicolon is missing")
        terminal.press("h")
        terminal.wait_for("Hint 1 of 3")
        terminal.press(" h")
        terminal.wait_for("any other key goes back")
        self.assertEqual(self.state()["hints"], {"06.10-one-bank": 1})
        terminal.press("h")
        terminal.wait_for("Hint 2 of 3")
        terminal.press("l")
        terminal.wait_for("05-first-kernels             1 of 1 solved")
        terminal.wait_for("> ")
        terminal.wait_for("1 of 3 solved")
        terminal.press("s")
        terminal.wait_for("once you have passed")
        terminal.press("r")
        terminal.wait_for("y/n")
        terminal.press("y")
        terminal.wait_for(".bak-1")
        terminal.wait_for("at most 1 allowed")
        terminal.press("?")
        terminal.wait_for("in any editor")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.file(BANK).read_text(), self.start(BANK))

    def test_it_opens_the_exercise_that_was_last_run_or_shown_solved_or_not(self):
        self.file(FIRST).write_text(self.solution(FIRST))
        self.run_heddle("run", "05.1")
        for exercise, told in ((FIRST, "Press n for"), (BANK, "at most 1 allowed")):
            self.run_heddle("show", exercise.rsplit("/", 1)[-1])
            terminal = self.watch()
            terminal.wait_for(f"Your file: {self.file(exercise)}")
            terminal.wait_for(told)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)

    def test_keys_are_not_shown_and_the_terminal_is_as_before_after_q_and_ctrl_c(self):
        for keys, code in (("q", 0), ("\x03", 130)):
            master, slave = pty.openpty()
            before = termios.tcgetattr(slave)
            process = subprocess.Popen(["heddle", "learn"], executable=HEDDLE,
                                       cwd=self.folder, env=self.environment, stdin=slave, stdout=slave,
                                       stderr=slave, start_new_session=True,
                                       preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            said = b""
            while b"q quit" not in said:
                self.assertTrue(select.select([master], [], [], DEADLINE)[0], said)
                said += os.read(master, 65536)
            self.assertFalse(termios.tcgetattr(slave)[3] & termios.ECHO)
            os.write(master, keys.encode())
            while process.poll() is None:
                if select.select([master], [], [], 0.1)[0]:
                    os.read(master, 65536)
            self.assertEqual(process.returncode, code)
            self.assertEqual(termios.tcgetattr(slave), before)
            os.close(master)
            os.close(slave)

    def test_q_quits_at_the_question_and_a_reset_ends_the_old_verdict(self):
        self.run_heddle("next", "03.1")
        self.file(FIRST).write_text(self.start(FIRST).replace("out[i]", "out[i"))
        terminal = self.watch()
        terminal.wait_for("closing bracket")
        terminal.press("r")
        terminal.wait_for("y/n")
        terminal.press("y")
        terminal.wait_for(".bak-1")
        terminal.wait_for("was never written")
        self.assertNotIn("closing bracket", terminal.before)
        terminal.press("r")
        terminal.wait_for("y/n")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_on_a_low_screen_the_statement_is_folded_to_its_goal_after_the_verdict(self):
        self.run_heddle("next", "03.1")
        statement = (self.course / FIRST.replace("/", "/exercises/") / "README.md").read_text()
        opening = statement.split("\n\n")[1].split()[:3]
        for rows, folded in ((20, True), (200, False)):
            terminal = self.watch(rows)
            terminal.wait_for("Judging ...")
            terminal.wait_for("\033[H")
            terminal.wait_for("was never written")
            terminal.press("?")
            terminal.wait_for("in any editor")
            terminal.press(" ")
            terminal.wait_for("\033[H")
            terminal.wait_for("Goal:")
            before = terminal.before
            self.assertEqual(" ".join(opening) in before, not folded, before)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)

    def test_on_a_low_screen_a_long_verdict_is_cut_and_v_shows_the_rest(self):
        rows = 16
        self.run_heddle("next", "03.1")
        terminal = self.watch(rows)
        terminal.wait_for("Judging ...")
        terminal.wait_for("\033[H\033[2J")
        terminal.wait_for("? help")
        screen = terminal.before
        self.assertLess(screen.count("\n"), rows, screen)
        for text in ("Goal:", "more lines: press v", "] 0 of 3 solved"):
            self.assertIn(text, screen)
        whole = screen
        while "the end: v goes back" not in whole:
            terminal.press("v")
            terminal.wait_for("\033[H\033[2J")
            terminal.wait_for("? help")
            self.assertLess(terminal.before.count("\n"), rows, terminal.before)
            whole += terminal.before
        self.assertIn("elements are wrong", whole)
        terminal.press("v")
        terminal.wait_for("Goal:")
        terminal.press("t")  # a page is cut in the same way
        terminal.wait_for("A kernel is one function")
        terminal.wait_for("more lines: press v")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_a_second_watcher_is_told_and_single_commands_work_beside_it(self):
        terminal = self.watch()
        terminal.wait_for("q quit")
        other = self.watch()
        other.wait_for("another `heddle learn` is watching")
        self.assertEqual(other.end(), 1)
        self.run_heddle("hint", "05.1")
        self.run_heddle("list")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_without_a_terminal_it_judges_once(self):
        self.run_heddle("next", "03.1")
        result = subprocess.run(["heddle", "learn"], executable=HEDDLE,
                                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 1)
        self.assertIn("was never written", result.stdout)


if __name__ == "__main__":
    unittest.main()
