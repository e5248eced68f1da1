// A profile as it could have been: two steps of a small network, on a CPU or as CUPTI's records.
#pragma once

#include "profile/profile.h"

enum { MADE_UP_CALLS = 4, MADE_UP_LOAD = 3 };

// Calls: conv1 forward, conv1 backward, update, and the host's loading.
void made_up_calls(heddle_profile_data *data);
// Two steps of 1,000 ns from 10,000 on, after a first of 1,500: forward 300, backward 400, update 100, gaps of 50 or
// 100 before each. The host loads for 40 before each step.
void made_up_spans(heddle_profile_data *data);
void made_up_free(heddle_profile_data *data);
