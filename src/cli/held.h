// A file that is written after a stranger's program has run. Which file that is is settled before: the program may
// replace the file, or its folder, by a link to somewhere else.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "heddle/status.h"

typedef struct heddle_cli_held {
    const char *path;          // as the person named it; NULL: nothing is to be written
    char place[NAME_MAX + 64]; // the same file, whatever happens to the names on the way there
    int file;                  // its folder, or what is there if that is not a regular file
    bool is_special;
    struct stat before; // st_nlink 0: there was no file
} heddle_cli_held;

// Follows links, now, but none from the working folder to a file elsewhere. A path of NULL holds nothing.
heddle_status heddle_cli_hold(heddle_cli_held *held, const char *path);
// Refuses if the program has written a file of its own there since.
heddle_status heddle_cli_held_check(const heddle_cli_held *held);
// Where to write to; removes what else the program has left in that place.
const char *heddle_cli_held_place(const heddle_cli_held *held);
// `status` of writing there, whose message then names the file as the person did.
heddle_status heddle_cli_held_status(const heddle_cli_held *held, heddle_status status);
void heddle_cli_held_release(heddle_cli_held *held);
