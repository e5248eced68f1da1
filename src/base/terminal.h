// What a file being written to can show: width, UTF-8, and how many columns a text takes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// A terminal that can redraw a line.
bool heddle_terminal_is(FILE *file);
// Columns of the terminal; 0 if `file` is not one.
int heddle_terminal_width(FILE *file);
// Its lines; 0 if that is not known.
int heddle_terminal_height(FILE *file);
// Does the environment (LC_ALL, LC_CTYPE, LANG) say UTF-8? The library does not set the program's locale, so it reads
// what setlocale would.
bool heddle_terminal_utf8(void);

// Columns of UTF-8 text, one a code point.
int heddle_text_columns(const char *text);
// Bytes of the longest start of `text` that takes no more than `columns`.
size_t heddle_text_prefix(const char *text, int columns);
