// The files of a check: that they are there, and can be read and compiled.
#pragma once

#include "check/check.h"

// The sources by their full paths, in a list that ends with NULL; the caller frees it and what it holds, after a
// failure too.
heddle_status heddle_check_files_find(const heddle_check_options *options, char ***files);
