// A folder for all tests of a program: cmocka_run_group_tests(tests, create_folder, remove_folder).
#ifndef HEDDLE_TESTS_FOLDER_H
#define HEDDLE_TESTS_FOLDER_H

#include "files.h"

static char *folder;

static inline int create_folder(void **state)
{
    (void)state;
    folder = scratch_create();
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    scratch_remove(folder);
    return 0;
}

#endif
