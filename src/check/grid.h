// Grids that are too small: n / 256 blocks where n is not a multiple of 256 leave the last elements out.
#pragma once

#include "check/result.h"

// Adds a warning for each launch of the first run whose number of blocks was rounded down. The list ends with NULL.
heddle_status heddle_check_grids_find(heddle_check_result *result, const char *const *sources);
