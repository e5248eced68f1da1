// Messages of the language server protocol in a stream of bytes: header lines, an empty line, then as many bytes of
// JSON as Content-Length says. What is damaged is left out, up to the next header that has a length.
#pragma once

#include <stddef.h>

#include "heddle/status.h"

enum { HEDDLE_LSP_LARGEST = 64 << 20 }; // bytes of a message; editors send whole files

typedef struct heddle_lsp_frames {
    char *bytes;
    size_t begin, end, room; // bytes[begin] to bytes[end - 1] have not been read yet
} heddle_lsp_frames;

typedef enum heddle_lsp_frame {
    HEDDLE_LSP_INCOMPLETE, // more bytes are needed
    HEDDLE_LSP_MESSAGE,
    HEDDLE_LSP_DAMAGED, // bytes were left out
} heddle_lsp_frame;

heddle_status heddle_lsp_frames_add(heddle_lsp_frames *frames, const char *bytes, size_t size);
// The next message, which stays where it is until something is added.
heddle_lsp_frame heddle_lsp_frames_next(heddle_lsp_frames *frames, const char **message, size_t *size);
void heddle_lsp_frames_free(heddle_lsp_frames *frames);
