// Pulling bytes from raw or gzip memory with zlib. Knows nothing of what the bytes mean.

#include "data/inflate.h"

#include <limits.h>
#include <string.h>

enum {
    GZIP_MAGIC_0 = 0x1f,
    GZIP_MAGIC_1 = 0x8b,
    GZIP_WINDOW = 15 + 16, // zlib's way to say: 32 KiB window, gzip wrapper
    MAX_INFLATION = 1032,  // deflate makes at most this many bytes of one
};

static bool is_gzip(const uint8_t *content, size_t size)
{
    return size >= 2 && content[0] == GZIP_MAGIC_0 && content[1] == GZIP_MAGIC_1;
}

heddle_status heddle_source_open(const char *what, const void *content, size_t size, heddle_source *source)
{
    *source = (heddle_source){.what = what, .content = content, .size = size};
    if (!is_gzip(content, size))
        return HEDDLE_OK;
    if (inflateInit2(&source->stream, GZIP_WINDOW) != Z_OK)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to inflate it", what);
    source->gzip = true;
    return HEDDLE_OK;
}

void heddle_source_close(heddle_source *source)
{
    if (source->gzip)
        inflateEnd(&source->stream);
    source->gzip = false;
}

uint64_t heddle_source_most(const heddle_source *source)
{
    uint64_t left = source->size - source->position + source->stream.avail_in;
    // The window may still hold output that zlib has read but not handed out.
    return source->gzip ? (left + 64) * MAX_INFLATION : left;
}

// After the end of one gzip member: the next one, zero padding, or the end.
static heddle_status next_member(heddle_source *source)
{
    z_stream *stream = &source->stream;
    size_t at = source->position - stream->avail_in;
    const uint8_t *rest = source->content + at;
    size_t left = source->size - at;
    if (is_gzip(rest, left)) {
        if (inflateReset(stream) != Z_OK)
            return heddle_fail(HEDDLE_INTERNAL, "%s: zlib did not start the next gzip member", source->what);
        return HEDDLE_OK;
    }
    for (size_t i = 0; i < left; i++)
        if (rest[i] != 0)
            return heddle_fail(HEDDLE_CORRUPT, "%s: %zu bytes after the end of the gzip stream are not gzip",
                               source->what, left);
    source->ended = true;
    return HEDDLE_OK;
}

static void feed(heddle_source *source)
{
    if (source->stream.avail_in > 0)
        return;
    size_t left = source->size - source->position;
    source->stream.next_in = (Bytef *)(source->content + source->position); // zlib only reads it
    source->stream.avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
    source->position += source->stream.avail_in;
}

static heddle_status pull_gzip(heddle_source *source, uint8_t *to, size_t want, size_t *got)
{
    z_stream *stream = &source->stream;
    while (*got < want && !source->ended) {
        feed(source);
        size_t room = want - *got;
        stream->next_out = to + *got;
        stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
        uInt before_out = stream->avail_out, before_in = stream->avail_in;
        int result = inflate(stream, Z_NO_FLUSH);
        *got += before_out - stream->avail_out;
        if (result == Z_STREAM_END) {
            HEDDLE_TRY(next_member(source));
        } else if (result == Z_MEM_ERROR) {
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to inflate it", source->what);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return heddle_fail(HEDDLE_CORRUPT, "%s: the gzip data is corrupt (%s); download the file again",
                               source->what, stream->msg ? stream->msg : "unknown reason");
        } else if (before_out == stream->avail_out && before_in == stream->avail_in) {
            return heddle_fail(HEDDLE_CORRUPT,
                               "%s: the gzip stream ends early, after %zu bytes; download the file again", source->what,
                               source->size);
        }
    }
    return HEDDLE_OK;
}

heddle_status heddle_source_pull(heddle_source *source, void *to, size_t want, size_t *got)
{
    *got = 0;
    if (source->gzip)
        return pull_gzip(source, to, want, got);
    size_t left = source->size - source->position;
    *got = want < left ? want : left;
    if (*got > 0)
        memcpy(to, source->content + source->position, *got);
    source->position += *got;
    return HEDDLE_OK;
}
