// Draws noise: eight bytes per step of splitmix64, which is as fast as memory on the machines that measure with it.

#include "data/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/owned.h"

// Sebastiano Vigna's splitmix64.
static uint64_t next_word(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

static void fill(uint8_t *bytes, size_t count, uint64_t *state)
{
    for (size_t done = 0; done < count; done += sizeof(uint64_t)) {
        const uint64_t word = next_word(state);
        memcpy(bytes + done, &word, count - done < sizeof word ? count - done : sizeof word);
    }
}

heddle_status heddle_noise_open(const heddle_noise *noise, heddle_dataset **dataset)
{
    heddle_owned_dataset *owned;
    const size_t pixels = (size_t)noise->channels * (size_t)noise->height * (size_t)noise->width;
    uint64_t state = 1;
    *dataset = NULL;
    HEDDLE_TRY(heddle_owned_create("noise", "random numbers", HEDDLE_TRAIN, &owned));
    heddle_dataset *made = &owned->dataset;
    strcpy(made->spec, "noise");
    made->count = noise->count;
    made->channels = noise->channels;
    made->height = noise->height;
    made->width = noise->width;
    made->classes = noise->classes < HEDDLE_MOST_CLASSES ? noise->classes : HEDDLE_MOST_CLASSES;
    made->images = owned->images = calloc((size_t)noise->count, pixels);
    made->labels = owned->labels = calloc((size_t)noise->count, 1);
    if (!owned->images || !owned->labels) {
        heddle_owned_free(owned);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY,
                           "not enough memory for %d images of %d×%d×%d, %.1f GB; choose a smaller batch", noise->count,
                           noise->channels, noise->height, noise->width, (double)noise->count * (double)pixels / 1e9);
    }
    fill(owned->images, (size_t)noise->count * pixels, &state);
    for (int i = 0; i < noise->count; i++)
        owned->labels[i] = (uint8_t)(next_word(&state) % (uint64_t)made->classes);
    *dataset = made;
    return HEDDLE_OK;
}
