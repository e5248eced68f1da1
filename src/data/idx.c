// Reads IDX files of bytes. The header is checked before anything is allocated for the values, and no more is inflated
// than it states. folder.c knows which files make a dataset and what labels mean.

#include "data/idx.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "data/inflate.h"

enum {
    MAGIC_BYTES = 4, // two zeros, the element type, the rank
    DIM_BYTES = 4,   // big-endian
    TYPE_BYTE = 0x08,
    PROMISE_SIZE = 128,
};
static const uint64_t largest_payload = (uint64_t)4 << 30;

static const char *type_name(int type)
{
    switch (type) {
    case 0x08: return "unsigned byte";
    case 0x09: return "signed byte";
    case 0x0b: return "16-bit integer";
    case 0x0c: return "32-bit integer";
    case 0x0d: return "float";
    case 0x0e: return "double";
    }
    return NULL;
}

static bool rank_fits(heddle_idx_kind kind, int rank)
{
    return kind == HEDDLE_IDX_LABELS ? rank == 1 : rank == 3 || rank == 4;
}

static heddle_status check_magic(const char *what, const uint8_t magic[MAGIC_BYTES], heddle_idx_kind kind, int *rank)
{
    const char *type = type_name(magic[2]);
    if (magic[0] != 0 || magic[1] != 0 || !type)
        return heddle_fail(HEDDLE_CORRUPT, "%s: not an IDX file: it starts with %02x %02x %02x %02x, not 00 00 08 %02x",
                           what, magic[0], magic[1], magic[2], magic[3], kind == HEDDLE_IDX_LABELS ? 1 : 3);
    if (magic[2] != TYPE_BYTE)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: holds %s values (type %02x); heddle reads unsigned bytes (type 08)",
                           what, type, magic[2]);
    *rank = magic[3];
    if (!rank_fits(kind, *rank))
        return heddle_fail(HEDDLE_CORRUPT, "%s: has %d dimensions; %s", what, *rank,
                           kind == HEDDLE_IDX_LABELS ? "labels have 1 (are these the images?)"
                                                     : "images have 3, or 4 with channels (are these the labels?)");
    return HEDDLE_OK;
}

static void describe(const heddle_idx *idx, uint64_t total, char *text, size_t size)
{
    const int *d = idx->dims;
    if (idx->rank == 1)
        snprintf(text, size, "%d labels (%llu bytes)", d[0], (unsigned long long)total);
    else if (idx->rank == 3)
        snprintf(text, size, "%d images of %d×%d (%llu bytes)", d[0], d[1], d[2], (unsigned long long)total);
    else
        snprintf(text, size, "%d images of %d×%d×%d (%llu bytes)", d[0], d[1], d[2], d[3], (unsigned long long)total);
}

static heddle_status check_dims(const char *what, const uint8_t *bytes, heddle_idx *idx)
{
    uint64_t product = 1;
    bool fits = true;
    for (int i = 0; i < idx->rank; i++) {
        const uint8_t *dim = bytes + (size_t)i * DIM_BYTES;
        uint32_t value = (uint32_t)dim[0] << 24 | (uint32_t)dim[1] << 16 | (uint32_t)dim[2] << 8 | dim[3];
        if (value == 0 || value > INT_MAX)
            return heddle_fail(HEDDLE_CORRUPT, "%s: dimension %d is %lu; it must be from 1 to %d", what, i,
                               (unsigned long)value, INT_MAX);
        idx->dims[i] = (int)value;
        fits = fits && !__builtin_mul_overflow(product, value, &product) && product <= largest_payload;
    }
    if (!fits)
        return heddle_fail(HEDDLE_CORRUPT, "%s: its dimensions exceed %d GiB, the most that heddle reads", what,
                           (int)(largest_payload >> 30));
    idx->size = (size_t)product;
    return HEDDLE_OK;
}

static heddle_status cut_short(const heddle_source *source, const heddle_idx *idx, uint64_t header, uint64_t values)
{
    char promise[PROMISE_SIZE];
    describe(idx, header + idx->size, promise, sizeof promise);
    return heddle_fail(HEDDLE_CORRUPT, "%s: truncated: the header says %s, but the file has %" PRIu64 "%s",
                       source->what, promise, header + values, source->gzip ? " when inflated" : "");
}

