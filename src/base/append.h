// A file that grows by whole records, such as the curve of a run. A record that cannot be written, because the disk is
// full, leaves no part of itself behind: it is kept in memory and written with the next. Where a part of it cannot be
// taken back either, the file is given up with a warning: that record and all that follow are lost.
#pragma once

#include <stddef.h>

#include "heddle/status.h"

typedef struct heddle_append heddle_append;

// Opens a file to add to, or creates it. `what` names its content in a warning: "the curve of the run".
heddle_status heddle_append_open(const char *path, const char *what, heddle_append **file);
// Adds a record. It is lost only if memory runs out or the file is given up.
void heddle_append_add(heddle_append *file, const void *record, size_t size);
// Waits until what was written is on the disk.
void heddle_append_sync(heddle_append *file);
// NULL is allowed. Records that still cannot be written are lost.
void heddle_append_close(heddle_append *file);
