// What every result document says about the machine and the time of measuring. One function writes it, so that files of
// different commands have the same fields.
#pragma once

#include <time.h>

#include "heddle/device.h"

typedef struct heddle_bench_facts {
    const char *format; // of the document: "heddle bench 1"
    time_t began;
    const heddle_device_info *device;       // as it was before, its clocks too
    double clock_after, memory_clock_after; // MHz; 0: not known
    double copy_bandwidth;                  // bytes per second; 0: not measured
} heddle_bench_facts;

// Adds format, machine, device, driver, runtime, clocks, version, date and the rest to the document, an object.
struct cJSON;
void heddle_bench_add_facts(struct cJSON *document, const heddle_bench_facts *facts);
// Adds a figure; null if it is not known, NAN.
void heddle_bench_add_figure(struct cJSON *object, const char *name, double value);
