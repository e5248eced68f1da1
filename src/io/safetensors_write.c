// Writing safetensors: a header padded so that the data starts aligned, then the tensors in the order given. The file
// appears whole or not at all (base/file.h).

#include "heddle/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "io/safetensors_format.h"

enum { SHOWN_SIZE = 96 };

static heddle_status check_array(const char *path, const heddle_array *array)
{
    char name[SHOWN_SIZE];
    if (!array->name || strcmp(array->name, HEDDLE_SAFETENSORS_METADATA) == 0)
        return heddle_fail(HEDDLE_INVALID, "%s: a tensor needs a name, other than " HEDDLE_SAFETENSORS_METADATA, path);
    heddle_safetensors_shorten(array->name, name, sizeof name);
    if (!heddle_safetensors_dtype_name(array->dtype))
        return heddle_fail(HEDDLE_INVALID, "%s: tensor %s: %d is not a dtype", path, name, (int)array->dtype);
    if (array->rank < 0 || array->rank > HEDDLE_SAFETENSORS_MAX_RANK)
        return heddle_fail(HEDDLE_INVALID, "%s: tensor %s: rank %d is not in 0..%d", path, name, array->rank,
                           HEDDLE_SAFETENSORS_MAX_RANK);
    uint64_t bytes;
    if (!heddle_safetensors_bytes(array->dtype, array->dims, array->rank, &bytes) || bytes != array->bytes)
        return heddle_fail(HEDDLE_INVALID, "%s: tensor %s: %zu bytes do not fit its shape and dtype", path, name,
                           array->bytes);
    if (!array->data && bytes > 0)
        return heddle_fail(HEDDLE_INVALID, "%s: tensor %s has no data", path, name);
    return HEDDLE_OK;
}

static heddle_status check_entry(const char *path, const heddle_text_pair *entry, int index)
{
    static const char *const own[] = {HEDDLE_SAFETENSORS_SUMS, HEDDLE_SAFETENSORS_HEADER_SUM, HEDDLE_SAFETENSORS_SUM};
    if (!entry->key || !entry->value)
        return heddle_fail(HEDDLE_INVALID, "%s: metadata entry %d lacks its key or value", path, index);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(entry->key, own[i]) == 0)
            return heddle_fail(HEDDLE_INVALID, "%s: metadata entry %d is called %s, which is reserved", path, index,
                               own[i]);
    return HEDDLE_OK;
}

static int compare_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static heddle_status check_differ(const char *path, const char *what, const char **names, int count)
{
    qsort(names, (size_t)count, sizeof *names, compare_text);
    for (int i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0) {
            char shown[SHOWN_SIZE];
            return heddle_fail(HEDDLE_INVALID, "%s: two %s are called %s", path, what,
                               heddle_safetensors_shorten(names[i], shown, sizeof shown));
        }
    return HEDDLE_OK;
}

