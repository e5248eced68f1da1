// The flag that a signal handler sets and that everything which judges looks at.

#include "learn/interrupt.h"

#include "check/check.h"

static volatile int interrupted;

void heddle_learn_interrupt(void)
{
    interrupted = 1;
    heddle_check_interrupt();
}

void heddle_learn_resume(void)
{
    interrupted = 0;
    heddle_check_resume();
}

const volatile int *heddle_learn_interrupted(void)
{
    return &interrupted;
}
