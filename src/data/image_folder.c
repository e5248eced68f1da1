// Reads the image files of a folder. First the header of every file of both splits, which settle the channels and the
// size that the two have in common; then the pixels of one split. A file that cannot be read ends it: nothing is left
// out in silence.

#include "data/image_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/image_list.h"
#include "data/owned.h"
#include "data/scale.h"
#include "io/image_file.h"

enum {
    CHUNK = 256,      // files between two calls of the listener
    MOST_TOLD = 20,   // broken files that get a line of their own
    MOST_SIDE = 4096, // that a network takes
};

typedef struct heddle_reading {
    const char *folder;
    const heddle_dataset_options *options;
    heddle_pool *pool;
    heddle_image_list list;
    heddle_image_entry **chosen; // those of the split
    int chosen_count;
    int channels, height, width;
    uint8_t *images;
    int first;       // of the chunk that is read now
    int done, total; // files, each counted once per time it is read
} heddle_reading;

// --- in parallel ----------------------------------------------------------------------------------------------------

static void note_failure(heddle_image_entry *entry)
{
    if (entry->status != HEDDLE_OK)
        entry->error = strdup(heddle_last_error());
}

static void measure_one(void *context, int index, int worker)
{
    (void)worker;
    heddle_reading *reading = context;
    heddle_image_entry *entry = &reading->list.entries[reading->first + index];
    entry->status = heddle_image_file_measure(entry->path, &entry->info);
    note_failure(entry);
}

static heddle_status decode(const heddle_reading *reading, int index)
{
    const size_t pixels = (size_t)reading->channels * (size_t)reading->height * (size_t)reading->width;
    heddle_picture picture;
    HEDDLE_TRY(heddle_image_file_read(reading->chosen[index]->path, reading->channels, &picture));
    heddle_status status = heddle_scale(picture.pixels, picture.height, picture.width, reading->channels,
                                        reading->images + (size_t)index * pixels, reading->height, reading->width);
    heddle_picture_free(&picture);
    return status;
}

static void decode_one(void *context, int index, int worker)
{
    (void)worker;
    heddle_reading *reading = context;
    heddle_image_entry *entry = reading->chosen[reading->first + index];
    entry->status = decode(reading, reading->first + index);
    note_failure(entry);
}

static void run(heddle_reading *reading, int count, heddle_task *task)
{
    for (reading->first = 0; reading->first < count; reading->first += CHUNK) {
        int part = count - reading->first < CHUNK ? count - reading->first : CHUNK;
        heddle_pool_run(reading->pool, part, task, reading);
        reading->done += part;
        if (reading->options->progress)
            reading->options->progress(reading->options->context, reading->done, reading->total);
    }
}

static const char *reason(const heddle_image_entry *entry)
{
    return entry->error ? entry->error : entry->path; // without memory for more
}

// One line for each file that could not be read.
static heddle_status check_read(const heddle_reading *reading)
{
    const heddle_image_entry *first = NULL;
    int broken = 0, told = 0;
    for (int i = 0; i < reading->list.count; i++) {
        const heddle_image_entry *entry = &reading->list.entries[i];
        if (entry->status == HEDDLE_MISSING) // a library: the same for all
            return heddle_fail(entry->status, "%s", reason(entry));
        broken += entry->status != HEDDLE_OK;
        first = !first && entry->status != HEDDLE_OK ? entry : first;
    }
    if (broken < 2)
        return first ? heddle_fail(first->status, "%s", reason(first)) : HEDDLE_OK;
    for (const heddle_image_entry *entry = first; told < broken && told < MOST_TOLD; entry++)
        if (entry->status != HEDDLE_OK) {
            heddle_log(HEDDLE_LOG_ERROR, "%s", reason(entry));
            told++;
        }
    return heddle_fail(first->status, "%s: %d of %d image files cannot be read; repair or remove them", reading->folder,
                       broken, reading->list.count);
}

// --- channels and size ----------------------------------------------------------------------------------------------

static void settle_channels(heddle_reading *reading)
{
    reading->channels = 1;
    for (int i = 0; i < reading->list.count; i++)
        if (!reading->list.entries[i].info.grey)
            reading->channels = 3;
    if (reading->options->channels)
        reading->channels = reading->options->channels;
}

static heddle_status settle_size(heddle_reading *reading, char *scaled, size_t scaled_size)
{
    const heddle_dataset_options *options = reading->options;
    heddle_picture_info least = reading->list.entries[0].info, most = least;
    for (int i = 1; i < reading->list.count; i++) {
        const heddle_picture_info *info = &reading->list.entries[i].info;
        least.width = info->width < least.width ? info->width : least.width;
        least.height = info->height < least.height ? info->height : least.height;
        most.width = info->width > most.width ? info->width : most.width;
        most.height = info->height > most.height ? info->height : most.height;
    }
    const bool one_size = least.width == most.width && least.height == most.height;
    reading->width = options->width ? options->width : one_size ? most.width : HEDDLE_IMAGE_SIZE;
    reading->height = options->height ? options->height : one_size ? most.height : HEDDLE_IMAGE_SIZE;
    if (reading->width > MOST_SIDE || reading->height > MOST_SIDE)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: images of %d×%d pixels; a network takes at most %d×%d: scale them with --image-size",
                           reading->folder, reading->width, reading->height, MOST_SIDE, MOST_SIDE);
    if (!one_size)
        snprintf(scaled, scaled_size, "sizes from %d×%d to %d×%d, all scaled to %d×%d", least.width, least.height,
                 most.width, most.height, reading->width, reading->height);
    else if (most.width != reading->width || most.height != reading->height)
        snprintf(scaled, scaled_size, "%d×%d, scaled to %d×%d", most.width, most.height, reading->width,
                 reading->height);
    return HEDDLE_OK;
}

