// Shared by the files of `heddle devices`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/device.h"

// Per second; 0: not measured, such as copies between host and device on cpu, where both are the same memory.
typedef struct device_speeds {
    bool measured;
    size_t bytes; // of a copy between host and device
    double to_device_pinned, from_device_pinned;
    double to_device_pageable, from_device_pageable;
    double copy;          // on the device: bytes read and bytes written
    double flops;         // float32
    double shared, cache; // bytes read from shared memory, and from the second-level cache
    double launches;
} device_speeds;

// Takes about a second. HEDDLE_UNSUPPORTED on sim, which reports no timings.
heddle_status heddle_cli_measure_device(heddle_device *device, device_speeds *speeds);

// `heddle devices --watch`: samples until Ctrl-C or, if that is not 0, `count` of them. Returns the exit code.
struct heddle_cli_json;
int heddle_cli_watch_devices(double seconds, int count, const struct heddle_cli_json *json);

// The GPUs that the simulator can be.
struct cJSON;
heddle_status heddle_cli_print_known_gpus(void);
struct cJSON *heddle_cli_known_gpus(void);
