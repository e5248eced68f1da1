// Places of a program as frames, from its debug information. Without libdw nothing is found.
#pragma once

#include <stdint.h>

typedef struct heddle_debug_info heddle_debug_info;

typedef struct heddle_debug_frame {
    const char *file, *function; // live as long as the debug information; "": not known
    int line, column;            // 0: not known
} heddle_debug_frame;

heddle_debug_info *heddle_debug_info_open(const char *program); // NULL: it has none
void heddle_debug_info_close(heddle_debug_info *info);          // NULL is fine

// The frames at an address of the program, the innermost of inlined functions first; returns how many, up to `most`.
int heddle_debug_info_frames(const heddle_debug_info *info, uint64_t address, heddle_debug_frame *frames, int most);
