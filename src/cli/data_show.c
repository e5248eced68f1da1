// `heddle data show`: images of a dataset as text in the terminal, or as a PNG sheet.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/dataset.h"
#include "cli/drawing.h"
#include "heddle/data.h"
#include "io/png.h"

enum { MOST_SHOWN = 10000 };

typedef struct show_settings {
    int count, index, split, style;
    const char *folder, *png;
} show_settings;

static const char *const splits[] = {"train", "test", NULL};          // in the order of heddle_split
static const char *const styles[] = {"auto", "blocks", "ramp", NULL}; // in the order of heddle_drawing_style

static const heddle_cli_option options[] = {
    {"count", HEDDLE_CLI_INT, offsetof(show_settings, count), "N", "8", "number of images", 1, MOST_SHOWN, NULL},
    {"index", HEDDLE_CLI_INT, offsetof(show_settings, index), "N", "0", "first image, counted from 0", 0, INT_MAX,
     NULL},
    {"split", HEDDLE_CLI_CHOICE, offsetof(show_settings, split), "SPLIT", "test", "part of the dataset", 0, 0, splits},
    {"png", HEDDLE_CLI_TEXT, offsetof(show_settings, png), "FILE", NULL,
     "write the images to this PNG file instead of drawing them in the terminal", 0, 0, NULL},
    {"style", HEDDLE_CLI_CHOICE, offsetof(show_settings, style), "STYLE", "auto",
     "half blocks in shades of grey, or a ramp of plain characters; auto: blocks on a terminal unless NO_COLOR is set",
     0, 0, styles},
    {"folder", HEDDLE_CLI_TEXT, offsetof(show_settings, folder), "DIR", NULL, HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
};

// One channel of bytes from several: their mean.
static void to_grey(const uint8_t *image, int channels, size_t pixels, uint8_t *grey)
{
    for (size_t i = 0; i < pixels; i++) {
        int sum = 0;
        for (int c = 0; c < channels; c++)
            sum += image[(size_t)c * pixels + i];
        grey[i] = (uint8_t)(sum / channels);
    }
}

static void caption(const heddle_dataset *dataset, int index, char *text, size_t size)
{
    int label = dataset->labels[index];
    if (dataset->class_names != NULL)
        snprintf(text, size, "#%d: %d %s", index, label, dataset->class_names[label]);
    else
        snprintf(text, size, "#%d: %d", index, label);
}

static heddle_status write_sheet(const heddle_drawing *drawings, int count, const char *path)
{
    uint8_t *sheet;
    int width, height;
    HEDDLE_TRY(heddle_drawing_sheet(drawings, count, &sheet, &width, &height));
    heddle_picture picture = {.width = width, .height = height, .channels = 1, .pixels = sheet};
    heddle_status status = heddle_png_write(path, &picture);
    free(sheet);
    if (status == HEDDLE_OK)
        printf("%s: %d images, %d × %d pixels\n", path, count, width, height);
    return status;
}

static heddle_status show(const heddle_dataset *dataset, const show_settings *settings)
{
    int left = dataset->count - settings->index;
    int count = settings->count < left ? settings->count : left;
    size_t pixels = (size_t)dataset->height * (size_t)dataset->width;
    uint8_t *grey = malloc((size_t)count * pixels);
    heddle_drawing *drawings = calloc((size_t)count, sizeof *drawings);
    heddle_status status = HEDDLE_OK;
    if (grey == NULL || drawings == NULL) {
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %d images", count);
        goto cleanup;
    }
    for (int i = 0; i < count; i++) {
        int index = settings->index + i;
        drawings[i] = (heddle_drawing){
            .pixels = grey + (size_t)i * pixels,
            .width = dataset->width,
            .height = dataset->height,
        };
        to_grey(dataset->images + (size_t)index * (size_t)dataset->channels * pixels, dataset->channels, pixels,
                grey + (size_t)i * pixels);
        caption(dataset, index, drawings[i].caption, sizeof drawings[i].caption);
    }
    if (settings->png != NULL)
        status = write_sheet(drawings, count, settings->png);
    else
        heddle_drawing_print(stdout, drawings, count, (heddle_drawing_style)settings->style,
                             heddle_drawing_columns(stdout));

cleanup:
    free(drawings);
    free(grey);
    return status;
}

static int run_show(int argc, char **argv)
{
    show_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_data_show, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *name = arguments.count > 0 ? arguments.items[0] : heddle_dataset_default(settings.folder);
    heddle_dataset *dataset;
    heddle_status status = heddle_cli_dataset_open(
        name, (heddle_split)settings.split, &(heddle_dataset_options){.folder = settings.folder}, false, &dataset);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (settings.index >= dataset->count) {
        exit_code = heddle_cli_usage(&heddle_command_data_show, "--index %d is out of range: %s has %d %s images",
                                     settings.index, dataset->name, dataset->count, splits[settings.split]);
        heddle_dataset_close(dataset);
        return exit_code;
    }
    if (settings.png == NULL)
        printf("%s (%s), %s split: %d images, %d × %d × %d, %d classes%s%s\n\n", dataset->name, dataset->source,
               splits[settings.split], dataset->count, dataset->channels, dataset->height, dataset->width,
               dataset->classes, dataset->scaled[0] ? "; " : "", dataset->scaled);
    status = show(dataset, &settings);
    heddle_dataset_close(dataset);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

const heddle_cli_command heddle_command_data_show = {
    .name = "data show",
    .summary = "show images of a dataset in the terminal, or write them to a PNG file",
    .arguments = "[NAME|DIR]",
    .most_arguments = 1,
    .description = "NAME is a dataset that `heddle data list` shows, DIR a folder with one subfolder of "
                   "PNG or JPEG files per class, or in MNIST's layout; default: the best dataset installed.",
    .example = "heddle data show fashion --count 4\nheddle data show synth:seed=7 --split train --count 100 --png "
               "sheet.png",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_show,
};
