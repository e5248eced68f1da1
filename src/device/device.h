// What a device backend provides, and what operators need of a device beyond the public header.
#pragma once

#include "heddle/device.h"
#include "heddle/op.h" // heddle_pool

// As heddle_device_open; but where a device is missing the message says why and not what to use instead, which is left
// to callers who know what will do.
heddle_status heddle_device_open_plain(const char *name, int threads, heddle_device **device);

// The device that every job uses unless one is named: GPU number `card` where it works, else the CPU. `reason` says
// why it is this one: "no NVIDIA driver is loaded".
heddle_status heddle_device_open_default(int card, int threads, heddle_device **device, char *reason, size_t size);

// Whether all of `bytes` of host memory are from heddle_alloc_pinned of this device.
bool heddle_device_is_pinned(heddle_device *device, const void *memory, size_t bytes);

// The threads that cpu rungs spread over; NULL where operators do not run on the host.
heddle_pool *heddle_device_pool(heddle_device *device);

// Queues host work that is the device's own computation (a cpu rung): counted, ordered, captured and timed like a
// kernel. `arguments` is copied. A failure stops the stream: later work is dropped and the next synchronisation of the
// stream or device returns the status and message. cpu only.
typedef heddle_status heddle_work(const void *arguments);
heddle_status heddle_stream_submit(heddle_stream *stream, heddle_work *work, const void *arguments, size_t size);

// The launcher of a rung that came with the device's module. HEDDLE_MISSING: the module was built without that rung.
typedef heddle_status heddle_device_launcher(const heddle_call *call);
heddle_status heddle_device_find_launcher(heddle_device *device, const char *op, const char *rung,
                                          heddle_device_launcher **launcher);

// What a device can be kept busy with, to see how fast it really is.
typedef enum heddle_device_unit {
    HEDDLE_UNIT_FLOAT32, // multiplications and additions
    HEDDLE_UNIT_SHARED,  // bytes read from shared memory
    HEDDLE_UNIT_CACHE,   // bytes read from the second-level cache
    HEDDLE_UNIT_LAUNCH,  // kernels that do nothing, one after the other
} heddle_device_unit;
// Queues work for milliseconds that nothing but the unit limits; *amount says how many operations, bytes or kernels it
// is. `memory`: of the device, `bytes` of it, which fit into the cache; only HEDDLE_UNIT_CACHE needs it, and overwrites
// it. HEDDLE_UNSUPPORTED where the device has no such work, as on cpu, or no time, as on sim.
heddle_status heddle_device_exercise(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                                     double *amount);
// Which of the vendor's libraries the device's module cannot find, one line each; "" if none is missing.
void heddle_device_missing(heddle_device *device, char *text, size_t size);

// Before a measurement: cache lines that somebody has pinned are let go. HEDDLE_OK where there is nothing to do.
heddle_status heddle_device_reset_cache(heddle_device *device);
// How many bytes of the cache are set aside for lines that somebody pins; 0 where there is no such thing.
heddle_status heddle_device_kept_cache(heddle_device *device, size_t *bytes);
