// A report with a source file, as a run of a simulated program would leave them, and small conveniences around them.
#ifndef HEDDLE_TESTS_CHECK_SAMPLE_H
#define HEDDLE_TESTS_CHECK_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "check/result.h"

// Lines of the sample's source, which sample_report's findings point to.
extern const char sample_source[];

// In `folder`: the source as tile.cu, and a report in which every @ of `report` is that file's path. The caller frees
// it.
char *sample_text(const char *folder, const char *report);
heddle_check_report *sample_parse(const char *folder, const char *report);
// A result of one run, before its last step and after it.
heddle_check_result *sample_unfinished(const char *folder, const char *report);
heddle_check_result *sample_result(const char *folder, const char *report);

// A race, an access out of bounds, a leak, and counters of a strided store and a conflicting shared load.
extern const char sample_report[];

// Everything that `show` writes; the caller frees it.
typedef heddle_status sample_writer(const heddle_check_result *result, FILE *file);
char *sample_shown(const heddle_check_result *result, sample_writer *show);

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part))                                                                                       \
            fail_msg("\"%s\" is not in:\n%s", part, text);                                                             \
    } while (0)
#define assert_lacks(text, part)                                                                                       \
    do {                                                                                                               \
        if (strstr(text, part))                                                                                        \
            fail_msg("\"%s\" is in:\n%s", part, text);                                                                 \
    } while (0)

#endif
