// The table of allocations, sorted by address. One thread at a time changes it; any number may search it meanwhile
// without a lock, because kernels look up addresses while others allocate.
#pragma once

#include "memory/memory.h"

bool sim_table_start(void); // false: no memory for it

// The last allocation that starts at or below `address` and the first above it; has_below, has_above: whether they
// exist.
typedef struct sim_neighbours {
    sim_allocation below, above;
    bool has_below, has_above;
} sim_neighbours;
void sim_table_search(uintptr_t address, sim_neighbours *found);

// The rest is for the one thread that changes it.
bool sim_table_add(const sim_allocation *allocation); // false: full even without the freed ones
void sim_table_free(uintptr_t start, uintptr_t freed_at);
void sim_table_retake(uintptr_t start);
void sim_table_refuse(uintptr_t start);
// The lowest free space of at least `bytes` at or above `from`, when freed allocations may be overwritten; 0: none.
uintptr_t sim_table_gap(uintptr_t from, uintptr_t end, size_t bytes);
size_t sim_table_count(void);
const sim_allocation *sim_table_at(size_t index);
