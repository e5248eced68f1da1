// For tests that need files: a folder of their own that goes away, files in it, and what the last error must say.
#ifndef HEDDLE_TESTS_FILES_H
#define HEDDLE_TESTS_FILES_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle/status.h"

// A new folder under $TMPDIR; free what scratch_remove is given.
static inline char *scratch_create(void)
{
    const char *root = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/heddle-test-XXXXXX", root && root[0] ? root : "/tmp");
    assert_non_null(mkdtemp(path));
    char *folder = strdup(path);
    assert_non_null(folder);
    return folder;
}

static inline int scratch_remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about, (void)kind, (void)walk;
    return remove(path);
}

static inline void scratch_remove(char *folder)
{
    enum { OPEN_FOLDERS = 16 };
    nftw(folder, scratch_remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

// A folder of its own for a test, which finds it in its state.
static inline int scratch_set_up(void **state)
{
    *state = scratch_create();
    return 0;
}

static inline int scratch_tear_down(void **state)
{
    scratch_remove(*state);
    return 0;
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_set_up, scratch_tear_down)

// "folder/name" in one of a few buffers that are used in turn: for use at once, not to keep.
static inline const char *scratch_path(const char *folder, const char *name)
{
    enum { BUFFERS = 8, SIZE = 1024 };
    static char paths[BUFFERS][SIZE];
    static int turn;
    char path[SIZE]; // made aside: the folder may lie in one of the buffers
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < SIZE);
    turn = (turn + 1) % BUFFERS;
    return strcpy(paths[turn], path);
}

static inline void scratch_write(const char *folder, const char *name, const void *content, size_t size)
{
    FILE *file = fopen(scratch_path(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// The call must fail with `status`, saying `text` somewhere, in one line.
#define assert_fails(call, status, text)                                                                               \
    do {                                                                                                               \
        assert_string_equal(heddle_status_name(call), heddle_status_name(status));                                     \
        if (!strstr(heddle_last_error(), text))                                                                        \
            fail_msg("\"%s\" does not say \"%s\"", heddle_last_error(), text);                                         \
        assert_null(strchr(heddle_last_error(), '\n'));                                                                \
    } while (0)

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        heddle_status assert_ok_status_ = (call);                                                                      \
        if (assert_ok_status_ != HEDDLE_OK)                                                                            \
            fail_msg("%s: %s", heddle_status_name(assert_ok_status_), heddle_last_error());                            \
    } while (0)

#endif
