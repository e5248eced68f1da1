// lost.c's part of fault.c's library.
#ifndef HEDDLE_TESTS_NN_FAULTS_LOST_H
#define HEDDLE_TESTS_NN_FAULTS_LOST_H

#include <stdbool.h>

// The card is lost from now on. Ends the program with 70 where that cannot be made.
void gpu_lose(void);

#endif
