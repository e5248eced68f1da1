// Datasets of labelled images, and the loader that brings them in shuffled batches.
#ifndef HEDDLE_DATA_H
#define HEDDLE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_split { HEDDLE_TRAIN, HEDDLE_TEST } heddle_split;

// Everything is in memory: images as bytes (count, channels, height, width), a label an image.
typedef struct heddle_dataset {
    char name[64];     // "fashion", "mnist", "synth", or the folder
    char spec[1024];   // what heddle_dataset_open takes to open it again; a folder's whole path
    char source[1024]; // where it came from, for people
    heddle_split split;
    int count, channels, height, width, classes;
    const uint8_t *images;
    const uint8_t *labels;
    const char *const *class_names; // NULL: the numbers
    char scaled[128];               // what was done to image files to bring them to one size; "": nothing
} heddle_dataset;

// Opens "fashion", "mnist", "synth", "synth:count=500,seed=7", a folder with the four files in MNIST's layout
// (train-images-idx3-ubyte[.gz] and so on; idx4 for several channels), or a folder with one subfolder of PNG or JPEG
// files per class (docs/data.md). Named sets are looked for in `folder` (may be NULL), $HEDDLE_DATA, the user's data
// folder and the system's. Every file is validated before use.
HEDDLE_API heddle_status heddle_dataset_open(const char *name, const char *folder, heddle_split split,
                                             heddle_dataset **dataset);

enum { HEDDLE_IMAGE_SIZE = 64 }; // height and width of images whose files have different sizes

// Called now and then while image files are read, from the thread that opens the dataset.
typedef void heddle_dataset_progress(void *context, int files, int total);

// All but `folder` is for folders of image files; zero is the default.
typedef struct heddle_dataset_options {
    const char *folder; // where named sets are looked for first
    int channels;       // 1 or 3; 0: 1 if every file is stored in grey, else 3
    int height, width;  // 0: the files' own if they have one, else HEDDLE_IMAGE_SIZE; others are scaled to it
    // The classes that a network knows, by number: a subfolder of another name is refused. NULL: the subfolders' names,
    // sorted.
    const char *const *class_names;
    int classes;
    int threads;                       // that read files; 0: one per core
    heddle_dataset_progress *progress; // may be NULL
    void *context;
} heddle_dataset_options;
HEDDLE_API heddle_status heddle_dataset_open_with(const char *name, heddle_split split,
                                                  const heddle_dataset_options *options, heddle_dataset **dataset);
// A dataset of images that the caller has in memory. `given` says all but `spec`; an empty name is "memory". Images and
// labels are not copied and must outlive the dataset; everything else is copied. Every label is checked.
HEDDLE_API heddle_status heddle_dataset_create(const heddle_dataset *given, heddle_dataset **dataset);
// Best set that is here: mnist, fashion, else synth. Returns its name.
HEDDLE_API const char *heddle_dataset_default(const char *folder);
HEDDLE_API void heddle_dataset_close(heddle_dataset *dataset); // NULL is fine

// What `heddle data list` shows of a named set.
typedef struct heddle_dataset_info {
    const char *name;
    const char *summary;
    bool present;
    char where[1024]; // the folder, or how to get it
} heddle_dataset_info;
HEDDLE_API int heddle_dataset_list(const char *folder, heddle_dataset_info *list, int room); // returns the number known

// Downloads `name` into its own folder NAME under `folder` (NULL: the user's data folder), resuming what an earlier try
// left; checks SHA-256 and moves each file into place only when whole. Two downloads into one folder take turns.
// `mirrors` (NULL-terminated base addresses, http or https) may be NULL for the built-in list. `progress` may be NULL;
// a non-zero return stops the download (HEDDLE_INTERRUPTED). `file` is "" while another download is waited for.
typedef int heddle_download_progress(void *context, const char *file, uint64_t received, uint64_t total);
HEDDLE_API heddle_status heddle_dataset_download(const char *name, const char *folder, const char *const *mirrors,
                                                 heddle_download_progress *progress, void *context);
// "$XDG_DATA_HOME/heddle" or "~/.local/share/heddle".
HEDDLE_API heddle_status heddle_data_folder(char *path, size_t size);

// --- augmentation ---------------------------------------------------------------------------------------------------
// Random changes of training images, drawn anew for each epoch from the seed, the epoch and the number of the image, so
// that a resumed run, every device and every number of ranks see the same pixels. All zero: none.

typedef struct heddle_augment {
    int crop;  // pad with so many black pixels on each side, then cut the original size out anywhere
    int flip;  // 1: mirror left to right, every second time
    int shift; // then move by up to so many pixels, up or down and sideways, repeating the pixels of the border
} heddle_augment;
enum { HEDDLE_AUGMENT_MOST = 127 }; // pixels

// "crop:4,flip,shift:2" in any order, or "none".
HEDDLE_API heddle_status heddle_augment_parse(const char *text, heddle_augment *augment);

// --- loader ---------------------------------------------------------------------------------------------------------
// A thread prepares batches ahead: pixels / 255 as float (n, channels, height, width), labels as int32. The order of
// epoch e depends on the seed and e alone.

// That order: 0 to count - 1, shuffled.
HEDDLE_API void heddle_epoch_order(uint64_t seed, int epoch, uint32_t *order, int count);

typedef struct heddle_loader heddle_loader;

// Of `count` samples, those of process `rank` of `ranks`: as equal parts as can be, in order. Returns how many there
// are; *first is the place of the first.
HEDDLE_API int heddle_shard(int count, int rank, int ranks, int *first);

typedef struct heddle_batch {
    int count;           // the last of an epoch may be short; of a shard: it may be 0
    int first, whole;    // this is `count` samples from `first` on of a batch of `whole`
    int epoch, index;    // which batch this is, both from 0
    const float *images; // NULL where bytes were asked for
    const int32_t *labels;
    const uint32_t *order; // index of each sample in the dataset
    const uint8_t *bytes;  // NULL unless asked for
} heddle_batch;

typedef struct heddle_loader_options {
    int batch;
    uint64_t seed;
    bool shuffle;
    bool drop_last; // leave out a short last batch
    heddle_augment augment;
    int ahead;       // batches prepared in advance; 0: 2
    int hold;        // how many of the latest batches stay valid; 0: 1
    int threads;     // that fill a batch together; 0: 1
    int rank, ranks; // only this process's shard of every batch; ranks 0: all of it
    // The caller's own memory, pinned for copies to a GPU, say: room for `ahead` + `hold` batches of images as bytes,
    // and of labels. Batches then have `bytes` instead of `images`. NULL: the loader's own, and floats.
    uint8_t *bytes;
    int32_t *labels;
} heddle_loader_options;

HEDDLE_API heddle_status heddle_loader_create(const heddle_dataset *dataset, const heddle_loader_options *options,
                                              heddle_loader **loader);
HEDDLE_API int heddle_loader_batches(const heddle_loader *loader); // in an epoch
// The next batch to come is number `index` of `epoch`.
HEDDLE_API heddle_status heddle_loader_seek(heddle_loader *loader, int epoch, int index);
// Runs on into the next epoch by itself. The batch stays valid until the next call, or as many calls as `hold` says.
HEDDLE_API heddle_status heddle_loader_next(heddle_loader *loader, heddle_batch *batch);
HEDDLE_API void heddle_loader_destroy(heddle_loader *loader);

#ifdef __cplusplus
}
#endif
#endif
