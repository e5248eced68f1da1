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

// A finding about a result that changes in every run: the compiler's suspicion explains it.
heddle_status heddle_check_order_suspect(heddle_check_result *result);
// Takes back the note about a copy that changes in every run, and what was found to depend on the order at the line
// that wrote it: this finding, with the copy and that line as its places, is the reason. NULL: it is harmless.
void heddle_check_order_explained(heddle_check_result *result, const heddle_check_finding *reason);
