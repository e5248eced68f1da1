// What is done to compiled code before it is linked: to the assembler's text, and to the symbols of the object file.
#pragma once

#include <stdbool.h>

#include "rewrite/text.h"

// What of a text was read so far; all 0 at first.
typedef struct sim_assembly {
    bool in_thread_local,
        in_card;        // the section: of __shared__ variables; of __device__, __constant__, __managed__ ones
    bool in_constants;  // of constants: const variables of host and card
    bool is_variable;   // what comes has a name
    bool is_static;     // what comes is a static variable of a device function
    bool has_data;      // the line before belongs to a variable of the card, or to a constant
    bool guarded[4];    // the sections of the card's variables that have begun, and that of constants
    unsigned long size; // of the variable
    unsigned gaps;      // between constants, so far
} sim_assembly;

// Adds a line of assembler text to `out`, and room that no right access touches: behind __shared__ variables, and
// around those of the card and constants. Between constants it has a name, sim_gap.1 and so on, because literals have
// none.
void sim_assembly_line(sim_assembly *assembly, const char *line, size_t bytes, sim_text *out);

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
