// The device that something is measured on, and what is said where it is not here: each job of `heddle bench` has its
// own way to do without.

#include <string.h>

#include "cli/bench.h"
#include "device/device.h"

heddle_status heddle_cli_bench_open(const char *name, int threads, const char *instead, heddle_device **device)
{
    heddle_status status = heddle_device_open_plain(name, threads, device);
    if (status != HEDDLE_MISSING || !instead || strncmp(name, "cuda", strlen("cuda")) != 0)
        return status;
    return heddle_fail(status, "%s; %s", heddle_last_error(), instead);
}

heddle_status heddle_cli_bench_device(const heddle_cli_bench_settings *settings, const char *instead,
                                      heddle_device **device)
{
    if (settings->device)
        return heddle_cli_bench_open(settings->device, settings->threads, instead, device);
    if (heddle_device_open("cuda", settings->threads, device) == HEDDLE_OK)
        return HEDDLE_OK;
    return heddle_device_open("cpu", settings->threads, device);
}
