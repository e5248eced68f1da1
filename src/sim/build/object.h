// What is done to compiled code before it is linked: to the assembler's text, and to the symbols of the object file.
#pragma once

#include <stdbool.h>

#include "rewrite/text.h"

// Adds a line of assembler text to `out`, and room after thread-local arrays: __shared__ arrays get a gap behind them
// that no right access touches. *in_thread_local is the filter's memory, false at first.
void sim_assembly_line(const char *line, size_t bytes, bool *in_thread_local, sim_text *out);

typedef struct sim_names {
    char **at;
    int count, room;
} sim_names;

// A list of strings, each copied. False: out of memory.
bool sim_names_add(sim_names *names, const char *name);
bool sim_names_have(const sim_names *names, const char *name);

// Adds the symbols that an object file defines for the whole program and that are the device's: variables, and
// functions by one of these names.
bool sim_object_device_symbols(const char *path, const sim_names *functions, sim_names *symbols);
// Gives those of its symbols that are listed a name that no other object has: `number` is the object's.
bool sim_object_separate(const char *path, const sim_names *symbols, int number);

// Renames undefined symbols of an object file: extern __shared__ arrays (undefined thread-local ones that no object of
// the program defines: `defined`) become the buffer of dynamic shared memory; memcpy and its kin their watched forms.
// False: not an object file of 64 bits that this can read, or it cannot be written.
bool sim_object_patch(const char *path, const sim_names *defined, bool watched);
// Adds the thread-local names that an object file defines.
bool sim_object_defined(const char *path, sim_names *defined);
void sim_names_release(sim_names *names);
