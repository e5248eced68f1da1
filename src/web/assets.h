// The files of web/ and, where it was there at build time, of CodeMirror, as part of the program.
#pragma once

#include <stddef.h>

typedef struct heddle_web_asset {
    const char *name; // "learn/page.js"
    const unsigned char *begin, *end;
} heddle_web_asset;

// NULL: there is none of that name.
const heddle_web_asset *heddle_web_asset_find(const char *name);
