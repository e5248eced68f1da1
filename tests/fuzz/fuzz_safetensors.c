// Any bytes as a safetensors file; and any text before a zero byte as a header in front of the rest, with its length
// put right, so that the fuzzer gets past the first eight bytes. What parses must be wholly readable, aligned and
// apart.

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "heddle/safetensors.h"

static volatile unsigned sink; // so that reading is not optimised away

static void parse(const uint8_t *data, size_t size)
{
    heddle_safetensors *file;
    if (heddle_safetensors_parse("fuzz", data, size, &file) != HEDDLE_OK) {
        FUZZ_CHECK(!file);
        return;
    }
    size_t total = 0;
    for (int i = 0; i < heddle_safetensors_count(file); i++) {
        const heddle_array *array = heddle_safetensors_at(file, i);
        FUZZ_CHECK((uintptr_t)array->data % heddle_dtype_size(array->dtype) == 0);
        FUZZ_CHECK(heddle_safetensors_find(file, array->name) == array);
        for (size_t b = 0; b < array->bytes; b++)
            sink += ((const uint8_t *)array->data)[b];
        total += array->bytes;
    }
    FUZZ_CHECK(total < size);
    heddle_safetensors_metadata(file, "format");
    heddle_safetensors_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);

    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    uint64_t header = zero ? (uint64_t)(zero - data) : size;
    size_t rest = zero ? size - header - 1 : 0;
    uint8_t *content = malloc(sizeof header + header + rest);
    if (!content)
        return 0;
    memcpy(content, &header, sizeof header);
    if (header > 0)
        memcpy(content + sizeof header, data, header);
    if (rest > 0)
        memcpy(content + sizeof header + header, zero + 1, rest);
    parse(content, sizeof header + header + rest);
    free(content);
    return 0;
}
