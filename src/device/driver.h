// NVIDIA's driver, as far as anyone can tell without it.
#ifndef HEDDLE_DEVICE_DRIVER_H
#define HEDDLE_DEVICE_DRIVER_H

#include <stdbool.h>
#include <unistd.h>

// Whether its kernel module is loaded. Without it CUDA speaks of a version that is too old, whatever is installed.
static inline bool heddle_nvidia_driver_is_loaded(void)
{
    return access("/proc/driver/nvidia/version", R_OK) == 0;
}

#endif
