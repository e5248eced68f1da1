// The synth dataset: its options, and all its images drawn over the cores. One image is synth_draw.c's.

#include "data/synth.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "data/owned.h"
#include "data/synth_draw.h"

enum {
    DEFAULT_COUNT = 10000,
    DEFAULT_SEED = 1,
    DEFAULT_SIZE = 28,
    DEFAULT_CHANNELS = 1,
    MOST_COUNT = 10 * 1000 * 1000,
    TEST_SHARE = 5,      // a fifth as many images to test as to train
    IMAGES_A_TASK = 128, // a few milliseconds
    FEW_IMAGES = 512,    // fewer are drawn before threads would have started
    OPTION_SIZE = 64,
};
static const uint64_t most_bytes = (uint64_t)4 << 30;
static const uint64_t synth_sequence = 0x53594e5400000000; // "SYNT": keeps these numbers apart from the trainer's
static const uint64_t test_sequence = (uint64_t)1 << 31;

typedef struct heddle_synth_options {
    uint64_t count, seed, size, channels;
} heddle_synth_options;

// --- options --------------------------------------------------------------------------------------------------------

static heddle_status unknown_option(const char *name)
{
    static const char *const names[] = {"count", "seed", "size", "channels"};
    const char *nearest = heddle_text_nearest(name, names, sizeof names / sizeof *names);
    return heddle_fail(HEDDLE_INVALID, "dataset synth has no option %s%s%s%s (options: count, seed, size, channels)",
                       name, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status parse_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || number < least || number > most)
        return heddle_fail(HEDDLE_INVALID, "dataset synth: %s=%s is not an integer from %llu to %llu", name, text,
                           (unsigned long long)least, (unsigned long long)most);
    *value = number;
    return HEDDLE_OK;
}

static heddle_status parse_option(char *option, heddle_synth_options *options)
{
    char *value = strchr(option, '=');
    if (!value)
        return heddle_fail(HEDDLE_INVALID, "dataset synth: option %s needs a value, as in synth:count=500,seed=7",
                           option);
    *value++ = '\0';
    if (strcmp(option, "count") == 0)
        return parse_number(option, value, 1, MOST_COUNT, &options->count);
    if (strcmp(option, "seed") == 0)
        return parse_number(option, value, 0, UINT64_MAX, &options->seed);
    if (strcmp(option, "size") == 0)
        return parse_number(option, value, HEDDLE_SYNTH_LEAST_SIZE, HEDDLE_SYNTH_MOST_SIZE, &options->size);
    if (strcmp(option, "channels") == 0)
        return parse_number(option, value, 1, HEDDLE_SYNTH_MOST_CHANNELS, &options->channels);
    return unknown_option(option);
}

static heddle_status parse_options(const char *text, heddle_synth_options *options)
{
    *options = (heddle_synth_options){DEFAULT_COUNT, DEFAULT_SEED, DEFAULT_SIZE, DEFAULT_CHANNELS};
    while (text && *text) {
        size_t length = strcspn(text, ",");
        char option[OPTION_SIZE];
        if (length >= sizeof option)
            return heddle_fail(HEDDLE_INVALID, "dataset synth: option %.*s... is too long", OPTION_SIZE, text);
        memcpy(option, text, length);
        option[length] = '\0';
        HEDDLE_TRY(parse_option(option, options));
        text += length + (text[length] == ',');
    }
    if (options->count * options->channels * options->size * options->size > most_bytes)
        return heddle_fail(HEDDLE_INVALID, "dataset synth: %llu images of %llu×%llu×%llu are more than 4 GiB",
                           (unsigned long long)options->count, (unsigned long long)options->channels,
                           (unsigned long long)options->size, (unsigned long long)options->size);
    return HEDDLE_OK;
}

// --- drawing --------------------------------------------------------------------------------------------------------

typedef struct heddle_synth_job {
    heddle_owned_dataset *owned;
    uint64_t seed;
    int32_t *distances; // size × size numbers a worker
} heddle_synth_job;

