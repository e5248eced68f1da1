// What the cpu device is: processor, cores and memory.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/file.h"
#include "base/threads.h"
#include "device/cpu/cpu.h"
#include "device/cpu/processor.h"

enum { LARGEST_PROC_FILE = 16 << 20, KIBIBYTE = 1024 };

// "MemTotal:       16309752 kB"; UINT64_MAX when the line is missing.
static uint64_t find_bytes(const char *meminfo, const char *key)
{
    const char *line = strstr(meminfo, key);
    return line ? strtoull(line + strlen(key), NULL, 10) * KIBIBYTE : UINT64_MAX;
}

void heddle_cpu_memory(uint64_t *total, uint64_t *available)
{
    char *meminfo = NULL;
    size_t size = 0;
    // Without /proc nothing is known, and nothing is refused.
    *total = *available = UINT64_MAX;
    if (heddle_file_read("/proc/meminfo", LARGEST_PROC_FILE, &meminfo, &size) == HEDDLE_OK) {
        *total = find_bytes(meminfo, "MemTotal:");
        *available = find_bytes(meminfo, "MemAvailable:");
    }
    free(meminfo);
    heddle_cgroup_memory group = heddle_cgroup_get_memory();
    uint64_t left = group.used < group.limit ? group.limit - group.used : 0;
    if (group.limit < *total)
        *total = group.limit;
    if (left < *available)
        *available = left;
    if (*available > *total)
        *available = *total;
}

heddle_status heddle_cpu_describe(heddle_device *device_, heddle_device_info *info)
{
    const struct cpu_device *device = cpu_device_of(device_);
    char *cpuinfo = NULL;
    size_t size = 0;
    const char *text = "";
    if (heddle_file_read("/proc/cpuinfo", LARGEST_PROC_FILE, &cpuinfo, &size) == HEDDLE_OK)
        text = cpuinfo;
    heddle_cpu_processor_name(text, info->name, sizeof info->name);
    heddle_cpu_instructions(text, info->instructions, sizeof info->instructions);
    free(cpuinfo);
    info->processors = device->cores;
    info->threads = heddle_pool_threads(device->pool);
    heddle_cpu_memory(&info->memory_total, &info->memory_free);
    info->priority_least = CPU_PRIORITY_LEAST;
    info->priority_greatest = CPU_PRIORITY_GREATEST;
    return HEDDLE_OK;
}
