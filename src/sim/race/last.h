// Which launches used a byte last, for the API: it knows which of them the host has waited for.
#pragma once

#include "findings/finding.h"
#include "race/shadow.h"

// The numbers of the launches whose kernels, or library calls, last wrote and last read this byte; 0: none, not known,
// or a volatile read.
typedef struct sim_last {
    uint64_t writer, reader;
    bool flag;  // kernels use the word by atomics or through volatile
    bool looks; // whoever last wrote it looks at it too, as one does who waits for what the host writes there
    bool asks;  // the last write was an atomic whose result is used: one that changes nothing looks too
} sim_last;
sim_last sim_last_uses(uintptr_t address);
// The launches that have written this byte by atomics or through volatile, which the host may have waited to see, as
// far back as is known.
void sim_signals_at(uintptr_t address, void (*visit)(uint64_t number, void *context), void *context);
// Where a kernel last wrote this byte, and which; false, and nothing is set: not known.
bool sim_last_write(uintptr_t address, sim_place *place, const char **kernel);
// For programs that ask who wrote an element of their result: blockIdx and threadIdx of the last write; all -1: not
// known; all -2: no kernel and no library that was watched.
void sim_writer(const void *address, int place[6]);
// Whether a kernel has used these bytes of a __device__ or __constant__ variable; `written`: has changed them.
bool sim_variable_used(uintptr_t start, size_t bytes, bool written);
// What kernels did last with this byte of the card's memory or of a variable; NULL: nothing that is known.
const sim_cell *sim_cell_of(uintptr_t address);

// What calls of libraries have written, a column at a time, by launch `number`; what they have read, in runs; and
// memory that is freed.
void sim_outputs_add(uint64_t number, uintptr_t start, size_t bytes);
void sim_inputs_add(uint64_t number, uintptr_t start, size_t bytes, size_t stride, size_t count);
void sim_outputs_forget(uintptr_t start, size_t bytes);
