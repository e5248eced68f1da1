// What the cpu device is: processor, cores, caches and memory.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/file.h"
#include "base/text.h"
#include "base/threads.h"
#include "device/cpu/cpu.h"
#include "device/cpu/processor.h"

enum { LARGEST_PROC_FILE = 16 << 20, KIBIBYTE = 1024, PATH_SIZE = 128, MOST_CACHES = 8 };

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

// --- caches and clock ------------------------------------------------------------------------------------------------

// One cache of the first core, as the kernel tells of it.
struct cpu_cache {
    int level;
    char kind[16]; // "Data", "Instruction", "Unified"
    uint64_t bytes;
};

// The first line of a small file of the kernel's; false where there is none.
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    bool got = file && fgets(line, (int)size, file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
    return got;
}

static bool read_cache(int index, struct cpu_cache *cache)
{
    char path[PATH_SIZE], text[PATH_SIZE];
    const char *folder = "/sys/devices/system/cpu/cpu0/cache/index";
    snprintf(path, sizeof path, "%s%d/level", folder, index);
    if (!read_line(path, text, sizeof text))
        return false;
    cache->level = (int)strtol(text, NULL, 10);
    snprintf(path, sizeof path, "%s%d/type", folder, index);
    if (!read_line(path, cache->kind, sizeof cache->kind))
        cache->kind[0] = '\0';
    snprintf(path, sizeof path, "%s%d/size", folder, index);
    if (!read_line(path, text, sizeof text))
        return false;
    char *unit = text;
    cache->bytes = strtoull(text, &unit, 10);
    cache->bytes *= *unit == 'K' ? KIBIBYTE : *unit == 'M' ? KIBIBYTE * KIBIBYTE : 1;
    return true;
}

static uint64_t last_cache(void)
{
    struct cpu_cache cache;
    uint64_t bytes = 0;
    int level = 0;
    for (int i = 0; i < MOST_CACHES && read_cache(i, &cache); i++)
        if (cache.level >= level) {
            level = cache.level;
            bytes = cache.bytes;
        }
    return bytes;
}

// MHz of the first core now; 0 where nobody says, as in many virtual machines.
static double current_clock(const char *cpuinfo)
{
    char text[PATH_SIZE];
    const double kilohertz = 1e-3;
    if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text, sizeof text))
        return strtod(text, NULL) * kilohertz;
    return heddle_cpu_clock(cpuinfo);
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
    info->clock = current_clock(text);
    info->cache = last_cache();
    free(cpuinfo);
    info->processors = device->cores;
    info->threads = heddle_pool_threads(device->pool);
    heddle_cpu_memory(&info->memory_total, &info->memory_free);
    info->priority_least = CPU_PRIORITY_LEAST;
    info->priority_greatest = CPU_PRIORITY_GREATEST;
    return HEDDLE_OK;
}

// --- all of it -------------------------------------------------------------------------------------------------------

struct row_list {
    heddle_device_property *rows;
    int count, most;
};

static void add(struct row_list *list, const char *name, const char *format, ...) HEDDLE_PRINTF(3, 4);
static void add(struct row_list *list, const char *name, const char *format, ...)
{
    if (list->count < list->most) {
        heddle_device_property *row = &list->rows[list->count];
        va_list values;
        va_start(values, format);
        snprintf(row->name, sizeof row->name, "%s", name);
        vsnprintf(row->value, sizeof row->value, format, values);
        va_end(values);
    }
    list->count++;
}

int heddle_cpu_properties(heddle_device *device, heddle_device_property *rows, int most)
{
    struct row_list list = {rows, 0, most};
    heddle_device_info info = {.kind = HEDDLE_CPU};
    struct cpu_cache cache;
    char text[32], name[PATH_SIZE];
    if (heddle_cpu_describe(device, &info) != HEDDLE_OK)
        return 0;
    add(&list, "name", "%.90s", info.name);
    add(&list, "instructions", "%s", info.instructions);
    add(&list, "cores of this process", "%d", info.processors);
    add(&list, "threads of operators", "%d", info.threads);
    if (info.clock > 0)
        add(&list, "clock, now", "%.6g MHz", info.clock);
    for (int i = 0; i < MOST_CACHES && read_cache(i, &cache); i++) {
        snprintf(name, sizeof name, "L%d cache, %s", cache.level, cache.kind);
        add(&list, name, "%s", heddle_text_bytes((double)cache.bytes, text, sizeof text));
    }
    add(&list, "memory", "%s", heddle_text_bytes((double)info.memory_total, text, sizeof text));
    add(&list, "memory free", "%s", heddle_text_bytes((double)info.memory_free, text, sizeof text));
    return list.count;
}
