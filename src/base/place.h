// Where heddle is on disk: the program or library that this code is part of, its documentation, and other programs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HEDDLE_PLACE_SIZE = 4096 };

// The folder of the library or program that this code is part of.
void heddle_own_folder(char folder[HEDDLE_PLACE_SIZE]);
// The path of a program on $PATH, or in `folder`; false when it is in neither.
bool heddle_find_program(const char *program, const char *folder, char path[HEDDLE_PLACE_SIZE]);
// nvcc, which CUDA's own packages do not put on $PATH.
bool heddle_find_nvcc(char path[HEDDLE_PLACE_SIZE]);
// The path of a page of docs/, such as "data.md", for a message: where it is installed, or "docs/data.md" in the
// sources. Returns `path`.
const char *heddle_page(const char *name, char path[HEDDLE_PLACE_SIZE]);
