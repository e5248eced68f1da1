// Reading safetensors. Nothing of a file is handed out before all of it has been checked: the header's length, JSON and
// sum, each tensor's type, shape and place, that the places cover the data exactly once, and the data's sum. Writing is
// in safetensors_write.c.

#include "heddle/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "io/safetensors_format.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors data is little-endian and used in place"
#endif

enum {
    SHOWN_SIZE = 96,    // of a name in a message
    OPENING_SIZE = 128, // of a file, in which the names of heddle's own sums stand
};
static const double largest_exact_integer = 9007199254740992.0; // 2^53: JSON numbers are doubles
static const size_t largest_file = (size_t)1 << 38;             // 256 GiB

// An entry of the index that finds a tensor by its name.
typedef struct heddle_named_array {
    const char *name;
    const heddle_array *array;
} heddle_named_array;

struct heddle_safetensors {
    char *content;               // the file, when we read it
    cJSON *header;               // names and metadata stay in it
    const cJSON *metadata;       // NULL: none
    heddle_array *arrays;        // in the header's order
    heddle_named_array *by_name; // sorted
    int count;
    void *realigned; // copies of tensors that are not aligned in the file
};

typedef struct heddle_place {
    const heddle_array *array;
    uint64_t begin, end;
} heddle_place;

// --- one tensor of the header ---------------------------------------------------------------------------------------

static bool is_size(const cJSON *item, uint64_t *value)
{
    if (!cJSON_IsNumber(item))
        return false;
    double number = item->valuedouble;
    if (!(number >= 0 && number <= largest_exact_integer) || number != (double)(uint64_t)number)
        return false;
    *value = (uint64_t)number;
    return true;
}

static heddle_status read_dtype(const char *what, const char *name, const cJSON *tensor, heddle_array *array)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(tensor, "dtype");
    if (!cJSON_IsString(field))
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: the field \"dtype\" must be a string", what, name);
    if (!heddle_safetensors_dtype_parse(field->valuestring, &array->dtype)) {
        char shown[SHOWN_SIZE];
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: tensor %s: heddle does not read dtype %s (it reads F32 F64 F16 BF16 I32 I64 U8 I8)",
                           what, name, heddle_safetensors_shorten(field->valuestring, shown, sizeof shown));
    }
    return HEDDLE_OK;
}

static heddle_status read_shape(const char *what, const char *name, const cJSON *tensor, heddle_array *array)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(tensor, "shape");
    if (!cJSON_IsArray(field))
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: the field \"shape\" must be an array", what, name);
    const cJSON *item;
    cJSON_ArrayForEach(item, field)
    {
        uint64_t dim;
        if (!is_size(item, &dim))
            return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: dimension %d is not an integer from 0 to 2^53", what,
                               name, array->rank);
        if (array->rank == HEDDLE_SAFETENSORS_MAX_RANK)
            return heddle_fail(HEDDLE_UNSUPPORTED, "%s: tensor %s has %d dimensions, heddle reads at most %d", what,
                               name, cJSON_GetArraySize(field), HEDDLE_SAFETENSORS_MAX_RANK);
        array->dims[array->rank++] = (int64_t)dim;
    }
    return HEDDLE_OK;
}

static heddle_status read_place(const char *what, const char *name, const cJSON *tensor, uint64_t data_size,
                                heddle_place *place)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(tensor, "data_offsets");
    const cJSON *first = cJSON_IsArray(field) ? field->child : NULL;
    const cJSON *second = first ? first->next : NULL;
    if (!second || second->next || !is_size(first, &place->begin) || !is_size(second, &place->end))
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: the field \"data_offsets\" must be two integers", what,
                           name);
    if (place->begin > place->end)
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s begins at byte %llu, after its end at %llu", what, name,
                           (unsigned long long)place->begin, (unsigned long long)place->end);
    if (place->end > data_size)
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s: tensor %s ends at byte %llu of the data, but there are %llu (is the file complete?)",
                           what, name, (unsigned long long)place->end, (unsigned long long)data_size);
    return HEDDLE_OK;
}

static heddle_status read_tensor(const char *what, const cJSON *tensor, uint64_t data_size, heddle_place *place,
                                 heddle_array *array)
{
    char name[SHOWN_SIZE];
    heddle_safetensors_shorten(tensor->string, name, sizeof name);
    if (!cJSON_IsObject(tensor))
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: its entry in the header is not an object", what, name);

    array->name = tensor->string;
    HEDDLE_TRY(read_dtype(what, name, tensor, array));
    HEDDLE_TRY(read_shape(what, name, tensor, array));
    HEDDLE_TRY(read_place(what, name, tensor, data_size, place));

    uint64_t bytes;
    if (!heddle_safetensors_bytes(array->dtype, array->dims, array->rank, &bytes))
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: the product of its dimensions overflows", what, name);
    if (bytes != place->end - place->begin)
        return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s: its shape needs %llu bytes, its data_offsets hold %llu",
                           what, name, (unsigned long long)bytes, (unsigned long long)(place->end - place->begin));
    array->bytes = (size_t)bytes;
    place->array = array;
    return HEDDLE_OK;
}

