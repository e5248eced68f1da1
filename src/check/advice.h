// What a line of source tells about why it failed. Lines come without comments and literals.
#ifndef HEDDLE_CHECK_ADVICE_H
#define HEDDLE_CHECK_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "check/sources.h"

enum { HEDDLE_CHECK_CODE_SIZE = 400 }; // of a line: what lies beyond is not looked at

// The line's code, counted from 1, as heddle_check_code_of leaves it; "" where there is none. Returns `code`.
const char *heddle_check_line_code(heddle_check_sources *sources, const char *path, int line, char *code, size_t size);

// What cures a compiler's error that C would not have made, by the file it is in, its message and its line; NULL: it is
// none of those.
const char *heddle_check_habit_of_c(const char *file, const char *message, const char *code);

// Whether the line reads an argument of the program, its own name left out.
bool heddle_check_reads_argument(const char *code);

#endif
