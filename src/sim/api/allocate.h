// Allocating and freeing, for the parts of the API that do it under other names.
#pragma once

#include <stdbool.h>

#include "memory/memory.h"
#include "sim/runtime_api.h"

cudaError_t sim_allocate(void **memory, size_t bytes, sim_memory_kind kind);
// Memory of a graph: an address, which is the same in every launch. NULL: the card is full.
void *sim_allocate_for_graph(size_t bytes);
// A graph, launched at `pc`, allocates it; frees_first: what its last launch has left. Else that is reported.
void sim_allocate_again(void *memory, bool frees_first, uintptr_t pc);
// Frees what sim_free_check has accepted. `function`, called at `pc`, is reported if it was freed in between.
void sim_free_now(void *memory, uintptr_t pc, const char *function);
// Whether memory may be freed with cudaFree (or with cudaFreeHost); reports why not.
cudaError_t sim_free_check(void *memory, bool pinned);
// The same for a graph: it may free what a graph has allocated.
cudaError_t sim_free_check_in_graph(void *memory);