// --- the sums that heddle writes ------------------------------------------------------------------------------------

#define DAMAGED "it is corrupt, or another program changed it"
#define ADVICE  "; use another checkpoint"

// A metadata entry of a header that is not checked yet; NULL unless it is there as text.
static const char *raw_metadata(const cJSON *header, const char *key)
{
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(header, HEDDLE_SAFETENSORS_METADATA);
    const cJSON *item = cJSON_IsObject(metadata) ? cJSON_GetObjectItemCaseSensitive(metadata, key) : NULL;
    return item && cJSON_IsString(item) ? item->valuestring : NULL;
}

// `part` of a file does not match its sum, or the sum is missing.
static heddle_status fail_sum(const char *what, const heddle_safetensors *file, const char *part, const char *problem)
{
    bool both = raw_metadata(file->header, HEDDLE_SAFETENSORS_SUMS) ||
                raw_metadata(file->header, HEDDLE_SAFETENSORS_HEADER_SUM);
    return heddle_fail(HEDDLE_CORRUPT,
                       "%s: its %s does not match its checksum: " DAMAGED " (%s)" ADVICE
                       ", or remove %s from its metadata to read it anyway",
                       what, part, problem, both ? HEDDLE_SAFETENSORS_SUMS_NAMED : HEDDLE_SAFETENSORS_SUM);
}

static heddle_status compare_sums(const char *what, const heddle_safetensors *file, const char *part, const char *found,
                                  const char *expected)
{
    char shown[SHOWN_SIZE], problem[2 * SHOWN_SIZE];
    if (strcmp(found, expected) == 0)
        return HEDDLE_OK;
    snprintf(problem, sizeof problem, "CRC-32 %s, expected %s", found,
             heddle_safetensors_shorten(expected, shown, sizeof shown));
    return fail_sum(what, file, part, problem);
}

// Before anything of the header is believed. Files of others, and older ones, have no such sum.
static heddle_status check_header_sum(const char *what, const heddle_safetensors *file)
{
    const char *expected = raw_metadata(file->header, HEDDLE_SAFETENSORS_HEADER_SUM);
    if (raw_metadata(file->header, HEDDLE_SAFETENSORS_SUMS)) {
        if (!expected)
            return fail_sum(what, file, "header", "it has no " HEDDLE_SAFETENSORS_HEADER_SUM);
        if (!raw_metadata(file->header, HEDDLE_SAFETENSORS_SUM))
            return fail_sum(what, file, "header", "it has no " HEDDLE_SAFETENSORS_SUM);
    }
    if (!expected)
        return HEDDLE_OK;
    char found[HEDDLE_SAFETENSORS_SUM_SIZE];
    if (!heddle_safetensors_header_sum(file->header, found))
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to check its header", what);
    return compare_sums(what, file, "header", found, expected);
}

static heddle_status check_tensors_sum(const char *what, const heddle_safetensors *file)
{
    const char *expected = heddle_safetensors_metadata(file, HEDDLE_SAFETENSORS_SUM);
    if (!expected)
        return HEDDLE_OK;
    uint32_t sum = 0;
    for (int i = 0; i < file->count; i++)
        sum = heddle_safetensors_add_to_sum(sum, file->by_name[i].array);
    char found[HEDDLE_SAFETENSORS_SUM_SIZE];
    snprintf(found, sizeof found, "%08x", (unsigned)sum);
    return compare_sums(what, file, "data", found, expected);
}

// Adds to the message of a file that cannot be read that it was one of heddle's once. One whose header cannot be parsed
// is known by the names of the sums, which stand at its beginning; damage to one of them leaves the others.
static heddle_status explain_damage(heddle_status status, const char *content, size_t size)
{
    static const char *const names[] = {HEDDLE_SAFETENSORS_SUMS, HEDDLE_SAFETENSORS_HEADER_SUM};
    size_t searched = size < OPENING_SIZE ? size : OPENING_SIZE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (status == HEDDLE_CORRUPT && memmem(content, searched, names[i], strlen(names[i])))
            return heddle_fail(HEDDLE_CORRUPT, "%s: " DAMAGED ADVICE, heddle_last_error());
    return status;
}

// --- the header as a whole ------------------------------------------------------------------------------------------

