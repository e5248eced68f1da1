// Begins and ends the profile of a training run: where its files go, and the limits that its figures are held against.

#include "cli/train_profile.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/cli.h"
#include "cli/devices.h"

enum { PATH_SIZE = 4096 };

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), of = strlen(ending);
    return length >= of && strcmp(text + length - of, ending) == 0;
}

heddle_status heddle_cli_profile_begin(const heddle_cli_optional *option, heddle_device_kind device,
                                       heddle_cli_profile *begun)
{
    *begun = (heddle_cli_profile){.file = option->value};
    if (!option->given)
        return HEDDLE_OK;
    if (option->value && !ends_with(option->value, ".svg") && !heddle_profile_has_perfetto())
        return heddle_profile_write_perfetto(NULL, option->value); // says what is missing
    HEDDLE_TRY(heddle_cli_can_write(option->value));
    return heddle_profile_create(device, HEDDLE_PROFILE_SPANS, &begun->profile);
}

static heddle_status write_file(const heddle_profile_data *data, const char *title, const char *path, bool quiet)
{
    HEDDLE_TRY(ends_with(path, ".svg") ? heddle_profile_write_svg(data, title, path)
                                       : heddle_profile_write_perfetto(data, path));
    if (!quiet)
        printf("wrote %s%s\n", path, ends_with(path, ".svg") ? "" : "; open it at https://ui.perfetto.dev");
    return HEDDLE_OK;
}

static heddle_status write_files(const heddle_cli_profile *begun, const heddle_profile_data *data, const char *title,
                                 const char *folder, bool quiet)
{
    static const char *const names[] = {"profile.svg", "profile.pftrace"};
    if (begun->file)
        return write_file(data, title, begun->file, quiet);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_SIZE];
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= PATH_SIZE)
            return heddle_fail(HEDDLE_INVALID, "--profile: path too long");
        if (ends_with(path, ".svg") || heddle_profile_has_perfetto())
            HEDDLE_TRY(write_file(data, title, path, quiet));
        else if (!quiet)
            printf("no Perfetto trace: heddle was built without protobuf-c\n");
    }
    return HEDDLE_OK;
}

heddle_status heddle_cli_profile_end(heddle_cli_profile *begun, heddle_device *device, const char *title,
                                     const char *folder, bool quiet)
{
    const heddle_profile_data *data;
    heddle_profile_report report;
    device_speeds speeds = {0};
    if (!begun->profile)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_profile_finish(begun->profile, &data));
    // Without limits, as on sim, the table has no such column filled.
    if (heddle_cli_measure_device(device, &speeds) != HEDDLE_OK)
        speeds = (device_speeds){0};
    const heddle_profile_limits limits = {.bytes_per_second = speeds.copy, .flops = speeds.flops};
    HEDDLE_TRY(heddle_profile_summarise(data, &limits, &report));
    heddle_status status = HEDDLE_OK;
    if (!quiet) {
        printf("\n");
        status = heddle_profile_print(data, &report, stdout);
    }
    begun->json = heddle_profile_json(data, &report);
    heddle_profile_report_free(&report);
    if (status != HEDDLE_OK || data->span_count == 0)
        return status;
    return write_files(begun, data, title, folder, quiet);
}

void heddle_cli_profile_close(heddle_cli_profile *begun)
{
    heddle_profile_destroy(begun->profile);
    cJSON_Delete(begun->json);
    *begun = (heddle_cli_profile){0};
}
