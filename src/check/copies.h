// What two runs brought to the host: whether it differs by more than rounding, and where first.
#pragma once

#include "check/report.h"

// The first copy that differs, by its place in each report, from 0; a place behind the last: the other has more.
typedef struct heddle_check_difference {
    int first, other; // other: -1 where copies have no order
} heddle_check_difference;

// Copies that a loop of the host only looks at to go on are left out; so are those that differ in `repeated`, a run in
// the same order as `a` with as many copies (NULL: none). False: no difference.
bool heddle_check_copies_differ(const heddle_check_report *a, const heddle_check_report *b,
                                const heddle_check_report *repeated, heddle_check_difference *found);

// Whether two runs made this copy, from 0, with the same content.
bool heddle_check_copy_repeats(const heddle_check_report *a, const heddle_check_report *b, int copy);