static heddle_status check_metadata(const char *what, const cJSON *metadata)
{
    if (!cJSON_IsObject(metadata))
        return heddle_fail(HEDDLE_CORRUPT, "%s: " HEDDLE_SAFETENSORS_METADATA " is not an object", what);
    const cJSON *item;
    cJSON_ArrayForEach(item, metadata)
    {
        char shown[SHOWN_SIZE];
        if (!cJSON_IsString(item))
            return heddle_fail(HEDDLE_CORRUPT, "%s: " HEDDLE_SAFETENSORS_METADATA ": the value of %s is not text", what,
                               heddle_safetensors_shorten(item->string, shown, sizeof shown));
    }
    return HEDDLE_OK;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const heddle_named_array *)left)->name, ((const heddle_named_array *)right)->name);
}

static int compare_places(const void *left, const void *right)
{
    const heddle_place *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

// Every byte of the data belongs to exactly one tensor: nothing overlaps, nothing is left over.
static heddle_status check_coverage(const char *what, heddle_place *places, int count, uint64_t data_size)
{
    uint64_t covered = 0;
    char shown[SHOWN_SIZE];
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 0; i < count; i++) {
        const char *name = heddle_safetensors_shorten(places[i].array->name, shown, sizeof shown);
        if (places[i].begin < covered)
            return heddle_fail(HEDDLE_CORRUPT, "%s: tensor %s at byte %llu overlaps the one before, which ends at %llu",
                               what, name, (unsigned long long)places[i].begin, (unsigned long long)covered);
        if (places[i].begin > covered)
            return heddle_fail(HEDDLE_CORRUPT, "%s: bytes %llu to %llu, before tensor %s, belong to no tensor", what,
                               (unsigned long long)covered, (unsigned long long)places[i].begin, name);
        covered = places[i].end;
    }
    if (covered != data_size)
        return heddle_fail(HEDDLE_CORRUPT, "%s: %llu bytes after the last tensor belong to no tensor", what,
                           (unsigned long long)(data_size - covered));
    return HEDDLE_OK;
}

static bool is_misaligned(const heddle_array *array)
{
    return (uintptr_t)array->data % heddle_dtype_size(array->dtype) != 0;
}

static size_t aligned_size(size_t bytes)
{
    return (bytes + HEDDLE_SAFETENSORS_ALIGNMENT - 1) / HEDDLE_SAFETENSORS_ALIGNMENT * HEDDLE_SAFETENSORS_ALIGNMENT;
}

// Points every tensor at its bytes; those that are not aligned for their type are copied.
static heddle_status place_data(const char *what, heddle_safetensors *file, const heddle_place *places,
                                const char *data)
{
    size_t total = 0;
    for (int i = 0; i < file->count; i++) {
        file->arrays[i].data = data + places[i].begin;
        if (is_misaligned(&file->arrays[i]))
            total += aligned_size(file->arrays[i].bytes);
    }
    if (total == 0)
        return HEDDLE_OK;
    char *next = file->realigned = malloc(total);
    if (!next)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for %zu bytes of tensors", what, total);
    for (int i = 0; i < file->count; i++) {
        heddle_array *array = &file->arrays[i];
        if (!is_misaligned(array))
            continue;
        memcpy(next, array->data, array->bytes);
        array->data = next;
        next += aligned_size(array->bytes);
    }
    return HEDDLE_OK;
}

static heddle_status read_entries(const char *what, heddle_safetensors *file, heddle_place *places, const char *data,
                                  uint64_t data_size)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, file->header)
    {
        if (strcmp(item->string, HEDDLE_SAFETENSORS_METADATA) == 0) {
            HEDDLE_TRY(check_metadata(what, item));
            file->metadata = item;
            continue;
        }
        int i = file->count;
        HEDDLE_TRY(read_tensor(what, item, data_size, &places[i], &file->arrays[i]));
        file->by_name[i] = (heddle_named_array){file->arrays[i].name, &file->arrays[i]};
        file->count++;
    }
    qsort(file->by_name, (size_t)file->count, sizeof *file->by_name, compare_names);
    HEDDLE_TRY(place_data(what, file, places, data));
    return check_coverage(what, places, file->count, data_size); // last of these: it sorts the places
}

static heddle_status read_header(const char *what, heddle_safetensors *file, const char *data, uint64_t data_size)
{
    size_t room = (size_t)cJSON_GetArraySize(file->header) + 1; // an empty file is fine, calloc(0) is not
    heddle_place *places = calloc(room, sizeof *places);
    file->arrays = calloc(room, sizeof *file->arrays);
    file->by_name = calloc(room, sizeof *file->by_name);
    heddle_status status;
    if (places && file->arrays && file->by_name)
        status = read_entries(what, file, places, data, data_size);
    else
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for a header of %zu tensors", what, room - 1);
    free(places);
    return status;
}

