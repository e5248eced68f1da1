// The host's own heap: which block of malloc or new an address lies in, so that a copy past its end is found, and free
// or delete of the card's memory is found before the C library gives up over it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The live block that holds `address`, or ends there; false: none that is known.
bool sim_host_heap_find(uintptr_t address, uintptr_t *start, size_t *bytes);
