// Explains what a run reported, from the source: names of memory, the loop that never ends, why threads miss a barrier.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Each finding by itself, before those of several runs are united: names, lines and tiers decide what is the same.
void heddle_check_explain(heddle_check_report *report, heddle_check_sources *sources);
