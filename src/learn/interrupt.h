// Ends a judging that runs, soon and cleanly.
#pragma once

void heddle_learn_interrupt(void); // safe in a signal handler
void heddle_learn_resume(void);    // from now on there may be another judging
// Non-zero: the person wants to stop.
const volatile int *heddle_learn_interrupted(void);
