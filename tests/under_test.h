// For tests that run on several devices: which one they are to run on.
#ifndef HEDDLE_TESTS_UNDER_TEST_H
#define HEDDLE_TESTS_UNDER_TEST_H

#include <stdlib.h>

// What HEDDLE_TEST_DEVICE names, or `otherwise` where it is not set or empty.
static inline const char *device_under_test(const char *otherwise)
{
    const char *name = getenv("HEDDLE_TEST_DEVICE");
    return name && name[0] ? name : otherwise;
}

#endif
