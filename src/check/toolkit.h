// A folder that looks like a CUDA toolkit to build tools, and whose nvcc builds for the simulated GPU.
#pragma once

#include <stddef.h>

#include "heddle/status.h"

// Makes it, or finds it as it was made before: among what heddle keeps between runs, so that its path stays the same
// for build tools that remember it; in `folder` where nothing can be kept. HEDDLE_MISSING: simcc or the simulator is
// not installed.
heddle_status heddle_check_toolkit_make(const char *folder, char *path, size_t size);