static heddle_status check_names(const char *path, const heddle_array *arrays, int count,
                                 const heddle_text_pair *metadata, int metadata_count)
{
    size_t room = (size_t)(count > metadata_count ? count : metadata_count) + 1;
    const char **names = calloc(room, sizeof *names);
    if (!names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write %d tensors", path, count);
    for (int i = 0; i < count; i++)
        names[i] = arrays[i].name;
    heddle_status status = check_differ(path, "tensors", names, count);
    for (int i = 0; i < metadata_count; i++)
        names[i] = metadata[i].key;
    if (status == HEDDLE_OK)
        status = check_differ(path, "metadata entries", names, metadata_count);
    free(names);
    return status;
}

static bool add_sizes(cJSON *object, const char *field, const uint64_t *values, int count)
{
    cJSON *array = cJSON_AddArrayToObject(object, field);
    for (int i = 0; array && i < count; i++)
        if (!cJSON_AddItemToArray(array, cJSON_CreateNumber((double)values[i])))
            return false;
    return array != NULL;
}

static bool add_tensor(cJSON *header, const heddle_array *array, uint64_t begin)
{
    uint64_t dims[HEDDLE_SAFETENSORS_MAX_RANK];
    for (int i = 0; i < array->rank; i++)
        dims[i] = (uint64_t)array->dims[i];
    uint64_t offsets[] = {begin, begin + array->bytes};
    cJSON *tensor = cJSON_AddObjectToObject(header, array->name);
    return tensor && cJSON_AddStringToObject(tensor, "dtype", heddle_safetensors_dtype_name(array->dtype)) &&
           add_sizes(tensor, "shape", dims, array->rank) && add_sizes(tensor, "data_offsets", offsets, 2);
}

static int compare_array_names(const void *left, const void *right)
{
    return strcmp((*(const heddle_array *const *)left)->name, (*(const heddle_array *const *)right)->name);
}

static bool add_sum(cJSON *metadata, const heddle_array *arrays, int count)
{
    const heddle_array **by_name = calloc((size_t)count + 1, sizeof *by_name);
    if (!by_name)
        return false;
    for (int i = 0; i < count; i++)
        by_name[i] = &arrays[i];
    qsort(by_name, (size_t)count, sizeof *by_name, compare_array_names);
    uint32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = heddle_safetensors_add_to_sum(sum, by_name[i]);
    free(by_name);
    char text[HEDDLE_SAFETENSORS_SUM_SIZE];
    snprintf(text, sizeof text, "%08x", (unsigned)sum);
    return cJSON_AddStringToObject(metadata, HEDDLE_SAFETENSORS_SUM, text) != NULL;
}

// The sums stand first, so that a reader knows the file for one of heddle's where the rest of the header is damaged.
static bool add_metadata(cJSON *header, const heddle_array *arrays, int count, const heddle_text_pair *metadata,
                         int metadata_count, cJSON **header_sum)
{
    cJSON *object = cJSON_AddObjectToObject(header, HEDDLE_SAFETENSORS_METADATA);
    if (!object || !cJSON_AddStringToObject(object, HEDDLE_SAFETENSORS_SUMS, HEDDLE_SAFETENSORS_SUMS_VALUE))
        return false;
    *header_sum = cJSON_AddStringToObject(object, HEDDLE_SAFETENSORS_HEADER_SUM, "00000000"); // once all is there
    if (!*header_sum || !add_sum(object, arrays, count))
        return false;
    for (int i = 0; i < metadata_count; i++)
        if (!cJSON_AddStringToObject(object, metadata[i].key, metadata[i].value))
            return false;
    return true;
}

static bool fill_header(cJSON *header, const heddle_array *arrays, int count, const heddle_text_pair *metadata,
                        int metadata_count)
{
    cJSON *header_sum;
    if (!add_metadata(header, arrays, count, metadata, metadata_count, &header_sum))
        return false;
    uint64_t begin = 0;
    for (int i = 0; i < count; i++) {
        if (!add_tensor(header, &arrays[i], begin))
            return false;
        begin += arrays[i].bytes;
    }
    return heddle_safetensors_header_sum(header, header_sum->valuestring);
}

// The header's text, padded with spaces; NULL when out of memory. The caller frees it.
static char *header_text(const heddle_array *arrays, int count, const heddle_text_pair *metadata, int metadata_count,
                         uint64_t *length)
{
    char *padded = NULL;
    cJSON *header = cJSON_CreateObject();
    char *text =
        header && fill_header(header, arrays, count, metadata, metadata_count) ? cJSON_PrintUnformatted(header) : NULL;
    if (text) {
        size_t used = strlen(text);
        size_t excess = used % HEDDLE_SAFETENSORS_ALIGNMENT;
        *length = used + (excess ? HEDDLE_SAFETENSORS_ALIGNMENT - excess : 0);
        padded = malloc((size_t)*length);
        if (padded) {
            memset(padded, ' ', (size_t)*length);
            memcpy(padded, text, used);
        }
    }
    cJSON_free(text);
    cJSON_Delete(header);
    return padded;
}

heddle_status heddle_safetensors_write(const char *path, const heddle_array *arrays, int count,
                                       const heddle_text_pair *metadata, int metadata_count)
{
    if (count < 0 || metadata_count < 0)
        return heddle_fail(HEDDLE_INVALID, "%s: cannot write %d tensors and %d metadata entries", path, count,
                           metadata_count);
    for (int i = 0; i < count; i++)
        HEDDLE_TRY(check_array(path, &arrays[i]));
    for (int i = 0; i < metadata_count; i++)
        HEDDLE_TRY(check_entry(path, &metadata[i], i));
    HEDDLE_TRY(check_names(path, arrays, count, metadata, metadata_count));

    uint64_t length = 0;
    char *header = header_text(arrays, count, metadata, metadata_count, &length);
    heddle_slice *slices = calloc((size_t)count + 2, sizeof *slices);
    heddle_status status;
    if (!header || !slices) {
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for a header of %d tensors", path, count);
    } else if (length > HEDDLE_SAFETENSORS_MAX_HEADER) {
        status = heddle_fail(HEDDLE_INVALID, "%s: a header of %llu bytes is over the format's limit of %d", path,
                             (unsigned long long)length, HEDDLE_SAFETENSORS_MAX_HEADER);
    } else {
        slices[0] = (heddle_slice){&length, sizeof length};
        slices[1] = (heddle_slice){header, (size_t)length};
        for (int i = 0; i < count; i++)
            slices[i + 2] = (heddle_slice){arrays[i].data, arrays[i].bytes};
        status = heddle_file_write_atomic(path, slices, count + 2);
    }
    free(slices);
    free(header);
    return status;
}
