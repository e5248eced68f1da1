// Names of memory that the program does not keep: the variable that an allocation was made for, an extern __shared__
// array, the array whose index is wrong.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Names the memory of a finding as far as it has no name and the source shows it.
void heddle_check_names_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena);
