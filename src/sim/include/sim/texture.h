// What a texture or surface object stands for. The runtime API fills it in when the object is created (api/texture.c);
// the fetch functions of device code read it. The object's handle is the address of one of these.
#pragma once

#include <stdbool.h>

#include "sim/runtime_types.h"

struct sim_texture {
    const void *data;
    size_t pitch;             // bytes from one row to the next
    size_t slice;             // bytes from one layer or z to the next
    int width, height, depth; // in elements; height and depth 0 where there is no such dimension; layers count as depth
    int element;              // bytes of an element
    unsigned flags;           // cudaArrayLayered, ...
    bool live;                // false: destroyed
    bool surface;
    struct cudaChannelFormatDesc format;
    struct cudaTextureDesc description; // zero for a surface
    struct cudaResourceDesc resource;
    const struct sim_texture *next_level; // of a mipmapped array: half as large; NULL: none
};

// The array behind cudaArray_t.
struct cudaArray {
    void *data;
    size_t pitch, slice;
    struct cudaExtent extent; // as asked for, in elements
    struct cudaChannelFormatDesc format;
    size_t element;
    unsigned flags;
    bool live;
    bool level; // of a mipmapped array, which owns it
};

// The arrays behind cudaMipmappedArray_t, largest first.
struct cudaMipmappedArray {
    struct cudaArray **levels;
    unsigned count;
};
