// What copies to the host carried, so that two runs in different orders can be compared: a hash of the bytes, and sums
// that change with the order of elements but hardly with their rounding.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Sums of the bytes read as numbers of one type, each element weighted by its place.
typedef struct sim_copied_sum {
    bool fits; // all of them look like numbers of that type
    double sum, magnitude;
    size_t place;
} sim_copied_sum;

typedef struct sim_copied {
    uint64_t hash;
    uint64_t submitted; // as the operation that made it
    uintptr_t pc, to;
    size_t bytes;
    bool zero; // all of them
    unsigned thread;
    sim_copied_sum singles, doubles;
} sim_copied;

// One copy: begun, its stretches of bytes in order, and kept at its end.
void sim_copied_begin(sim_copied *copied);
void sim_copied_add(sim_copied *copied, const uint8_t *bytes, size_t count, bool sums);
void sim_copied_keep(const sim_copied *copied);

// For the report: all copies in the order in which the program asked for them, for the order in which streams run is
// the schedule's. Where several threads of the host copied, theirs stand between each other as it happened.
const sim_copied *sim_copied_all(size_t *count);
bool sim_copied_by_several(void); // threads of the host
