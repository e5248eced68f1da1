// Notices when a learner saves a file, however their editor does it: in place, by a rename, or over a network.
#pragma once

#include "learn/workspace.h"

typedef struct heddle_learn_watch heddle_learn_watch;

heddle_status heddle_learn_watch_open(const heddle_learn_workspace *workspace, heddle_learn_watch **watch);
void heddle_learn_watch_close(heddle_learn_watch *watch); // NULL is fine

// A descriptor that becomes readable when something happens in the folder; -1: inotify is not to be had.
int heddle_learn_watch_descriptor(const heddle_learn_watch *watch);
// How many milliseconds to wait at most before asking again: network folders tell nothing.
int heddle_learn_watch_period(const heddle_learn_watch *watch);
// An exercise whose file has changed since it was last returned and has been still for a moment; NULL: none.
const heddle_learn_exercise *heddle_learn_watch_changed(heddle_learn_watch *watch);
