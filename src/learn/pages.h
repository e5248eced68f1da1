// Pages and programs of the chapters in the learner's folder, so that everything is at hand. A newer course brings
// newer ones; a file that the learner changed or deleted stays as it is.
#pragma once

#include "learn/workspace.h"

// Writes a file that must not exist yet; *made: it did not. A part of one, on a full disk, is removed again.
heddle_status heddle_learn_write_new(const char *path, const char *text, size_t size, bool *made);

// Writes a file of the learner's folder, or replaces it if it is as it was written by an older course. `again`: also
// one that was deleted. The state remembers what was written.
heddle_status heddle_learn_keep_page(const heddle_learn_workspace *workspace, struct cJSON *state, const char *name,
                                     const char *text, size_t size, bool again);
// The same for the glossary, for every file of the chapters and for what the exercises ask for.
heddle_status heddle_learn_keep_pages(const heddle_learn_workspace *workspace, struct cJSON *state, bool again);
// Whether the course has one that the folder was never given.
bool heddle_learn_has_new_pages(const heddle_learn_workspace *workspace);
