// Slips that compile and run here, and mean something else than was meant: found in the source, before any run.
#pragma once

#include "check/result.h"

// Adds what the sources of a program show: findings and notes. The list ends with NULL.
heddle_status heddle_check_slips_find(heddle_check_result *result, const char *const *sources);

// The first line among these that names a barrier and does not call it; 0: none.
int heddle_check_uncalled_barrier(const sim_source *source, int first_line, int last_line);

// Whether a finding says that this function is a kernel and is called like a function.
bool heddle_check_is_plain_call(const heddle_check_finding *finding, const char *function);
