// The processor's name and vector instructions, from the text of /proc/cpuinfo.
#pragma once

#include <stddef.h>

// "Neoverse-V1", "AMD EPYC 9654 96-Core Processor"; never empty.
void heddle_cpu_processor_name(const char *cpuinfo, char *name, size_t size);
// "neon", "neon sve", "avx2 fma avx512f"; never empty.
void heddle_cpu_instructions(const char *cpuinfo, char *instructions, size_t size);
// MHz that the first processor runs at; 0 where the text does not say (Arm kernels do not).
double heddle_cpu_clock(const char *cpuinfo);
