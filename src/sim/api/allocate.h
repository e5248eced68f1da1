// Allocating and freeing, for the parts of the API that do it under other names.
#pragma once

#include <stdbool.h>

#include "memory/memory.h"
#include "sim/runtime_api.h"

cudaError_t sim_allocate(void **memory, size_t bytes, sim_memory_kind kind);
// Memory of a graph: at the same address in every launch, also after the graph itself is destroyed, so it is never
// freed, not even by the program, and is no leak. NULL: the card is full.
void *sim_allocate_for_graph(size_t bytes);
void sim_free_now(void *memory, uintptr_t pc); // what sim_free_check has accepted
// Whether memory may be freed with cudaFree (or with cudaFreeHost); reports why not.
cudaError_t sim_free_check(void *memory, bool pinned);
