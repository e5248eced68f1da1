// Whether a result depends on the order in which threads run, and if so which element of which copy.
#pragma once

#include "check/result.h"

// Runs the program once more, as in the run that left `like`, and with this for SIM_COPY. *report is NULL where it left
// none.
typedef heddle_status (*heddle_check_rerun)(void *context, const heddle_check_report *like, const char *copy,
                                            heddle_check_report **report);

// Holds what a run brought to the host against what the first one did. `path`: of a file that is not there yet.
heddle_status heddle_check_order_compare(heddle_check_result *result, const heddle_check_report *report,
                                         const char *path, heddle_check_rerun rerun, void *context);
