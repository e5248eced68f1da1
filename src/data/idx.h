// IDX files, the format of MNIST: a type, a rank, the dimensions, the values. Raw or gzip, bytes only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

enum { HEDDLE_IDX_MAX_RANK = 4 };

typedef enum heddle_idx_kind {
    HEDDLE_IDX_IMAGES, // (count, height, width) or (count, channels, height, width)
    HEDDLE_IDX_LABELS, // (count)
} heddle_idx_kind;

typedef struct heddle_idx {
    int rank;
    int dims[HEDDLE_IDX_MAX_RANK];
    uint8_t *values; // all of them, in order
    size_t size;
} heddle_idx;

// Reads a file, which must hold exactly what its header says. Every way in which it does not is HEDDLE_CORRUPT with the
// reason; a well-formed IDX file of another element type is HEDDLE_UNSUPPORTED.
heddle_status heddle_idx_read(const char *path, heddle_idx_kind kind, heddle_idx *idx);
// The same from memory; `what` names it in errors.
heddle_status heddle_idx_parse(const char *what, const void *content, size_t size, heddle_idx_kind kind,
                               heddle_idx *idx);
void heddle_idx_free(heddle_idx *idx); // a zeroed one is fine
