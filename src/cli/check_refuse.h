// What `heddle check` refuses before a run, which may be long.
#pragma once

#include "cli/check_flags.h"
#include "cli/check_settings.h"

heddle_status heddle_cli_check_refuse(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                                      const heddle_check_flags *flags);
