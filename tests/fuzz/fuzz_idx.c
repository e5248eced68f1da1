// Any bytes as an IDX file: parsed as images and as labels. What parses must be wholly readable.

#include <stddef.h>
#include <stdint.h>

#include "data/idx.h"
#include "fuzz.h"

static volatile unsigned sink; // so that reading is not optimised away

static void parse(const uint8_t *data, size_t size, heddle_idx_kind kind)
{
    heddle_idx idx;
    if (heddle_idx_parse("fuzz", data, size, kind, &idx) != HEDDLE_OK)
        return;
    size_t product = 1;
    for (int i = 0; i < idx.rank; i++)
        product *= (size_t)idx.dims[i];
    FUZZ_CHECK(product == idx.size);
    for (size_t i = 0; i < idx.size; i++)
        sink += idx.values[i];
    heddle_idx_free(&idx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size, HEDDLE_IDX_IMAGES);
    parse(data, size, HEDDLE_IDX_LABELS);
    return 0;
}
