"""The plugin heddle_pytest: what it collects, runs and shows. $HEDDLE is the command; pytest's own pytester runs pytest."""

import os
import stat
import textwrap

import pytest

pytest_plugins = ["pytester"]
HEDDLE = os.environ.get("HEDDLE", "heddle")

SCALE = """
// heddle: check --kernel "scale<float>" --grid 1 --block 64
//     --args "x: inout float[n] = ones, n = 50"
// heddle: check --kernel "scale<float>" --grid 1 --block 64 --args "x: inout float[50], n = 51"
#include <torch/extension.h>
template <typename T> __global__ void scale(T *x, int n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] *= T(2);
}
torch::Tensor host(torch::Tensor x);
"""


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("HEDDLE", HEDDLE)
    return pytester


def run(project, *arguments):
    return project.runpytest_inprocess("-p", "heddle_pytest", "-p", "no:cacheprovider", *arguments)


def stand_in(project, code, said, document=None):
    """A command that notes its words and says this."""
    path = project.path / "stand-in"
    write = f"for w in \"$@\"; do case $w in --json=*) printf '%s' '{document}' > \"${{w#--json=}}\";; esac; done"
    path.write_text(textwrap.dedent(f"""\
        #!/bin/sh
        printf '%s\\n' "$PWD" "$@" >> {project.path}/words
        {write if document else ':'}
        echo '{said}'
        exit {code}
        """))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    project.makeini(f"[pytest]\nheddle_command = {path}\n")


def test_comments_are_tests_and_a_failure_shows_the_source_line(project):
    project.path.joinpath("scale.cu").write_text(SCALE)
    result = run(project, "--heddle", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*scale.cu::scale<float> PASSED*", "*scale.cu::scale<float>[[]2] FAILED*",
                                 "*out-of-bounds access to global memory x in kernel scale*",
                                 "* 9 |         x[[]threadIdx.x] *= T(2);"])


def test_the_summary_shows_the_finding_and_not_what_the_program_printed(project):
    found = ('{"passed": false, "findings": [{"tier": "error", "headline": "data race on x", '
             '"places": [{"file": "race.cu", "line": 6}]}]}')
    stand_in(project, 1, "255", found)
    project.path.joinpath("race.cu").write_text("// heddle: check\n")
    project.makepyfile(test_a='def test_own(heddle_check):\n    heddle_check("race.cu")\n')
    result = run(project, "--heddle")
    result.stdout.fnmatch_lines(["FAILED race.cu::check - error: data race on x at race.cu:6"])
    result.stdout.fnmatch_lines(["FAILED test_a.py::test_own - *HeddleFailure: error: data*"])
    result.stdout.fnmatch_lines(["255"])  # and it is still shown


def test_without_the_option_nothing_is_collected(project):
    project.path.joinpath("scale.cu").write_text(SCALE)
    assert run(project).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    project.mkdir("plain").joinpath("plain.cu").write_text("int main() {} // heddle: check, but not at the line's start\n")
    assert run(project, "--heddle", "plain").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_words_of_a_comment_arrive_as_a_shell_would_split_them(project):
    stand_in(project, 0, "fine", '{"passed": true}')
    folder = project.mkdir("kernels")
    folder.joinpath("a.cuh").write_text('  // heddle: check --args "x: float[1,\n  //        2]" --strict\n  // another\n')
    run(project, "--heddle").assert_outcomes(passed=1)
    words = project.path.joinpath("words").read_text().splitlines()
    assert words[0] == str(folder)
    assert words[1:3] == ["check", "--no-counters"]
    assert words[4:] == ["a.cuh", "--args", "x: float[1, 2]", "--strict"]


def test_a_comment_that_is_no_command_line_fails(project):
    stand_in(project, 0, "fine", '{"passed": true}')
    project.path.joinpath("a.cu").write_text('// heddle: check --args "x\n')
    result = run(project, "--heddle")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a.cu:1: No closing quotation*"])


def test_a_check_that_could_not_be_made_fails_with_its_line(project):
    stand_in(project, 2, "heddle: --args, column 4: wrong")
    project.path.joinpath("a.cu").write_text("// heddle: check\n")
    result = run(project, "--heddle")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*--args, column 4: wrong*"])


def test_a_missing_command_says_how_to_name_it(project):
    project.makeini("[pytest]\nheddle = true\nheddle_command = no-such-heddle\n")
    project.path.joinpath("a.cu").write_text("// heddle: check\n")
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no-such-heddle: command not found; install heddle*"])


def test_the_fixture_passes_options_and_returns_a_report(project):
    document = ('{"passed": false, "verdict": "1 error", "notes": ["n"], "findings": [{"kind": "race", "tier": "error", '
                '"headline": "data race", "places": [{"file": "a.cu", "line": 3}]}]}')
    stand_in(project, 1, "what it said", document)
    project.makepyfile("""
        import pytest, heddle_pytest
        def test_report(heddle_check):
            report = heddle_check("a.cu", kernel="k<float>", grid=1, strict=True, full=False, include=["b", "c"],
                                  expect={"y": "y.npy"}, timeout=None, must_pass=False)
            assert not report.passed and [one.kind for one in report.errors] == ["race"]
            assert (report.findings[0].file, report.findings[0].line) == ("a.cu", 3)
            assert report.text == "what it said\\n" and report.notes == ["n"]
            with pytest.raises(heddle_pytest.HeddleFailure, match="what it said"):
                heddle_check("a.cu")
        def test_fails(heddle_check):
            heddle_check("a.cu")
        """)
    result = run(project, "-p", "no:legacypath")  # which projects turn off
    result.assert_outcomes(passed=1, failed=1)
    words = project.path.joinpath("words").read_text().splitlines()
    assert words[4:11] == ["a.cu", "--kernel=k<float>", "--grid=1", "--strict", "--include=b", "--include=c",
                           "--expect=y=y.npy"]
