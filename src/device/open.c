// Device names, and opening what they name.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/device.h"
#include "device/driver.h"
#include "device/module.h"

// Every device heddle knows, and its backend where it is built in; the others come as modules.
static const struct known_device {
    const char *name;
    heddle_device_kind kind;
    const heddle_backend *backend;
    int count; // names go up to NAME:count-1; 0: as many as the machine has
} known_devices[] = {
    {"cpu", HEDDLE_CPU, &heddle_backend_cpu, 1},
    {"cuda", HEDDLE_CUDA, NULL, 0},
    {"sim", HEDDLE_SIM, NULL, 1},
};

enum { KNOWN_DEVICES = sizeof known_devices / sizeof *known_devices, LARGEST_INDEX = 4095, NAME_SIZE = 64 };

const char *heddle_device_kind_name(heddle_device_kind kind)
{
    for (int i = 0; i < KNOWN_DEVICES; i++)
        if (known_devices[i].kind == kind)
            return known_devices[i].name;
    return "unknown device";
}

static void explain_unknown(const char *name, size_t length)
{
    const char *names[KNOWN_DEVICES];
    for (int i = 0; i < KNOWN_DEVICES; i++)
        names[i] = known_devices[i].name;
    // Lower case, so that "CPU" finds "cpu".
    char lower[NAME_SIZE] = {0};
    for (size_t i = 0; i < length && i < sizeof lower - 1; i++)
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    const char *nearest = strcmp(lower, "gpu") == 0 ? "cuda" : heddle_text_nearest(lower, names, KNOWN_DEVICES);
    if (nearest)
        heddle_fail(HEDDLE_NOT_FOUND, "no device '%s'; did you mean '%s'?", name, nearest);
    else
        heddle_fail(HEDDLE_NOT_FOUND, "no device '%s': there are cpu, cuda and sim", name);
}

// "cuda:1" is device 1 of known_devices[...]; "cuda" is device 0.
static heddle_status parse_name(const char *name, const struct known_device **known, int *index)
{
    size_t length = strcspn(name, ":");
    *known = NULL;
    for (int i = 0; i < KNOWN_DEVICES; i++)
        if (strlen(known_devices[i].name) == length && memcmp(known_devices[i].name, name, length) == 0)
            *known = &known_devices[i];
    if (!*known) {
        explain_unknown(name, length);
        return HEDDLE_NOT_FOUND;
    }
    *index = 0;
    if (name[length] == '\0')
        return HEDDLE_OK;

    const char *digits = name + length + 1;
    size_t count = strspn(digits, "0123456789");
    long number = strtol(digits, NULL, 10);
    if (count == 0 || digits[count] != '\0' || number > LARGEST_INDEX)
        return heddle_fail(HEDDLE_INVALID, "device '%s': expected a number after the colon, as in %s:0", name,
                           (*known)->name);
    if ((*known)->count > 0 && number >= (*known)->count)
        return heddle_fail(HEDDLE_INVALID, "device '%s': there is only one %s device, which uses all cores: write '%s'",
                           name, (*known)->name, (*known)->name);
    *index = (int)number;
    return HEDDLE_OK;
}

heddle_status heddle_device_open_plain(const char *name, int threads, heddle_device **device)
{
    if (!device)
        return heddle_fail(HEDDLE_INVALID, "heddle_device_open: NULL argument");
    *device = NULL;
    if (!name)
        return heddle_fail(HEDDLE_INVALID, "heddle_device_open: the name is NULL: pass \"cpu\"");
    const struct known_device *known = NULL;
    int index = 0;
    HEDDLE_TRY(parse_name(name, &known, &index));
    const heddle_backend *backend = known->backend;
    if (!backend)
        HEDDLE_TRY(heddle_module_load(known->kind, known->name, &backend));

    heddle_device *opened = NULL;
    HEDDLE_TRY(backend->open(index, threads, &opened));
    opened->backend = backend;
    heddle_allocations_init(&opened->allocations);
    *device = opened;
    return HEDDLE_OK;
}

heddle_status heddle_device_open_default(int card, int threads, heddle_device **device, char *reason, size_t size)
{
    char name[NAME_SIZE], path[HEDDLE_PLACE_SIZE];
    snprintf(name, sizeof name, "cuda:%d", card);
    if (heddle_device_open_plain(name, threads, device) == HEDDLE_OK) {
        snprintf(reason, size, "a CUDA GPU is available");
        return HEDDLE_OK;
    }
    if (!heddle_module_find("libheddle-cuda.so", path, sizeof path))
        snprintf(reason, size, "heddle was built without CUDA");
    else if (!heddle_nvidia_driver_is_loaded())
        snprintf(reason, size, "no NVIDIA driver is loaded");
    else
        snprintf(reason, size, "%s", heddle_last_error());
    return heddle_device_open_plain("cpu", threads, device);
}

heddle_status heddle_device_open(const char *name, int threads, heddle_device **device)
{
    heddle_status status = heddle_device_open_plain(name, threads, device);
    if (status != HEDDLE_MISSING) // as without a name
        return status;
    const bool gpu = strncmp(name, "cuda", strlen("cuda")) == 0;
    return heddle_fail(status, "%s; %s", heddle_last_error(),
                       gpu ? "use cpu instead, or sim for kernels" : "use cpu instead");
}
