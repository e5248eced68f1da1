// The program that this runtime is linked into: its segments, its symbols, its __shared__ and __device__ variables.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/abi.h"

// --- module.c: the loaded module, program or shared object ----------------------------------------------------------

typedef struct sim_module {
    uintptr_t base, text_lo, text_hi; // executable segment
    uintptr_t data_lo, data_hi;       // writable segment: __device__ variables live here
    uintptr_t tables_lo, tables_hi;   // part of that: constants with addresses in them, read-only once it runs
    uintptr_t image_lo, image_hi;     // all of it: constants and literals too
    size_t tls_bytes;                 // of one thread's segment
    bool is_program;                  // false: a shared object
    char path[512];
} sim_module;
const sim_module *sim_module_self(void);
uintptr_t sim_module_tls(void); // this thread's thread-local segment of the module

// --- symbols.c ------------------------------------------------------------------------------------------------------

typedef struct sim_symbol {
    char name[128]; // demangled, without scope
    uintptr_t start;
    size_t bytes;
    bool shared;
    bool internal; // the simulator's own, by its name
    bool merged;   // of a template or an inline variable: it has no section of its own
    bool card;     // static in a device function: it has none either, but a tag in its name (sim/keywords.h)
    bool constant; // that, and __constant__
} sim_symbol;
// The variable that holds `address`: a __shared__ one of this thread's block, or a __device__, __constant__ or
// __managed__ one.
bool sim_symbol_at(uintptr_t address, sim_symbol *symbol);
// The variable that holds `address`, else the nearest one. tls: start of the thread-local segment that a shared address
// lies in.
bool sim_symbol_nearest_shared(uintptr_t address, uintptr_t tls, sim_symbol *symbol);
bool sim_symbol_nearest_data(uintptr_t address, sim_symbol *symbol);
// What lies at an address of the program that nobody can write to: a variable, room between two, or something without a
// name. The first two have bounds.
typedef enum sim_fixed { SIM_FIXED_UNKNOWN, SIM_FIXED_VARIABLE, SIM_FIXED_GAP } sim_fixed;
sim_fixed sim_symbol_fixed(uintptr_t address, uintptr_t *start, size_t *bytes);
// Whether every variable is known: not in a program that was stripped of its symbols.
bool sim_symbols_complete(void);
// Whether `address` is in what the compiler keeps beside the thread-local variables of this thread: whether they have
// been constructed.
bool sim_symbol_is_guard(uintptr_t address);
// Whether the program has a variable of this name, without scope.
bool sim_symbol_is_variable(const char *name);
// The function that starts at `address`, as a person writes it: "mm<1>". NULL: none.
const char *sim_symbol_function_called(uintptr_t address);
// The function at `pc` (mangled) and how far in it pc lies; NULL: none.
const char *sim_symbol_function(uintptr_t pc, size_t *offset);

// The bounds of the function at `pc`; false: none is known there.
bool sim_symbol_function_bounds(uintptr_t pc, uintptr_t *start, uintptr_t *end);

// --- reaches.c ------------------------------------------------------------------------------------------------------

// What a thread of the kernel can come to use (machine/options.h: SIM_USES_...), by the calls in its machine code. More
// than that where it cannot be known. One host thread at a time.
unsigned sim_kernel_uses(const sim_kernel *kernel);

// --- symbols.c, shared memory ---------------------------------------------------------------------------------------

// Every __shared__ variable of the program, as offset in the thread-local segment of the module and size; sorted.
typedef struct sim_shared_variable {
    size_t offset, bytes;
    char name[128];
} sim_shared_variable;
const sim_shared_variable *sim_shared_variables(size_t *count);
