// Starts a model from weights that are there: of a heddle checkpoint, of a PyTorch state_dict saved as safetensors, or
// of an ONNX file. Layers are found by the names of their parameters. If not one name fits, they are matched in order:
// each layer gets the first unused one of the file with parameters of the same kinds and shapes.

#include "nn/init.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "base/log.h"
#include "base/text.h"
#include "nn/onnx.h"

enum { LIST_SIZE = 512, SHAPE_TEXT = 64, MOST_LEAVES = 8 };

// A layer of the file: the arrays whose names differ in their last part alone.
typedef struct file_layer {
    const char *name;
    int length; // of its name
    const heddle_array *leaves[MOST_LEAVES];
    int count;
    bool used;
} file_layer;

typedef struct starting {
    const char *path;
    const heddle_model *model;
    heddle_safetensors *file;
    heddle_onnx *graph;
    heddle_onnx_network network; // of the graph
    heddle_array *arrays;        // all of the file's
    int array_count;
    file_layer *layers;
    int layer_count;
    const heddle_array **found; // by parameter of the model; NULL: none
} starting;

static heddle_status no_memory(const starting *job)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the weights of %s", job->path);
}

// --- the file
// -----------------------------------------------------------------------------------------------------------

static heddle_status list_onnx(starting *job)
{
    HEDDLE_TRY(heddle_onnx_open(job->path, &job->graph));
    HEDDLE_TRY(heddle_onnx_to_network(job->path, job->graph, &job->model->input, &job->network));
    const heddle_model *model = job->network.model;
    job->arrays = calloc((size_t)model->parameter_count + 1, sizeof *job->arrays);
    if (!job->arrays)
        return no_memory(job);
    for (int i = 0; i < model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &model->parameters[i];
        heddle_array *array = &job->arrays[job->array_count++];
        *array = (heddle_array){.name = spec->name,
                                .dtype = HEDDLE_F32,
                                .rank = spec->rank,
                                .data = job->network.values[i],
                                .bytes = sizeof(float)};
        for (int d = 0; d < spec->rank; d++)
            array->bytes *= (size_t)(array->dims[d] = spec->dims[d]);
    }
    return HEDDLE_OK;
}

static heddle_status list_safetensors(starting *job)
{
    HEDDLE_TRY(heddle_safetensors_open(job->path, &job->file));
    const int count = heddle_safetensors_count(job->file);
    job->arrays = calloc((size_t)count + 1, sizeof *job->arrays);
    if (!job->arrays)
        return no_memory(job);
    for (int i = 0; i < count; i++) {
        const heddle_array *array = heddle_safetensors_at(job->file, i);
        if (!strchr(array->name, '/')) // moments of a checkpoint
            job->arrays[job->array_count++] = *array;
    }
    return HEDDLE_OK;
}

// Numbers in names count: 2 stands before 10. safetensors files are sorted by name, whatever the order of the layers.
static int by_name(const void *left, const void *right)
{
    return strverscmp(((const heddle_array *)left)->name, ((const heddle_array *)right)->name);
}

static heddle_status list_layers(starting *job)
{
    job->layers = calloc((size_t)job->array_count + 1, sizeof *job->layers);
    job->found = calloc((size_t)job->model->parameter_count + 1, sizeof *job->found);
    if (!job->layers || !job->found)
        return no_memory(job);
    if (!job->graph) // whose order is that of its layers
        qsort(job->arrays, (size_t)job->array_count, sizeof *job->arrays, by_name);
    for (int i = 0; i < job->array_count; i++) {
        const char *name = job->arrays[i].name ? job->arrays[i].name : "", *dot = strrchr(name, '.');
        const int length = dot ? (int)(dot - name) : 0;
        file_layer *layer = job->layer_count ? &job->layers[job->layer_count - 1] : NULL;
        if (!layer || !layer->name || layer->length != length || strncmp(layer->name, name, (size_t)length) != 0) {
            layer = &job->layers[job->layer_count++];
            *layer = (file_layer){.name = name, .length = length};
        }
        if (layer->count < MOST_LEAVES)
            layer->leaves[layer->count++] = &job->arrays[i];
    }
    return HEDDLE_OK;
}

