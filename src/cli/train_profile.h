// `heddle train --profile`: what the steps of a run were made of.
#pragma once

#include "cli/device.h"
#include "cli/options.h"
#include "profile/profile.h"

struct cJSON;

typedef struct heddle_cli_profile {
    heddle_profile *profile; // NULL: not asked for
    const char *file;        // what --profile=FILE names; NULL: the run's folder
    struct cJSON *json;      // the report, once it is over; the caller deletes it
} heddle_cli_profile;

// Before training: fails where the file that was asked for cannot be written.
heddle_status heddle_cli_profile_begin(const heddle_cli_optional *option, heddle_device_kind device,
                                       heddle_cli_profile *begun);
// After training: prints the table, unless `quiet`, and writes the trace and the picture, to what --profile=FILE names
// or as profile.pftrace and profile.svg to `folder`. Sets `json`.
heddle_status heddle_cli_profile_end(heddle_cli_profile *begun, heddle_device *device, const char *title,
                                     const char *folder, bool quiet);
void heddle_cli_profile_close(heddle_cli_profile *begun);
