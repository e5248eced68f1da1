// Checkpoints as ONNX files: the graph of a model with its parameters, and what the checkpoint says of itself.

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "nn/checkpoint.h"
#include "nn/onnx.h"

bool heddle_onnx_available(void)
{
    return heddle_onnx_is_built();
}

int heddle_onnx_begin_graph(heddle_onnx *graph, const heddle_model *model)
{
    const heddle_input_shape *input = &model->input;
    graph->opset = HEDDLE_ONNX_OPSET;
    return heddle_onnx_input(graph, "images", 4,
                             (int64_t[]){HEDDLE_ONNX_ANY, input->channels, input->height, input->width});
}

void heddle_onnx_end_graph(heddle_onnx *graph, const heddle_model *model, int logits)
{
    if (graph->exhausted || logits < 0)
        return;
    graph->values[logits].name = "logits";
    heddle_onnx_output(graph, logits, 2, (int64_t[]){HEDDLE_ONNX_ANY, model->input.classes});
}

heddle_status heddle_onnx_of_model(const heddle_model *model, const float *const *values, heddle_onnx **graph)
{
    heddle_onnx_exporter job = {.graph = heddle_onnx_create(model->name), .model = model, .values = values};
    *graph = NULL;
    if (!job.graph)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the graph of model %s", model->name);
    int value = heddle_onnx_begin_graph(job.graph, model);
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < model->layer_count && status == HEDDLE_OK; i++)
        status = heddle_onnx_export_layer(&job, &model->layers[i], value, &value);
    if (status == HEDDLE_OK)
        heddle_onnx_end_graph(job.graph, model, value);
    if (status == HEDDLE_OK && job.graph->exhausted)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the graph of model %s", model->name);
    if (status != HEDDLE_OK) {
        heddle_onnx_close(job.graph);
        return status;
    }
    *graph = job.graph;
    return HEDDLE_OK;
}

// The names of classes, as a list that any program can read.
static bool note_classes(heddle_onnx *graph, const heddle_checkpoint_about *about)
{
    if (!about->class_names)
        return true;
    cJSON *names = cJSON_CreateStringArray(about->class_names, about->classes);
    char *text = names ? cJSON_PrintUnformatted(names) : NULL;
    if (text)
        heddle_onnx_note(graph, "classes", text);
    cJSON_free(text);
    cJSON_Delete(names);
    return text != NULL;
}

heddle_status heddle_onnx_note_checkpoint(heddle_onnx *graph, const heddle_checkpoint *checkpoint)
{
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    heddle_onnx_note(graph, HEDDLE_CHECKPOINT_MODEL, heddle_checkpoint_model(checkpoint)->json);
    heddle_onnx_note(graph, HEDDLE_CHECKPOINT_TRAINING, heddle_checkpoint_training(checkpoint));
    heddle_onnx_note(graph, "dataset", about->dataset);
    heddle_onnx_note(graph, "input_range", "0 to 1: a byte of an image divided by 255");
    const bool noted = note_classes(graph, about);
    return noted && !graph->exhausted ? HEDDLE_OK
                                      : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the notes of an ONNX file");
}

static heddle_status export_checkpoint(const heddle_checkpoint *checkpoint, const float **values, const char *path)
{
    const heddle_model *model = heddle_checkpoint_model(checkpoint);
    heddle_onnx *graph = NULL;
    if (!values)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to export model %s", model->name);
    for (int i = 0; i < model->parameter_count; i++)
        values[i] = heddle_checkpoint_array(checkpoint, i)->data;
    heddle_status status = heddle_onnx_of_model(model, values, &graph);
    if (!graph)
        return status;
    status = heddle_onnx_note_checkpoint(graph, checkpoint);
    if (status == HEDDLE_OK)
        status = heddle_onnx_write(path, graph);
    heddle_onnx_close(graph);
    return status;
}

heddle_status heddle_onnx_export(const char *checkpoint, const char *path)
{
    if (!checkpoint || !path)
        return heddle_fail(HEDDLE_INVALID, "heddle_onnx_export needs a checkpoint and a file to write");
    heddle_checkpoint *opened = NULL;
    HEDDLE_TRY(heddle_checkpoint_open(checkpoint, &opened));
    const float **values = calloc((size_t)heddle_checkpoint_model(opened)->parameter_count + 1, sizeof *values);
    const heddle_status status = export_checkpoint(opened, values, path);
    free(values);
    heddle_checkpoint_close(opened);
    return status;
}
