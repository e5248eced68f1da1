// Where this heddle stands on the disk: the program or library that it is part of, and its pages.
#ifndef HEDDLE_BASE_PLACE_H
#define HEDDLE_BASE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { HEDDLE_PLACE_SIZE = 4096 };

// The folder of the file that this code is part of: the library's, or the command's.
void heddle_own_folder(char folder[HEDDLE_PLACE_SIZE]);
// The path of a program on $PATH, or in `folder`; false when it is in neither.
bool heddle_find_program(const char *program, const char *folder, char path[HEDDLE_PLACE_SIZE]);
// nvcc, which CUDA's own packages do not put on $PATH.
bool heddle_find_nvcc(char path[HEDDLE_PLACE_SIZE]);
// What a message calls a page of docs/, "data.md" say: its path where heddle is installed, else "docs/data.md", which
// is in the sources. Returns `path`.
const char *heddle_page(const char *name, char path[HEDDLE_PLACE_SIZE]);

#endif
