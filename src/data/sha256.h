// SHA-256 of a file.
#pragma once

#include "heddle/status.h"

enum { HEDDLE_SHA256_TEXT = 65 }; // 64 hexadecimal digits and a zero

// HEDDLE_MISSING when this build has no libcrypto.
heddle_status heddle_sha256_available(void);
heddle_status heddle_sha256_file(const char *path, char text[HEDDLE_SHA256_TEXT]);