static heddle_status read_length(const char *what, const char *content, uint64_t *length)
{
    memcpy(length, content, sizeof *length);
    if (*length > HEDDLE_SAFETENSORS_MAX_HEADER)
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s: says its header has %llu bytes; the format allows %d (is it a safetensors file?)", what,
                           (unsigned long long)*length, HEDDLE_SAFETENSORS_MAX_HEADER);
    return HEDDLE_OK;
}

static heddle_status check_first_character(const char *what, const char *content, uint64_t length)
{
    if (length == 0 || content[HEDDLE_SAFETENSORS_LENGTH_BYTES] != '{')
        return heddle_fail(HEDDLE_CORRUPT, "%s: the header does not start with '{' (is it a safetensors file?)", what);
    return HEDDLE_OK;
}

// Parses the header and says where the data begins.
static heddle_status read_json(const char *what, const char *content, size_t size, heddle_safetensors *file,
                               const char **data)
{
    if (size < HEDDLE_SAFETENSORS_LENGTH_BYTES)
        return heddle_fail(HEDDLE_CORRUPT, "%s: %zu bytes are too few for a safetensors file (is the file complete?)",
                           what, size);
    uint64_t length;
    HEDDLE_TRY(read_length(what, content, &length));
    size_t rest = size - HEDDLE_SAFETENSORS_LENGTH_BYTES;
    if (length > rest)
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s: says its header has %llu bytes, but only %zu follow (is the file complete?)", what,
                           (unsigned long long)length, rest);
    HEDDLE_TRY(check_first_character(what, content, length));
    const char *text = content + HEDDLE_SAFETENSORS_LENGTH_BYTES;
    HEDDLE_TRY(heddle_json_parse(what, text, (size_t)length, &file->header));
    if (!cJSON_IsObject(file->header))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the header is not an object", what);
    *data = text + length;
    return HEDDLE_OK;
}

static heddle_status read_content(const char *what, const char *content, size_t size, heddle_safetensors *file)
{
    const char *data = NULL;
    HEDDLE_TRY(explain_damage(read_json(what, content, size, file, &data), content, size));
    HEDDLE_TRY(check_header_sum(what, file));
    size_t data_size = (size_t)(content + size - data);
    HEDDLE_TRY(explain_damage(read_header(what, file, data, data_size), content, size));
    return check_tensors_sum(what, file);
}

// --- the public side ------------------------------------------------------------------------------------------------

heddle_status heddle_safetensors_parse(const char *what, const void *content, size_t size, heddle_safetensors **file)
{
    *file = NULL;
    heddle_safetensors *result = calloc(1, sizeof *result);
    if (!result)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", what);
    heddle_status status = read_content(what, content, size, result);
    if (status != HEDDLE_OK) {
        heddle_safetensors_close(result);
        return status;
    }
    *file = result;
    return HEDDLE_OK;
}

// Looks at the first bytes alone, so that a huge file of another kind is refused before memory is taken for it. What
// cannot be opened or is too short is left to the reader to tell.
static heddle_status peek(const char *path)
{
    char opening[OPENING_SIZE];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(opening, 1, sizeof opening, file) : 0;
    if (file)
        (void)fclose(file);
    if (size <= HEDDLE_SAFETENSORS_LENGTH_BYTES)
        return HEDDLE_OK;
    uint64_t length;
    HEDDLE_TRY(explain_damage(read_length(path, opening, &length), opening, size));
    return explain_damage(check_first_character(path, opening, length), opening, size);
}

heddle_status heddle_safetensors_open(const char *path, heddle_safetensors **file)
{
    *file = NULL;
    HEDDLE_TRY(peek(path));
    char *content;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, largest_file, &content, &size));
    heddle_status status = heddle_safetensors_parse(path, content, size, file);
    if (*file)
        (*file)->content = content;
    else
        free(content);
    return status;
}

void heddle_safetensors_close(heddle_safetensors *file)
{
    if (!file)
        return;
    cJSON_Delete(file->header);
    free(file->arrays);
    free(file->by_name);
    free(file->realigned);
    free(file->content);
    free(file);
}

int heddle_safetensors_count(const heddle_safetensors *file)
{
    return file->count;
}

const heddle_array *heddle_safetensors_at(const heddle_safetensors *file, int index)
{
    return index >= 0 && index < file->count ? &file->arrays[index] : NULL;
}

const heddle_array *heddle_safetensors_find(const heddle_safetensors *file, const char *name)
{
    const heddle_named_array wanted = {.name = name};
    const heddle_named_array *found =
        bsearch(&wanted, file->by_name, (size_t)file->count, sizeof *file->by_name, compare_names);
    return found ? found->array : NULL;
}

const char *heddle_safetensors_metadata(const heddle_safetensors *file, const char *key)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, file->metadata)
    {
        if (strcmp(item->string, key) == 0)
            return item->valuestring;
    }
    return NULL;
}
