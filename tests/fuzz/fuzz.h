// What the fuzz targets share: their entry, as libFuzzer and replay.c call it, and how they say that something is
// wrong.
#ifndef HEDDLE_TESTS_FUZZ_H
#define HEDDLE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            __builtin_trap();                                                                                          \
    } while (0)

#endif
