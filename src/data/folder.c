// Reading a folder in MNIST's layout. idx.c has checked each file by itself; here the files are held against each
// other: as many labels as images, and no label that is not a class. Where folders are looked for is in dataset.c.

#include "data/folder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/place.h"
#include "data/owned.h"

enum { MAX_CLASSES_FILE = 64 * 1024 };

static const char *split_name(heddle_split split)
{
    return split == HEDDLE_TRAIN ? "train" : "t10k";
}

// --- finding --------------------------------------------------------------------------------------------------------

static bool try_file(const char *folder, const char *stem, const char *ending, char path[HEDDLE_PATH_SIZE])
{
    static const char separators[] = "-.";
    static const char *const compressions[] = {"", ".gz"};
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 2; c++) {
            int length = snprintf(path, HEDDLE_PATH_SIZE, "%s/%s%c%s-ubyte%s", folder, stem, separators[s], ending,
                                  compressions[c]);
            if (length < HEDDLE_PATH_SIZE && heddle_file_exists(path))
                return true;
        }
    return false;
}

// The path of one of a folder's files: "train-images-idx3-ubyte", with '.' before "idx", idx4 for images with channels,
// raw or .gz. False when none of these is there.
static bool find_file(const char *folder, heddle_split split, heddle_idx_kind kind, char path[HEDDLE_PATH_SIZE])
{
    char stem[32];
    snprintf(stem, sizeof stem, "%s-%s", split_name(split), kind == HEDDLE_IDX_LABELS ? "labels" : "images");
    if (kind == HEDDLE_IDX_LABELS)
        return try_file(folder, stem, "idx1", path);
    return try_file(folder, stem, "idx3", path) || try_file(folder, stem, "idx4", path);
}

bool heddle_folder_has(const char *folder, heddle_split split)
{
    char path[HEDDLE_PATH_SIZE];
    return find_file(folder, split, HEDDLE_IDX_IMAGES, path) && find_file(folder, split, HEDDLE_IDX_LABELS, path);
}

static heddle_status need_file(const char *folder, heddle_split split, heddle_idx_kind kind,
                               char path[HEDDLE_PATH_SIZE])
{
    if (find_file(folder, split, kind, path))
        return HEDDLE_OK;
    const char *name = kind == HEDDLE_IDX_LABELS ? "labels-idx1-ubyte" : "images-idx3-ubyte";
    char inner[HEDDLE_PATH_SIZE], page[HEDDLE_PLACE_SIZE];
    snprintf(inner, sizeof inner, "%s/mnist", folder);
    if (heddle_folder_has(inner, split))
        return heddle_fail(HEDDLE_NOT_FOUND, "%s has no %s-%s, raw or .gz; did you mean %s?", folder, split_name(split),
                           name, inner);
    return heddle_fail(HEDDLE_NOT_FOUND, "%s has no %s-%s, raw or .gz%s; %s describes the layout", folder,
                       split_name(split), name,
                       kind == HEDDLE_IDX_IMAGES ? " (nor idx4), and no subfolders of PNG or JPEG files" : "",
                       heddle_page("data.md", page));
}

// --- classes --------------------------------------------------------------------------------------------------------

// Cuts text into lines; *count of them, the names pointing into it.
static heddle_status split_lines(const char *path, char *text, const char **names, int *count)
{
    int line = 0;
    *count = 0;
    for (char *rest = text, *start; (start = strsep(&rest, "\n"));) {
        line++;
        while (isspace((unsigned char)*start))
            start++;
        size_t length = strlen(start);
        while (length > 0 && isspace((unsigned char)start[length - 1]))
            start[--length] = '\0';
        if (length == 0)
            continue;
        if (line != *count + 1)
            return heddle_fail(HEDDLE_CORRUPT, "%s: line %d names a class after an empty line", path, line);
        if (*count == HEDDLE_MOST_CLASSES)
            return heddle_fail(HEDDLE_CORRUPT, "%s: names more than %d classes", path, HEDDLE_MOST_CLASSES);
        names[(*count)++] = start;
    }
    if (*count == 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s: names no classes", path);
    return HEDDLE_OK;
}

static heddle_status read_class_names(const char *path, heddle_owned_dataset *owned)
{
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, MAX_CLASSES_FILE, &owned->class_text, &size));
    if (strlen(owned->class_text) != size)
        return heddle_fail(HEDDLE_CORRUPT, "%s: is not text", path);
    owned->class_names = calloc(HEDDLE_MOST_CLASSES, sizeof *owned->class_names);
    if (!owned->class_names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory for the names", path);
    HEDDLE_TRY(split_lines(path, owned->class_text, owned->class_names, &owned->dataset.classes));
    owned->dataset.class_names = owned->class_names;
    return HEDDLE_OK;
}

