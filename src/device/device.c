// The device as a whole, and its memory: arguments checked, allocations kept track of, the rest passed to the backend.

#include "device/device.h"

#include "base/log.h"
#include "base/text.h"
#include "device/backend.h"

void heddle_device_close(heddle_device *device)
{
    if (!device)
        return;
    const heddle_backend *backend = device->backend;
    // Queued work may still use what is freed below.
    heddle_status status = backend->finish(device);
    if (status != HEDDLE_OK)
        heddle_log(HEDDLE_LOG_WARN, "%s device closed after a failure nobody asked about: %s",
                   heddle_device_kind_name(backend->kind), heddle_last_error());
    heddle_allocation allocation;
    size_t count = 0;
    double bytes = 0;
    while (heddle_allocations_pop(&device->allocations, &allocation)) {
        count++;
        bytes += (double)allocation.bytes;
        (allocation.pinned ? backend->free_pinned : backend->free)(device, allocation.memory, allocation.bytes);
    }
    char text[32];
    if (count > 0)
        heddle_log(HEDDLE_LOG_WARN, "%s device closed with %zu live allocation%s (%s): free them first",
                   heddle_device_kind_name(backend->kind), count, count == 1 ? "" : "s",
                   heddle_text_bytes(bytes, text, sizeof text));
    heddle_allocations_destroy(&device->allocations);
    backend->close(device);
}

heddle_status heddle_device_describe(heddle_device *device, heddle_device_info *info)
{
    if (!device || !info)
        return heddle_fail(HEDDLE_INVALID, "heddle_device_describe: NULL argument");
    *info = (heddle_device_info){.kind = device->backend->kind};
    return device->backend->describe(device, info);
}

int heddle_device_properties(heddle_device *device, heddle_device_property *rows, int most)
{
    return device && device->backend->properties ? device->backend->properties(device, rows, most) : 0;
}

heddle_status heddle_device_reset_cache(heddle_device *device)
{
    return device->backend->reset_cache ? device->backend->reset_cache(device) : HEDDLE_OK;
}

heddle_status heddle_device_kept_cache(heddle_device *device, size_t *bytes)
{
    *bytes = 0;
    return device->backend->kept_cache ? device->backend->kept_cache(device, bytes) : HEDDLE_OK;
}

heddle_status heddle_device_exercise(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                                     double *amount)
{
    const heddle_backend *backend = stream->device->backend;
    if (backend->exercise)
        return backend->exercise(stream, unit, memory, bytes, amount);
    return heddle_fail(HEDDLE_UNSUPPORTED, "%s has no kernels that measure its units",
                       heddle_device_kind_name(backend->kind));
}

void heddle_device_missing(heddle_device *device, char *text, size_t size)
{
    if (size > 0)
        text[0] = '\0';
    if (device->backend->missing)
        device->backend->missing(text, size);
}

heddle_device_kind heddle_device_get_kind(const heddle_device *device)
{
    return device->backend->kind;
}

heddle_status heddle_device_synchronize(heddle_device *device)
{
    if (!device)
        return heddle_fail(HEDDLE_INVALID, "heddle_device_synchronize: NULL device");
    return device->backend->synchronize(device);
}

heddle_pool *heddle_device_pool(heddle_device *device)
{
    return device && device->backend->pool ? device->backend->pool(device) : NULL;
}

heddle_status heddle_device_find_launcher(heddle_device *device, const char *op, const char *rung,
                                          heddle_device_launcher **launcher)
{
    *launcher = device->backend->launcher ? device->backend->launcher(op, rung) : NULL;
    if (*launcher)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_MISSING, "%s: rung %s is not in this build's %s module", op, rung,
                       heddle_device_kind_name(device->backend->kind));
}

static heddle_status allocate(heddle_device *device, size_t bytes, bool pinned, void **memory)
{
    if (!device || !memory)
        return heddle_fail(HEDDLE_INVALID, "%s: NULL argument", pinned ? "heddle_alloc_pinned" : "heddle_alloc");
    *memory = NULL;
    if (bytes == 0)
        return HEDDLE_OK;
    const heddle_backend *backend = device->backend;
    heddle_allocation allocation = {.bytes = bytes, .pinned = pinned};
    HEDDLE_TRY((pinned ? backend->alloc_pinned : backend->alloc)(device, bytes, &allocation.memory));
    heddle_status status = heddle_allocations_add(&device->allocations, allocation);
    if (status != HEDDLE_OK) {
        (pinned ? backend->free_pinned : backend->free)(device, allocation.memory, bytes);
        return status;
    }
    *memory = allocation.memory;
    return HEDDLE_OK;
}

static heddle_status release(heddle_device *device, void *memory, bool pinned)
{
    if (!device)
        return heddle_fail(HEDDLE_INVALID, "%s: NULL device", pinned ? "heddle_free_pinned" : "heddle_free");
    if (!memory)
        return HEDDLE_OK;
    const heddle_backend *backend = device->backend;
    heddle_allocation allocation;
    heddle_status status = heddle_allocations_remove(&device->allocations, memory, pinned, &allocation);
    if (status != HEDDLE_OK)
        return heddle_fail_within(status, "%s", pinned ? "heddle_free_pinned" : "heddle_free");
    (pinned ? backend->free_pinned : backend->free)(device, allocation.memory, allocation.bytes);
    return HEDDLE_OK;
}

bool heddle_device_is_pinned(heddle_device *device, const void *memory, size_t bytes)
{
    return heddle_allocations_are_pinned(&device->allocations, memory, bytes);
}

heddle_status heddle_alloc(heddle_device *device, size_t bytes, void **memory)
{
    return allocate(device, bytes, false, memory);
}

heddle_status heddle_free(heddle_device *device, void *memory)
{
    return release(device, memory, false);
}

heddle_status heddle_alloc_pinned(heddle_device *device, size_t bytes, void **memory)
{
    return allocate(device, bytes, true, memory);
}

heddle_status heddle_free_pinned(heddle_device *device, void *memory)
{
    return release(device, memory, true);
}
