// Opens datasets for commands.

#include "cli/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/text.h"

enum { MOST_SIDE = 4096 };

static const double PATIENCE = 1; // seconds without a bar

typedef struct reading_view {
    double began;
    heddle_progress *bar;
    heddle_progress_state state;
} reading_view;

static void show_files(void *context, int files, int total)
{
    reading_view *view = context;
    const double seconds = heddle_now() - view->began;
    if (seconds < PATIENCE)
        return;
    if (!view->bar)
        view->bar = heddle_progress_create(stderr, HEDDLE_PROGRESS_AUTO, "reading");
    view->state = (heddle_progress_state){
        .done = files, .total = total, .unit = "files", .loss = NAN, .accuracy = NAN, .seconds = seconds};
    if (view->bar)
        heddle_progress_update(view->bar, &view->state);
}

heddle_status heddle_cli_dataset_open(const char *name, heddle_split split, const heddle_dataset_options *options,
                                      bool quiet, heddle_dataset **dataset)
{
    heddle_dataset_options shown = *options;
    reading_view view = {.began = heddle_now()};
    shown.progress = quiet ? NULL : show_files;
    shown.context = &view;
    heddle_status status = heddle_dataset_open_with(name, split, &shown, dataset);
    if (view.bar) {
        heddle_progress_finish(view.bar, &view.state);
        heddle_progress_destroy(view.bar);
    }
    return status;
}

heddle_status heddle_cli_image_size(const char *text, int *width, int *height)
{
    *width = *height = 0;
    if (!text)
        return HEDDLE_OK;
    char *end;
    long across = strtol(text, &end, 10), down = across;
    if (end != text && (*end == 'x' || *end == 'X')) {
        const char *second = end + 1;
        down = strtol(second, &end, 10);
        end = end == second ? (char *)text : end;
    }
    if (end == text || *end || across < 1 || across > MOST_SIDE || down < 1 || down > MOST_SIDE)
        return heddle_fail(HEDDLE_INVALID,
                           "--image-size %s is not a size: write 64x48, width first, or 64; a side has 1 to %d pixels",
                           text, MOST_SIDE);
    *width = (int)across;
    *height = (int)down;
    return HEDDLE_OK;
}
