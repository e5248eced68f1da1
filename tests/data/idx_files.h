// IDX files for tests, in memory and in a folder.
#ifndef HEDDLE_TESTS_DATA_IDX_FILES_H
#define HEDDLE_TESTS_DATA_IDX_FILES_H

#include <stddef.h>
#include <stdint.h>

typedef struct buffer {
    uint8_t *data;
    size_t size;
} buffer;

void buffer_free(buffer *bytes);
void buffer_append(buffer *bytes, const void *data, size_t size);

// A header of `rank` dimensions and `values` bytes after it: 0, 1, 2, ... modulo `modulus`.
buffer idx_build(int rank, const uint32_t *dims, size_t values, int modulus);
// The same bytes as one gzip member.
buffer gzip_build(const void *data, size_t size);

// The four files of a dataset in MNIST's layout: `train` and `test` images of `side` × `side`, labels modulo `classes`.
void write_dataset(const char *folder, int train, int test, int side, int classes);

#endif