static int count_classes(const uint8_t *labels, size_t count)
{
    int most = 0;
    for (size_t i = 0; i < count; i++)
        most = labels[i] > most ? labels[i] : most;
    return most + 1;
}

// A named dataset has its classes in the table. A folder names them in classes.txt, or the training labels give their
// number.
static heddle_status find_classes(const char *folder, const heddle_named_set *set, heddle_owned_dataset *owned)
{
    heddle_dataset *dataset = &owned->dataset;
    char path[HEDDLE_PATH_SIZE];
    if (set) {
        dataset->classes = set->classes;
        dataset->class_names = set->class_names;
        return HEDDLE_OK;
    }
    if (snprintf(path, sizeof path, "%s/classes.txt", folder) < (int)sizeof path && heddle_file_exists(path))
        return read_class_names(path, owned);
    if (dataset->split == HEDDLE_TRAIN || !find_file(folder, HEDDLE_TRAIN, HEDDLE_IDX_LABELS, path)) {
        dataset->classes = count_classes(owned->labels, (size_t)dataset->count);
        return HEDDLE_OK;
    }
    heddle_idx labels;
    HEDDLE_TRY(heddle_idx_read(path, HEDDLE_IDX_LABELS, &labels));
    dataset->classes = count_classes(labels.values, labels.size);
    heddle_idx_free(&labels);
    return HEDDLE_OK;
}

static heddle_status check_labels(const char *path, const heddle_owned_dataset *owned)
{
    const heddle_dataset *dataset = &owned->dataset;
    char named[64] = "";
    if (owned->class_names) // the labels may be right and that file too short
        snprintf(named, sizeof named, "classes.txt names %d class%s, ", dataset->classes,
                 dataset->classes == 1 ? "" : "es");
    for (int i = 0; i < dataset->count; i++)
        if (dataset->labels[i] >= dataset->classes)
            return heddle_fail(HEDDLE_CORRUPT, "%s: label %d of image %d is out of range: %s%s0 to %d", path,
                               dataset->labels[i], i, named, named[0] ? "" : "the classes are ", dataset->classes - 1);
    return HEDDLE_OK;
}

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status read_images(const char *path, heddle_owned_dataset *owned)
{
    heddle_idx idx;
    HEDDLE_TRY(heddle_idx_read(path, HEDDLE_IDX_IMAGES, &idx));
    heddle_dataset *dataset = &owned->dataset;
    dataset->count = idx.dims[0];
    dataset->channels = idx.rank == 4 ? idx.dims[1] : 1;
    dataset->height = idx.dims[idx.rank - 2];
    dataset->width = idx.dims[idx.rank - 1];
    dataset->images = owned->images = idx.values;
    return HEDDLE_OK;
}

static heddle_status read_labels(const char *path, const char *images_path, heddle_owned_dataset *owned)
{
    heddle_idx idx;
    HEDDLE_TRY(heddle_idx_read(path, HEDDLE_IDX_LABELS, &idx));
    owned->dataset.labels = owned->labels = idx.values;
    if (idx.dims[0] != owned->dataset.count)
        return heddle_fail(HEDDLE_CORRUPT, "%s has %d labels, but %s has %d images", path, idx.dims[0], images_path,
                           owned->dataset.count);
    return HEDDLE_OK;
}

static heddle_status read_split(const char *folder, const heddle_named_set *set, heddle_owned_dataset *owned)
{
    char images_path[HEDDLE_PATH_SIZE], labels_path[HEDDLE_PATH_SIZE];
    heddle_split split = owned->dataset.split;
    HEDDLE_TRY(need_file(folder, split, HEDDLE_IDX_IMAGES, images_path));
    HEDDLE_TRY(need_file(folder, split, HEDDLE_IDX_LABELS, labels_path));
    HEDDLE_TRY(read_images(images_path, owned));
    HEDDLE_TRY(read_labels(labels_path, images_path, owned));
    HEDDLE_TRY(find_classes(folder, set, owned));
    return check_labels(labels_path, owned);
}

heddle_status heddle_folder_open(const char *folder, const heddle_named_set *set, heddle_split split,
                                 heddle_dataset **dataset)
{
    *dataset = NULL;
    heddle_owned_dataset *owned;
    HEDDLE_TRY(heddle_owned_create(set ? set->name : folder, folder, split, &owned));
    heddle_status status = read_split(folder, set, owned);
    if (status != HEDDLE_OK) {
        heddle_owned_free(owned);
        return status;
    }
    *dataset = &owned->dataset;
    return HEDDLE_OK;
}
