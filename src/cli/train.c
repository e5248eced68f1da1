// `heddle train`: trains a model. nn/ does the work; train_header.c prints the header, train_progress.c the
// progress and train_result.c the result.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/dataset.h"
#include "cli/device.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/model.h"
#include "cli/precision.h"
#include "cli/recipe.h"
#include "cli/train_header.h"
#include "cli/train_profile.h"
#include "cli/train_progress.h"
#include "cli/train_result.h"
#include "data/owned.h"
#include "dist/dist.h"
#include "heddle/heddle.h"
#include "nn/trainer_folder.h"

enum { PATH_SIZE = 4096, MESSAGE_SIZE = 1024 };

typedef struct train_settings {
    const char *recipe, *data, *folder, *image_size, *augment, *model, *init, *out, *device;
    int epochs, batch, optimizer, schedule, kernels, precision, data_place, threads, dist;
    double learning_rate, momentum, weight_decay, save_every, until, bucket;
    uint64_t seed;
    bool deterministic, unordered, resume, overwrite, quiet;
    heddle_cli_optional tensorboard, profile;
    heddle_cli_json json;
} train_settings;

static const char *const optimizers[] = {"sgd", "momentum", "adamw", NULL};
static const char *const schedules[] = {"constant", "linear", "cosine", NULL};

#define PLACE(field) offsetof(train_settings, field)

