// Where in its source line a finding's place lies. The report knows lines; the column is found from what the place is
// (a write, a barrier, a launch) and from what the line says, and only where that leaves one choice.
#ifndef HEDDLE_CHECK_CARET_H
#define HEDDLE_CHECK_CARET_H

#include "check/report.h"

// The part of `line` from *start to before *end. False: more than one part could be meant, or none.
bool heddle_check_caret(const heddle_check_finding *finding, const heddle_check_place *place, const char *line,
                        size_t *start, size_t *end);

#endif
