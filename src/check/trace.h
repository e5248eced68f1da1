// The trace of the first run (docs/json.md): the simulator's, with what the source adds to it, and the findings with
// references to its events.
#pragma once

#include <cjson/cJSON.h>

#include "check/result.h"

enum { HEDDLE_CHECK_TRACE_VERSION = 1 };

// Takes over what the program's first run left at `path`, if that run left a report too. Where there is none, or one
// that is damaged or larger than any that the simulator writes, a note says so. HEDDLE_INTERRUPTED: *stop is not 0.
heddle_status heddle_check_trace_read(heddle_check_result *result, const char *path, const volatile int *stop);
// The whole document; NULL: no memory. The caller frees it.
cJSON *heddle_check_trace_json(const heddle_check_result *result);
// The same for a page: only launches that a finding is about, and the first one of each kernel.
cJSON *heddle_check_trace_json_short(const heddle_check_result *result);
