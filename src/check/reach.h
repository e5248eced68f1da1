// Why some threads never come to a barrier: the run only shows that they ended without it; the source around the
// barrier tells whether they returned before it or passed it by.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Of the threads that ended without reaching the barrier at this place of a kernel.
heddle_check_reach heddle_check_reach_of(heddle_check_sources *sources, const heddle_check_place *barrier,
                                         const char *kernel);
