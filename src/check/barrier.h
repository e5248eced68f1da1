// Where the barrier belongs that a race lacks.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// "between line 9 and line 10", or the end of a loop's body; false: the source does not show it. Of two accesses in one
// line only a loop without a barrier is shown.
bool heddle_check_barrier_place(heddle_check_sources *sources, const heddle_check_finding *finding, char *text,
                                size_t size);
// The line of a __syncwarp() that stands where threads of different warps need a barrier; 0: none.
int heddle_check_warp_barrier(heddle_check_sources *sources, const heddle_check_finding *finding);
// The line of the outermost branch around a place that threads may take differently; 0: none.
int heddle_check_branch_around(heddle_check_sources *sources, const heddle_check_frame *frame);
