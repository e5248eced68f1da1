// Opens the device of a command and says which one it is and why. device/open.c decides which device is the default.

#include "cli/device.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "base/log.h"
#include "device/device.h"

enum { NAME_SIZE = 64, REASON_SIZE = 192 };

// Continuous integration builds such kernels, where nobody runs them; who does should know why they are slow.
static void warn_if_unoptimised(const heddle_cli_device *opened)
{
    heddle_device_info info;
    if (opened->kind == HEDDLE_CUDA && heddle_device_describe(opened->device, &info) == HEDDLE_OK && info.unoptimised)
        heddle_log(HEDDLE_LOG_WARN,
                   "the CUDA kernels were built with HEDDLE_CUDA_OPTIMISE=off and are slow: rebuild with "
                   "HEDDLE_CUDA_OPTIMISE=on before you measure anything");
}

heddle_status heddle_cli_device_open(const char *name, int threads, const char *instead, heddle_cli_device *opened)
{
    *opened = (heddle_cli_device){0};
    heddle_status status = HEDDLE_OK;
    if (!name)
        status = heddle_device_open_default(0, threads, &opened->device, opened->reason, sizeof opened->reason);
    else if (!instead)
        status = heddle_device_open(name, threads, &opened->device);
    else
        status = heddle_device_open_plain(name, threads, &opened->device);
    if (status == HEDDLE_MISSING && name && instead && instead[0] && strncmp(name, "cuda", strlen("cuda")) == 0)
        return heddle_fail(status, "%s; %s", heddle_last_error(), instead);
    HEDDLE_TRY(status);
    opened->kind = heddle_device_get_kind(opened->device);
    warn_if_unoptimised(opened);
    return HEDDLE_OK;
}

// The default of all ranks: the CPU unless every rank has opened a GPU.
static heddle_status agree_on_default(heddle_dist *dist, int threads, heddle_cli_device *opened)
{
    const int ranks = heddle_dist_ranks(dist)->ranks;
    double cards = opened->kind != HEDDLE_CPU;
    HEDDLE_TRY(heddle_dist_sum(dist, HEDDLE_CHANNEL_HOST, &cards, 1));
    if (opened->kind == HEDDLE_CPU || cards == ranks)
        return HEDDLE_OK;
    heddle_cli_device_close(opened);
    HEDDLE_TRY(heddle_cli_device_open("cpu", threads, NULL, opened));
    snprintf(opened->reason, sizeof opened->reason, "%.0f of %d ranks have a GPU of their own", cards, ranks);
    return HEDDLE_OK;
}

heddle_status heddle_cli_device_open_ranks(heddle_dist *dist, const char *name, int threads, const char *instead,
                                           heddle_cli_device *opened)
{
    if (!dist)
        return heddle_cli_device_open(name, threads, instead, opened);
    const heddle_ranks *ranks = heddle_dist_ranks(dist);
    const int card = ranks->local_ranks > 1 ? ranks->local_rank : 0;
    char own[NAME_SIZE];
    heddle_status status;
    *opened = (heddle_cli_device){0};
    if (name) {
        snprintf(own, sizeof own, "cuda:%d", card);
        status = heddle_cli_device_open(strcmp(name, "cuda") == 0 ? own : name, threads, instead, opened);
    } else {
        status = heddle_device_open_default(card, threads, &opened->device, opened->reason, sizeof opened->reason);
        opened->kind = status == HEDDLE_OK ? heddle_device_get_kind(opened->device) : HEDDLE_CPU;
        warn_if_unoptimised(opened);
    }
    HEDDLE_TRY(heddle_dist_agree(dist, status));
    return name ? HEDDLE_OK : agree_on_default(dist, threads, opened);
}

void heddle_cli_device_close(heddle_cli_device *opened)
{
    if (opened->device)
        heddle_device_close(opened->device);
    opened->device = NULL;
}

const char *heddle_cli_device_reason(const heddle_cli_device *opened, char *text, size_t size)
{
    snprintf(text, size, opened->reason[0] ? " (default: %s)" : "%s", opened->reason);
    return text;
}

void heddle_cli_device_print(const heddle_cli_device *opened, FILE *file)
{
    char reason[REASON_SIZE];
    if (opened->reason[0])
        fprintf(file, "device  %s%s\n", heddle_device_kind_name(opened->kind),
                heddle_cli_device_reason(opened, reason, sizeof reason));
}

void heddle_cli_device_add(const heddle_cli_device *opened, cJSON *json)
{
    if (!cJSON_HasObjectItem(json, "device"))
        cJSON_AddStringToObject(json, "device", heddle_device_kind_name(opened->kind));
    cJSON_AddStringToObject(json, "device_reason", opened->reason[0] ? opened->reason : "--device");
}
