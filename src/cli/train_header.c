// Printed by `heddle train` before the first step: warnings about settings that probably are not intended, and a header
// that describes the run.

#include "cli/train_header.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/precision.h"
#include "data/augment.h"
#include "data/owned.h"
#include "nn/model.h"
#include "nn/optimizer.h"

enum { TIME_SIZE = 64, REASON_SIZE = 192, NAMES_SIZE = 128 };

// Images per second that the simulated GPU trains on one core; a model file counts as slow as cnn.
static const double SIM_RATE = 2, SIM_RATE_MLP = 20;
static const double PATIENCE = 600; // seconds

static void warn_of_sim(const heddle_cli_train_header *header)
{
    const int images = header->train->count, epochs = header->options->epochs;
    double rate = strcmp(heddle_model_name(header->model), "mlp") == 0 ? SIM_RATE_MLP : SIM_RATE;
    double seconds = (double)images * epochs / rate;
    char time[TIME_SIZE];
    if (seconds > PATIENCE)
        heddle_log(HEDDLE_LOG_WARN,
                   "%d images in %d epoch%s may take %s on the simulated GPU, at about %.0f images per second; --data "
                   "synth:count=64 is a short run",
                   images, epochs, epochs == 1 ? "" : "s", heddle_text_seconds(seconds, time, sizeof time), rate);
}

static void count_labels(const heddle_dataset *dataset, int counts[HEDDLE_MOST_CLASSES])
{
    for (int i = 0; i < dataset->count; i++)
        counts[dataset->labels[i]]++;
}

// Of a folder: the images of named and generated sets are drawn.
static void warn_of_missing_classes(const heddle_dataset *train, const heddle_dataset *test)
{
    int trained[HEDDLE_MOST_CLASSES] = {0}, tested[HEDDLE_MOST_CLASSES] = {0}, missing = 0;
    char names[NAMES_SIZE] = "";
    size_t used = 0;
    count_labels(train, trained);
    count_labels(test, tested);
    for (int i = 0; i < HEDDLE_MOST_CLASSES; i++) {
        if (trained[i] == 0 || tested[i] > 0)
            continue;
        const char *comma = missing++ ? ", " : "";
        if (used < sizeof names && train->class_names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", comma, train->class_names[i]);
        else if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%d", comma, i);
    }
    if (missing)
        heddle_log(HEDDLE_LOG_WARN,
                   "%d of %d classes have no test images (%s%s): the test accuracy does not measure them", missing,
                   train->classes, names, used < sizeof names ? "" : "...");
}

void heddle_cli_train_warn(const heddle_cli_train_header *header)
{
    const heddle_device_kind kind = header->device->kind;
    int cores = heddle_usable_cores();
    if (kind == HEDDLE_SIM && !header->options->resume) // how much is left is not known here
        warn_of_sim(header);
    if (strchr(header->train->spec, '/'))
        warn_of_missing_classes(header->train, header->test);
    if (header->options->batch > header->train->count)
        heddle_log(HEDDLE_LOG_WARN,
                   "--batch %d is more than the %d training images: an epoch is a single step, which learns little",
                   header->options->batch, header->train->count);
    if (kind == HEDDLE_CPU && header->threads > cores)
        heddle_log(HEDDLE_LOG_WARN, "--threads %d is more than the %d available core%s; one thread per core is faster",
                   header->threads, cores, cores == 1 ? "" : "s");
}

// Where the model file names other images than there are.
static void print_input(const heddle_model *model)
{
    const heddle_input_shape *file = &model->named_input, *data = &model->input;
    const bool same_size =
        file->channels == data->channels && file->height == data->height && file->width == data->width;
    if (file->channels > 0 && !same_size)
        printf("input   the model file names images of %d×%d×%d, the data have %d×%d×%d: built for the data\n",
               file->channels, file->height, file->width, data->channels, data->height, data->width);
    if (file->channels > 0 && file->classes != data->classes)
        printf("input   the model file names %d classes, the data have %d: built for the data\n", file->classes,
               data->classes);
}

void heddle_cli_train_header_print(const heddle_cli_train_header *header)
{
    const heddle_train_options *options = header->options;
    heddle_device_info info;
    char reason[REASON_SIZE];
    if (heddle_device_describe(header->device->device, &info) != HEDDLE_OK)
        return;
    printf("model   %s, %zu parameters\n", heddle_model_name(header->model), heddle_model_parameters(header->model));
    if (!options->resume) // a checkpoint's model is built for its data
        print_input(header->model);
    printf("data    %s, %d training and %d test images", header->train->name, header->train->count,
           header->test->count);
    if (strcmp(header->train->source, header->train->name) != 0)
        printf(" (%s)", header->train->source);
    printf("\n");
    if (header->train->scaled[0])
        printf("images  %s; --image-size sets another size\n", header->train->scaled);
    printf("device  %s, %s, ", heddle_device_kind_name(info.kind), info.name);
    if (info.kind == HEDDLE_CPU)
        printf("%d thread%s", info.threads, info.threads == 1 ? "" : "s");
    else
        printf("%s", info.instructions);
    printf("%s\n", heddle_cli_device_reason(header->device, reason, sizeof reason));
    // With auto, this is known only after all GPUs have been asked.
    const char *between_gpus = header->dist == HEDDLE_DIST_NCCL   ? "NCCL"
                               : header->dist == HEDDLE_DIST_AUTO ? "NCCL, or MPI if that is not available"
                                                                  : "MPI";
    if (header->ranks)
        printf("ranks   %d over %s, %d on this machine\n", header->ranks->ranks,
               info.kind == HEDDLE_CUDA ? between_gpus : "MPI", header->ranks->local_ranks);
    char augment[HEDDLE_AUGMENT_TEXT] = "";
    if (heddle_augments(&options->augment))
        heddle_augment_text(&options->augment, augment);
    printf("run     %s, lr %g (%s), batch %d, seed %llu, %s%s%s kernels%s%s → %s\n",
           heddle_optimizer_name(options->optimizer), options->learning_rate, heddle_schedule_name(options->schedule),
           options->batch, (unsigned long long)options->seed, augment, augment[0] ? ", " : "",
           heddle_tier_names[options->kernels], info.kind == HEDDLE_CPU ? "" : " in ",
           info.kind == HEDDLE_CPU ? "" : heddle_cli_precisions[options->arithmetic], options->folder);
    fflush(stdout);
}