static const heddle_cli_option options[] = {
    {"recipe", HEDDLE_CLI_TEXT, PLACE(recipe), "NAME|FILE", NULL,
     "take options from a JSON file, such as {\"lr\": 0.05, \"batch\": 64}, or a built-in recipe: course (plain SGD at "
     "a constant rate, as in the course's final project); options on the command line win",
     0, 0, NULL},
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL,
     "dataset: mnist, fashion, synth (generated digits; synth:count=64 for a short run), or a folder. The folder "
     "has either one subfolder of PNG or JPEG files per class, or files in MNIST's format. Default: the first of "
     "mnist, "
     "fashion and synth that is installed",
     0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
    {"image-size", HEDDLE_CLI_TEXT, PLACE(image_size), "WxH", NULL,
     "scale PNG and JPEG files to this size, such as 64x48 (width first), or 64 for both; default: their own size if "
     "it is the "
     "same for all, else 64x64",
     0, 0, NULL},
    {"augment", HEDDLE_CLI_TEXT, PLACE(augment), "LIST", "none",
     "random changes of the training images, separated by commas: crop:N (pad by N pixels, then crop to the original "
     "size), flip (mirror a random half of the images), shift:N (move by up to N pixels)",
     0, 0, NULL},
    {"model", HEDDLE_CLI_TEXT, PLACE(model), "NAME|FILE", "cnn",
     "cnn, mlp, lenet, vgg, resnet, mlp3, wide-cnn, or a model file in JSON; see docs/models.md", 0, 0, NULL},
    {"init", HEDDLE_CLI_TEXT, PLACE(init), "FILE", NULL,
     "start from the weights in this file instead of random ones: a checkpoint, a PyTorch state_dict saved as "
     "safetensors, or an ONNX file",
     0, 0, NULL},
    {"epochs", HEDDLE_CLI_INT, PLACE(epochs), "N", "3", "passes over the training data", 0, 1e6, NULL},
    {"batch", HEDDLE_CLI_INT, PLACE(batch), "N", "16",
     "images per step; with several ranks (see --dist), the total of all ranks", 1, 1e6, NULL},
    {"lr", HEDDLE_CLI_NUMBER, PLACE(learning_rate), "RATE", "0.05", "initial learning rate", 1e-12, 1e6, NULL},
    {"schedule", HEDDLE_CLI_CHOICE, PLACE(schedule), "SHAPE", "linear",
     "schedule of the learning rate; linear and cosine decrease it to zero", 0, 0, schedules},
    {"optimizer", HEDDLE_CLI_CHOICE, PLACE(optimizer), "NAME", "sgd", "optimiser", 0, 0, optimizers},
    {"momentum", HEDDLE_CLI_NUMBER, PLACE(momentum), "X", "0.9", "momentum, or beta1 of adamw", 0, 0.9999, NULL},
    {"weight-decay", HEDDLE_CLI_NUMBER, PLACE(weight_decay), "X", "0", "weight decay", 0, 10, NULL},
    {"seed", HEDDLE_CLI_SEED, PLACE(seed), "N", "1",
     "random seed; runs with the same seed and settings are the same, bit for bit", 0, 0, NULL},
    {"kernels", HEDDLE_CLI_CHOICE, PLACE(kernels), "NAME", "fused", HEDDLE_CLI_KERNELS_HELP, 0, 0, heddle_tier_names},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL, HEDDLE_CLI_DEVICE_HELP, 0, 0, NULL},
    {"precision", HEDDLE_CLI_CHOICE, PLACE(precision), "TYPE", "fp32", HEDDLE_CLI_PRECISION_HELP, 0, 0,
     heddle_cli_training_precisions},
    {"data-place", HEDDLE_CLI_CHOICE, PLACE(data_place), "PLACE", "auto",
     "resident: keep all images in GPU memory; streamed: copy them from host memory during training; auto: resident "
     "if they fit, else streamed",
     0, 0, heddle_data_place_names},
    {"deterministic", HEDDLE_CLI_FLAG, PLACE(deterministic), NULL, NULL,
     "use only kernels that give the same bits in every run; this is the default", 0, 0, NULL},
    {"unordered", HEDDLE_CLI_FLAG, PLACE(unordered), NULL, NULL,
     "also use kernels that sum in any order: they may be faster, but runs differ in the last bits", 0, 0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0",
     "CPU threads of this process; 0: one per core, or an equal share of the cores if several ranks share them", 0,
     1024, NULL},
    {"dist", HEDDLE_CLI_CHOICE, PLACE(dist), "HOW", "auto",
     "how ranks exchange gradients; the ranks of a run are the processes that one mpirun or srun starts. mpi or "
     "nccl: use only that; auto: nccl if every rank has its own GPU and NCCL is installed, else mpi; off: each process "
     "trains alone",
     0, 0, heddle_dist_choice_names},
    {"bucket", HEDDLE_CLI_NUMBER, PLACE(bucket), "MB", NULL,
     "with several ranks: all-reduce the gradients in buckets of this many MB, overlapped with the backward pass; 0: "
     "one all-reduce at the end; default: 1, or 0 on a CPU with one thread per rank",
     0, 1e6, NULL},
    {"out", HEDDLE_CLI_TEXT, PLACE(out), "DIR", NULL,
     "folder for best.safetensors and last.safetensors; default: runs/DATA-MODEL or, if that exists, "
     "runs/DATA-MODEL-2 and so on",
     0, 0, NULL},
    {"resume", HEDDLE_CLI_FLAG, PLACE(resume), NULL, NULL,
     "continue the run in --out with the settings it was started with; --device, --threads, --epochs and --until may "
     "change",
     0, 0, NULL},
    {"overwrite", HEDDLE_CLI_FLAG, PLACE(overwrite), NULL, NULL,
     "replace the run in --out; without --out, the run in runs/DATA-MODEL", 0, 0, NULL},
    {"until", HEDDLE_CLI_NUMBER, PLACE(until), "ACCURACY", NULL,
     "stop after the first epoch with this test accuracy or more, such as 0.99", 0, 1, NULL},
    {"tensorboard", HEDDLE_CLI_OPTIONAL, PLACE(tensorboard), "DIR", NULL,
     "also write TensorBoard's event files: to the run's folder or, with =DIR, to DIR/NAME, where NAME is that of the "
     "run's folder",
     0, 0, NULL},
    {"profile", HEDDLE_CLI_OPTIONAL, PLACE(profile), "FILE", NULL,
     "show what each layer and operator of a step takes, and write profile.pftrace (for ui.perfetto.dev) and "
     "profile.svg to the run's folder or, with =FILE, the trace to FILE; a FILE that ends in .svg is the picture; see "
     "docs/profile.md",
     0, 0, NULL},
    {"save-every", HEDDLE_CLI_NUMBER, PLACE(save_every), "SECONDS", "60",
     "time between saves within an epoch; 0: save only at the end of each epoch", 0, 1e9, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"quiet", HEDDLE_CLI_FLAG, PLACE(quiet), NULL, NULL, "print only the result", 0, 0, NULL},
};

