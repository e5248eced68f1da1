// A quick look at source, without a compiler: which functions it defines, and whether it is source at all.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

typedef enum heddle_check_defines {
    HEDDLE_CHECK_ABSENT,
    HEDDLE_CHECK_FUNCTION,
    HEDDLE_CHECK_IS_KERNEL, // __global__
} heddle_check_defines;

// Whether a file, or one that it includes and that lies beside it or in one of the folders (NULL: none), defines a
// function called `name`; in a file with a bracket that is never closed, whether `name(` stands in it.
heddle_status heddle_check_file_defines(const char *path, const char *const *folders, const char *name,
                                        heddle_check_defines *defines);
// Fails where a file without a main is empty, no text, or no CUDA source; beside others (not `alone`) it may have
// variables and nothing else.
heddle_status heddle_check_file_refuse(const char *path, bool alone);

// rung.c: fails where a file is a rung of heddle's own, which is no program but a part of one, and says how it is run:
// on the simulated GPU, or on a real one where the registry says that only that has what it needs.
heddle_status heddle_check_rung_refuse(const char *path);
