// Notices when one of some files is saved, however an editor does it: in place, by a rename, or over a network.
#pragma once

#include "heddle/status.h"

typedef struct heddle_watch heddle_watch;

// The paths are copied. A file that is not there is waited for.
heddle_status heddle_watch_open(const char *const *paths, int count, heddle_watch **watch);
void heddle_watch_close(heddle_watch *watch); // NULL is fine

// A descriptor that becomes readable when something happens in the folders; -1: inotify is not to be had.
int heddle_watch_descriptor(const heddle_watch *watch);
// How many milliseconds to wait at most before asking again: network folders tell nothing.
int heddle_watch_period(const heddle_watch *watch);
// A file that has changed since it was last returned and has been still for a moment, by its index; -1: none.
int heddle_watch_changed(heddle_watch *watch);
