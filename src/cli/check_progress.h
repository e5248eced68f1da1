// The line that shows how far a long check has come.
#pragma once

#include "check/check.h"

// For heddle_check_options.progress; NULL where standard error is not a terminal.
typedef bool heddle_cli_check_progress(const heddle_check_progress *now);
heddle_cli_check_progress *heddle_cli_check_progress_line(void);
