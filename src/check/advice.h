// What a line of source tells about why it failed.
#pragma once

#include "sim/source/lexer.h"

// What cures a compiler's error that C would not have made, by the file it is in, its message and its line; NULL: it is
// none of those. `source`: NULL where the file cannot be read.
const char *heddle_check_habit_of_c(const char *file, const char *message, const sim_source *source, int line);

// The same for an allocation that is not given the address of a pointer; NULL: it is something else.
const char *heddle_check_wants_address(const char *message);

// Whether the line reads an argument of the program, its own name left out.
bool heddle_check_reads_argument(const sim_source *source, int line);
