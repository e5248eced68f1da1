// Rungs of add_forward that are right, or wrong in one way each: a ladder for the tests of what a bench finds.
#ifndef HEDDLE_TESTS_BENCH_OWN_RUNGS_H
#define HEDDLE_TESTS_BENCH_OWN_RUNGS_H

#include "heddle/op.h"

enum {
    OWN_MOST_ELEMENTS = 200000,
    OWN_WRONG_ELEMENT = 70001, // the one that some of them spoil, where there are more
};

extern const heddle_rung own_rungs[];
extern const int own_rung_count;

int own_elements(const heddle_call *call);

// Adds them all, as a rung should.
heddle_status own_add(const heddle_call *call);

#endif
