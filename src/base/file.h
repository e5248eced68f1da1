// Whole files: read with a size limit, and written so that a reader sees the old file or the new one, never a part.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

// Reads all of `path` into memory the caller frees; a zero byte follows the content. Over `limit` bytes is
// HEDDLE_CORRUPT, a directory or a missing file says so.
heddle_status heddle_file_read(const char *path, size_t limit, char **content, size_t *size);

typedef struct heddle_slice {
    const void *data;
    size_t size;
} heddle_slice;

// Writes the slices one after another to a temporary file beside `path`, fsyncs, renames over `path`, fsyncs the
// folder. A file that is replaced keeps its permissions. On failure `path` is as it was and the temporary file is gone.
// What is not a regular file, and /dev/stdout, is written to instead.
heddle_status heddle_file_write_atomic(const char *path, const heddle_slice *slices, int count);

// Removes temporary files of `path` that a process which was killed while writing left behind.
void heddle_file_sweep(const char *path);

bool heddle_file_exists(const char *path);
bool heddle_folder_exists(const char *path);
// One file, under whatever names; false for NULL and for devices, which nobody loses.
bool heddle_file_is_same(const char *one, const char *other);
// mkdir -p
heddle_status heddle_folder_create(const char *path);
