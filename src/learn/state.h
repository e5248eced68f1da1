// The state file of a learner's folder: read, changed and written under a lock.
#pragma once

#include <cjson/cJSON.h>

#include "heddle/status.h"

extern const char heddle_learn_state_name[]; // ".heddle-learn.json"

// A folder without a state file gives an empty state.
heddle_status heddle_learn_state_read(const char *folder, cJSON **state);
// Reads the state, lets `change` change it, and writes it if it did, atomically and while no other process does so.
// *state becomes the new one; the old one is freed.
heddle_status heddle_learn_state_change(const char *folder, cJSON **state,
                                        heddle_status (*change)(cJSON *state, void *context), void *context);
// The object of that name in the state, made if it is not there; NULL: no memory.
cJSON *heddle_learn_state_object(cJSON *state, const char *name);
