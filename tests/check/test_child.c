// Supervision: whatever the child does, it ends, says how, and leaves nothing.

#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "check/child.h"
#include "check/folder.h"
#include "check/input.h"

// Runs a line of shell with what `how` says.
static heddle_child run_line(const char *line, heddle_child_options how)
{
    char *argv[] = {"/bin/sh", "-c", (char *)line, NULL};
    heddle_child child;
    how.argv = argv;
    how.input = how.errors = -1;
    assert_ok(heddle_child_start(&child, &how));
    heddle_child_wait(&child, -1);
    return child;
}

// Its standard output, with the rest as it is; in static memory.
static const char *output_of(const char *line, const char *const *environment)
{
    static char text[1024];
    int file = open(scratch_path(folder, "output"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    heddle_child child = run_line(line, (heddle_child_options){.output = file, .environment = environment});
    assert_int_equal(child.end, HEDDLE_CHILD_EXITED);
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    assert_true(size >= 0);
    text[size] = '\0';
    close(file);
    return text;
}

static void test_an_exit_status_is_told(void **state)
{
    (void)state;
    heddle_child child = run_line("exit 7", (heddle_child_options){.output = -1});
    assert_int_equal(child.end, HEDDLE_CHILD_EXITED);
    assert_int_equal(child.code, 7);
}

static void test_death_by_a_signal_is_told(void **state)
{
    (void)state;
    heddle_child child = run_line("kill -SEGV $$", (heddle_child_options){.output = -1});
    assert_int_equal(child.end, HEDDLE_CHILD_SIGNALLED);
    assert_int_equal(child.code, SIGSEGV);
    assert_non_null(strstr(heddle_child_signal_name(SIGSEGV), "SIGSEGV"));
}

static void test_a_program_that_does_not_exist_ends_with_127(void **state)
{
    (void)state;
    char *argv[] = {"/nosuch/program", NULL};
    heddle_child child;
    assert_ok(
        heddle_child_start(&child, &(heddle_child_options){.argv = argv, .input = -1, .output = -1, .errors = -1}));
    heddle_child_wait(&child, -1);
    assert_int_equal(child.end, HEDDLE_CHILD_EXITED);
    assert_int_equal(child.code, 127);
}

static void test_variables_are_added_and_replaced(void **state)
{
    (void)state;
    setenv("HEDDLE_TEST_OLD", "old", 1);
    const char *const added[] = {"HEDDLE_TEST_OLD=new", "HEDDLE_TEST_MORE=more", NULL};
    assert_string_equal(output_of("echo $HEDDLE_TEST_OLD $HEDDLE_TEST_MORE", added), "new more\n");
    unsetenv("HEDDLE_TEST_OLD");
}

static void test_it_is_alone_in_its_group_and_dumps_no_core(void **state)
{
    (void)state;
    int leader = 0, group = 0;
    char *end = NULL;
    leader = (int)strtol(output_of("echo $$ $(ps -o pgid= -p $$)", NULL), &end, 10);
    group = (int)strtol(end, NULL, 10);
    assert_true(leader > 0);
    assert_int_equal(leader, group);
    assert_true(group != getpgrp());
    assert_string_equal(output_of("ulimit -c", NULL), "0\n");
}

static bool process_exists(int process)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool alive = fscanf(file, "%*d %*s %c", &state) == 1 && state != 'Z';
    fclose(file);
    return alive;
}

// Kills only take a moment to be seen.
static bool disappears(int process)
{
    for (int i = 0; i < 200 && process_exists(process); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return !process_exists(process);
}

static int number_in(const char *name)
{
    int number = 0;
    FILE *file = fopen(scratch_path(folder, name), "r");
    assert_non_null(file);
    char text[32] = "";
    assert_non_null(fgets(text, sizeof text, file));
    number = (int)strtol(text, NULL, 10);
    fclose(file);
    return number;
}

static void test_a_time_limit_ends_the_whole_group(void **state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof line, "trap '' TERM; sleep 100 & echo $! > %s; while :; do sleep 1; done",
             scratch_path(folder, "grandchild"));
    heddle_child child = run_line(line, (heddle_child_options){.output = -1, .seconds = 0.3});
    assert_int_equal(child.end, HEDDLE_CHILD_TIMED_OUT);
    assert_true(disappears(number_in("grandchild")));
    assert_false(process_exists(child.process));
}

static void test_what_a_program_leaves_behind_is_ended(void **state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof line, "sleep 100 & echo $! > %s", scratch_path(folder, "grandchild"));
    heddle_child child = run_line(line, (heddle_child_options){.output = -1});
    assert_int_equal(child.end, HEDDLE_CHILD_EXITED);
    assert_true(disappears(number_in("grandchild")));
}

