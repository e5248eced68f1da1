"""gpu-check's part with compute-sanitizer: which tests run under which of its tools, several at once, and the outcome
of each. Standard library only."""
import concurrent.futures
import os
import re
import tempfile

TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]
SLOW_TOOLS = ["racecheck", "initcheck"]
# A process under compute-sanitizer has its own context on the GPU, and spends most of its time on a CPU.
PROCESSES = 12
# racecheck makes a kernel a hundred times slower: the rungs of a ladder longer than this are separate jobs, so that
# they share the cores.
LONG_LADDER = 5
# cnn_step and cnn_train have other kernels for many images than for the few of the ladders' tests: whole steps of
# larger batches, several in one graph, are checked as well.
WHOLE_STEPS = "nn.whole_steps"
WHOLE_STEPS_TESTS = ["batches_of_every_size*", "whole_steps_are_those*"]
WHOLE_STEPS_SIZES = [1, 17, 66, 100, 133, 300]  # of the test's batches; racecheck takes minutes, and has a job for each
WHOLE_STEPS_MOST = WHOLE_STEPS_SIZES[-1]
WHOLE_STEPS_MOST_SLOW = 133  # initcheck: one more than the multiprocessors of an H200
ERRORS_FOUND = 99  # exit code that compute-sanitizer is told to use for findings
# Seconds per job at most: a kernel that waits forever must not hold up the others.
LIMIT = 300
TOO_LONG = 124  # the exit code of timeout(1)


def most_images(tool):
    return WHOLE_STEPS_MOST_SLOW if tool == "initcheck" else WHOLE_STEPS_MOST


def jobs_of(ladders, tool):
    """(operator, rung or None for all of them), or (whole steps, test, images per step or None for all), longest first.
    `ladders`: {operator: [rung]}."""
    split = [op for op in ladders if tool == "racecheck" and len(ladders[op]) > LONG_LADDER]
    sizes = reversed(WHOLE_STEPS_SIZES) if tool == "racecheck" else [None]
    first, second = WHOLE_STEPS_TESTS
    steps = [(WHOLE_STEPS, first, size) for size in sizes] + [(WHOLE_STEPS, second, None)]
    whole_steps = steps if {"cnn_step", "cnn_train"} <= set(ladders) else []
    single_rungs = [(op, rung) for op in split for rung in reversed(ladders[op])]
    return whole_steps + single_rungs + [(op, None) for op in ladders if op not in split]


def name_of(job):
    name = "/".join(word for word in job[:2] if word)
    return "%s of %d" % (name, job[2]) if len(job) > 2 and job[2] else name


def of_training(names):
    """The names of jobs that the page on training lists."""
    return [name for name in names if name.split("/")[0] in (WHOLE_STEPS, "cnn_step", "cnn_train")]


def sanitize(run, build, tool, job):
    """Why a job is not clean, in words, or None; what it printed; how many seconds it took. `run`: gpu-check's."""
    op, rung = job[:2]
    environment = dict(os.environ, HEDDLE_TEST_DEVICE="cuda")
    if op == WHOLE_STEPS:
        environment["HEDDLE_TEST_LEAST"] = str(job[2] or 1)
        environment["HEDDLE_TEST_MOST"] = str(job[2] or most_images(tool))
        tested = [os.path.join(build, "tests", "test_" + WHOLE_STEPS.replace(".", "_")), rung]
    else:
        environment.update(HEDDLE_TEST_OWN_RUNGS="1", HEDDLE_TEST_RUNG=rung or "")
        tested = [os.path.join(build, "tests", "test_ops_ladders"), op + ": every rung matches*"]
    command = ["timeout", "-k", "10", str(LIMIT), "compute-sanitizer", "--tool", tool, "--error-exitcode",
               str(ERRORS_FOUND), "--print-limit", "3"] + tested
    if tool == "memcheck":
        command[-len(tested):-len(tested)] = ["--leak-check", "no"]
    with tempfile.TemporaryDirectory() as cache:  # rung choices timed under the sanitizer are not kept
        environment["XDG_CACHE_HOME"] = cache
        code, output, seconds = run(command, env=environment, cwd=os.path.join(build, "tests"))
    ran = re.search(r"(\d+) test\(s\) run", output)
    if code != 0:
        return "still running after %d s" % LIMIT if code == TOO_LONG else "exit code %d" % code, output, seconds
    return None if ran and int(ran.group(1)) > 0 else "nothing ran", output, seconds


def look(run, build, jobs):
    """Runs all `jobs`, {tool: [job]}, the slow tools' first, and prints the outcome of each; {tool: {name: (why it is
    not clean or None, seconds)}}. A job that could not be started is not clean, and the others go on."""
    found = {tool: {} for tool in jobs}
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        waiting = {pool.submit(sanitize, run, build, tool, job): (tool, job)
                   for tool in sorted(jobs, key=lambda tool: tool not in SLOW_TOOLS) for job in jobs[tool]}
        for done in concurrent.futures.as_completed(waiting):
            tool, job = waiting[done]
            try:
                why, output, seconds = done.result()
            except Exception as problem:  # it concerns this job only
                why, output, seconds = "%s: %s" % (type(problem).__name__, problem), "", 0
            found[tool][name_of(job)] = why, seconds
            outcome = "NOT CLEAN, " + why if why else "clean"
            print("%s %s: %s (%.0f s)" % (tool, name_of(job), outcome, seconds), flush=True)
            if why:
                print("\n".join(said(output)))
    return found


def said(output):
    """The lines of a job's output that say what was found: compute-sanitizer's and the test's own."""
    lines = "\n".join(line for line in output.splitlines()
                      if line.startswith(("=========", "[  ERROR")) or "rung" in line)
    return lines[:1500].strip().splitlines()[-14:]