// --- matching
// -----------------------------------------------------------------------------------------------------------

static bool has_shape(const heddle_array *array, const heddle_parameter_spec *spec)
{
    bool fits = heddle_dtype_is_float(array->dtype) && array->dtype != HEDDLE_F16_PAIR && array->rank == spec->rank;
    for (int i = 0; i < spec->rank && fits; i++)
        fits = array->dims[i] == spec->dims[i];
    return fits;
}

static const char *leaf_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static const heddle_array *leaf_named(const file_layer *layer, const char *leaf)
{
    for (int i = 0; i < layer->count; i++)
        if (strcmp(leaf_of(layer->leaves[i]->name), leaf) == 0)
            return layer->leaves[i];
    return NULL;
}

// The parameters of a model's layer: `count` of them from `first` on.
typedef struct own_layer {
    const heddle_layer *layer;
    int first, count;
} own_layer;

// Whether a layer of the file has all of its parameters, and none besides.
static bool fits(const starting *job, const own_layer *own, const file_layer *layer)
{
    int counted = 0;
    for (int i = 0; i < layer->count; i++) // PyTorch's batchnorm counts batches, which nobody needs
        counted += strcmp(leaf_of(layer->leaves[i]->name), "num_batches_tracked") != 0;
    bool same = counted == own->count;
    for (int i = 0; i < own->count && same; i++) {
        const heddle_parameter_spec *spec = &job->model->parameters[own->first + i];
        const heddle_array *array = leaf_named(layer, leaf_of(spec->name));
        same = array && has_shape(array, spec);
    }
    return same;
}

static void take(starting *job, const own_layer *own, file_layer *layer)
{
    layer->used = true;
    for (int i = 0; i < own->count; i++)
        job->found[own->first + i] = leaf_named(layer, leaf_of(job->model->parameters[own->first + i].name));
    heddle_log(HEDDLE_LOG_INFO, "%s starts from '%.*s' of %s", own->layer->name, layer->length, layer->name, job->path);
}

// The first layer of the file that fits, of that name or of any; NULL: none does.
static file_layer *find_layer(const starting *job, const own_layer *own, bool by_its_name)
{
    const char *name = own->layer->name;
    for (int i = 0; i < job->layer_count; i++) {
        file_layer *layer = &job->layers[i];
        const bool named =
            layer->name && (size_t)layer->length == strlen(name) && strncmp(layer->name, name, strlen(name)) == 0;
        if (!layer->used && (named || !by_its_name) && fits(job, own, layer))
            return layer;
    }
    return NULL;
}

// Goes through the layers with parameters; gives how many there are, and how many found theirs.
static int match(starting *job, bool by_their_names, int *matched)
{
    int layers = 0, first = 0;
    *matched = 0;
    for (int i = 0; i < job->model->every_count; i++) {
        heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS];
        const heddle_layer *layer = job->model->every[i];
        const int count = layer->type->parameters ? layer->type->parameters(layer, specs) : 0;
        const own_layer own = {.layer = layer, .first = first, .count = count};
        first += count;
        file_layer *from = count > 0 ? find_layer(job, &own, by_their_names) : NULL;
        layers += count > 0;
        if (from) {
            take(job, &own, from);
            ++*matched;
        }
    }
    return layers;
}

// --- messages
// -----------------------------------------------------------------------------------------------------------

static const char *shape_text(const heddle_parameter_spec *spec, char text[SHAPE_TEXT])
{
    size_t used = 0;
    for (int i = 0; i < spec->rank && used < SHAPE_TEXT; i++)
        used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "%s%d", i ? "×" : "", spec->dims[i]);
    return text;
}

