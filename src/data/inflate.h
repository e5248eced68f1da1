// Reads bytes from memory that may be gzip-compressed, no more than requested, so that a small file cannot fill the
// memory by inflating.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "heddle/status.h"

typedef struct heddle_source {
    const char *what; // names the file in errors
    const uint8_t *content;
    size_t size, position; // position: raw bytes handed out, or compressed bytes given to zlib
    bool gzip, ended;
    z_stream stream;
} heddle_source;

// gzip is recognised by its magic bytes. Close it after a failure too.
heddle_status heddle_source_open(const char *what, const void *content, size_t size, heddle_source *source);
// Fills `to` with the next `want` bytes, or fewer when the source ends; *got says how many. A damaged or truncated gzip
// stream is HEDDLE_CORRUPT.
heddle_status heddle_source_pull(heddle_source *source, void *to, size_t want, size_t *got);
// The most bytes that can still come out, whatever the content.
uint64_t heddle_source_most(const heddle_source *source);
void heddle_source_close(heddle_source *source);
