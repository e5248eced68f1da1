// The machine's part of a result document; docs/measuring.md describes its fields.

#include "bench/facts.h"

#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <cjson/cJSON.h>

#include "heddle/heddle.h"

void heddle_bench_add_figure(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

// 0 is not known.
static void add_known(cJSON *object, const char *name, double value)
{
    heddle_bench_add_figure(object, name, value > 0 ? value : NAN);
}

static cJSON *clocks_json(const heddle_bench_facts *facts)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "processor_before", facts->device->clock);
    cJSON_AddNumberToObject(json, "processor_after", facts->clock_after);
    cJSON_AddNumberToObject(json, "memory_before", facts->device->memory_clock);
    cJSON_AddNumberToObject(json, "memory_after", facts->memory_clock_after);
    return json;
}

void heddle_bench_add_facts(cJSON *document, const heddle_bench_facts *facts)
{
    const heddle_device_info *device = facts->device;
    struct utsname system;
    char date[32], machine[sizeof system.sysname + sizeof system.machine + 1] = "unknown";
    struct tm when;
    if (uname(&system) == 0)
        snprintf(machine, sizeof machine, "%s %s", system.sysname, system.machine);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&facts->began, &when));
    cJSON_AddStringToObject(document, "format", facts->format);
    cJSON_AddStringToObject(document, "machine", machine);
    cJSON_AddStringToObject(document, "device", heddle_device_kind_name(device->kind));
    cJSON_AddStringToObject(document, "device_name", device->name);
    cJSON_AddStringToObject(document, "instructions", device->instructions);
    cJSON_AddNumberToObject(document, "processors", device->processors);
    cJSON_AddStringToObject(document, "driver", device->driver);
    cJSON_AddStringToObject(document, "runtime", device->runtime);
    if (device->unoptimised)
        cJSON_AddFalseToObject(document, "optimised");
    cJSON_AddItemToObject(document, "clocks", clocks_json(facts));
    add_known(document, "peak_flops", device->peak_flops);
    cJSON_AddNumberToObject(document, "cache", (double)device->cache);
    add_known(document, "copy_bandwidth", facts->copy_bandwidth);
    cJSON_AddStringToObject(document, "version", heddle_version());
    cJSON_AddStringToObject(document, "date", date);
}
