// The dataset that heddle draws itself: digits with random strokes, shifts, slant and noise, from a seed.
#pragma once

#include "heddle/data.h"

enum { HEDDLE_SYNTH_MOST_CHANNELS = 64 };

// `text` is "count=10000,seed=1,size=28,channels=1", any part of it, or NULL. The test split has a fifth of `count`
// images. Image i of a split depends on the seed, the split, i, the size and the channels alone: a larger count only
// adds images, and a further channel only adds a plane.
heddle_status heddle_synth_open(const char *text, heddle_split split, heddle_dataset **dataset);
