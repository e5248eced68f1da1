// Load, power and memory of the GPUs of this machine, as NVML tells them. It comes with NVIDIA's driver and is loaded
// when it is there; nothing else of CUDA is needed.
#pragma once

#include <stdint.h>

enum { HEDDLE_SERVE_MOST_GPUS = 16, HEDDLE_SERVE_GPU_NAME = 96 };

typedef struct heddle_serve_gpu {
    char name[HEDDLE_SERVE_GPU_NAME];
    double load;         // 0 to 1: the part of the latest moments in which a kernel ran; NAN: not known
    double watts;        // NAN: not known
    double memory, used; // bytes; NAN: not known
} heddle_serve_gpu;

// Returns how many there are; 0 without NVML. Asks NVML at most twice a second. From any thread.
int heddle_serve_gpus(heddle_serve_gpu gpus[HEDDLE_SERVE_MOST_GPUS]);