// Everything that a run holds, freed together.
typedef struct run {
    train_settings settings;
    char data_name[PATH_SIZE];
    const char *out;         // settings.out or taken.path
    heddle_run_folder taken; // used unless --out is given
    char tensorboard[PATH_SIZE];
    heddle_cli_device device;
    heddle_dataset *train, *test;
    heddle_model *model;
    heddle_augment augment; // of the command line
    heddle_train_options options;
    // With several ranks:
    heddle_dist *dist;
    heddle_dist_listener watch;
    heddle_ranks ranks; // 0 of 1 without several ranks
    heddle_cli_training shown;
    heddle_cli_profile profile;
    bool ended; // all of it was trained and saved
} run;

static void close_run(run *current)
{
    heddle_cli_profile_close(&current->profile);
    heddle_model_close(current->model);
    heddle_dataset_close(current->train);
    heddle_dataset_close(current->test);
    heddle_cli_device_close(&current->device);
    heddle_run_folder_release(&current->taken); // if it is still empty
}

// --- several ranks --------------------------------------------------------------------------------------------------

// The command that resumes the run, with what a checkpoint does not contain, such as the device.
static void print_resume_hint(const run *current, FILE *file)
{
    const train_settings *settings = &current->settings;
    char quoted[2 * PATH_SIZE];
    fprintf(file, "heddle: resume with: ");
    if (current->ranks.ranks > 1)
        fprintf(file, "mpirun -n %d ", current->ranks.ranks);
    fprintf(file, "heddle train --out %s --resume", heddle_text_quote(current->out, quoted, sizeof quoted));
    const char *const more[][2] = {{"device", settings->device}, {"folder", settings->folder}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i][1])
            fprintf(file, " --%s %s", more[i][0], heddle_text_quote(more[i][1], quoted, sizeof quoted));
    if (settings->tensorboard.value)
        fprintf(file, " --tensorboard=%s", heddle_text_quote(settings->tensorboard.value, quoted, sizeof quoted));
    else if (settings->tensorboard.given)
        fprintf(file, " --tensorboard");
    if (settings->until > 0)
        fprintf(file, " --until %g", settings->until);
    fprintf(file, "\n");
}

// Called at once from the watch's own thread: a launcher may end this process a moment later. A single write, because
// a launcher mixes what the ranks write.
static void on_lost(void *context, int rank, const char *message)
{
    const run *current = context;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size), *file = memory ? memory : stderr;
    fprintf(file, "heddle: %s; rank %d stops in epoch %d after step %d\n", message, current->ranks.rank,
            current->shown.epoch, current->shown.step);
    if (current->ranks.rank == (rank == 0) && current->out) // the first remaining rank
        print_resume_hint(current, file);
    if (memory && fclose(memory) == 0)
        fputs(text, stderr);
    free(text);
    fflush(stderr);
}

static void on_forced(void *context)
{
    (void)context;
    _exit(HEDDLE_EXIT_FAILED); // something hangs; files are complete at any moment
}

static heddle_status open_ranks(run *current)
{
    train_settings *settings = &current->settings;
    current->ranks = (heddle_ranks){.ranks = 1, .local_ranks = 1};
    current->watch = (heddle_dist_listener){.lost = on_lost, .forced = on_forced, .context = current};
    HEDDLE_TRY(heddle_dist_open((heddle_dist_choice)settings->dist, &current->watch, &current->dist));
    if (!current->dist)
        return HEDDLE_OK;
    current->ranks = *heddle_dist_ranks(current->dist);
    current->options.dist = current->dist;
    int threads;
    HEDDLE_TRY(heddle_dist_threads(current->dist, &threads));
    if (!settings->threads)
        settings->threads = threads;
    return HEDDLE_OK;
}

static heddle_status open_device(run *current, const heddle_cli_arguments *arguments)
{
    const train_settings *settings = &current->settings;
    const heddle_arithmetic arithmetic = current->options.arithmetic;
    HEDDLE_TRY(
        heddle_cli_device_open_ranks(current->dist, settings->device, settings->threads, NULL, &current->device));
    const heddle_device_kind kind = current->device.kind;
    if (settings->dist == HEDDLE_DIST_NCCL && kind != HEDDLE_CUDA)
        return heddle_fail(HEDDLE_INVALID, "--dist nccl needs GPUs: use --device cuda, or leave it out on a CPU");
    if (settings->resume && kind == HEDDLE_CPU && arithmetic != HEDDLE_FULL)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: started in %s, which the CPU does not support; resume with --device cuda or --device "
                           "sim",
                           settings->out, heddle_cli_precisions[arithmetic]);
    HEDDLE_TRY(heddle_cli_precision_check(kind, arithmetic));
    double bucket = settings->threads == 1 && kind == HEDDLE_CPU ? 0 : 1;
    if (heddle_cli_given(&heddle_command_train, arguments, "bucket"))
        bucket = settings->bucket;
    current->options.bucket = (size_t)(bucket * 1e6);
    return heddle_cli_data_place_check(kind, (heddle_data_place)settings->data_place);
}

