// Nsight Compute's figures of one kernel, read from the CSV that `ncu --csv --page raw` prints, and what they mean.
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "heddle/status.h"

enum { HEDDLE_NCU_NAME = 256, HEDDLE_NCU_PHRASE = 160 };

// NAN: ncu did not say.
typedef struct heddle_ncu_kernel {
    char name[HEDDLE_NCU_NAME], grid[64], block[64];
    double seconds;
    // Speed of light: per cent of what the unit can do.
    double compute, memory, dram, l2, l1;
    double registers;              // per thread
    double shared;                 // bytes per block
    double occupancy, theoretical; // per cent of the warps that fit
    double limits[4];              // blocks per multiprocessor by registers, shared memory, warps, blocks
    double spills;                 // instructions on local memory
    double stalled;                // warps waiting per instruction, for the reason that is most frequent
    char stall[HEDDLE_NCU_NAME];
} heddle_ncu_kernel;

// ncu's options in front of the program. The caller adds the kernel's name and the program.
extern const char *const heddle_ncu_options[]; // NULL-terminated

// The launch in `text` that took longest. HEDDLE_NOT_FOUND: there is none; the message says why where ncu did, and what
// to do.
heddle_status heddle_ncu_read(const char *text, heddle_ncu_kernel *kernel);

// What limits it: "device memory: at 91 % of its peak".
void heddle_ncu_limit(const heddle_ncu_kernel *kernel, char text[HEDDLE_NCU_PHRASE]);
void heddle_ncu_print(const heddle_ncu_kernel *kernel, FILE *file);
struct cJSON;
struct cJSON *heddle_ncu_json(const heddle_ncu_kernel *kernel);
