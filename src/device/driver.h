// NVIDIA's driver, as far as anyone can tell without it.
#pragma once

#include <stdbool.h>
#include <unistd.h>

// Whether its kernel module is loaded. Without it CUDA speaks of a version that is too old, whatever is installed.
static inline bool heddle_nvidia_driver_is_loaded(void)
{
    return access("/proc/driver/nvidia/version", R_OK) == 0;
}
