// Limits of this process's control group, which containers and batch systems set.
#pragma once

#include <stdint.h>

// Processor time per second of the tightest group around this process, in cores (0.5, 2, ...); INFINITY: no limit.
double heddle_cgroup_cores(void);

typedef struct heddle_cgroup_memory {
    uint64_t limit; // bytes; UINT64_MAX: none
    uint64_t used;  // without cached files that the kernel drops when memory runs short
} heddle_cgroup_memory;
// The group with the least left.
heddle_cgroup_memory heddle_cgroup_get_memory(void);

// The same for another membership file and mount point than /proc/self/cgroup and /sys/fs/cgroup.
double heddle_cgroup_cores_at(const char *membership, const char *mount);
heddle_cgroup_memory heddle_cgroup_memory_at(const char *membership, const char *mount);
