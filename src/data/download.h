// Downloads files from one of several mirrors: resumed where an earlier attempt stopped, checked by SHA-256, and put in
// place only when complete.
#pragma once

#include <stdint.h>

#include "heddle/data.h"

typedef struct heddle_download_file {
    const char *name;   // in the folder, and after the mirror's address
    const char *sha256; // 64 lowercase hexadecimal digits
    uint64_t size;      // in bytes; a mirror that sends more is cut off
} heddle_download_file;

// Downloads each file into `folder`, which is created. A file that exists and is right is kept, a wrong one is
// replaced. Two downloads into one folder, of one process or several, take turns. `mirrors` are base addresses (http or
// https), NULL-terminated, tried in turn for each file.
heddle_status heddle_download(const char *folder, const char *const *mirrors, const heddle_download_file *files,
                              int count, heddle_download_progress *progress, void *context);
