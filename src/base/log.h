// Levelled log to stderr, for what is worth knowing but is not the result. The level comes from HEDDLE_LOG (error,
// warn, info, debug) or heddle_log_set_level; default: warn.
#pragma once

#include "heddle/status.h"

typedef enum heddle_log_level { HEDDLE_LOG_ERROR, HEDDLE_LOG_WARN, HEDDLE_LOG_INFO, HEDDLE_LOG_DEBUG } heddle_log_level;

void heddle_log_set_level(heddle_log_level level);
heddle_status heddle_log_parse_level(const char *name, heddle_log_level *level);
void heddle_log(heddle_log_level level, const char *format, ...) HEDDLE_PRINTF(2, 3);