// An image in colour: the digit is drawn into the first plane, and the others are that plane, each more or less bright.
static void colour(heddle_random *random, int channels, size_t pixels, uint8_t *image)
{
    for (int channel = 1; channel < channels; channel++) {
        int brightness = (int)heddle_random_below(random, UINT8_MAX + 1);
        for (size_t i = 0; i < pixels; i++)
            image[(size_t)channel * pixels + i] = (uint8_t)(image[i] * brightness / UINT8_MAX);
    }
}

static void draw_images(void *context, int task, int worker)
{
    const heddle_synth_job *job = context;
    const heddle_dataset *dataset = &job->owned->dataset;
    int size = dataset->width;
    size_t pixels = (size_t)size * (size_t)size;
    uint64_t sequence = synth_sequence | (dataset->split == HEDDLE_TEST ? test_sequence : 0);
    int end = (task + 1) * IMAGES_A_TASK < dataset->count ? (task + 1) * IMAGES_A_TASK : dataset->count;
    for (int i = task * IMAGES_A_TASK; i < end; i++) {
        heddle_random random = heddle_random_make(job->seed, sequence | (uint64_t)i);
        int digit = (int)heddle_random_below(&random, HEDDLE_SYNTH_CLASSES);
        job->owned->labels[i] = (uint8_t)digit;
        uint8_t *image = job->owned->images + (size_t)i * (size_t)dataset->channels * pixels;
        heddle_synth_draw(&random, digit, size, job->distances + (size_t)worker * pixels, image);
        colour(&random, dataset->channels, pixels, image);
    }
}

static heddle_status draw_all(heddle_owned_dataset *owned, uint64_t seed)
{
    heddle_pool *pool;
    int tasks = (owned->dataset.count + IMAGES_A_TASK - 1) / IMAGES_A_TASK;
    HEDDLE_TRY(heddle_pool_create(owned->dataset.count < FEW_IMAGES ? 1 : 0, &pool));
    size_t pixels = (size_t)owned->dataset.width * (size_t)owned->dataset.width;
    heddle_synth_job job = {.owned = owned, .seed = seed};
    job.distances = calloc((size_t)heddle_pool_threads(pool) * pixels, sizeof *job.distances);
    if (job.distances)
        heddle_pool_run(pool, tasks, draw_images, &job);
    heddle_pool_destroy(pool);
    if (!job.distances)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to generate dataset synth");
    free(job.distances);
    return HEDDLE_OK;
}

static heddle_status make_dataset(const heddle_synth_options *options, heddle_split split, heddle_owned_dataset *owned)
{
    heddle_dataset *dataset = &owned->dataset;
    uint64_t count = split == HEDDLE_TRAIN ? options->count : (options->count + TEST_SHARE - 1) / TEST_SHARE;
    int size = (int)options->size;
    strcpy(dataset->name, "synth");
    snprintf(dataset->source, sizeof dataset->source, "generated from seed %llu", (unsigned long long)options->seed);
    dataset->split = split;
    dataset->count = (int)count;
    dataset->channels = (int)options->channels;
    dataset->height = dataset->width = size;
    dataset->classes = HEDDLE_SYNTH_CLASSES;
    dataset->images = owned->images = malloc((size_t)count * options->channels * options->size * options->size);
    dataset->labels = owned->labels = malloc((size_t)count);
    if (!owned->images || !owned->labels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %d images of dataset synth", dataset->count);
    return draw_all(owned, options->seed);
}

heddle_status heddle_synth_open(const char *text, heddle_split split, heddle_dataset **dataset)
{
    *dataset = NULL;
    heddle_synth_options options;
    HEDDLE_TRY(parse_options(text, &options));
    heddle_owned_dataset *owned = calloc(1, sizeof *owned);
    if (!owned)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for dataset synth");
    heddle_status status = make_dataset(&options, split, owned);
    if (status != HEDDLE_OK) {
        heddle_owned_free(owned);
        return status;
    }
    *dataset = &owned->dataset;
    return HEDDLE_OK;
}
