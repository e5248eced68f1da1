// file: addresses, by which the protocol names files.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// False: not the address of a file on this machine, or longer than `size`.
bool heddle_lsp_path_of(const char *uri, char *path, size_t size);
// Returns `uri`; "" where it does not fit.
const char *heddle_lsp_uri_of(const char *path, char *uri, size_t size);
