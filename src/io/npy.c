// The format: "\x93NUMPY", two bytes of version, the length of the header, the header as a Python dictionary, the data.

#include "io/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/float16.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, LONG_HEADER = 12, SHORT_HEADER = 10 };
static const size_t largest_file = (size_t)4 << 30;

static const struct {
    const char *name, *code; // as the header has it, without the letter for the order of bytes
    size_t size;
    bool is_float;
    double least, most;
} types[HEDDLE_NPY_TYPES] = {
    [HEDDLE_NPY_F32] = {"float32", "f4", 4, true, -INFINITY, INFINITY},
    [HEDDLE_NPY_F64] = {"float64", "f8", 8, true, -INFINITY, INFINITY},
    [HEDDLE_NPY_F16] = {"float16", "f2", 2, true, -INFINITY, INFINITY},
    [HEDDLE_NPY_BF16] = {"bfloat16", "V2", 2, true, -INFINITY, INFINITY},
    [HEDDLE_NPY_I8] = {"int8", "i1", 1, false, INT8_MIN, INT8_MAX},
    [HEDDLE_NPY_U8] = {"uint8", "u1", 1, false, 0, UINT8_MAX},
    [HEDDLE_NPY_I16] = {"int16", "i2", 2, false, INT16_MIN, INT16_MAX},
    [HEDDLE_NPY_U16] = {"uint16", "u2", 2, false, 0, UINT16_MAX},
    [HEDDLE_NPY_I32] = {"int32", "i4", 4, false, INT32_MIN, INT32_MAX},
    [HEDDLE_NPY_U32] = {"uint32", "u4", 4, false, 0, UINT32_MAX},
    [HEDDLE_NPY_I64] = {"int64", "i8", 8, false, -0x1p63, 0x1p63},
    [HEDDLE_NPY_U64] = {"uint64", "u8", 8, false, 0, 0x1p64},
    [HEDDLE_NPY_BOOL] = {"bool", "b1", 1, false, 0, 1},
};

size_t heddle_npy_size(heddle_npy_type type)
{
    return types[type].size;
}

const char *heddle_npy_name(heddle_npy_type type)
{
    return types[type].name;
}

bool heddle_npy_is_float(heddle_npy_type type)
{
    return types[type].is_float;
}

bool heddle_npy_holds(heddle_npy_type type, double value)
{
    if (types[type].is_float)
        return true;
    double whole = trunc(value);
    bool wide = types[type].size == sizeof(int64_t); // the largest number is not a double
    return whole >= types[type].least && (wide ? whole < types[type].most : whole <= types[type].most);
}

// --- numbers as bytes ------------------------------------------------------------------------------------------------

#define READ(kind)                                                                                                     \
    do {                                                                                                               \
        kind value;                                                                                                    \
        memcpy(&value, (const char *)data + (size_t)index * sizeof value, sizeof value);                               \
        return (double)value;                                                                                          \
    } while (0)
#define WRITE(kind)                                                                                                    \
    do {                                                                                                               \
        kind one = (kind)value;                                                                                        \
        memcpy((char *)data + (size_t)index * sizeof one, &one, sizeof one);                                           \
        return;                                                                                                        \
    } while (0)

static uint16_t bits_at(const void *data, int64_t index)
{
    uint16_t bits;
    memcpy(&bits, (const char *)data + (size_t)index * sizeof bits, sizeof bits);
    return bits;
}

