// The pages of `heddle explain` as files, for editors, which open addresses.
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "check/kinds.h"

enum { HEDDLE_LSP_EXPLAINED_SIZE = 3 * PATH_MAX };

// The address of the page about a kind, which is written into the user's cache. False: there is none.
bool heddle_lsp_explained(heddle_check_kind kind, char address[HEDDLE_LSP_EXPLAINED_SIZE]);
