// Draws moves by counter, so that a resumed run, another device or another number of ranks sees the same images.

#include "data/augment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/move.h"
#include "heddle/random.h"

static const uint32_t augment_sequence = 0x4155474d; // "AUGM": keeps these numbers apart from others of the seed

bool heddle_augments(const heddle_augment *augment)
{
    return augment->crop || augment->flip || augment->shift;
}

const char *heddle_augment_text(const heddle_augment *augment, char text[HEDDLE_AUGMENT_TEXT])
{
    char crop[24] = "", shift[24] = "";
    if (augment->crop)
        snprintf(crop, sizeof crop, ",crop:%d", augment->crop);
    if (augment->shift)
        snprintf(shift, sizeof shift, ",shift:%d", augment->shift);
    char all[HEDDLE_AUGMENT_TEXT];
    snprintf(all, sizeof all, "%s%s%s", crop, augment->flip ? ",flip" : "", shift);
    snprintf(text, HEDDLE_AUGMENT_TEXT, "%s", all[0] ? all + 1 : "none");
    return text;
}

// One word of the text: "crop:4" or "flip".
static bool take_word(const char *word, heddle_augment *augment)
{
    const struct {
        const char *name;
        int *pixels;
    } counted[] = {{"crop:", &augment->crop}, {"shift:", &augment->shift}};
    if (strcmp(word, "flip") == 0 && !augment->flip) {
        augment->flip = 1;
        return true;
    }
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        size_t length = strlen(counted[i].name);
        if (strncmp(word, counted[i].name, length) != 0 || *counted[i].pixels)
            continue;
        char *end;
        long pixels = strtol(word + length, &end, 10);
        if (end == word + length || *end || pixels < 1 || pixels > HEDDLE_AUGMENT_MOST)
            return false;
        *counted[i].pixels = (int)pixels;
        return true;
    }
    return false;
}

heddle_status heddle_augment_parse(const char *text, heddle_augment *augment)
{
    *augment = (heddle_augment){0};
    if (strcmp(text, "none") == 0)
        return HEDDLE_OK;
    char copy[128], *rest = copy;
    bool good = snprintf(copy, sizeof copy, "%s", text) < (int)sizeof copy;
    for (char *word; good && (word = strsep(&rest, ","));)
        good = take_word(word, augment);
    if (good)
        return HEDDLE_OK;
    *augment = (heddle_augment){0};
    return heddle_fail(HEDDLE_INVALID,
                       "augmentation \"%s\" is not understood: write crop:N, flip and shift:N, each at most once, with "
                       "commas between, or none; N is 1 to %d pixels",
                       text, HEDDLE_AUGMENT_MOST);
}

heddle_status heddle_augment_check(const heddle_augment *augment, int height, int width)
{
    const int numbers[] = {augment->crop, augment->shift};
    char text[HEDDLE_AUGMENT_TEXT];
    for (int i = 0; i < 2; i++)
        if (numbers[i] < 0 || numbers[i] > HEDDLE_AUGMENT_MOST || (unsigned)augment->flip > 1)
            return heddle_fail(HEDDLE_INVALID,
                               "augmentation crop %d, flip %d, shift %d: pixels are 0 to %d, flip 0 or 1",
                               augment->crop, augment->flip, augment->shift, HEDDLE_AUGMENT_MOST);
    for (int i = 0; i < 2 && height > 0 && width > 0; i++)
        if (numbers[i] >= height || numbers[i] >= width)
            return heddle_fail(HEDDLE_INVALID,
                               "augmentation %s moves images of %d×%d out of sight; choose fewer pixels",
                               heddle_augment_text(augment, text), width, height);
    return HEDDLE_OK;
}

// -most to most, from 16 random bits.
static int8_t between(uint32_t bits, int most)
{
    return (int8_t)((int)((bits & 0xffff) * (2 * (uint32_t)most + 1) >> 16) - most);
}

void heddle_augment_draw(const heddle_augment *augment, uint64_t seed, int epoch, uint32_t sample,
                         int8_t move[HEDDLE_MOVE_COUNT])
{
    const uint32_t counter[4] = {sample, (uint32_t)epoch, 0, augment_sequence};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    heddle_philox(counter, key, words);
    move[HEDDLE_MOVE_CROP_DOWN] = between(words[0], augment->crop);
    move[HEDDLE_MOVE_CROP_RIGHT] = between(words[0] >> 16, augment->crop);
    move[HEDDLE_MOVE_SHIFT_DOWN] = between(words[1], augment->shift);
    move[HEDDLE_MOVE_SHIFT_RIGHT] = between(words[1] >> 16, augment->shift);
    move[HEDDLE_MOVE_FLIP] = augment->flip ? (int8_t)(words[2] >> 31) : 0;
}

void heddle_augment_apply(const int8_t move[HEDDLE_MOVE_COUNT], const uint8_t *from, int channels, int height,
                          int width, uint8_t *to)
{
    const size_t plane = (size_t)height * (size_t)width;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int source = heddle_move_source(move, height, width, y, x);
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            for (int c = 0; c < channels; c++)
                to[(size_t)c * plane + at] = source < 0 ? 0 : from[(size_t)c * plane + (size_t)source];
        }
}
