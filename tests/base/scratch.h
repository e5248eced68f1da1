// A folder of its own for a test that writes files, and the content of streams as text.
#ifndef HEDDLE_TESTS_BASE_SCRATCH_H
#define HEDDLE_TESTS_BASE_SCRATCH_H

#include <stddef.h>
#include <stdio.h>

// Group set-up and tear-down: a fresh folder before the first test, removed with all in it after the last.
int scratch_create(void **state);
int scratch_remove(void **state);
// "folder/name" in memory that stays valid until the next eight calls.
const char *scratch_path(const char *name);
void scratch_write(const char *name, const char *content);
// Entries in the scratch folder.
int scratch_count(void);

// Everything written to `file` so far; the caller frees it.
char *written_text(FILE *file);

#endif
