// What a pointer of the program points to, and whether a call may use the bytes there.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/memory.h"
#include "sim/runtime_api.h"

typedef enum sim_where {
    SIM_AT_HOST, // pageable memory of the host
    SIM_AT_PINNED,
    SIM_AT_DEVICE,
    SIM_AT_MANAGED,
    SIM_AT_SYMBOL,   // a __device__ or __constant__ variable that the program has named to the API
    SIM_AT_VARIABLE, // any other global variable: of the host
    SIM_AT_NOTHING   // in the card's range, but freed or never allocated
} sim_where;

sim_where sim_pointer_where(const void *pointer, sim_allocation *found);
const char *sim_where_words(sim_where where);
// Whether a call may use `bytes` from `pointer` on: reports bytes outside the allocation. role: "source",
// "destination".
cudaError_t sim_pointer_check(const void *pointer, size_t bytes, const char *role, sim_where *where);
// Reports that nothing live is at a pointer of the card's range.
cudaError_t sim_pointer_stale(const void *pointer, size_t bytes, const char *role);
// The device variable that holds this address; false: none is known.
bool sim_symbol_find(const void *address, const void **start, size_t *bytes);
