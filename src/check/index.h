// What the source shows about the index of an access that is out of bounds or that several blocks use: a guard that
// tests something else, a bound that is too large, a formula that cannot be meant.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Sets cause and cure, in the arena, where it has something to say; false: it has not.
bool heddle_check_index_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena);
