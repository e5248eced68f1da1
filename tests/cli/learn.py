"""`heddle learn` as a learner uses it: a folder of exercises, verdicts, and files in every bad shape.

    learn.py HEDDLE COURSE
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import termios
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree
from learn_folder import BANK, COURSE, FIRST, HEDDLE, PLAIN, PLAIN_FILES, LearnFolder, write_exercise  # noqa: E402
from terminal import Terminal  # noqa: E402


class Learn(LearnFolder):
    # --- the folder ---------------------------------------------------------------------------------------------------

    def test_without_a_folder_it_says_how_to_make_one(self):
        result = self.run_heddle("list", code=2, folder=self.root)
        self.assertEqual(result.stderr, "heddle: no course folder here: run `heddle learn init`\n")

    def test_the_folder_is_found_from_within_and_from_beside_it(self):
        self.run_heddle("list", folder=self.folder / "05-first-kernels")
        self.run_heddle("init", folder=self.root)
        self.run_heddle("list", folder=self.root)
        self.assertTrue((self.root / "heddle-course" / (FIRST + ".cu")).exists())

    def test_init_refuses_a_folder_inside_a_course_folder(self):
        for arguments in ([], ["other"], ["03-c/other/deep"], [str(self.folder / "other")]):
            result = self.run_heddle("init", *arguments, code=2)
            self.assertIn(f"{self.folder} is a course folder already", result.stderr)
        self.run_heddle("init", "../beside")
        self.assertFalse((self.folder / "heddle-course").exists())

    def test_a_watch_that_is_quit_by_a_signal_gives_the_terminal_back(self):
        watch = self.watch()
        watch.wait_for("was never written")
        os.kill(watch.child, signal.SIGQUIT)
        self.assertTrue(os.WIFSIGNALED(os.waitpid(watch.child, 0)[1]))
        self.assertTrue(termios.tcgetattr(watch.terminal)[3] & termios.ECHO)
        os.close(watch.terminal)

    def test_init_and_show_say_where_the_chapters_are(self):
        (self.course / "05-first-kernels" / "README.md").write_text("# 5. First kernels\n")
        (self.course / "03-c" / "README.md").write_text("# 3. The C you need\n")
        said = self.run_heddle("init", "other", folder=self.root).stdout
        self.assertIn("Read first: 05-first-kernels/README.md, or `heddle learn read 5`\n"
                      "Chapters 0 to 4 come before: `heddle learn read 0`\n"
                      "Not sure of your C? `heddle learn read 3`\n", said)
        self.assertIn("- [05-first-kernels](05-first-kernels/README.md)\n",
                      (self.root / "other" / "README.md").read_text())
        page = "Chapter: 05-first-kernels/README.md (`heddle learn read 5`)\n"
        self.assertTrue(self.run_heddle("show", "05.1").stdout.endswith(page.replace("read 5", "read 5.2")))
        for word in ("05", "5", "05-first-kernels", "first-kernels"):
            said = self.run_heddle("show", word).stdout
            self.assertIn("05.1   Which element is mine?", said)
            self.assertIn(page, said)
        self.assertIn("no exercise '99'", self.run_heddle("show", "99", code=2).stderr)

    def test_a_newer_course_brings_newer_pages_but_leaves_what_the_learner_changed_or_deleted(self):
        course, mine = self.course / "05-first-kernels", self.folder / "05-first-kernels"
        names = ("README.md", "kept.cu", "changed.cu", "deleted.cu")
        for name in names:
            (course / name).write_text("old\n")
        self.run_heddle("list")
        self.assertEqual([(mine / name).read_text() for name in names], ["old\n"] * 4)
        (mine / "changed.cu").write_text("mine\n")
        (mine / "deleted.cu").unlink()
        (course / "exercises" / "05.1-which-element" / "README.md").write_text("# 05.1 · New title\n")
        for name in (*names, "new.h"):
            (course / name).write_text("new\n")
        self.run_heddle("list")
        self.assertEqual({path.name: path.read_text() for path in mine.iterdir() if path.name in (*names, "new.h")},
                         {"README.md": "new\n", "kept.cu": "new\n", "changed.cu": "mine\n", "new.h": "new\n"})
        self.assertIn("New title", self.file(FIRST, ".md").read_text())
        self.run_heddle("init", ".")
        self.assertEqual((mine / "deleted.cu").read_text(), "new\n")
        self.assertEqual((mine / "changed.cu").read_text(), "mine\n")

    def test_a_chapter_has_no_comments_and_only_links_that_lead_somewhere(self):
        (self.course / "GLOSSARY.md").write_text("# Glossary\n")
        (self.course / "05-first-kernels" / "hello.cu").write_text("// hello\n")
        (self.course / "05-first-kernels" / "README.md").write_text(
            "# 5. First kernels\n\nA [grid](../GLOSSARY.md#grid), 3<!-- figure: x -->&nbsp;ms, [hello](hello.cu), "
            "[docs](../../docs/x.md) ([figures](../../docs/x.md#y)), [more](#more), *some* 2 * 3 [page](https://x.org)."
            "\n\n| a | `b` |\n|---|---|\n| one *word* | 2 |\n\n![A picture](grid.svg)\n\n"
            "```cuda\nint i;\n```\n\n## 5.1 More\n")
        self.run_heddle("list")
        text = (self.folder / "05-first-kernels" / "README.md").read_text()
        self.assertIn("A [grid](../GLOSSARY.md#grid), 3&nbsp;ms, [hello](hello.cu), docs, [more](#more), *some* 2 * 3 "
                      "[page](https://x.org).", text)
        self.assertTrue((self.folder / "GLOSSARY.md").exists())
        said = self.run_heddle("read", "5").stdout
        self.assertIn("5. First kernels\n\nA grid, 3&nbsp;ms, hello, docs, more, some 2 * 3 page (https://x.org).\n", said)
        self.assertRegex(said, r"\n  a         `b`\n  (-{13}|─{13})\n  one word  2\n\n")
        section = "5.1 More\n"
        self.assertIn(f"(Figure: A picture)\n\n  int i;\n\n{section}", said)
        self.assertEqual(self.run_heddle("read", "5.1").stdout, section)
        self.assertIn("no section 5.9; ", self.run_heddle("read", "5.9", code=2).stderr)
        self.assertEqual(self.run_heddle("read", "glossary").stdout, "Glossary\n")
        self.assertEqual(self.run_heddle("read").stdout, said)
        self.assertEqual(self.run_heddle("read", "05.1").stdout, said)
        self.assertIn("no chapter 'x'", self.run_heddle("read", "x", code=2).stderr)

    def test_on_a_terminal_a_chapter_is_read_in_the_pager(self):
        (self.course / "05-first-kernels" / "README.md").write_text("# 5. First kernels\n")
        terminal = Terminal(HEDDLE, ["learn", "read", "5"], folder=self.folder,
                            environment=dict(self.environment, PAGER="sed s/kernels/pages/"))
        terminal.wait_for("First pages")
        self.assertEqual(terminal.end(), 0)

    def test_init_again_adds_what_is_missing_and_changes_nothing(self):
        self.file(FIRST).write_text("// mine\n")
        self.file(BANK).unlink()
        self.assertIn("1 exercise added", self.run_heddle("init", ".").stdout)
        self.assertEqual(self.file(FIRST).read_text(), "// mine\n")
        self.assertEqual(self.file(BANK).read_text(), self.start(BANK))

    def test_new_exercises_of_the_course_appear_and_deleted_files_stay_deleted(self):
        self.file(FIRST).unlink()
        write_exercise(self.course, "03-c", "03.10-later", dict(PLAIN_FILES, **{"README.md": "# 03.10 · Later\n"}))
        said = self.run_heddle("list").stdout
        self.assertLess(said.index("03.1 "), said.index("03.10 "))
        self.assertLess(said.index("03.10 "), said.index("05.1 "))
        self.assertTrue(self.file("03-c/03.10-later", ".c").exists())
        self.assertFalse(self.file(FIRST).exists())

    def test_an_exercise_that_gets_another_number_keeps_the_learners_text_and_progress(self):
        other = "03-c/03.1-double"
        self.file(FIRST).write_text(self.solution(FIRST))
        self.run_heddle("run", "05.1")
        self.run_heddle("hint", "05.1")
        self.run_heddle("run", "05.1")
        self.file(other, ".c").unlink()
        for old, new in (("05-first-kernels/exercises/05.1-which-element", "05.7-which-element"),
                         ("03-c/exercises/03.1-double", "03.2-double")):
            (self.course / old).rename((self.course / old).with_name(new))
        judge = self.course / "05-first-kernels/exercises/05.7-which-element/judge.cu"
        judge.write_text(judge.read_text().replace("05.1-", "05.7-"))
        listed = {one["number"]: one for one in json.loads(self.run_heddle("list", "--json").stdout)["exercises"]}
        self.assertNotEqual(listed["05.7"]["solved"], "")
        self.assertEqual(listed["05.7"]["hints_seen"], 1)
        self.assertEqual(json.loads(self.run_heddle("list", "--json").stdout)["current"], "05.7")
        renamed = "05-first-kernels/05.7-which-element"
        self.assertEqual(self.file(renamed).read_text(), self.solution(renamed))
        self.assertTrue(self.file(renamed, ".md").exists())
        self.assertFalse(self.file(FIRST).exists() or self.file(FIRST, ".md").exists())
        self.assertFalse(self.file("03-c/03.2-double", ".c").exists())  # deleted stays deleted
        self.run_heddle("run", "05.7")

    def test_a_page_that_stands_in_the_way_of_a_new_number_costs_no_progress(self):
        self.file(PLAIN, ".c").write_text(self.solution(PLAIN))
        self.run_heddle("run", "03.1")
        self.file("03-c/03.2-double", ".md").write_text("my notes\n")
        (self.course / "03-c/exercises/03.1-double").rename(self.course / "03-c/exercises/03.2-double")
        self.run_heddle("list")
        self.assertEqual(list(self.state()["solved"]), ["03.2-double"])
        self.assertEqual(self.file("03-c/03.2-double", ".c").read_text(), self.solution("03-c/03.2-double"))
        self.assertEqual(self.file("03-c/03.2-double", ".md").read_text(), "my notes\n")

    def test_a_new_page_is_offered_once_whether_the_old_one_was_deleted_or_edited(self):
        statement = self.course / "03-c/exercises/03.1-double/README.md"
        page = self.file(PLAIN, ".md")
        for text in (None, "my notes\n"):
            before = self.state()["pages"]["03-c/03.1-double.md"]
            page.unlink(missing_ok=True)
            if text:
                page.write_text(text)
            statement.write_text(statement.read_text() + "\nMore.\n")
            self.run_heddle("list")
            self.assertNotEqual(self.state()["pages"]["03-c/03.1-double.md"], before)
            self.assertEqual(page.read_text() if page.exists() else None, text)

    def test_a_statement_has_no_comments_and_only_links_that_lead_somewhere(self):
        self.assertIn("See chapter 3.\n", self.file(PLAIN, ".md").read_text())
        self.assertIn("See chapter 3.\n", self.run_heddle("show", "03.1").stdout)
        (self.course / "03-c" / "README.md").write_text("# 3. C\n")
        self.run_heddle("list")
        self.assertIn("See [chapter 3](README.md).\n", self.file(PLAIN, ".md").read_text())
        self.assertIn("See chapter 3.\n", self.run_heddle("show", "03.1").stdout)

    def test_an_exercise_is_named_by_number_name_or_path(self):
        for word in ("05.1", "5.1", "which-element", "05.1-which-element", str(self.file(FIRST)), FIRST + ".md"):
            self.assertIn("Which element is mine?", self.run_heddle("show", word).stdout)
        result = self.run_heddle("show", "wich-element", code=2)
        self.assertIn("no exercise 'wich-element'; did you mean which-element?", result.stderr)

    def test_the_path_of_another_file_with_the_same_name_is_refused(self):
        other = self.root / pathlib.Path(FIRST + ".cu").name
        other.write_text(self.solution(FIRST))
        result = self.run_heddle("run", str(other), code=2)
        self.assertIn(f"{other} is not in your course folder, {self.folder}; name the exercise by its number, 05.1",
                      result.stderr)
        self.run_heddle("show", "./" + FIRST + ".cu")
        self.run_heddle("show", "../05.1-which-element.cu", folder=self.folder / "03-c", code=2)
        self.file(FIRST).unlink()
        self.run_heddle("reset", str(self.file(FIRST)))

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def test_a_wrong_element_names_thread_block_and_what_stood_there(self):
        said = self.run_heddle("run", "05.1", code=1).stdout
        for text in ("out[1] was never written; it should be 14", "out[1] should be written by thread 1 of block 0.",
                     "in the case: 4 elements in blocks of 4 threads", "Not yet.",
                     "3 of 4 elements are wrong. They are all elements from 1 on."):
            self.assertIn(text, said)
        self.assertNotIn(str(self.temporary), said)

    def test_a_race_shows_both_lines_and_both_threads(self):
        self.file(FIRST).write_text("__global__ void double_all(const float *in, float *out)\n{\n"
                                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "    out[i] = 2 * in[i];\n    if (threadIdx.x > 0)\n        out[i - 1] = 2 * in[i];\n}\n")
        said = self.run_heddle("run", "05.1", code=1).stdout
        self.assertIn("data race on global memory `out` in kernel `double_all`", said)
        self.assertRegex(said, r"05\.1-which-element\.cu:4 +thread \d of block 0 writes")
        self.assertRegex(said, r"05\.1-which-element\.cu:6 +thread \d of block 0 writes")

    def test_an_index_out_of_bounds_says_by_how_much_it_missed(self):
        self.file(FIRST).write_text(self.solution(FIRST).replace("out[i] =", "out[i + 4] ="))
        said = self.run_heddle("run", "05.1", code=1).stdout
        self.assertIn("`out[i + 4]` is element 4 of `out` here. It has 4 elements of 4 bytes, 0 to 3: this is 1", said)
        self.assertIn("05.1-which-element.cu:10  thread 0 of block 0 writes", said)

    def test_a_compiler_error_is_shown_at_the_learners_line_with_its_meaning(self):
        self.file(FIRST).write_text(self.start(FIRST).replace("int i = 0;", "int i = 0"))
        result = json.loads(self.run_heddle("run", "05.1", "--json", code=1).stdout)
        reason = result["reasons"][0]
        self.assertEqual((reason["reason"], reason["line"]), ("compile", 7))
        self.assertEqual([item["line"] for item in reason["items"] if item["kind"] == "code"], [5, 7])
        self.assertIn("A semicolon is missing", reason["items"][-1]["text"])
        self.assertNotIn(str(self.temporary), json.dumps(result))

    def test_a_file_of_20000_errors_is_answered_from_the_first_of_them(self):
        self.file(FIRST).write_text("".join(f"int a{i} = b{i};\n" for i in range(20000)))
        text = self.run_heddle("run", FIRST + ".cu", code=1).stdout
        self.assertIn("05.1-which-element.cu:1", text)
        self.assertIn("37 more findings, not shown", text)

    def test_a_header_of_the_chapter_or_beside_the_file_can_be_included(self):
        (self.course / "05-first-kernels" / "chapter.h").write_text("#define CHAPTER 1\n")
        self.file(FIRST).with_name("own.h").write_text("#define OWN 1\n")
        self.file(FIRST).write_text('#include "chapter.h"\n#include "own.h"\n' +
                                    self.solution(FIRST).replace(
                                        "int i =", 'printf("%s\\n", __FILE__);\n    int i = CHAPTER - OWN +'))
        text = self.run_heddle("run", "05.1").stdout
        self.assertIn("\n  05.1-which-element.cu\n", text)  # not the folder in which it is judged

    def test_what_the_learner_prints_is_shown(self):
        self.file(FIRST).write_text(self.start(FIRST).replace("out[i] =", 'printf("i is %d\\033[2J\\n", i);\n    out[i] ='))
        self.assertIn("Your program printed:\n  i is 0?[2J\n  i is 0?[2J\n", self.run_heddle("run", "05.1", code=1).stdout)

    def test_a_program_cannot_pass_by_printing_what_the_judge_prints(self):
        passed = 'printf("\\n@learn {\\"case\\":\\"\\",\\"passed\\":true}\\n");'
        self.file(FIRST).write_text(self.start(FIRST).replace("out[i] =", passed + "\n    out[i] ="))
        self.assertIn("was never written", self.run_heddle("run", "05.1", code=1).stdout)
        self.file(PLAIN, ".c").write_text(self.start(PLAIN).replace("*made = n;", f"{passed} exit(0);"))
        said = self.run_heddle("run", "03.1", code=1).stdout
        self.assertIn("the program ended before the judge had looked at every case", said)

    def test_much_output_and_zero_bytes_do_not_hide_the_judges_words(self):
        noise = 'for (int i = 0; i < 40000; i++)\n        printf("a line of output, number %d, longer than needed\\n", i);\n'
        self.file(PLAIN, ".c").write_text(self.solution(PLAIN).replace("    *made =", f"    {noise}    *made ="))
        self.run_heddle("run", "03.1")
        self.file(PLAIN, ".c").write_text(self.solution(PLAIN).replace("    *made =", "    putchar(0);\n    *made ="))
        self.run_heddle("run", "03.1")
        twice = self.solution(PLAIN).replace("    *made =", "    more();\n    atexit(more);\n    *made =")
        self.file(PLAIN, ".c").write_text(f"static void more(void)\n{{\n    {noise}}}\n" + twice)
        self.assertIn("it prints too much", self.run_heddle("run", "03.1", code=1).stdout)

    def test_an_exit_status_that_is_not_0_is_not_a_pass(self):
        self.file(PLAIN, ".c").write_text("static void leave(void)\n{\n    fflush(stdout);\n    _Exit(3);\n}\n" +
                                          self.solution(PLAIN).replace("int *made =", "atexit(leave);\n    int *made ="))
        said = self.run_heddle("run", "03.1", code=1).stdout
        self.assertIn("the program ended", said)

    def test_a_missing_brace_at_the_end_is_told_in_the_learners_file_and_not_in_the_judge(self):
        self.file(FIRST).write_text(self.solution(FIRST).rstrip().rstrip("}"))
        reason = json.loads(self.run_heddle("run", "05.1", "--json", code=1).stdout)["reasons"][0]
        self.assertEqual((reason["reason"], reason["line"]), ("compile", 10))
        self.assertIn("Your file ends in the middle of something", reason["items"][-1]["text"])

    def test_a_kernel_that_never_ends_is_stopped_and_its_loop_named(self):
        self.file(FIRST).write_text(self.solution(FIRST).replace("    out[i]", "    while (i >= 0)\n        out[i]"))
        said = self.run_heddle("run", "05.1", code=1).stdout
        self.assertIn("endless loop", said)
        self.assertIn("while (i >= 0)", said)

    def test_a_limit_shows_measured_and_allowed_and_the_warp(self):
        said = self.run_heddle("run", "06.10", code=1).stdout
        for text in ("32 wavefronts per request, at most 1 allowed", "06.10-one-bank.cu:15", "bank 0 serves 32 different words"):
            self.assertIn(text, said)

    def test_a_solution_passes_is_recorded_and_can_be_compared(self):
        self.run_heddle("solution", "05.1", code=1)
        self.run_heddle("solution", "05.1", "--anyway")
        self.file(FIRST).write_text(self.solution(FIRST))
        self.assertIn("Passed", self.run_heddle("run", "05.1").stdout)
        self.assertEqual(list(self.state()["solved"]), ["05.1-which-element"])
        self.assertEqual(self.run_heddle("solution").stdout, self.solution(FIRST))  # it is the current one still
        self.assertIn("Thirty-two lanes", self.run_heddle("next").stdout)
        self.assertIn("1 of 3 solved", self.run_heddle("progress").stdout)

    def test_plain_c_is_judged_by_results_memory_leaks_and_time(self):
        self.assertIn("twice(3) is 3, expected 6", self.run_heddle("run", "03.1", code=1).stdout)
        self.file(PLAIN, ".c").write_text("int *twice(int n)\n{\n    int *made = malloc(2);\n    *made = 2 * n;\n"
                                          "    return made;\n}\n")
        said = self.run_heddle("run", "03.1", code=1).stdout
        self.assertIn("an access outside memory from malloc", said)
        self.assertIn("03.1-double.c:4", said)
        self.file(PLAIN, ".c").write_text("int *twice(int n)\n{\n    int *lost = malloc(40), *made = malloc(sizeof *made);\n"
                                          "    *made = lost ? 2 * n : 0;\n    return made;\n}\n")
        said = self.run_heddle("run", "03.1", code=1).stdout
        self.assertIn("40 bytes are allocated and never freed", said)
        self.assertIn("03.1-double.c:3", said)
        judge = self.course / "03-c/exercises/03.1-double/judge.json"
        judge.write_text(PLAIN_FILES["judge.json"].replace("30", "1"))  # what never ends needs no more
        self.file(PLAIN, ".c").write_text("int *twice(int n)\n{\n    for (volatile int i = n;;)\n        i = 0;\n}\n")
        self.assertIn("it did not end within 1 s", self.run_heddle("run", "03.1", code=1).stdout)
        judge.write_text(PLAIN_FILES["judge.json"])
        self.file(PLAIN, ".c").write_text(self.solution(PLAIN))
        self.run_heddle("run", "03.1")

    def test_allocations_evaluate_their_arguments_once(self):
        self.file(PLAIN, ".c").write_text(
            "int *twice(int n)\n{\n    int calls = 0;\n    const char *text = \"ab\";\n    free(calloc(1 + calls++, 8));\n"
            "    free(strdup(text++));\n    int *made = malloc(sizeof *made + calls++);\n"
            "    *made = calls == 2 && *text == 'b' ? 2 * n : 0;\n    return made;\n}\n")
        self.run_heddle("run", "03.1")

    def test_json_is_utf8_whatever_the_program_prints(self):
        self.file(PLAIN, ".c").write_text(self.solution(PLAIN).replace("    *made", '    printf("\\xff\\n");\n    *made'))
        self.assertEqual(json.loads(self.run_heddle("run", "03.1", "--json").stdout)["output"], "?\n")

    def test_hints_come_one_by_one(self):
        self.assertNotIn("Multiply", self.run_heddle("hint", "03.1").stdout)
        second = self.run_heddle("hint", "03.1").stdout
        self.assertIn("Hint 2 of 2\n  Multiply.", second)
        self.assertNotIn("Hint 1 of 2", second)
        self.assertEqual(self.run_heddle("hint", "03.1").stdout, second)
        self.assertIn("Hint 1 of 2\n  Add.\n\nHint 2 of 2", self.run_heddle("hint", "03.1", "--all").stdout)
        self.assertEqual(self.state()["hints"], {"03.1-double": 2})

    def test_a_hint_says_how_to_get_the_next(self):
        self.assertIn("`heddle learn hint` again shows the next one.", self.run_heddle("hint", "03.1").stdout)
        self.assertNotIn("again", self.run_heddle("hint", "03.1").stdout)

    def test_all_shows_what_follows_from_other_findings(self):
        self.file(FIRST).write_text(self.solution(FIRST).replace("threadIdx.x;", "threadIdx.x + 5000;"))
        few = self.run_heddle("run", "05.1", code=1).stdout
        self.assertIn("`heddle learn run --all` shows all", few)
        all_of_them = self.run_heddle("run", "05.1", "--all", code=1).stdout
        self.assertNotIn("not shown", all_of_them)
        self.assertGreater(all_of_them.count("✗"), few.count("✗"))

    def test_a_number_alone_judges_that_exercise_and_run_show_and_reset_make_it_the_current_one(self):
        self.assertIn("03.1 · Double", self.run_heddle("3.1", code=1).stdout)
        self.assertEqual(self.state()["current"], "03.1-double")
        self.run_heddle("reset", "05.1")
        self.assertEqual(self.state()["current"], "05.1-which-element")
        self.run_heddle("show", "03.1")
        self.assertEqual(self.state()["current"], "03.1-double")
        self.run_heddle("show", "05")
        self.run_heddle("hint", "05.1")
        self.assertEqual(self.state()["current"], "03.1-double")

    def test_check_sends_an_exercise_to_its_judge(self):
        def check():
            return subprocess.run([HEDDLE, "check", self.file(FIRST).name], cwd=self.file(FIRST).parent, text=True,
                                  env=self.environment, capture_output=True, timeout=300)
        result = check()
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("05.1-which-element.cu is an exercise of the course", result.stderr)
        self.file(FIRST).write_text(self.solution(FIRST) + "int main() { return 0; }\n")
        self.assertNotIn("exercise", check().stderr)

    def test_hardware_that_is_missing_is_told(self):
        if shutil.which("nvcc") and os.path.exists("/dev/nvidia0"):
            self.skipTest("this machine has a GPU")
        self.file(FIRST).write_text(self.solution(FIRST))
        result = self.run_heddle("run", "05.1", "--device", "cuda", code=3)
        self.assertRegex(result.stderr, "^heddle: (no GPU|nvcc not) found: .*\n$")

    def test_a_solution_is_also_built_by_nvcc_and_run_on_the_gpu(self):
        """The driver and nvcc are stand-ins: this tests how they are called and heard."""
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "cuda.c").write_text('int cuInit(unsigned flags) { return (int)flags; }\n'
                                      'int cuDeviceGetCount(int *count) { *count = 1; return 0; }\n'
                                      'int cuDeviceGetName(char *name, int size, int device) '
                                      '{ (void)size, (void)device; name[0] = 71; name[1] = 0; return 0; }\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", tools / "libcuda.so.1", tools / "cuda.c"], check=True)
        (tools / "nvcc").write_text("#!/bin/sh\necho \"$*\" >>" + str(tools / "calls") + "\n"
                                    "while [ \"$1\" != -o ]; do\n"
                                    "    case $1 in -DLEARN_MARK=*) mark=${1#*=} ;; esac; shift\ndone\n"
                                    "cat >\"$2\" <<END\n#!/bin/sh\n"
                                    "echo '@$mark {\"case\":\"\",\"timed\":\"double_all\",\"microseconds\":12.5}'\n"
                                    "echo '@$mark {\"case\":\"\",\"passed\":true}'\nEND\nchmod +x \"$2\"\n")
        (tools / "nvcc").chmod(0o755)
        self.environment.update(PATH=f"{tools}:{os.environ['PATH']}", LD_LIBRARY_PATH=str(tools))
        self.run_heddle("run", "05.1", "--device", "cuda", code=1)
        self.assertFalse((tools / "calls").exists())  # what is wrong on the simulator is not run
        self.file(FIRST).write_text(self.solution(FIRST))
        said = self.run_heddle("run", "05.1", "--device", "cuda").stdout
        self.assertIn("Right on hardware too: G", said)
        self.assertIn("double_all: 12.5 µs", said)
        self.assertIn("judge.cu", (tools / "calls").read_text())
        (tools / "nvcc").write_text((tools / "nvcc").read_text().replace('"passed":true', '"says":"it is wrong there"'))
        self.assertIn("it is wrong there", self.run_heddle("run", "05.1", "--device", "cuda", code=1).stdout)

    # --- what all judges share ----------------------------------------------------------------------------------------

    def test_a_judge_is_linked_with_the_object_of_its_learn_h_and_else_compiled_with_it(self):
        built = pathlib.Path(HEDDLE).parent / "sim"
        home = self.root / "home"  # of the simulator
        shutil.copytree(built / "judges", home / "judges")
        (home / "include").symlink_to(COURSE.parent / "src/sim/include")
        (home / "libsim.a").symlink_to(built / "libsim.a")
        self.environment.update(SIM_HOME=str(home), SIM_CACHE=str(self.root / "cache"))
        self.file(FIRST).write_text(self.solution(FIRST))
        shared, other, made = home / "judges/learn.cu", self.root / "other.cu", home / "judges/learn.o"
        other.write_text(shared.read_text().replace('\\"passed\\":true', '\\"says\\":\\"from the object\\"'))
        subprocess.run([pathlib.Path(HEDDLE).parent / "simcc", "-c", "-DLEARN_SIMULATED", "-I", shared.parent, other,
                        "-o", made], env=self.environment, check=True)
        self.assertIn("from the object", self.run_heddle("run", "05.1", code=1).stdout)
        for name in ("learn.h", "learn.cu"):  # the course has a newer one
            with open(self.course / "include" / name, "a") as file:
                file.write("// a comment\n")
            self.run_heddle("run", "05.1")
            shutil.copy(shared.parent / name, self.course / "include" / name)
        made.write_text("damaged")
        self.run_heddle("run", "05.1")
        made.unlink()
        self.run_heddle("run", "05.1")

    # --- bad files ----------------------------------------------------------------------------------------------------

    def test_a_file_that_cannot_be_source_is_refused_in_one_line_and_stays_as_it_is(self):
        file = self.file(FIRST)
        for content, said in ((b"", "is empty; `heddle learn reset 05.1`"), (b" \n\n", "is empty"),
                              (bytes(range(256)) * 8, "holds binary data"), (b"int i;\0\0\0", "holds binary data"),
                              (b"// long\n" * 1_300_000, "is larger than 1 MB")):
            file.write_bytes(content)
            self.assert_told(said, "run", "05.1")
            self.assertEqual(file.read_bytes(), content)
        file.unlink()
        self.assert_told("is gone; `heddle learn reset 05.1` brings the start back", "run", "05.1")
        file.symlink_to("nowhere.cu")
        self.assert_told("is a symbolic link to a file that does not exist", "run", "05.1")
        file.unlink()
        file.mkdir()
        self.assert_told("is a folder", "run", "05.1")

    def test_a_read_only_file_and_a_symlink_are_judged_and_left_alone(self):
        file, elsewhere = self.file(FIRST), self.root / "elsewhere.cu"
        elsewhere.write_text(self.solution(FIRST))
        elsewhere.chmod(0o400)
        file.unlink()
        file.symlink_to(elsewhere)
        self.run_heddle("run", "05.1")
        said = self.run_heddle("reset", "05.1").stdout
        self.assertIn("05.1-which-element.cu.bak-1", said)
        self.assertEqual(os.readlink(str(file) + ".bak-1"), str(elsewhere))
        self.assertEqual(elsewhere.read_text(), self.solution(FIRST))
        self.assertEqual(file.read_text(), self.start(FIRST))

    def test_reset_keeps_every_text(self):
        file = self.file(FIRST)
        for count in (1, 2, 3):
            file.write_text(f"// attempt {count}\n")
            self.assertIn(f"Your text is in {FIRST}.cu.bak-{count}.", self.run_heddle("reset", "05.1").stdout)
        for count in (1, 2, 3):
            self.assertEqual(pathlib.Path(f"{file}.bak-{count}").read_text(), f"// attempt {count}\n")
        self.assertEqual(file.read_text(), self.start(FIRST))

    def test_a_full_disk_loses_nothing(self):
        file = self.file(FIRST)
        file.write_text("// mine\n")
        before = self.state()
        result = self.run_heddle("reset", "05.1", code=1, limit=20)
        self.assertIn("cannot write: File too large", result.stderr)
        self.assertEqual(file.read_text(), "// mine\n")
        self.assertFalse(os.path.exists(f"{file}.bak-1"))
        self.assertIn("cannot write: File too large", self.run_heddle("hint", "05.1", code=1, limit=20).stderr)
        self.assertEqual(self.state(), before)
        self.assertIn("cannot write: File too large",
                      self.run_heddle("init", "other", code=1, folder=self.root, limit=20).stderr)
        self.assertEqual([path for path in (self.root / "other").rglob("*") if path.is_file() and path.stat().st_size], [])

    # --- the state ----------------------------------------------------------------------------------------------------

    def test_fields_of_a_newer_version_are_kept_and_a_newer_format_is_refused(self):
        state = dict(self.state(), streak={"days": 3})
        (self.folder / ".heddle-learn.json").write_text(json.dumps(state))
        self.run_heddle("hint", "05.1")
        self.assertEqual(self.state()["streak"], {"days": 3})
        (self.folder / ".heddle-learn.json").write_text(json.dumps(dict(state, format=2)))
        self.assert_told("written by a newer heddle", "hint", "05.1")
        self.assertEqual(self.state(), dict(state, format=2))

    def test_a_damaged_state_is_told_and_files_stay(self):
        (self.folder / ".heddle-learn.json").write_text('{"solved": ')
        self.assert_told("rename it, then run `heddle learn init .` there: your files stay as they are", "list")

    # --- verifying ----------------------------------------------------------------------------------------------------

    def test_verify_tells_what_an_exercise_does_not_keep_to(self):
        self.assertIn("1 exercise, 0 not as stated", self.run_heddle("verify", "03").stdout)
        folder = self.course / "03-c/exercises/03.1-double"
        (folder / "judge.json").write_text('{"start_fails_because": ["leak"]}')
        (folder / "hints.md").write_text("1. Only one.\n")
        (folder / "solution.c").write_text(PLAIN_FILES["start.c"])
        said = self.run_heddle("verify", "03", code=1).stdout
        for text in ("start does not fail because of: leak", "start also fails because of: wrong", "hints.md: fewer than 2",
                     "solution fails because of: wrong"):
            self.assertIn(text, said)
        (folder / "judge.json").write_text('{"start_fails_because": ["wrong"], "limit": []}')
        self.assertIn('unknown key "limit"', self.run_heddle("verify", "03", code=1).stdout)

    def test_verify_judges_near_misses_by_what_they_say_must_be_read_first(self):
        folder = self.course / "03-c/exercises/03.1-double/near-misses"
        folder.mkdir()
        miss = folder / "unchanged.c"
        for first, code, told in (
                ("// wrong: expected 6", 0, "1 near miss"),
                ("// wrong: never said", 1, 'near-misses/unchanged.c: "never said" is not said'),
                ("// leak: expected 6", 1, "near-misses/unchanged.c fails first because of: wrong"),
                ("", 1, 'the first line must be "// REASON: TEXT"')):
            miss.write_text(f"{first}\n{PLAIN_FILES['start.c']}")
            self.assertIn(told, self.run_heddle("verify", "03", code=code).stdout)
        miss.write_text(f"// wrong: expected 6\n{PLAIN_FILES['solution.c']}")
        self.assertIn("near-misses/unchanged.c passes", self.run_heddle("verify", "03", code=1).stdout)


if __name__ == "__main__":
    unittest.main()
