// The element types of safetensors, the size of a tensor, the sums over tensors and header, and names cut to fit
// messages. Reading and writing are in safetensors_read.c and safetensors_write.c.

#include "io/safetensors_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static const struct {
    const char *name;
    heddle_dtype dtype;
} dtypes[] = {
    {"F32", HEDDLE_F32}, {"F64", HEDDLE_F64}, {"F16", HEDDLE_F16}, {"BF16", HEDDLE_BF16},
    {"I32", HEDDLE_I32}, {"I64", HEDDLE_I64}, {"U8", HEDDLE_U8},   {"I8", HEDDLE_I8},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

const char *heddle_safetensors_dtype_name(heddle_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

bool heddle_safetensors_dtype_parse(const char *name, heddle_dtype *dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = dtypes[i].dtype;
            return true;
        }
    return false;
}

bool heddle_safetensors_bytes(heddle_dtype dtype, const int64_t *dims, int rank, uint64_t *bytes)
{
    uint64_t product = heddle_dtype_size(dtype);
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        if (dims[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product))
            return false;
    }
    *bytes = empty ? 0 : product;
    return true;
}

uint32_t heddle_safetensors_add_to_sum(uint32_t sum, const heddle_array *array)
{
    sum = (uint32_t)crc32_z(sum, (const unsigned char *)array->name, strlen(array->name));
    // zlib would restart the sum if there is no data
    return array->bytes > 0 ? (uint32_t)crc32_z(sum, array->data, array->bytes) : sum;
}

// --- the sum of a header --------------------------------------------------------------------------------------------

// With the zero behind it, so that what follows cannot be taken for a part of it.
static uint32_t add_text(uint32_t sum, const char *text)
{
    return (uint32_t)crc32_z(sum, (const unsigned char *)text, strlen(text) + 1);
}

static const char *text_of(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : "";
}

static uint32_t add_type_and_shape(uint32_t sum, const cJSON *tensor)
{
    enum { NUMBER_SIZE = 32 };
    const cJSON *dim;
    sum = add_text(sum, text_of(cJSON_GetObjectItemCaseSensitive(tensor, "dtype")));
    cJSON_ArrayForEach(dim, cJSON_GetObjectItemCaseSensitive(tensor, "shape"))
    {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "%.17g", dim->valuedouble);
        sum = add_text(sum, text);
    }
    return add_text(sum, ""); // end of the dimensions
}

static bool add_metadata(const cJSON *metadata, uint32_t *sum)
{
    int count;
    const cJSON **entries = heddle_json_sorted(metadata, &count);
    if (!entries)
        return false;
    for (int i = 0; i < count; i++)
        if (strcmp(entries[i]->string, HEDDLE_SAFETENSORS_HEADER_SUM) != 0)
            *sum = add_text(add_text(*sum, entries[i]->string), text_of(entries[i]));
    free(entries);
    return true;
}

bool heddle_safetensors_header_sum(const cJSON *header, char text[HEDDLE_SAFETENSORS_SUM_SIZE])
{
    int count;
    uint32_t sum = 0;
    const cJSON **entries = heddle_json_sorted(header, &count);
    bool added = entries != NULL;
    for (int i = 0; added && i < count; i++) {
        sum = add_text(sum, entries[i]->string);
        if (strcmp(entries[i]->string, HEDDLE_SAFETENSORS_METADATA) == 0)
            added = add_metadata(entries[i], &sum);
        else
            sum = add_type_and_shape(sum, entries[i]);
    }
    free(entries);
    snprintf(text, HEDDLE_SAFETENSORS_SUM_SIZE, "%08x", (unsigned)sum);
    return added;
}

// --- messages -------------------------------------------------------------------------------------------------------

const char *heddle_safetensors_shorten(const char *name, char *text, size_t size)
{
    static const char cut[] = "...";
    size_t length = strlen(name);
    size_t kept = length < size ? length : size - sizeof cut;
    memcpy(text, name, kept);
    text[kept] = '\0';
    if (kept < length)
        memcpy(text + kept, cut, sizeof cut);
    return text;
}