static heddle_status check_nothing_follows(heddle_source *source, const heddle_idx *idx, uint64_t header)
{
    uint8_t extra;
    size_t got;
    HEDDLE_TRY(heddle_source_pull(source, &extra, 1, &got));
    if (got == 0)
        return HEDDLE_OK;
    char promise[PROMISE_SIZE];
    describe(idx, header + idx->size, promise, sizeof promise);
    if (source->gzip)
        return heddle_fail(HEDDLE_CORRUPT, "%s: oversized: the header says %s, but it inflates to more", source->what,
                           promise);
    return heddle_fail(HEDDLE_CORRUPT, "%s: oversized: the header says %s, but the file has %zu", source->what, promise,
                       source->size);
}

static heddle_status read_values(heddle_source *source, heddle_idx *idx, uint64_t header)
{
    // Before allocating what a few bytes of header claim: could this file hold it at all?
    uint64_t most = heddle_source_most(source);
    if (idx->size > most && !source->gzip)
        return cut_short(source, idx, header, most);
    if (idx->size > most) {
        char promise[PROMISE_SIZE];
        describe(idx, header + idx->size, promise, sizeof promise);
        return heddle_fail(HEDDLE_CORRUPT, "%s: truncated: the header says %s, which %zu bytes of gzip cannot hold",
                           source->what, promise, source->size);
    }
    idx->values = malloc(idx->size);
    if (!idx->values)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for its %zu bytes", source->what, idx->size);
    size_t got;
    HEDDLE_TRY(heddle_source_pull(source, idx->values, idx->size, &got));
    if (got < idx->size)
        return cut_short(source, idx, header, got);
    return check_nothing_follows(source, idx, header);
}

static heddle_status read_all(heddle_source *source, heddle_idx_kind kind, heddle_idx *idx)
{
    uint8_t magic[MAGIC_BYTES], dims[HEDDLE_IDX_MAX_RANK * DIM_BYTES];
    size_t got;
    HEDDLE_TRY(heddle_source_pull(source, magic, sizeof magic, &got));
    if (got < sizeof magic)
        return heddle_fail(HEDDLE_CORRUPT, "%s: truncated: %zu bytes are too few for an IDX file", source->what, got);
    HEDDLE_TRY(check_magic(source->what, magic, kind, &idx->rank));

    size_t dim_bytes = (size_t)idx->rank * DIM_BYTES;
    HEDDLE_TRY(heddle_source_pull(source, dims, dim_bytes, &got));
    if (got < dim_bytes)
        return heddle_fail(HEDDLE_CORRUPT, "%s: truncated: the file ends inside its header", source->what);
    HEDDLE_TRY(check_dims(source->what, dims, idx));
    return read_values(source, idx, sizeof magic + dim_bytes);
}

heddle_status heddle_idx_parse(const char *what, const void *content, size_t size, heddle_idx_kind kind,
                               heddle_idx *idx)
{
    *idx = (heddle_idx){0};
    heddle_source source;
    heddle_status status = heddle_source_open(what, content, size, &source);
    if (status == HEDDLE_OK)
        status = read_all(&source, kind, idx);
    heddle_source_close(&source);
    if (status != HEDDLE_OK)
        heddle_idx_free(idx);
    return status;
}

heddle_status heddle_idx_read(const char *path, heddle_idx_kind kind, heddle_idx *idx)
{
    *idx = (heddle_idx){0};
    char *content;
    size_t size;
    size_t largest_header = MAGIC_BYTES + HEDDLE_IDX_MAX_RANK * DIM_BYTES;
    HEDDLE_TRY(heddle_file_read(path, (size_t)largest_payload + largest_header, &content, &size));
    heddle_status status = heddle_idx_parse(path, content, size, kind, idx);
    free(content);
    return status;
}

void heddle_idx_free(heddle_idx *idx)
{
    free(idx->values);
    *idx = (heddle_idx){0};
}
