// Any bytes from an editor: what the framing finds lies in what was sent, and is the same however the bytes arrive.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lsp/frames.h"

enum { MOST = 4096, PIECE = 7 }; // bytes; beyond the longest header, where a line is cut depends on what has arrived

typedef struct found {
    size_t bytes;
    unsigned sum;
    int messages, damaged;
} found;

static void take(heddle_lsp_frames *frames, found *all)
{
    const char *message;
    size_t size;
    heddle_lsp_frame frame;
    while ((frame = heddle_lsp_frames_next(frames, &message, &size)) != HEDDLE_LSP_INCOMPLETE) {
        FUZZ_CHECK(frames->begin <= frames->end && frames->end <= frames->room);
        if (frame == HEDDLE_LSP_DAMAGED) {
            all->damaged++;
            continue;
        }
        FUZZ_CHECK(message >= frames->bytes && message + size == frames->bytes + frames->begin);
        all->messages++;
        all->bytes += size;
        for (size_t i = 0; i < size; i++)
            all->sum = 31 * all->sum + (unsigned char)message[i];
    }
}

static found read_pieces(const char *data, size_t size, size_t piece)
{
    heddle_lsp_frames frames = {0};
    found all = {0};
    for (size_t at = 0; at < size; at += piece) {
        FUZZ_CHECK(heddle_lsp_frames_add(&frames, data + at, size - at < piece ? size - at : piece) == HEDDLE_OK);
        take(&frames, &all);
    }
    heddle_lsp_frames_free(&frames);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST)
        size = MOST;
    const found whole = read_pieces((const char *)data, size, MOST),
                pieces = read_pieces((const char *)data, size, PIECE);
    FUZZ_CHECK(whole.bytes <= size);
    FUZZ_CHECK(whole.messages == pieces.messages && whole.damaged == pieces.damaged);
    FUZZ_CHECK(whole.bytes == pieces.bytes && whole.sum == pieces.sum);
    return 0;
}
