// Findings that a person has looked at and does not want to see again: named in a file (sim/report/rules.h), or by a
// comment in the source. `heddle: allow` or `sim: allow` and kinds that commas join allow these at the line and at the
// one after; `all` allows every kind, and a reason may follow.
#pragma once

#include "check/result.h"

typedef struct heddle_check_suppressions heddle_check_suppressions;

// HEDDLE_CORRUPT names file, line and what is wrong. `path` must live as long as what is read.
heddle_status heddle_check_suppressions_read(const char *path, heddle_check_suppressions **suppressions);
void heddle_check_suppressions_free(heddle_check_suppressions *suppressions); // NULL is fine

// By the file (may be NULL) or by a comment at one of the finding's places; sources of NULL: comments do not count.
bool heddle_check_suppressed(const heddle_check_suppressions *suppressions, heddle_check_sources *sources,
                             const heddle_check_finding *finding);

// Adds a note to `result` that names the rules of the file that have matched no finding so far, unless a run was cut
// short.
heddle_status heddle_check_suppressions_note_unused(const heddle_check_suppressions *suppressions,
                                                    heddle_check_result *result);

// Adds a note to `result` for each kind in a comment of these files (the list ends with NULL) that there is not: such a
// comment suppresses nothing.
heddle_status heddle_check_comments_look(const char *const *files, heddle_check_result *result);
