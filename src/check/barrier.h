// Where the barrier belongs that a race lacks.
#ifndef HEDDLE_CHECK_BARRIER_H
#define HEDDLE_CHECK_BARRIER_H

#include "check/result.h"

// Names, in the cure of a race, the lines between which it is to be put, where the source shows them.
void heddle_check_barrier_settle(heddle_check_result *result, heddle_check_finding *finding);

#endif
