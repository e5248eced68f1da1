// `heddle export`: writes a trained network as an ONNX file, in float32 or as the int8 network.

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/network.h"

enum { PATH_SIZE = HEDDLE_CLI_CHECKPOINT_SIZE, SIZE_TEXT = 32 };

typedef struct export_settings {
    const char *onnx, *folder, *data;
    int precision, calibrate, threads;
} export_settings;

static const char *const precisions[] = {"fp32", "int8", NULL};

#define PLACE(field) offsetof(export_settings, field)

static const heddle_cli_option options[] = {
    {"onnx", HEDDLE_CLI_TEXT, PLACE(onnx), "FILE", NULL, "ONNX file to write", 0, 0, NULL},
    {"precision", HEDDLE_CLI_CHOICE, PLACE(precision), "TYPE", "fp32",
     "int8: quantise the network, with QuantizeLinear and DequantizeLinear around each quantised layer", 0, 0,
     precisions},
    {"calibrate", HEDDLE_CLI_INT, PLACE(calibrate), "N", "512",
     "with --precision int8: training images that the ranges of activations are found with", 1, 1e6, NULL},
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL,
     "with --precision int8: dataset to calibrate with; default: the one it was trained on", 0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one per core", 0, 1024, NULL},
};

// On a CPU, so that every machine writes the same file.
static heddle_status export_int8(const export_settings *settings, const char *given)
{
    const heddle_cli_network_settings how = {.calibrate_with = settings->data,
                                             .calibrate_option = "--data",
                                             .folder = settings->folder,
                                             .device = "cpu",
                                             .kernels = HEDDLE_FUSED,
                                             .precision = HEDDLE_INT8,
                                             .calibrate = settings->calibrate,
                                             .threads = settings->threads,
                                             .json = {.print = true}}; // which device it was is no news here
    heddle_cli_network opened;
    heddle_status status = heddle_cli_network_open(&how, given, 1, &opened);
    if (status == HEDDLE_OK)
        status = heddle_onnx_export_int8(opened.network, settings->onnx);
    heddle_cli_network_close(&opened);
    return status;
}

// A file of heddle's begins with the version of the format and with its producer.
static bool may_be_replaced(const char *path)
{
    static const char mark[] = "\x12\x06heddle";
    char begin[2 + sizeof mark - 1];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return true;
    FILE *file = fopen(path, "rb");
    const bool whole = file && fread(begin, sizeof begin, 1, file) == 1;
    if (file)
        fclose(file);
    return whole && memcmp(begin + 2, mark, sizeof mark - 1) == 0;
}

static heddle_status export_network(const export_settings *settings, const char *given, heddle_model **model)
{
    char checkpoint[PATH_SIZE];
    if (!settings->onnx)
        return heddle_fail(HEDDLE_INVALID, "export needs the file to write: --onnx FILE");
    if (!heddle_onnx_available())
        return heddle_fail(HEDDLE_MISSING, "this build cannot write ONNX files: apt install protobuf-c-compiler "
                                           "libprotobuf-c-dev, then rebuild");
    HEDDLE_TRY(heddle_cli_can_write(settings->onnx));
    if (settings->data && !settings->precision)
        return heddle_fail(HEDDLE_INVALID, "--data is for calibrating, which goes with --precision int8");
    HEDDLE_TRY(heddle_cli_find_checkpoint(given, checkpoint));
    if (heddle_file_is_same(checkpoint, settings->onnx))
        return heddle_fail(HEDDLE_INVALID, "--onnx %s is the checkpoint itself; name another file", settings->onnx);
    if (!may_be_replaced(settings->onnx))
        return heddle_fail(HEDDLE_INVALID,
                           "--onnx %s would overwrite a file that heddle did not export; name another file, or remove "
                           "that one first",
                           settings->onnx);
    HEDDLE_TRY(heddle_model_from(checkpoint, model));
    return settings->precision ? export_int8(settings, given) : heddle_onnx_export(checkpoint, settings->onnx);
}

static int run_command(int argc, char **argv)
{
    export_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_export, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_model *model = NULL;
    const heddle_status status = export_network(&settings, arguments.items[0], &model);
    if (status == HEDDLE_OK) {
        const heddle_input_shape input = heddle_model_input(model);
        printf("%s: images (batch, %d, %d, %d) from 0 to 1 -> logits (batch, %d)%s\n", settings.onnx, input.channels,
               input.height, input.width, input.classes, settings.precision ? ", int8" : "");
    }
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_model_close(model);
    return exit_code;
}

const heddle_cli_command heddle_command_export = {
    .name = "export",
    .summary = "write a trained network as an ONNX file",
    .arguments = "CHECKPOINT",
    .least_arguments = 1,
    .most_arguments = 1,
    .description =
        "CHECKPOINT is a checkpoint file, or the folder of a run with best.safetensors. The ONNX file has the "
        "weights inside and takes batches of any size. `heddle import` reads it back.",
    .example = "heddle export runs/fashion-cnn --onnx fashion.onnx\n"
               "heddle export runs/mnist-cnn --onnx mnist-int8.onnx --precision int8",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
