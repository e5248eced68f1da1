// Finds messages in what has been read so far.

#include "lsp/frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LEAST_ROOM = 4096, LONGEST_HEADER = 8192 };

static const char length_name[] = "Content-Length:";

heddle_status heddle_lsp_frames_add(heddle_lsp_frames *frames, const char *bytes, size_t size)
{
    if (size == 0)
        return HEDDLE_OK;
    if (frames->begin > 0)
        memmove(frames->bytes, frames->bytes + frames->begin, frames->end - frames->begin);
    frames->end -= frames->begin;
    frames->begin = 0;
    size_t room = frames->room < LEAST_ROOM ? LEAST_ROOM : frames->room;
    while (room < frames->end + size)
        room *= 2;
    if (room > frames->room) {
        char *larger = realloc(frames->bytes, room);
        if (!larger)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a message of the editor");
        frames->bytes = larger;
        frames->room = room;
    }
    memcpy(frames->bytes + frames->end, bytes, size);
    frames->end += size;
    return HEDDLE_OK;
}

void heddle_lsp_frames_free(heddle_lsp_frames *frames)
{
    free(frames->bytes);
    *frames = (heddle_lsp_frames){0};
}

// Where the header of a length begins in the line; NULL: nowhere. Behind a damaged message it is not at the start.
static const char *find_length(const char *line, size_t size)
{
    const size_t length = sizeof length_name - 1;
    for (size_t i = 0; i + length <= size; i++)
        if (strncasecmp(line + i, length_name, length) == 0)
            return line + i;
    return NULL;
}

// -1: not a number, or larger than any message.
static long read_length(const char *text, const char *end)
{
    long value = 0;
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    const char *digits = text;
    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        value = 10 * value + (*text - '0');
        if (value > HEDDLE_LSP_LARGEST)
            return -1;
    }
    const bool some = text > digits;
    while (text < end && (*text == ' ' || *text == '\t' || *text == '\r'))
        text++;
    return some && text == end ? value : -1;
}

// Without an end of line in sight: keeps what may be the start of a header, leaves out the rest.
static heddle_lsp_frame leave_out_long_line(heddle_lsp_frames *frames)
{
    const char *start = frames->bytes + frames->begin;
    const char *header = find_length(start + 1, frames->end - frames->begin - 1);
    frames->begin = header ? (size_t)(header - frames->bytes) : frames->end - (sizeof length_name - 1);
    return HEDDLE_LSP_DAMAGED;
}

static bool is_line_end(char c)
{
    return c == '\r' || c == '\n';
}

heddle_lsp_frame heddle_lsp_frames_next(heddle_lsp_frames *frames, const char **message, size_t *size)
{
    long length = -1;
    while (frames->begin < frames->end && is_line_end(frames->bytes[frames->begin])) // between messages
        frames->begin++;
    if (frames->begin == frames->end)
        return HEDDLE_LSP_INCOMPLETE;
    size_t at = frames->begin;
    for (;;) {
        const char *line = frames->bytes + at;
        const char *end = at < frames->end ? memchr(line, '\n', frames->end - at) : NULL;
        if (!end && frames->end - frames->begin > LONGEST_HEADER)
            return leave_out_long_line(frames);
        if (!end)
            return HEDDLE_LSP_INCOMPLETE;
        at = (size_t)(end - frames->bytes) + 1;
        if (end == line || (end == line + 1 && *line == '\r'))
            break;
        const char *header = find_length(line, (size_t)(end - line));
        if (header)
            length = read_length(header + sizeof length_name - 1, end);
    }
    if (length < 0) {
        frames->begin = at;
        return HEDDLE_LSP_DAMAGED;
    }
    if (frames->end - at < (size_t)length)
        return HEDDLE_LSP_INCOMPLETE;
    *message = frames->bytes + at;
    *size = (size_t)length;
    frames->begin = at + (size_t)length;
    return HEDDLE_LSP_MESSAGE;
}
