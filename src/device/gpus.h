// What the GPUs of this machine, and its CPU, are doing now. Of GPUs NVML tells, which comes with NVIDIA's driver and
// is loaded when it is there; nothing else of CUDA is needed. Of the CPU, /proc does.
#pragma once

#include <stdint.h>

enum { HEDDLE_MOST_GPUS = 16, HEDDLE_GPU_NAME = 96 };

// NAN: not known.
typedef struct heddle_gpu_now {
    char name[HEDDLE_GPU_NAME];
    double load; // 0 to 1: the part of the latest moments in which a kernel ran
    double watts, watts_limit;
    double memory, used;        // bytes
    double clock, memory_clock; // MHz
    double celsius;
} heddle_gpu_now;

// Returns how many there are; 0 without NVML. Asks NVML at most twice a second. From any thread.
int heddle_gpus_now(heddle_gpu_now gpus[HEDDLE_MOST_GPUS]);

// The time that all processors of the machine have been busy, and all time, in ticks since it was started. The load is
// what the one grew by, divided by what the other did. False: /proc/stat cannot be read.
typedef struct heddle_cpu_ticks {
    double busy, all;
} heddle_cpu_ticks;
int heddle_cpu_ticks_now(heddle_cpu_ticks *ticks);