static heddle_status refuse(const starting *job)
{
    char shape[SHAPE_TEXT] = "";
    if (job->model->parameter_count == 0)
        return heddle_fail(HEDDLE_INVALID, "model %s has no parameters to start from %s", job->model->name, job->path);
    const heddle_parameter_spec *first = &job->model->parameters[0];
    return heddle_fail(HEDDLE_INVALID,
                       "%s: none of its %d tensors fits a layer of model %s; its first, %s, is %s: choose the --model "
                       "that the weights are of",
                       job->path, job->array_count, job->model->name, first->name, shape_text(first, shape));
}

static void warn(const starting *job, int layers, int matched, bool by_order)
{
    char list[LIST_SIZE] = "";
    size_t used = 0, last = 0; // the length of the name that was listed last, at the end
    for (int i = 0; i < job->model->parameter_count && used < sizeof list; i++) {
        const char *name = job->model->parameters[i].name;
        const size_t length = (size_t)(leaf_of(name) - name) - 1; // that of its layer
        if (job->found[i] || (last == length && strncmp(list + used - last, name, length) == 0))
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "", (int)length, name);
        last = length;
    }
    if (by_order)
        heddle_log(HEDDLE_LOG_WARN,
                   "%s names its layers differently: %d of %d were matched by order and shape; --log info shows which",
                   job->path, matched, layers);
    if (matched < layers)
        heddle_log(HEDDLE_LOG_WARN, "%s has no weights of the right shape for these layers, which start at random: %s",
                   job->path, list);
}

// --- numbers
// ------------------------------------------------------------------------------------------------------------

static float number_at(const heddle_array *array, size_t index)
{
    switch (array->dtype) {
    case HEDDLE_F64: return (float)((const double *)array->data)[index];
    case HEDDLE_F16: return (float)heddle_f16_decode(((const uint16_t *)array->data)[index]);
    case HEDDLE_BF16: return heddle_bf16_decode(((const uint16_t *)array->data)[index]);
    default: return ((const float *)array->data)[index];
    }
}

static heddle_status load_bank(const starting *job, heddle_state *state, heddle_stream *stream, heddle_bank bank)
{
    float *values = calloc(state->floats[bank] + 1, sizeof *values);
    if (!values)
        return no_memory(job);
    heddle_status status = heddle_state_read(state, stream, bank, values);
    for (int i = 0; i < job->model->parameter_count && status == HEDDLE_OK; i++) {
        const heddle_array *from = heddle_state_bank(state, i) == bank ? job->found[i] : NULL;
        bool finite = true;
        for (size_t j = 0; from && j < heddle_state_elements(state, i); j++) {
            const float number = number_at(from, j);
            finite &= fabsf(number) <= FLT_MAX;
            values[state->offset[i] + j] = number;
        }
        if (!finite)
            status = heddle_fail(HEDDLE_CORRUPT, "%s: '%s' has numbers that are not finite", job->path, from->name);
    }
    if (status == HEDDLE_OK)
        status = heddle_state_write(state, stream, bank, values);
    free(values);
    return status;
}

static heddle_status start(starting *job, heddle_state *state, heddle_stream *stream)
{
    int matched;
    HEDDLE_TRY(heddle_text_ends(job->path, ".onnx") ? list_onnx(job) : list_safetensors(job));
    HEDDLE_TRY(list_layers(job));
    int layers = match(job, true, &matched);
    const bool by_order = matched == 0;
    if (by_order)
        layers = match(job, false, &matched);
    if (matched == 0)
        return refuse(job);
    warn(job, layers, matched, by_order);
    HEDDLE_TRY(load_bank(job, state, stream, HEDDLE_BANK_PARAMETERS));
    return load_bank(job, state, stream, HEDDLE_BANK_STATISTICS);
}

heddle_status heddle_state_start_from(heddle_state *state, heddle_stream *stream, const char *path)
{
    starting job = {.path = path, .model = state->model};
    const heddle_status status = start(&job, state, stream);
    heddle_onnx_network_free(&job.network);
    heddle_onnx_close(job.graph);
    heddle_safetensors_close(job.file);
    free(job.arrays);
    free(job.layers);
    free(job.found);
    return status;
}
