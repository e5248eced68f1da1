// How many cores this process may use: its affinity mask, and the processor time its control group allows.

#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/threads.h"

static int cores_by_affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    // More processors than the fixed-size mask holds.
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int heddle_usable_cores(void)
{
    int cores = cores_by_affinity();
    double quota = ceil(heddle_cgroup_cores());
    if (quota < cores)
        cores = (int)quota;
    return cores > 0 ? cores : 1;
}
