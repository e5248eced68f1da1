// What a copy to the host brings, held against what the same copy brought in another run. A first run with SIM_COPY
// writes the bytes to its file; a second one, with the file there, says where its own differ and who wrote them.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum sim_copied_type { SIM_COPIED_BYTES, SIM_COPIED_FLOATS, SIM_COPIED_DOUBLES } sim_copied_type;

// A copy: its rows one after the other, then its end. `submitted`: its number among all operations of the program.
void sim_differing_row(uint64_t submitted, const uint8_t *from, size_t bytes);
void sim_differing_end(uint64_t submitted, uintptr_t pc, sim_copied_type type);