static void test_one_that_is_asked_to_end_may_still_write(void **state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof line, "trap 'echo 5 > %s; exit' TERM; while :; do sleep 0.01; done",
             scratch_path(folder, "report"));
    // Longer where the shell was not even ready when it was asked to end.
    for (double seconds = 0.3; access(scratch_path(folder, "report"), F_OK) != 0 && seconds < 60; seconds *= 4) {
        heddle_child child = run_line(line, (heddle_child_options){.output = -1, .seconds = seconds});
        assert_int_equal(child.end, HEDDLE_CHILD_TIMED_OUT);
    }
    assert_int_equal(number_in("report"), 5);
}

static void test_a_memory_limit_ends_it(void **state)
{
    (void)state;
    // The shell keeps a string that doubles.
    heddle_child child = run_line("x=0123456789; while :; do x=$x$x; done",
                                  (heddle_child_options){.output = -1, .memory = 64 << 20, .seconds = 60});
    assert_int_equal(child.end, HEDDLE_CHILD_TOO_LARGE);
    assert_true(child.most_memory > 64 << 20);
}

static void test_a_request_to_stop_is_obeyed(void **state)
{
    (void)state;
    volatile int stop = 1;
    heddle_child child = run_line("sleep 100", (heddle_child_options){.output = -1, .stop = &stop});
    assert_int_equal(child.end, HEDDLE_CHILD_STOPPED);
    assert_false(process_exists(child.process));
}

static void test_waiting_can_end_before_the_child(void **state)
{
    (void)state;
    char *argv[] = {"/bin/sleep", "100", NULL};
    heddle_child child;
    assert_ok(
        heddle_child_start(&child, &(heddle_child_options){.argv = argv, .input = -1, .output = -1, .errors = -1}));
    heddle_child_wait(&child, 0.05);
    assert_int_equal(child.end, HEDDLE_CHILD_RUNNING);
    heddle_child_kill(&child);
    assert_int_equal(child.end, HEDDLE_CHILD_STOPPED);
    assert_false(process_exists(child.process));
}

// --- limits of a keeper ----------------------------------------------------------------------------------------------

static void run_shell(const void *line)
{
    execl("/bin/sh", "sh", "-c", (const char *)line, NULL);
}

static sim_keeper keep_line(const char *line, sim_limits limits)
{
    sim_keeper keeper;
    assert_true(sim_keeper_start(&keeper, &limits, run_shell, line));
    sim_keeper_collect(&keeper);
    return keeper;
}

static void test_a_keeper_holds_a_program_to_its_limits(void **state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof line, "setsid sleep 100 & echo $! > %s; wait", scratch_path(folder, "grandchild"));
    assert_int_equal(keep_line(line, (sim_limits){.seconds = 0.3}).end, SIM_KEPT_TIMED_OUT);
    assert_false(process_exists(number_in("grandchild")));
    // In a process below it.
    sim_keeper large = keep_line("(x=0123456789; while :; do x=$x$x; done); :", (sim_limits){.memory = 64 << 20});
    assert_int_equal(large.end, SIM_KEPT_TOO_LARGE);
    sim_keeper fine = keep_line("exit 3", (sim_limits){.seconds = 100, .memory = 1 << 30});
    assert_int_equal(fine.end, SIM_KEPT_ENDED);
    assert_int_equal(WEXITSTATUS(fine.status), 3);
    assert_int_equal(fine.error, 0);
}

// --- standard input --------------------------------------------------------------------------------------------------

