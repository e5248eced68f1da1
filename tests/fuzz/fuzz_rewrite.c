// The rewriter on any text: no crash, no read out of bounds, no hang, and never a line more or less.

#include "fuzz.h"

#include <stdlib.h>

#include "rewrite/rewrite.h"

static size_t lines_of(const char *text, size_t bytes)
{
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes = 0;
    char *result = sim_rewrite_text("fuzz.cu", (const char *)data, size, &bytes);
    FUZZ_CHECK(result);
    FUZZ_CHECK(lines_of(result, bytes) == lines_of((const char *)data, size));
    free(result);
    return 0;
}