static heddle_status check_options(const heddle_dataset_options *options)
{
    if (options->width < 0 || options->height < 0 || !options->width != !options->height ||
        options->width > MOST_SIDE || options->height > MOST_SIDE)
        return heddle_fail(HEDDLE_INVALID, "images cannot be scaled to %d×%d: a side has 1 to %d pixels",
                           options->width, options->height, MOST_SIDE);
    if (options->channels != 0 && options->channels != 1 && options->channels != 3)
        return heddle_fail(HEDDLE_INVALID, "image files are read with 1 or 3 channels, not %d", options->channels);
    return HEDDLE_OK;
}

// --- the dataset ----------------------------------------------------------------------------------------------------

static heddle_status choose(heddle_reading *reading, heddle_split split)
{
    reading->chosen = calloc((size_t)reading->list.count + 1, sizeof(heddle_image_entry *));
    if (!reading->chosen)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to list its files", reading->folder);
    for (int i = 0; i < reading->list.count; i++)
        if (reading->list.entries[i].split == split)
            reading->chosen[reading->chosen_count++] = &reading->list.entries[i];
    reading->total = reading->list.count + reading->chosen_count;
    if (reading->chosen_count == 0)
        return heddle_fail(HEDDLE_NOT_FOUND, "%s has no images to test with: put at least two into a class",
                           reading->folder);
    return HEDDLE_OK;
}

// Memory that fills up gets processes killed, so a dataset larger than all of it is refused first.
static heddle_status make_room(heddle_reading *reading, heddle_owned_dataset *owned)
{
    const uint64_t pixels = (uint64_t)reading->channels * (uint64_t)reading->height * (uint64_t)reading->width;
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t group = heddle_cgroup_get_memory().limit, room = machine < group ? machine : group;
    const uint64_t count = (uint64_t)reading->chosen_count;
    owned->labels = calloc((size_t)count, 1);
    if (pixels <= room / count)
        reading->images = owned->images = calloc((size_t)count, (size_t)pixels);
    if (!owned->images || !owned->labels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY,
                           "%s: %d images of %d×%d×%d need %.1f GB of memory, and there are %.1f GB: choose a smaller "
                           "--image-size",
                           reading->folder, reading->chosen_count, reading->channels, reading->height, reading->width,
                           (double)pixels * (double)count / 1e9, (double)room / 1e9);
    return HEDDLE_OK;
}

static heddle_status name_classes(heddle_reading *reading, heddle_owned_dataset *owned)
{
    heddle_image_list *list = &reading->list;
    size_t size = 1;
    for (int i = 0; i < list->classes; i++)
        size += strlen(list->class_names[i]) + 1;
    owned->class_text = malloc(size);
    owned->class_names = calloc(HEDDLE_MOST_CLASSES, sizeof *owned->class_names);
    if (!owned->class_text || !owned->class_names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for the names", reading->folder);
    char *end = owned->class_text;
    for (int i = 0; i < list->classes; i++) {
        owned->class_names[i] = end;
        end = stpcpy(end, list->class_names[i]) + 1;
    }
    owned->dataset.class_names = owned->class_names;
    owned->dataset.classes = list->classes;
    return HEDDLE_OK;
}

// Once for the two splits of a training run, and once where a trained network reads only one.
static void tell_ignored(const heddle_reading *reading, heddle_split split)
{
    char text[512];
    if ((split == HEDDLE_TRAIN || reading->options->class_names) &&
        heddle_image_ignored_text(&reading->list.ignored, text, sizeof text)[0])
        heddle_log(HEDDLE_LOG_WARN, "%s: ignored: %s", reading->folder, text);
}

static heddle_status read_split(heddle_reading *reading, heddle_owned_dataset *owned)
{
    heddle_dataset *dataset = &owned->dataset;
    const heddle_dataset_options *options = reading->options;
    HEDDLE_TRY(check_options(options));
    HEDDLE_TRY(heddle_image_list_read(reading->folder, options->class_names, options->classes, &reading->list));
    tell_ignored(reading, dataset->split);
    HEDDLE_TRY(choose(reading, dataset->split));
    HEDDLE_TRY(heddle_pool_create(options->threads, &reading->pool));
    run(reading, reading->list.count, measure_one);
    HEDDLE_TRY(check_read(reading));
    settle_channels(reading);
    HEDDLE_TRY(settle_size(reading, dataset->scaled, sizeof dataset->scaled));
    HEDDLE_TRY(make_room(reading, owned));
    run(reading, reading->chosen_count, decode_one);
    HEDDLE_TRY(check_read(reading));
    for (int i = 0; i < reading->chosen_count; i++)
        owned->labels[i] = (uint8_t)reading->chosen[i]->label;
    dataset->count = reading->chosen_count;
    dataset->channels = reading->channels;
    dataset->height = reading->height;
    dataset->width = reading->width;
    dataset->images = owned->images;
    dataset->labels = owned->labels;
    return name_classes(reading, owned);
}

heddle_status heddle_image_folder_open(const char *folder, heddle_split split, const heddle_dataset_options *options,
                                       heddle_dataset **dataset)
{
    *dataset = NULL;
    heddle_owned_dataset *owned;
    HEDDLE_TRY(heddle_owned_create(folder, folder, split, &owned));
    heddle_reading reading = {.folder = folder, .options = options};
    heddle_status status = read_split(&reading, owned);
    heddle_pool_destroy(reading.pool);
    heddle_image_list_free(&reading.list);
    free(reading.chosen);
    if (status != HEDDLE_OK) {
        heddle_owned_free(owned);
        return status;
    }
    *dataset = &owned->dataset;
    return HEDDLE_OK;
}
