// A trained network, given as a checkpoint, and the options that eval and predict share.
#pragma once

#include "cli/cli.h"
#include "cli/dataset.h"
#include "cli/device.h"
#include "cli/precision.h"
#include "heddle/heddle.h"

enum { HEDDLE_CLI_CHECKPOINT_SIZE = 4096 };
// The checkpoint that `given` means: itself, or the best or last one in the folder of a run.
heddle_status heddle_cli_find_checkpoint(const char *given, char path[HEDDLE_CLI_CHECKPOINT_SIZE]);

typedef struct heddle_cli_network_settings {
    const char *data, *folder, *device;
    const char *calibrate_with;   // dataset; NULL: the one that the network was trained on, else that of `data`
    const char *calibrate_option; // what the command calls it in errors; NULL: --calibrate-with
    int split, batch, kernels, precision, calibrate, threads;
    heddle_cli_json json;
} heddle_cli_network_settings;

// "test", "train": the values of `split`; NULL-terminated.
extern const char *const heddle_cli_splits[];

// The rows of a table of options for settings of type `type`, which have such a struct called `network`.
// clang-format off
#define HEDDLE_CLI_NETWORK_OPTIONS(type)                                                                               \
    {"folder", HEDDLE_CLI_TEXT, offsetof(type, network.folder), "DIR", NULL,                                           \
     HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},                                                                              \
    {"split", HEDDLE_CLI_CHOICE, offsetof(type, network.split), "NAME", "test",                                        \
     "images to use: the test or the training images of the dataset", 0, 0, heddle_cli_splits},                        \
    {"batch", HEDDLE_CLI_INT, offsetof(type, network.batch), "N", "256", "images per batch", 1, 1e6, NULL},            \
    {"kernels", HEDDLE_CLI_CHOICE, offsetof(type, network.kernels), "NAME", "fused",                                   \
     HEDDLE_CLI_KERNELS_HELP, 0, 0, heddle_tier_names},                                                                \
    {"device", HEDDLE_CLI_TEXT, offsetof(type, network.device), "NAME", NULL, HEDDLE_CLI_DEVICE_HELP, 0, 0, NULL},     \
    {"precision", HEDDLE_CLI_CHOICE, offsetof(type, network.precision), "TYPE", "fp32",                                \
     HEDDLE_CLI_PRECISION_FORWARD_HELP, 0, 0, heddle_cli_precisions},                                                  \
    {"calibrate", HEDDLE_CLI_INT, offsetof(type, network.calibrate), "N", "512",                                       \
     "with --precision int8: training images that the ranges of activations are found with", 1, 1e6, NULL},            \
    {"calibrate-with", HEDDLE_CLI_TEXT, offsetof(type, network.calibrate_with), "NAME|DIR", NULL,                      \
     "with --precision int8: dataset with these training images; default: the one that the network was trained on",    \
     0, 0, NULL},                                                                                                      \
    {"threads", HEDDLE_CLI_INT, offsetof(type, network.threads), "N", "0", "CPU threads; 0: one per core", 0, 1024,    \
     NULL},                                                                                                            \
    HEDDLE_CLI_JSON_OPTION(offsetof(type, network.json))
// clang-format on

typedef struct heddle_cli_network {
    heddle_cli_device device;
    heddle_network *network;
    bool quantised; // --precision int8, and the network has kernels for it
    heddle_input_shape input;
    char trained_on[1024]; // "": the checkpoint does not say
} heddle_cli_network;

// `given` is a checkpoint or the folder of a run: then the best checkpoint in it, or the last if there is no best, with
// a warning. `batch`: images per batch. Close it after a failure too.
heddle_status heddle_cli_network_open(const heddle_cli_network_settings *settings, const char *given, int batch,
                                      heddle_cli_network *opened);
void heddle_cli_network_close(heddle_cli_network *opened);
// The dataset of --data, or the one that the network was trained on.
heddle_status heddle_cli_network_dataset(const heddle_cli_network *opened, const heddle_cli_network_settings *settings,
                                         heddle_dataset **dataset);
// Prints what the network was trained on if --data names another dataset, which explains a low accuracy.
void heddle_cli_network_print_origin(const heddle_cli_network *opened, const heddle_cli_network_settings *settings);
