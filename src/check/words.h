// Why a finding happened and what fixes it, in words: of its kind, or of what its facts and the source show.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// Sets cause and cure where it has none; what is made of lines of the source lives in the arena.
void heddle_check_words_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena);

// A global variable of the host that a kernel uses: the report knows that it is a variable, and which.
bool heddle_check_is_host_variable(const heddle_check_finding *finding);
