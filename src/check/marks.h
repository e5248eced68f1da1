// Which part of its line each place means, and what a kernel calls the memory that host code has allocated.
#pragma once

#include "check/result.h"

// Sets the columns that places are shown with, and the parameter of each finding in a kernel whose memory host code has
// allocated: "" where the source does not show it.
void heddle_check_marks_settle(heddle_check_result *result);
