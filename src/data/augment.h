// Random moves of training images. How a pixel moves is base/move.h's business.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heddle/data.h"
#include "heddle/ops.h"

enum { HEDDLE_AUGMENT_TEXT = 64 }; // room for heddle_augment_text

bool heddle_augments(const heddle_augment *augment); // does it change anything?
// "crop:4,flip,shift:2", or "none"
const char *heddle_augment_text(const heddle_augment *augment, char text[HEDDLE_AUGMENT_TEXT]);
// Each number within its range, and within images of `height` × `width`, which are not looked at if they are 0.
heddle_status heddle_augment_check(const heddle_augment *augment, int height, int width);

// The move of a sample in an epoch: it follows from these numbers alone.
void heddle_augment_draw(const heddle_augment *augment, uint64_t seed, int epoch, uint32_t sample,
                         int8_t move[HEDDLE_MOVE_COUNT]);
// from, to: (channels, height, width)
void heddle_augment_apply(const int8_t move[HEDDLE_MOVE_COUNT], const uint8_t *from, int channels, int height,
                          int width, uint8_t *to);
