// The lines that findings name, where a call or launch spans several.
#pragma once

#include "check/result.h"

// Moves each place to the line that has the name of the call or kernel, as far as the source shows it.
void heddle_check_lines_settle(heddle_check_result *result);
