// __device__ and __constant__ variables that host code uses by their names.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Host code uses a variable of the card's.
void sim_variable_touched(uintptr_t address, size_t bytes, bool write, uintptr_t pc);
// A copy or fill has written these bytes, or read them.
void sim_variable_copied(uintptr_t start, size_t bytes, bool written);
// cudaGetSymbolAddress has given the program this address.
void sim_variable_addressed(const void *start, size_t bytes);
// A copy brings these bytes to the host: an address among them is one that a kernel took.
void sim_variable_handed_out(const void *bytes, size_t size);
// From now on there is memory that both kernels and the host use: by it an address comes to the host unseen.
void sim_variable_memory_shared(void);
// Whether this is the start of a variable of the card's that the program can only have by the variable's name: no call
// has given its address, no copy has brought it, and no shared memory can have.
bool sim_variable_is_by_name(const void *pointer);
// The launch that the program is in passes these bytes: is such an address among them?
void sim_variable_arguments(const char *kernel, const void *bytes, size_t size);