// runs/fashion-cnn, or runs/fashion-cnn-2 if that exists and is not to be replaced.
static heddle_status reserve_folder(run *current)
{
    // The last component of the folder's path, or the name without its options: "synth:count=500" is synth.
    const char *slash = strrchr(current->train->spec, '/');
    const char *data = slash && slash[1] ? slash + 1 : slash ? "data" : current->train->name;
    char base[PATH_SIZE];
    snprintf(base, sizeof base, "runs/%s-%s", data, heddle_model_name(current->model));
    if (!current->settings.overwrite)
        return heddle_run_folder_take(base, &current->taken);
    current->taken.there = strlen(base); // no part of it was created here
    snprintf(current->taken.path, sizeof current->taken.path, "%s", base);
    return HEDDLE_OK;
}

static heddle_status choose_tensorboard(run *current)
{
    const heddle_cli_optional *asked = &current->settings.tensorboard;
    char *path = current->tensorboard;
    if (!asked->given)
        return HEDDLE_OK;
    size_t end = strlen(current->out), begin;
    while (end > 1 && current->out[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && current->out[begin - 1] != '/'; begin--)
        ;
    const int length =
        asked->value ? snprintf(path, PATH_SIZE, "%s/%.*s", asked->value, (int)(end - begin), current->out + begin)
                     : snprintf(path, PATH_SIZE, "%s", current->out);
    if (length >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "--tensorboard: path too long");
    current->options.tensorboard = path;
    return HEDDLE_OK;
}

// The first rank reserves it and all know its name: if that rank is lost, another prints the resume hint.
static heddle_status choose_folder(run *current)
{
    const train_settings *settings = &current->settings;
    // The trainer checks --out as well, but only after the header was printed.
    heddle_status status = HEDDLE_OK;
    if (current->ranks.rank == 0 && settings->tensorboard.value) // before the run has a folder
        status = heddle_folder_create(settings->tensorboard.value);
    if (current->ranks.rank == 0 && status == HEDDLE_OK)
        status = settings->out ? heddle_run_folder_check(settings->out, settings->resume || settings->overwrite)
                               : reserve_folder(current);
    HEDDLE_TRY(heddle_dist_agree(current->dist, status));
    if (!current->settings.out && current->ranks.ranks > 1) {
        heddle_exchange exchange = {.kind = HEDDLE_BROADCAST,
                                    .dtype = HEDDLE_U8,
                                    .send = &current->taken,
                                    .receive = &current->taken,
                                    .count = sizeof current->taken};
        HEDDLE_TRY(heddle_dist_exchange(current->dist, HEDDLE_CHANNEL_HOST, &exchange));
        if (current->ranks.rank > 0)
            current->taken.there =
                strlen(current->taken.path); // created by another rank, perhaps elsewhere: not ours to remove
    }
    current->out = current->settings.out ? current->settings.out : current->taken.path;
    current->options.folder = current->out;
    return choose_tensorboard(current);
}

static void apply_settings(run *current)
{
    const train_settings *settings = &current->settings;
    current->options = heddle_train_defaults();
    current->options.epochs = settings->epochs;
    current->options.batch = settings->batch;
    current->options.optimizer = (heddle_optimizer)settings->optimizer;
    current->options.schedule = (heddle_schedule)settings->schedule;
    current->options.learning_rate = settings->learning_rate;
    current->options.momentum = settings->momentum;
    current->options.weight_decay = settings->weight_decay;
    current->options.seed = settings->seed;
    current->options.augment = current->augment;
    current->options.kernels = (heddle_tier)settings->kernels;
    current->options.arithmetic = (heddle_arithmetic)settings->precision;
}

// Of the options that define a run, only --epochs may change when it is resumed; the others may be repeated.
static heddle_status check_unchanged(const run *current, const heddle_cli_arguments *arguments)
{
    const train_settings *now = &current->settings;
    const heddle_train_options *was = &current->options;
    const struct {
        const char *name;
        bool same;
    } fixed[] = {
        {"model", strcmp(now->model, heddle_model_name(current->model)) == 0},
        {"batch", now->batch == was->batch},
        {"lr", (float)now->learning_rate == (float)was->learning_rate},
        {"schedule", now->schedule == (int)was->schedule},
        {"optimizer", now->optimizer == (int)was->optimizer},
        {"momentum", (float)now->momentum == (float)was->momentum},
        {"weight-decay", (float)now->weight_decay == (float)was->weight_decay},
        {"seed", now->seed == was->seed},
        {"augment", memcmp(&current->augment, &was->augment, sizeof was->augment) == 0},
        {"kernels", now->kernels == (int)was->kernels},
        {"precision", now->precision == (int)was->arithmetic},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!fixed[i].same && heddle_cli_given(&heddle_command_train, arguments, fixed[i].name))
            return heddle_fail(HEDDLE_INVALID, "--%s cannot change while resuming; leave it out", fixed[i].name);
    return HEDDLE_OK;
}

// A resumed run keeps its settings.
static heddle_status apply_checkpoint(run *current, const heddle_cli_arguments *arguments)
{
    char path[PATH_SIZE];
    const char *out = current->settings.out;
    if (snprintf(path, sizeof path, "%s/" HEDDLE_RUN_LAST, out) >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "--out: path too long");
    bool last, best;
    HEDDLE_TRY(heddle_run_folder_holds(out, HEDDLE_RUN_LAST, &last));
    HEDDLE_TRY(heddle_run_folder_holds(out, HEDDLE_RUN_BEST, &best));
    if (!last && !best)
        return heddle_fail(HEDDLE_NOT_FOUND, "there is no run to resume in %s; leave out --resume to start one", out);
    char dataset[PATH_SIZE];
    HEDDLE_TRY(heddle_train_options_from(path, &current->options, dataset, sizeof dataset));
    HEDDLE_TRY(heddle_model_from(path, &current->model));
    HEDDLE_TRY(check_unchanged(current, arguments));
    if (heddle_cli_given(&heddle_command_train, arguments, "epochs"))
        current->options.epochs = current->settings.epochs;
    if (!current->settings.data)
        snprintf(current->data_name, sizeof current->data_name, "%s", dataset);
    return HEDDLE_OK;
}

// Image files are brought to --image-size, or to what a resumed run's network takes.
static heddle_status open_data(run *current)
{
    const train_settings *settings = &current->settings;
    const bool quiet = settings->quiet || settings->json.print || current->ranks.rank > 0;
    heddle_dataset_options how = {.folder = settings->folder, .threads = settings->threads};
    HEDDLE_TRY(heddle_cli_image_size(settings->image_size, &how.width, &how.height));
    if (current->model) {
        const heddle_input_shape input = heddle_model_input(current->model);
        if (settings->image_size && (how.width != input.width || how.height != input.height))
            return heddle_fail(HEDDLE_INVALID, "--image-size cannot change while resuming; leave it out");
        how.channels = input.channels;
        how.height = input.height;
        how.width = input.width;
    }
    HEDDLE_TRY(heddle_cli_dataset_open(current->data_name, HEDDLE_TRAIN, &how, quiet, &current->train));
    HEDDLE_TRY(heddle_cli_dataset_open(current->data_name, HEDDLE_TEST, &how, quiet, &current->test));
    if (settings->image_size && (current->train->width != how.width || current->train->height != how.height))
        return heddle_fail(HEDDLE_INVALID, "--image-size is for folders of PNG or JPEG files; %s has %d×%d images",
                           current->train->name, current->train->width, current->train->height);
    return HEDDLE_OK;
}

static heddle_status open_all(run *current, const heddle_cli_arguments *arguments)
{
    train_settings *settings = &current->settings;
    if (settings->resume && !settings->out)
        return heddle_fail(HEDDLE_INVALID, "--resume needs --out DIR, the folder of the run");
    if (settings->resume && settings->overwrite)
        return heddle_fail(HEDDLE_INVALID, "--resume continues a run and --overwrite replaces it; give one of them");
    if (settings->resume && settings->init)
        return heddle_fail(HEDDLE_INVALID, "--resume continues a run and --init starts one; give one of them");
    if (settings->deterministic && settings->unordered)
        return heddle_fail(HEDDLE_INVALID, "--deterministic and --unordered exclude each other; give one of them");
    if (settings->until == 0 && heddle_cli_given(&heddle_command_train, arguments, "until"))
        return heddle_fail(HEDDLE_INVALID,
                           "--until 0 is reached by any network; give an accuracy above 0, such as 0.99");
    HEDDLE_TRY(heddle_cli_can_write(settings->json.file));
    const char *data = settings->data ? settings->data : heddle_dataset_default(settings->folder);
    snprintf(current->data_name, sizeof current->data_name, "%s", data);
    HEDDLE_TRY(heddle_augment_parse(settings->augment, &current->augment));
    apply_settings(current);
    if (settings->resume)
        HEDDLE_TRY(apply_checkpoint(current, arguments));
    if (current->options.optimizer == HEDDLE_SGD && heddle_cli_given(&heddle_command_train, arguments, "momentum"))
        return heddle_fail(HEDDLE_INVALID,
                           "--momentum has no effect with --optimizer sgd; use --optimizer momentum or leave it out");
    HEDDLE_TRY(open_ranks(current));
    HEDDLE_TRY(open_device(current, arguments));
    if (current->ranks.rank == 0)
        HEDDLE_TRY(heddle_cli_profile_begin(&settings->profile, current->device.kind, &current->profile));
    HEDDLE_TRY(open_data(current));
    HEDDLE_TRY(heddle_dataset_trains(current->train));
    heddle_input_shape input = {current->train->channels, current->train->height, current->train->width,
                                current->train->classes};
    if (!current->model)
        HEDDLE_TRY(heddle_cli_model_open(settings->model, &input, true, &current->model));
    current->options.init = settings->init;
    current->options.resume = settings->resume;
    current->options.overwrite = settings->overwrite;
    current->options.save_every = settings->save_every;
    current->options.data = (heddle_data_place)settings->data_place;
    current->options.deterministic = !settings->unordered;
    current->options.stop = &heddle_cli_interrupted;
    current->options.probe = current->profile.profile ? heddle_profile_probe(current->profile.profile) : NULL;
    return HEDDLE_OK;
}

static void print_start(const run *current, const heddle_cli_arguments *arguments)
{
    const train_settings *settings = &current->settings;
    const bool told = heddle_cli_given(&heddle_command_train, arguments, "threads");
    const heddle_cli_train_header header = {.device = &current->device,
                                            .model = current->model,
                                            .train = current->train,
                                            .test = current->test,
                                            .options = &current->options,
                                            .ranks = current->dist ? &current->ranks : NULL,
                                            .dist = (heddle_dist_choice)settings->dist,
                                            .threads = told ? settings->threads : 0};
    heddle_cli_train_warn(&header);
    if (!settings->quiet && !settings->json.print)
        heddle_cli_train_header_print(&header);
}

// Finishes the step and saves. A launcher that has lost a rank tells the others to end, perhaps more than once; the
// watch says which rank was lost.
static void stop_gently(const run *current)
{
    const bool several = current->ranks.ranks > 1;
    heddle_cli_stop_gently(&(heddle_cli_gently){
        .says = several ? NULL : "\nfinishing the step and saving; press Ctrl-C again to stop at once\n",
        .says_else = several ? NULL : "finishing the step and saving; a second signal stops at once\n",
        .patient = several,
    });
}

// Shows the profile of a run that ended well.
static heddle_status show_profile(run *current)
{
    char title[PATH_SIZE];
    snprintf(title, sizeof title, "a training step of %s on %s, batch %d, %s kernels, %s",
             heddle_model_name(current->model), heddle_device_kind_name(current->device.kind), current->options.batch,
             heddle_tier_names[current->options.kernels], heddle_cli_precisions[current->options.arithmetic]);
    return heddle_cli_profile_end(&current->profile, current->device.device, title, current->out,
                                  current->settings.json.print);
}

// Reports a failure, from the rank that has to. Returns the exit code.
static int report_failure(const run *current, heddle_status status)
{
    if (status == HEDDLE_OK)
        return HEDDLE_EXIT_OK;
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    if (current->dist && heddle_dist_check(current->dist) != HEDDLE_OK)
        return HEDDLE_EXIT_FAILED; // the watch has reported it
    if ((status == HEDDLE_INTERRUPTED && current->ranks.rank > 0) || !heddle_dist_reports(current->dist))
        return heddle_cli_exit_code(status);
    heddle_fail(status, "%s", message);
    int exit_code = heddle_cli_fail(status);
    const bool broken = status == HEDDLE_IO || status == HEDDLE_DEVICE;
    if (status == HEDDLE_INTERRUPTED || (broken && current->shown.saved && !current->ended))
        print_resume_hint(current, stderr);
    if (status == HEDDLE_DIVERGED && current->settings.resume)
        fprintf(stderr, "heddle: a resumed run keeps its learning rate; start a new run with --lr below %g\n",
                current->options.learning_rate);
    return exit_code;
}

static int run_words(int argc, char **argv)
{
    run current = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_train, argc, argv, &current.settings, &arguments, &exit_code))
        return exit_code;
    heddle_train_result result = {0};
    heddle_status status = open_all(&current, &arguments);
    status = heddle_dist_agree(current.dist, status);
    if (status == HEDDLE_OK)
        status = choose_folder(&current);
    bool speaks = current.ranks.rank == 0;
    current.shown = (heddle_cli_training){.json = &current.settings.json,
                                          .device = &current.device,
                                          .quiet = current.settings.quiet,
                                          .resume = current.settings.resume,
                                          .until = current.settings.until,
                                          .batch = current.options.batch,
                                          .silent = !speaks};
    if (status == HEDDLE_OK) {
        if (speaks)
            print_start(&current, &arguments);
        stop_gently(&current);
        current.options.listener = heddle_cli_training_event;
        current.options.listener_context = &current.shown;
        status =
            heddle_train(current.device.device, current.model, current.train, current.test, &current.options, &result);
        if (status == HEDDLE_INTERRUPTED && current.shown.target_reached) // all was saved after the epoch
            status = HEDDLE_OK;
    }
    heddle_cli_training_end(&current.shown);
    current.ended = status == HEDDLE_OK;
    if (status == HEDDLE_OK)
        status = show_profile(&current);
    if (status == HEDDLE_OK && speaks)
        status = heddle_cli_print_trained(&(heddle_cli_trained){.result = &result,
                                                                .folder = current.out,
                                                                .epochs = current.options.epochs,
                                                                .until = current.settings.until,
                                                                .reached_in = current.shown.reached_in,
                                                                .resumed = current.settings.resume,
                                                                .json = &current.settings.json,
                                                                .device = &current.device,
                                                                .simulated = current.device.kind == HEDDLE_SIM,
                                                                .profile = current.profile.json});
    exit_code = report_failure(&current, status);
    // A stop that all ranks agreed on is not a failure of one.
    heddle_dist_close(current.dist, status != HEDDLE_OK && status != HEDDLE_INTERRUPTED);
    close_run(&current);
    return exit_code;
}

