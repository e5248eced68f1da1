// Names of functions and variables as a person writes them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// "void mm<1>(float*)" becomes "mm<1>".
void sim_name_of_function(const char *demangled, char *name, size_t bytes);
// "_ZZ2mmILi1EEvPfE4tile" becomes "tile", and "counter.17" "counter".
void sim_name_of_variable(const char *symbol, char *name, size_t bytes);
// As the C++ runtime writes it, where the program has one, else unchanged.
void sim_name_demangle(const char *mangled, char *name, size_t bytes);
// Set by whoever handles a crash: from then on the C++ runtime, which uses malloc, is left alone.
extern bool sim_report_crashing;