double heddle_npy_decode(heddle_npy_type type, const void *data, int64_t index)
{
    switch (type) {
    case HEDDLE_NPY_F32: READ(float);
    case HEDDLE_NPY_F64: READ(double);
    case HEDDLE_NPY_F16: return heddle_f16_decode(bits_at(data, index));
    case HEDDLE_NPY_BF16: return (double)heddle_bf16_decode(bits_at(data, index));
    case HEDDLE_NPY_I8: READ(int8_t);
    case HEDDLE_NPY_I16: READ(int16_t);
    case HEDDLE_NPY_U16: READ(uint16_t);
    case HEDDLE_NPY_I32: READ(int32_t);
    case HEDDLE_NPY_U32: READ(uint32_t);
    case HEDDLE_NPY_I64: READ(int64_t);
    case HEDDLE_NPY_U64: READ(uint64_t);
    case HEDDLE_NPY_U8:
    case HEDDLE_NPY_BOOL:
    case HEDDLE_NPY_TYPES: break;
    }
    READ(uint8_t);
}

// Any whole number of any type: no C type holds both -1 and UINT64_MAX.
typedef struct whole_number {
    bool negative;
    uint64_t magnitude;
} whole_number;

static whole_number whole_at(const heddle_npy *array, int64_t index)
{
    int64_t value = 0;
    if (array->type == HEDDLE_NPY_U64) {
        uint64_t magnitude;
        memcpy(&magnitude, (const char *)array->data + (size_t)index * sizeof magnitude, sizeof magnitude);
        return (whole_number){false, magnitude};
    }
    if (array->type == HEDDLE_NPY_I64)
        memcpy(&value, (const char *)array->data + (size_t)index * sizeof value, sizeof value);
    else // all narrower ones are doubles
        value = (int64_t)heddle_npy_decode(array->type, array->data, index);
    return (whole_number){value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value};
}

double heddle_npy_distance(const heddle_npy *array, const heddle_npy *other, int64_t index)
{
    if (types[array->type].is_float || types[other->type].is_float)
        return fabs(heddle_npy_decode(array->type, array->data, index) -
                    heddle_npy_decode(other->type, other->data, index));
    const whole_number a = whole_at(array, index), b = whole_at(other, index);
    if (a.negative != b.negative)
        return (double)a.magnitude + (double)b.magnitude;
    return (double)(a.magnitude > b.magnitude ? a.magnitude - b.magnitude : b.magnitude - a.magnitude);
}

const char *heddle_npy_text(const heddle_npy *array, int64_t index, int digits, char *text, size_t size)
{
    if (types[array->type].is_float) {
        snprintf(text, size, "%.*g", digits, heddle_npy_decode(array->type, array->data, index));
    } else {
        const whole_number number = whole_at(array, index);
        snprintf(text, size, "%s%" PRIu64, number.negative ? "-" : "", number.magnitude);
    }
    return text;
}

static void put_bits(void *data, int64_t index, uint16_t bits)
{
    memcpy((char *)data + (size_t)index * sizeof bits, &bits, sizeof bits);
}

void heddle_npy_encode(heddle_npy_type type, void *data, int64_t index, double value)
{
    switch (type) {
    case HEDDLE_NPY_F32: WRITE(float);
    case HEDDLE_NPY_F64: WRITE(double);
    case HEDDLE_NPY_F16: put_bits(data, index, heddle_f16_encode(value)); return;
    case HEDDLE_NPY_BF16: put_bits(data, index, heddle_bf16_encode((float)value)); return;
    case HEDDLE_NPY_I8: WRITE(int8_t);
    case HEDDLE_NPY_I16: WRITE(int16_t);
    case HEDDLE_NPY_U16: WRITE(uint16_t);
    case HEDDLE_NPY_I32: WRITE(int32_t);
    case HEDDLE_NPY_U32: WRITE(uint32_t);
    case HEDDLE_NPY_I64: WRITE(int64_t);
    case HEDDLE_NPY_U64: WRITE(uint64_t);
    case HEDDLE_NPY_BOOL: value = value != 0; break;
    case HEDDLE_NPY_U8:
    case HEDDLE_NPY_TYPES: break;
    }
    WRITE(uint8_t);
}

// --- the header ------------------------------------------------------------------------------------------------------

