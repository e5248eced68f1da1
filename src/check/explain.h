// Explains what a run reported, from the source: names of memory, the loop that never ends, why threads miss a barrier.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Each finding by itself, before those of several runs are united: names, lines and tiers decide what is the same.
void heddle_check_explain(heddle_check_report *report, heddle_check_sources *sources);

// Whether one of these names stands before the variable that the place of the finding accesses, in the last declaration
// before its line: "const double *data", "__shared__ long long sums".
bool heddle_check_has_type(const heddle_check_finding *finding, const heddle_check_place *place,
                           heddle_check_sources *sources, const char *const *types);
