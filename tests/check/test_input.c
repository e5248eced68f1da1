// What a program may read as its standard input: regular files, and nothing that would have to be waited for.

#include "sample.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/input.h"

static char folder[] = "/tmp/heddle-input-XXXXXX", file[64], pipe_name[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(pipe_name, sizeof pipe_name, "%s/pipe", folder);
    FILE *out = fopen(file, "w");
    return !out || fputs("seven", out) < 0 || fclose(out) != 0 || mkfifo(pipe_name, 0600) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(file) != 0 || unlink(pipe_name) != 0 || rmdir(folder) != 0;
}

static void a_regular_file_is_opened_from_its_start(void **state)
{
    (void)state;
    char text[16] = "";
    int opened = heddle_check_input_file(file);
    assert_true(opened >= 0);
    assert_int_equal(read(opened, text, sizeof text - 1), 5);
    assert_string_equal(text, "seven");
    close(opened);
}

static void nothing_else_is(void **state)
{
    (void)state;
    const int next = dup(STDERR_FILENO); // the number that the next file gets
    close(next);
    assert_int_equal(heddle_check_input_file("/nowhere/file"), -1);
    assert_int_equal(heddle_check_input_file(folder), -1);
    assert_int_equal(heddle_check_input_file(pipe_name), -1);
    assert_int_equal(heddle_check_input_file("/dev/null"), -1);
    const int after = dup(STDERR_FILENO);
    close(after);
    assert_int_equal(after, next); // all were closed again
}

// Whoever starts a check may have closed standard input: the next file is then number 0.
static void a_file_may_be_number_0(void **state)
{
    (void)state;
    const int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    const int refused = heddle_check_input_file(folder), opened = heddle_check_input_file(file);
    close(STDIN_FILENO);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
    assert_int_equal(refused, -1);
    assert_int_equal(opened, STDIN_FILENO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regular_file_is_opened_from_its_start),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(a_file_may_be_number_0),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
