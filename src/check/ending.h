// How a run ended.
#pragma once

#include "check/check.h"
#include "check/child.h"

// Adds a finding for an end that is not the program's own; one that the simulator has explained needs no second.
// HEDDLE_INTERRUPTED: the check is to end, too. `report` is NULL where the run left none,
// `where` says in a sentence what it was doing, or is "".
heddle_status heddle_check_judge_end(const heddle_check_options *options, heddle_check_result *result,
                                     const heddle_child *child, const heddle_check_report *report, const char *where);
