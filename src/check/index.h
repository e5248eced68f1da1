// What the source shows about the index of an access that is out of bounds or that several blocks use: a guard that
// tests something else, a bound that is too large, a formula that cannot be meant.
#pragma once

#include "check/report.h"
#include "check/sources.h"

// What the source shows of the access at a place, each as it is written there.
typedef struct heddle_check_guard {
    const char *index;  // between its brackets; NULL: not known
    const char *value;  // what the index was set to before, where it is one name; NULL: not shown
    const char *text;   // of a comparison that bounds the index from above, "i + 1 < n"; NULL: there is none
    const char *tested; // "i + 1"
    const char *bound;  // "n"
    bool is_exact;      // it tests the index itself
    bool reaches;       // it lets the index be the bound: i <= n, or a return where i > n
    bool is_exit;       // it leaves where it holds: if (i >= n) return
    bool is_behind;     // it comes after the access, and protects nothing there
} heddle_check_guard;

// The guard that fits best: one that tests the index, else one that shares a name with it, else one that shares a name
// with what it was set to and has a parameter as its bound, as any has where the index is not known. Texts are in the
// arena.
heddle_check_guard heddle_check_guard_find(const heddle_check_place *place, heddle_check_sources *sources,
                                           heddle_arena *arena);
// Sets cause and cure, in the arena, where it has something to say; false: it has not.
bool heddle_check_index_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena);
