// `heddle check --kernel`: what its options mean together, and --list-kernels.
#pragma once

#include "cli/check_settings.h"

// HEDDLE_INVALID where options do not go together.
heddle_status heddle_cli_check_kernel_refuse(const heddle_check_settings *settings);
// Prints the kernels of the files that were named; returns the exit code.
int heddle_cli_check_kernel_list(const heddle_cli_arguments *arguments, const char *const *folders);