// What stands behind 'key': in the header; NULL: it is not there.
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    if (*at != ':')
        return NULL;
    at++;
    return at + strspn(at, " ");
}

static heddle_status damaged(const char *name)
{
    return heddle_fail(HEDDLE_CORRUPT, "%s: not a .npy file, or a damaged one", name);
}

static heddle_status read_type(const char *name, const char *header, heddle_npy *array)
{
    const char *text = value_of(header, "descr");
    if (!text)
        return damaged(name);
    if (*text != '\'' || (text[1] != '<' && text[1] != '|' && text[1] != '='))
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: numbers of this type or order of bytes are not read; save it as a "
                           "plain little-endian array",
                           name);
    for (int i = 0; i < HEDDLE_NPY_TYPES; i++) {
        size_t length = strlen(types[i].code);
        if (strncmp(text + 2, types[i].code, length) == 0 && text[2 + length] == '\'') {
            array->type = (heddle_npy_type)i;
            return HEDDLE_OK;
        }
    }
    return heddle_fail(HEDDLE_UNSUPPORTED, "%s: arrays of type %.*s are not read", name, (int)strcspn(text + 1, "'"),
                       text + 1);
}

static heddle_status read_shape(const char *name, const char *header, heddle_npy *array)
{
    const char *at = value_of(header, "shape");
    if (!at || *at != '(')
        return damaged(name);
    array->count = 1;
    for (at++; *at != ')';) {
        char *end = NULL;
        at += strspn(at, " ,");
        if (*at == ')')
            break;
        long long size = strtoll(at, &end, 10);
        if (end == at || size < 0)
            return damaged(name);
        if (array->rank == HEDDLE_NPY_MOST_RANK)
            return heddle_fail(HEDDLE_UNSUPPORTED, "%s: more than %d dimensions", name, HEDDLE_NPY_MOST_RANK);
        array->dims[array->rank++] = size;
        if (__builtin_mul_overflow(array->count, size, &array->count))
            return damaged(name);
        at = end;
    }
    return HEDDLE_OK;
}

static heddle_status parse(const char *name, char *content, size_t size, heddle_npy *array)
{
    const unsigned char *bytes = (const unsigned char *)content;
    if (size < LONG_HEADER || memcmp(content, magic, MAGIC) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return damaged(name);
    bool is_short = bytes[6] == 1;
    size_t begin = is_short ? SHORT_HEADER : LONG_HEADER;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (!is_short)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    char *header = length <= size - begin && begin <= size ? strndup(content + begin, length) : NULL;
    if (!header)
        return damaged(name);
    const char *order = value_of(header, "fortran_order");
    heddle_status status = read_type(name, header, array);
    if (status == HEDDLE_OK && order && strncmp(order, "True", 4) == 0)
        status = heddle_fail(HEDDLE_UNSUPPORTED, "%s: in Fortran order; save numpy.ascontiguousarray(array)", name);
    if (status == HEDDLE_OK)
        status = read_shape(name, header, array);
    free(header);
    HEDDLE_TRY(status);
    array->data = content + begin + length;
    if ((uint64_t)array->count > (size - begin - length) / types[array->type].size)
        return damaged(name);
    return HEDDLE_OK;
}

heddle_status heddle_npy_parse(const char *name, char *content, size_t size, heddle_npy *array)
{
    *array = (heddle_npy){.content = content};
    heddle_status status = parse(name, content, size, array);
    if (status != HEDDLE_OK)
        heddle_npy_free(array);
    return status;
}

heddle_status heddle_npy_read(const char *path, heddle_npy *array)
{
    char *content = NULL;
    size_t size = 0;
    *array = (heddle_npy){.rank = 0};
    HEDDLE_TRY(heddle_file_read(path, largest_file, &content, &size));
    return heddle_npy_parse(path, content, size, array);
}

void heddle_npy_free(heddle_npy *array)
{
    free(array->content);
    *array = (heddle_npy){.rank = 0};
}
