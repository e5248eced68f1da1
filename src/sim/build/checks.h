// Checks before the calls of hooks, in assembler text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rewrite/text.h"

// Of a call of a hook for one plain access: adds, in its place, a look at the range that belongs to this call, and a
// call for addresses outside of it (watch/ranges.h). False: the line is no such call, and nothing is added. *count: the
// filter's memory, 0 at first.
bool sim_check_line(const char *line, size_t bytes, unsigned *count, sim_text *out);
