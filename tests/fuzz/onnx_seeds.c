// Writes the first inputs of fuzz_onnx: a few small networks as ONNX files, with what heddle notes in them and without.
//
//     onnx_seeds FOLDER

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "nn/onnx.h"

static const char *const models[] = {
    "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 2}, {\"type\": \"batchnorm2d\"}, {\"type\": \"relu\"},"
    "{\"type\": \"maxpool2d\"}, {\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}",
    "{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"conv2d\", \"channels\": 2, \"padding\": 1},"
    "{\"type\": \"gelu\"}], \"projection\": [{\"type\": \"conv2d\", \"channels\": 2, \"kernel\": 1}]},"
    "{\"type\": \"swish\"}, {\"type\": \"globalavgpool\"}, {\"type\": \"linear\", \"features\": 3},"
    "{\"type\": \"layernorm\"}, {\"type\": \"linear\", \"features\": \"classes\", \"bias\": false},"
    "{\"type\": \"log_softmax\"}]}",
    "{\"layers\": [{\"type\": \"avgpool2d\"}, {\"type\": \"elu\"}, {\"type\": \"flatten\"}, {\"type\": \"tanh\"},"
    "{\"type\": \"linear\", \"features\": \"classes\"}, {\"type\": \"softplus\"}]}",
};
enum { MODELS = sizeof models / sizeof *models, MOST_FLOATS = 4096, MOST_PARAMETERS = 32, PATH = 4096 };

static heddle_status write_seed(const char *folder, int index, bool noted)
{
    static const float numbers[MOST_FLOATS];
    const float *values[MOST_PARAMETERS];
    char path[PATH];
    heddle_model *model = NULL;
    heddle_onnx *graph = NULL;
    for (int i = 0; i < MOST_PARAMETERS; i++)
        values[i] = numbers;
    HEDDLE_TRY(heddle_model_parse("seed", models[index], &(heddle_input_shape){1, 6, 6, 3}, &model));
    heddle_status status = heddle_onnx_of_model(model, values, &graph);
    if (status == HEDDLE_OK && noted) {
        heddle_onnx_note(graph, "heddle.model", heddle_model_json(model));
        heddle_onnx_note(graph, "heddle.training", "{}");
    }
    snprintf(path, sizeof path, "%s/%d%s.onnx", folder, index, noted ? "-noted" : "");
    if (status == HEDDLE_OK)
        status = heddle_onnx_write(path, graph);
    heddle_onnx_close(graph);
    heddle_model_close(model);
    return status;
}

int main(int argc, char **argv)
{
    heddle_status status = argc == 2 ? heddle_folder_create(argv[1]) : HEDDLE_INVALID;
    for (int i = 0; i < 2 * MODELS && status == HEDDLE_OK; i++)
        status = write_seed(argv[1], i / 2, i % 2);
    if (status != HEDDLE_OK)
        fprintf(stderr, "onnx_seeds: %s\n", heddle_last_error());
    return status == HEDDLE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
