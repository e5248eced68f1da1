// What reading and writing safetensors share: the format's limits, its names of element types, and the sums that files
// of heddle carry.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "heddle/safetensors.h"

// A file is: length of the header (8 bytes, little-endian), the header (JSON), the tensors' bytes without gaps.
#define HEDDLE_SAFETENSORS_METADATA "__metadata__"
// Metadata entries that heddle writes, because the format does not detect a flipped bit in a parameter or a setting.
// Each is a CRC-32 of eight hexadecimal digits. The first covers every tensor's name and bytes, sorted by name. The
// second covers the header except itself: every other metadata entry and every tensor's name, type and shape, sorted
// likewise. The positions of the tensors are covered by the first. Both stay the same if another program writes the
// same content in another order.
#define HEDDLE_SAFETENSORS_SUM        "tensors_crc32"
#define HEDDLE_SAFETENSORS_HEADER_SUM "header_crc32"
// Says that both are present, so that one whose name is corrupt is missed. Files of earlier versions have neither this
// entry nor the header's sum.
#define HEDDLE_SAFETENSORS_SUMS       "heddle.checksums"
#define HEDDLE_SAFETENSORS_SUMS_VALUE HEDDLE_SAFETENSORS_HEADER_SUM " " HEDDLE_SAFETENSORS_SUM
// The three of them, for messages.
#define HEDDLE_SAFETENSORS_SUMS_NAMED                                                                                  \
    HEDDLE_SAFETENSORS_SUMS ", " HEDDLE_SAFETENSORS_HEADER_SUM " and " HEDDLE_SAFETENSORS_SUM
enum {
    HEDDLE_SAFETENSORS_SUM_SIZE = 9, // its digits and the zero behind them
    HEDDLE_SAFETENSORS_LENGTH_BYTES = 8,
    HEDDLE_SAFETENSORS_MAX_HEADER = 100 * 1000 * 1000, // the format's own cap
    HEDDLE_SAFETENSORS_ALIGNMENT = 8,                  // the header is padded so that the tensors start aligned
};

// "F32" and so on; NULL for a value that is not a dtype.
const char *heddle_safetensors_dtype_name(heddle_dtype dtype);
// False when heddle has no such element type.
bool heddle_safetensors_dtype_parse(const char *name, heddle_dtype *dtype);

// elements * element size; false when it does not fit or a dimension is negative.
bool heddle_safetensors_bytes(heddle_dtype dtype, const int64_t *dims, int rank, uint64_t *bytes);

// Adds one tensor to the sum, which starts at 0. The caller sorts the tensors.
uint32_t heddle_safetensors_add_to_sum(uint32_t sum, const heddle_array *array);

// The sum of a header, whatever it contains; false if there is not enough memory to sort it.
bool heddle_safetensors_header_sum(const cJSON *header, char text[HEDDLE_SAFETENSORS_SUM_SIZE]);

// `name` for a message, cut where it is long. Returns `text`.
const char *heddle_safetensors_shorten(const char *name, char *text, size_t size);
