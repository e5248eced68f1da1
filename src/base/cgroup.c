// Limits of control groups, version 2 and version 1. A limit holds for everything below it, so each group is followed
// up to the mount point; folders that a container's view of the tree lacks are passed over.

#include "base/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char default_membership[] = "/proc/self/cgroup";
static const char default_mount[] = "/sys/fs/cgroup";

enum { LINE_SIZE = 2 * PATH_MAX };

// Called for each group from the process's own up to the mount point.
typedef void visit_group(const char *folder, void *result);

static bool read_line(const char *folder, const char *name, char *line, size_t size)
{
    char path[LINE_SIZE + NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(line, (int)size, file) != NULL;
    fclose(file);
    return got;
}

static bool read_number(const char *folder, const char *name, uint64_t *number)
{
    char line[64];
    char *end = line;
    if (!read_line(folder, name, line, sizeof line) || line[0] == '-')
        return false;
    *number = strtoull(line, &end, 10);
    return end != line;
}

// The number after `key` in the group's memory.stat; 0 if it is missing.
static uint64_t read_statistic(const char *folder, const char *key)
{
    char path[LINE_SIZE + NAME_MAX];
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = strlen(key);
    uint64_t number = 0;
    char line[128];
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            number = strtoull(line + length, NULL, 10);
    fclose(file);
    return number;
}

static void walk_up(const char *mount, const char *group, visit_group *visit, void *result)
{
    char folder[LINE_SIZE];
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    size_t shortest = strlen(mount);
    for (;;) {
        visit(folder, result);
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < shortest)
            return;
        *slash = '\0';
    }
}

// Does "cpu,cpuacct" name `controller`?
static bool lists_controller(const char *list, const char *controller)
{
    size_t length = strlen(controller);
    while (list) {
        if (strncmp(list, controller, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return false;
}

// Membership lines are "0::/group" (version 2) and "4:cpu,cpuacct:/group" (version 1, mounted under the list's name).
static void visit_groups(const char *membership, const char *mount, const char *controller, visit_group *version2,
                         visit_group *version1, void *result)
{
    FILE *file = fopen(membership, "re");
    if (!file)
        return;
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        list++;
        if (list[0] == '\0') {
            walk_up(mount, group, version2, result);
        } else if (lists_controller(list, controller)) {
            char under[LINE_SIZE];
            snprintf(under, sizeof under, "%.1000s/%.1000s", mount, list);
            walk_up(under, group, version1, result);
        }
    }
    fclose(file);
}

// --- processor time -------------------------------------------------------------------------------------------------

static void keep_least(double *cores, double quota, double period)
{
    if (quota > 0 && period > 0 && quota / period < *cores)
        *cores = quota / period;
}

static void cores_version2(const char *folder, void *result)
{
    char line[64];
    char *end = line;
    if (!read_line(folder, "cpu.max", line, sizeof line))
        return;
    // "max 100000" without a limit: a quota of 0.
    double quota = strtod(line, &end);
    double period = strtod(end, NULL);
    keep_least(result, quota, period);
}

static void cores_version1(const char *folder, void *result)
{
    uint64_t quota = 0;
    uint64_t period = 0;
    if (read_number(folder, "cpu.cfs_quota_us", &quota) && read_number(folder, "cpu.cfs_period_us", &period))
        keep_least(result, (double)quota, (double)period);
}

double heddle_cgroup_cores_at(const char *membership, const char *mount)
{
    double cores = INFINITY;
    visit_groups(membership, mount, "cpu", cores_version2, cores_version1, &cores);
    return cores;
}

double heddle_cgroup_cores(void)
{
    return heddle_cgroup_cores_at(default_membership, default_mount);
}

// --- memory ---------------------------------------------------------------------------------------------------------

static uint64_t memory_left(heddle_cgroup_memory memory)
{
    return memory.used < memory.limit ? memory.limit - memory.used : 0;
}

// Cached files count as used in a group, and a job that has read its data would seem to have filled it.
static void keep_tightest(heddle_cgroup_memory *tightest, heddle_cgroup_memory memory, uint64_t cached)
{
    memory.used -= cached < memory.used ? cached : memory.used;
    if (memory_left(memory) < memory_left(*tightest))
        *tightest = memory;
}

static void memory_version2(const char *folder, void *result)
{
    heddle_cgroup_memory memory = {0};
    // "max" without a limit: not a number.
    if (read_number(folder, "memory.max", &memory.limit) && read_number(folder, "memory.current", &memory.used))
        keep_tightest(result, memory, read_statistic(folder, "inactive_file"));
}

static void memory_version1(const char *folder, void *result)
{
    heddle_cgroup_memory memory = {0};
    if (read_number(folder, "memory.limit_in_bytes", &memory.limit) &&
        read_number(folder, "memory.usage_in_bytes", &memory.used))
        keep_tightest(result, memory, read_statistic(folder, "total_inactive_file"));
}

heddle_cgroup_memory heddle_cgroup_memory_at(const char *membership, const char *mount)
{
    heddle_cgroup_memory memory = {.limit = UINT64_MAX, .used = 0};
    visit_groups(membership, mount, "memory", memory_version2, memory_version1, &memory);
    return memory;
}

heddle_cgroup_memory heddle_cgroup_get_memory(void)
{
    return heddle_cgroup_memory_at(default_membership, default_mount);
}
