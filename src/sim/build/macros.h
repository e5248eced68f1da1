// Macros of the command line that are one letter: -DK=16. A program's own text is full of such names and means them,
// but the stand-in headers, too, have parameters of that name, where CUDA's have reserved ones. So these macros are
// defined behind the headers.
#pragma once

#include <stdbool.h>
#include <stdio.h>

// Whether an option defines such a macro.
bool sim_macro_is_letter(const char *option);
// Writes the stand-in headers that the text includes, and then these macros among the options; nothing where there are
// none. False: the file cannot be written.
bool sim_macros_write(FILE *file, const char *const *options, const char *text);
