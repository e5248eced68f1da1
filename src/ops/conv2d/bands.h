// Bands of an image: what the sliding-window kernels of conv2d's weight gradient keep in shared memory at a time.
#pragma once

#include "ops/conv2d/split.h"

typedef struct band_place {
    int n, y, x; // of its first pixel
} band_place;

__device__ static band_place place_of(const conv2d_view &view, long long band)
{
    int strips = view.out_width / CONV2D_SLIDING_STRIP,
        bands_of_image = (view.out_height + CONV2D_SLIDING_ROWS - 1) / CONV2D_SLIDING_ROWS;
    band_place place;
    place.x = (int)(band % strips) * CONV2D_SLIDING_STRIP;
    place.y = (int)(band / strips % bands_of_image) * CONV2D_SLIDING_ROWS;
    place.n = (int)(band / strips / bands_of_image);
    return place;
}

__device__ static void advance(const conv2d_view &view, band_place &place)
{
    place.x += CONV2D_SLIDING_STRIP;
    if (place.x < view.out_width)
        return;
    place.x = 0;
    place.y += CONV2D_SLIDING_ROWS;
    if (place.y >= view.out_height) {
        place.y = 0;
        place.n++;
    }
}