static const char *read_run(int run)
{
    static char text[256];
    heddle_check_input input;
    assert_ok(heddle_check_input_open(&input, folder, run));
    size_t used = 0;
    ssize_t got = 0;
    while (used + 1 < sizeof text && (got = read(input.file, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    heddle_check_input_close(&input);
    return text;
}

static void test_every_run_and_every_program_reads_the_same_input(void **state)
{
    (void)state;
    char byte;
    heddle_check_input first;
    int ends[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1 2\n", 4), 4);
    dup2(ends[0], STDIN_FILENO);
    assert_ok(heddle_check_input_open(&first, folder, 0));
    assert_int_equal(read(first.file, &byte, 1), 1);
    heddle_check_input_close(&first);
    assert_int_equal(write(ends[1], "3\n", 2), 2);
    close(ends[1]);
    assert_string_equal(read_run(0), "1 2\n3\n");
    assert_string_equal(read_run(0), "1 2\n3\n");
    assert_string_equal(read_run(1), "1 2\n3\n");
    assert_string_equal(read_run(2), "1 2\n3\n");

    scratch_write(folder, "numbers", "4 5\n", 4);
    int file = open(scratch_path(folder, "numbers"), O_RDONLY);
    dup2(file, STDIN_FILENO);
    assert_string_equal(read_run(0), "4 5\n");
    assert_string_equal(read_run(1), "4 5\n");
    dup2(before, STDIN_FILENO);
    close(before);
    close(file);
    close(ends[0]);
}

// --- the folder ------------------------------------------------------------------------------------------------------

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

// Folders in folders, so deep that no path leads to the innermost; none may be entered.
static void make_deep(const char *path)
{
    enum { DEPTH = 400 };
    static const char name[] = "a folder whose name is quite long";
    int outer[DEPTH], at = open(path, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        outer[i] = at;
        assert_int_equal(mkdirat(at, name, 0700), 0);
        at = openat(at, name, O_RDONLY | O_DIRECTORY);
        assert_true(at >= 0);
    }
    close(at);
    for (int i = DEPTH - 1; i >= 0; i--) {
        assert_int_equal(fchmodat(outer[i], name, 0, 0), 0);
        close(outer[i]);
    }
}

static void test_a_folder_goes_with_all_in_it(void **state)
{
    (void)state;
    setenv("TMPDIR", folder, 1);
    heddle_check_folder made;
    assert_ok(heddle_check_folder_create(&made, false));
    char path[600];
    assert_int_equal(mkdir(heddle_check_folder_path(&made, "below", path, sizeof path), 0700), 0);
    scratch_write(made.path, "below/file", "x", 1);
    make_deep(path);
    heddle_check_folder_release(&made);
    assert_false(exists(made.path));

    assert_ok(heddle_check_folder_create(&made, true));
    heddle_check_folder_release(&made);
    assert_true(exists(made.path));
    assert_int_equal(heddle_check_folder_sweep(folder), 0);
    assert_true(exists(made.path));
    unsetenv("TMPDIR");
}

static void test_the_sweep_removes_what_a_killed_check_left(void **state)
{
    (void)state;
    setenv("TMPDIR", folder, 1);
    heddle_check_folder living, left;
    assert_ok(heddle_check_folder_create(&living, false));
    pid_t process = fork();
    if (process == 0) {
        heddle_check_folder own;
        if (heddle_check_folder_create(&own, false) == HEDDLE_OK)
            scratch_write(folder, "left", own.path, strlen(own.path));
        raise(SIGKILL);
    }
    waitpid(process, NULL, 0);
    FILE *file = fopen(scratch_path(folder, "left"), "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%511s", left.path), 1);
    fclose(file);
    assert_true(exists(left.path));
    assert_int_equal(heddle_check_folder_sweep(folder), 1);
    assert_false(exists(left.path));
    assert_true(exists(living.path));
    heddle_check_folder_release(&living);
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_exit_status_is_told),
        cmocka_unit_test(test_death_by_a_signal_is_told),
        cmocka_unit_test(test_a_program_that_does_not_exist_ends_with_127),
        cmocka_unit_test(test_variables_are_added_and_replaced),
        cmocka_unit_test(test_it_is_alone_in_its_group_and_dumps_no_core),
        cmocka_unit_test(test_a_time_limit_ends_the_whole_group),
        cmocka_unit_test(test_what_a_program_leaves_behind_is_ended),
        cmocka_unit_test(test_one_that_is_asked_to_end_may_still_write),
        cmocka_unit_test(test_a_memory_limit_ends_it),
        cmocka_unit_test(test_a_request_to_stop_is_obeyed),
        cmocka_unit_test(test_waiting_can_end_before_the_child),
        cmocka_unit_test(test_a_keeper_holds_a_program_to_its_limits),
        cmocka_unit_test(test_every_run_and_every_program_reads_the_same_input),
        cmocka_unit_test(test_a_folder_goes_with_all_in_it),
        cmocka_unit_test(test_the_sweep_removes_what_a_killed_check_left),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
