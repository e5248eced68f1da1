// IDX files for tests.

#include "idx_files.h"

#include "files.h"

#include <zlib.h>

void buffer_free(buffer *bytes)
{
    free(bytes->data);
    *bytes = (buffer){0};
}

void buffer_append(buffer *bytes, const void *data, size_t size)
{
    bytes->data = realloc(bytes->data, bytes->size + size + 1);
    assert_non_null(bytes->data);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

buffer idx_build(int rank, const uint32_t *dims, size_t values, int modulus)
{
    buffer bytes = {0};
    buffer_append(&bytes, (uint8_t[]){0, 0, 8, (uint8_t)rank}, 4);
    for (int i = 0; i < rank; i++) {
        uint8_t dim[] = {(uint8_t)(dims[i] >> 24), (uint8_t)(dims[i] >> 16), (uint8_t)(dims[i] >> 8), (uint8_t)dims[i]};
        buffer_append(&bytes, dim, sizeof dim);
    }
    uint8_t *content = malloc(values + 1);
    assert_non_null(content);
    for (size_t i = 0; i < values; i++)
        content[i] = (uint8_t)(i % (size_t)modulus);
    buffer_append(&bytes, content, values);
    free(content);
    return bytes;
}

buffer gzip_build(const void *data, size_t size)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uLong room = deflateBound(&stream, size);
    buffer bytes = {malloc(room), 0};
    assert_non_null(bytes.data);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)size;
    stream.next_out = bytes.data;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes.size = stream.total_out;
    deflateEnd(&stream);
    return bytes;
}

static void write_idx(const char *folder, const char *name, int rank, const uint32_t *dims, size_t values, int modulus)
{
    buffer bytes = idx_build(rank, dims, values, modulus);
    scratch_write(folder, name, bytes.data, bytes.size);
    buffer_free(&bytes);
}

void write_dataset(const char *folder, int train, int test, int side, int classes)
{
    const struct {
        const char *images, *labels;
        int count;
    } splits[] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", train},
                  {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", test}};
    for (int i = 0; i < 2; i++) {
        uint32_t dims[] = {(uint32_t)splits[i].count, (uint32_t)side, (uint32_t)side};
        write_idx(folder, splits[i].images, 3, dims, (size_t)splits[i].count * (size_t)side * (size_t)side, 251);
        write_idx(folder, splits[i].labels, 1, dims, (size_t)splits[i].count, classes);
    }
}
