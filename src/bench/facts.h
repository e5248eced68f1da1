// What every result document says of the machine and the moment it was measured on. One function writes it, so that
// files of different commands can be read, and doubted, alike.
#ifndef HEDDLE_BENCH_FACTS_H
#define HEDDLE_BENCH_FACTS_H

#include <time.h>

#include "heddle/device.h"

typedef struct heddle_bench_facts {
    const char *format; // of the document: "heddle bench 1"
    time_t began;
    const heddle_device_info *device;       // as it was before, its clocks too
    double clock_after, memory_clock_after; // MHz; 0: not known
    double copy_bandwidth;                  // bytes a second; 0: not measured
} heddle_bench_facts;

// Adds format, machine, device, driver, runtime, clocks, version, date and the rest to the document, an object.
struct cJSON;
void heddle_bench_add_facts(struct cJSON *document, const heddle_bench_facts *facts);

#endif