// The recipe's options alone, so that a mistake among them is not looked for on the command line.
static int check_recipe(const heddle_cli_recipe *recipe, int argc)
{
    train_settings scratch = {0};
    heddle_cli_arguments arguments;
    if (!recipe->name || heddle_cli_parse_options(&heddle_command_train, recipe->count - (argc - 1), recipe->words,
                                                  &scratch, &arguments) == HEDDLE_OK)
        return HEDDLE_EXIT_OK;
    return heddle_cli_usage(&heddle_command_train, "recipe %s: %s", recipe->name, heddle_last_error());
}

static int run_command(int argc, char **argv)
{
    heddle_cli_recipe recipe;
    heddle_status status = heddle_cli_recipe_expand(argc, argv, &recipe);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    int exit_code = check_recipe(&recipe, argc);
    if (exit_code == HEDDLE_EXIT_OK)
        exit_code = run_words(recipe.count, recipe.words);
    heddle_cli_recipe_free(&recipe, argc);
    return exit_code;
}

const heddle_cli_command heddle_command_train = {
    .name = "train",
    .summary = "train a network on labelled images",
    .meant = "data",
    .description = "Trains the network, evaluates it on the test images after each epoch, and saves the best and the "
                   "last checkpoint.\n\nOn Ctrl-C, on SIGTERM or when the terminal closes, the command finishes the "
                   "current step, saves and exits. --resume continues the run. The resumed run ends with the same "
                   "parameters as an uninterrupted run, bit for bit, except with --unordered.",
    .example = "heddle train --data fashion --epochs 3\nheddle train --data ~/my-images --model mlp --out runs/mine\n"
               "heddle train --device cuda --precision bf16 --batch 256 --optimizer momentum --until 0.99\n"
               "heddle train --out runs/mine --resume",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
