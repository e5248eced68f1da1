// Files that grow by whole records: a disk that is full leaves no part of a record and loses none.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/append.h"
#include "base/file.h"
#include "base/log.h"
#include "folder.h"

enum { PATH = 256 };

// Files may not grow beyond this, which a write is told as it is of a full disk.
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void assert_holds(const char *path, const char *expected)
{
    char *content = NULL;
    size_t size;
    assert_int_equal(heddle_file_read(path, 2 * PATH, &content, &size), HEDDLE_OK);
    assert_string_equal(content, expected);
    free(content);
}

static void records_are_added_to_what_is_there(void **state)
{
    (void)state;
    char path[PATH];
    snprintf(path, sizeof path, "%s/records", folder);
    for (int i = 0; i < 2; i++) {
        heddle_append *file = NULL;
        assert_int_equal(heddle_append_open(path, "records", &file), HEDDLE_OK);
        heddle_append_add(file, "one\n", 4);
        heddle_append_add(file, "two\n", 4);
        heddle_append_sync(file);
        assert_holds(path, i == 0 ? "one\ntwo\n" : "one\ntwo\none\ntwo\n");
        heddle_append_close(file);
    }
    heddle_append_close(NULL);
}

static void a_full_disk_holds_whole_records_and_gets_the_others_later(void **state)
{
    (void)state;
    char path[PATH];
    snprintf(path, sizeof path, "%s/full", folder);
    heddle_append *file = NULL;
    heddle_log_set_level(HEDDLE_LOG_ERROR); // it warns
    assert_int_equal(heddle_append_open(path, "records", &file), HEDDLE_OK);
    heddle_append_add(file, "one\n", 4);
    limit_files(6); // a part of the next
    heddle_append_add(file, "two\n", 4);
    assert_holds(path, "one\n");
    heddle_append_add(file, "three\n", 6);
    assert_holds(path, "one\n");
    limit_files(RLIM_INFINITY);
    heddle_append_sync(file);
    assert_holds(path, "one\ntwo\nthree\n");
    limit_files(16);
    heddle_append_add(file, "four\n", 5);
    limit_files(RLIM_INFINITY);
    heddle_append_close(file);
    assert_holds(path, "one\ntwo\nthree\nfour\n");
    heddle_log_set_level(HEDDLE_LOG_WARN);
}

// A pipe that nobody reads can neither be written nor cut.
static void a_file_that_cannot_be_cut_is_given_up(void **state)
{
    (void)state;
    char path[PATH];
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)signal(SIGPIPE, SIG_IGN);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    heddle_append *file = NULL;
    assert_int_equal(heddle_append_open(path, "records", &file), HEDDLE_OK);
    close(reader);
    char said[PATH], expected[2 * PATH];
    snprintf(said, sizeof said, "%s/said", folder);
    const int errors = dup(STDERR_FILENO), log = open(said, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(errors >= 0 && log >= 0);
    assert_int_equal(dup2(log, STDERR_FILENO), STDERR_FILENO);
    heddle_append_add(file, "one\n", 4);
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // too late
    heddle_append_add(file, "two\n", 4);
    heddle_append_sync(file);
    assert_int_equal(dup2(errors, STDERR_FILENO), STDERR_FILENO);
    close(errors);
    close(log);
    char byte;
    assert_true(reader >= 0);
    assert_int_equal(read(reader, &byte, 1), 0);
    close(reader);
    heddle_append_close(file);
    snprintf(expected, sizeof expected,
             "heddle: warning: %s: cannot write records: Broken pipe; what follows is not written\n", path);
    assert_holds(said, expected);
}

static void a_file_that_cannot_be_had_is_told(void **state)
{
    (void)state;
    heddle_append *file;
    assert_int_equal(heddle_append_open(folder, "the curve of the run", &file), HEDDLE_IO);
    assert_null(file);
    assert_non_null(strstr(heddle_last_error(), ": cannot write the curve of the run: Is a directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_added_to_what_is_there),
        cmocka_unit_test(a_full_disk_holds_whole_records_and_gets_the_others_later),
        cmocka_unit_test(a_file_that_cannot_be_cut_is_given_up),
        cmocka_unit_test(a_file_that_cannot_be_had_is_told),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
