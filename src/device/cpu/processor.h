// The processor's name and vector instructions, from the text of /proc/cpuinfo.
#ifndef HEDDLE_DEVICE_CPU_PROCESSOR_H
#define HEDDLE_DEVICE_CPU_PROCESSOR_H

#include <stddef.h>

// "Neoverse-V1", "AMD EPYC 9654 96-Core Processor"; never empty.
void heddle_cpu_processor_name(const char *cpuinfo, char *name, size_t size);
// "neon", "neon sve", "avx2 fma avx512f"; never empty.
void heddle_cpu_instructions(const char *cpuinfo, char *instructions, size_t size);

#endif
