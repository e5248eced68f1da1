// `heddle import`: writes the network of an ONNX file as a checkpoint.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "data/owned.h"
#include "heddle/heddle.h"
#include "nn/onnx.h"

enum { PATH_SIZE = 4096, MOST_SIDE = 4096 };

typedef struct import_settings {
    const char *out, *input, *classes;
} import_settings;

#define PLACE(field) offsetof(import_settings, field)

static const heddle_cli_option options[] = {
    {"out", HEDDLE_CLI_TEXT, PLACE(out), "FILE", NULL, "checkpoint to write, such as net.safetensors; required", 0, 0,
     NULL},
    {"input", HEDDLE_CLI_TEXT, PLACE(input), "CxHxW", NULL,
     "channels, height and width of the images, such as 1x28x28, if the file does not say", 0, 0, NULL},
    {"classes", HEDDLE_CLI_TEXT, PLACE(classes), "LIST", NULL,
     "names of the classes in the order of the network's outputs, separated by commas, such as cat,dog; default: those "
     "in the file, else 0, 1, 2 and so on",
     0, 0, NULL},
};

static heddle_status read_input(const char *text, heddle_input_shape *input)
{
    int *const sizes[] = {&input->channels, &input->height, &input->width};
    const char *at = text;
    bool fits = true;
    for (int i = 0; i < 3 && fits; i++) {
        char *end;
        const long size = strtol(at, &end, 10);
        fits = end != at && size > 0 && size <= MOST_SIDE && *end == (i < 2 ? 'x' : '\0');
        *sizes[i] = (int)size;
        at = end + 1;
    }
    return fits ? HEDDLE_OK
                : heddle_fail(HEDDLE_INVALID,
                              "--input %s is not a size: write channels, height and width, such as 3x32x32", text);
}

// Cuts `text` at its commas into the names of classes.
static heddle_status read_classes(char *text, const char *names[HEDDLE_MOST_CLASSES], int *count)
{
    *count = 0;
    for (char *at = text; at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma++ = '\0';
        if (*count == HEDDLE_MOST_CLASSES)
            return heddle_fail(HEDDLE_INVALID, "--classes names more than %d classes", HEDDLE_MOST_CLASSES);
        if (!at[0])
            return heddle_fail(HEDDLE_INVALID, "--classes: name %d is empty", *count + 1);
        for (int i = 0; i < *count; i++)
            if (strcmp(names[i], at) == 0)
                return heddle_fail(HEDDLE_INVALID, "--classes names %s twice", at);
        heddle_text_one_line(at); // names are printed
        names[(*count)++] = at;
        at = comma;
    }
    return HEDDLE_OK;
}

static heddle_status import_as(const import_settings *settings, const char *path, const heddle_input_shape *input)
{
    heddle_onnx_import_options how = {.input = input};
    if (!settings->classes)
        return heddle_onnx_import_with(path, &how, settings->out);
    const char *names[HEDDLE_MOST_CLASSES];
    char *text = strdup(settings->classes);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the names of classes");
    how.class_names = names;
    heddle_status status = read_classes(text, names, &how.classes);
    if (status == HEDDLE_OK)
        status = heddle_onnx_import_with(path, &how, settings->out);
    free(text);
    return status;
}

// Whether the folder of a new file is still to be created.
static bool needs_folder(const char *path)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    return slash && slash > path &&
           snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path) < (int)sizeof folder &&
           access(folder, F_OK) != 0 && errno == ENOENT;
}

static heddle_status import_network(const import_settings *settings, const char *path, heddle_model **model,
                                    char dataset[PATH_SIZE])
{
    heddle_input_shape input;
    heddle_train_options trained;
    if (!settings->out)
        return heddle_fail(HEDDLE_INVALID, "import needs the checkpoint to write: --out FILE.safetensors");
    if (settings->input)
        HEDDLE_TRY(read_input(settings->input, &input));
    if (heddle_folder_exists(settings->out))
        return heddle_fail(HEDDLE_INVALID, "%s is a folder; name the checkpoint to write", settings->out);
    if (heddle_file_is_same(path, settings->out))
        return heddle_fail(HEDDLE_INVALID, "--out %s is the ONNX file itself; name another file", settings->out);
    if (!needs_folder(settings->out))
        HEDDLE_TRY(heddle_cli_can_write(settings->out));
    HEDDLE_TRY(import_as(settings, path, settings->input ? &input : NULL));
    HEDDLE_TRY(heddle_train_options_from(settings->out, &trained, dataset, PATH_SIZE));
    return heddle_model_from(settings->out, model);
}

static int run_command(int argc, char **argv)
{
    import_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_import, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_model *model = NULL;
    char dataset[PATH_SIZE] = "", quoted[2 * PATH_SIZE];
    const heddle_status status = import_network(&settings, arguments.items[0], &model, dataset);
    if (status == HEDDLE_OK) {
        const heddle_input_shape input = heddle_model_input(model);
        printf("%s: %d layers, %zu parameters, images of %dx%dx%d, %d classes\n", settings.out,
               heddle_model_layers(model), heddle_model_parameters(model), input.channels, input.height, input.width,
               input.classes);
        printf("evaluate it: %s eval %s%s\n", heddle_cli_name(), heddle_text_quote(settings.out, quoted, sizeof quoted),
               dataset[0] ? "" : " --data NAME");
    }
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_model_close(model);
    return exit_code;
}

const heddle_cli_command heddle_command_import = {
    .name = "import",
    .summary = "make a checkpoint of an ONNX file",
    .arguments = "FILE.onnx",
    .least_arguments = 1,
    .most_arguments = 1,
    .description =
        "The checkpoint can be evaluated, used for predictions and trained further (`heddle train --init`). A "
        "file with an operator that heddle has no layer for is refused, and the message names it.",
    .example = "heddle import net.onnx --out net.safetensors\nheddle eval net.safetensors --data mnist\n"
               "heddle import pets.onnx --out pets.safetensors --classes cat,dog",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
