// What an editor offers to do about a diagnostic.
#pragma once

#include <cjson/cJSON.h>

#include "check/result.h"

// For each of our diagnostics: a comment above its line that says that this finding is accepted. `result` gives the
// line's indentation; NULL: none is known.
cJSON *heddle_lsp_actions(const heddle_check_result *result, const char *path, const char *uri,
                          const cJSON *diagnostics);
