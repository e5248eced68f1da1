// From a model's layers to groups of them: which layers belong together, what each product reads and what it leaves.

#include <string.h>

#include "nn/rows.h"
#include "ops/rows_conv/rows_conv.h"

enum {
    PATCH_ALIGNMENT = 16,             // columns of the first layer's patches: one step of the tensor cores
    LEAST_SHIFTED = 16,               // channels with which shifts beat patches
    PART_ROWS = 4 * HEDDLE_ROWS_PART, // rows worth a part of their own
    MULTIPROCESSORS = 132, // that parts of a gradient are spread over, whatever the card: the same parts, the same bits
};

static int padded(int channels, int alignment)
{
    return (channels + alignment - 1) / alignment * alignment;
}

static bool is_type(const heddle_layer *layer, const char *name)
{
    return strcmp(layer->type->name, name) == 0;
}

// --- which layers are a group ---------------------------------------------------------------------------------------

static bool function_of(const heddle_layer *layer, heddle_rows_function *function)
{
    static const char *const names[] = {
        [HEDDLE_ROWS_RELU] = "relu", [HEDDLE_ROWS_TANH] = "tanh", [HEDDLE_ROWS_SIGMOID] = "sigmoid"};
    for (int i = HEDDLE_ROWS_RELU; i < HEDDLE_ROWS_FUNCTIONS; i++)
        if (is_type(layer, names[i])) {
            *function = (heddle_rows_function)i;
            return true;
        }
    return false;
}

// Windows side by side, all of them inside the image.
static bool is_pool(const heddle_layer *layer)
{
    return (is_type(layer, "maxpool2d") || is_type(layer, "avgpool2d")) && layer->stride == layer->window &&
           layer->padding == 0;
}

// The group that begins at layers[index]; returns how many layers it has, 0 where none begins there.
static int take_group(const heddle_model *model, int index, heddle_rows_group *group)
{
    const heddle_layer *layers = model->layers, *product = &layers[index];
    const int count = model->layer_count;
    int next = index + 1;
    if ((!is_type(product, "conv2d") || product->groups > 1) && !is_type(product, "linear"))
        return 0;
    *group = (heddle_rows_group){.product = product, .window = 1};
    if (next < count && is_type(&layers[next], "batchnorm2d"))
        group->norm = &layers[next++];
    if (next < count && function_of(&layers[next], &group->function))
        next++;
    if (next < count && is_pool(&layers[next])) {
        group->window = layers[next].window;
        group->average = is_type(&layers[next], "avgpool2d");
        next++;
    }
    while (next < count && is_type(&layers[next], "flatten"))
        next++;
    return next - index;
}

static bool take_groups(const heddle_model *model, heddle_rows *rows)
{
    int index = 0;
    while (index < model->layer_count && is_type(&model->layers[index], "flatten"))
        index++;
    while (index < model->layer_count) {
        if (rows->group_count == HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS)
            return false;
        const int taken = take_group(model, index, &rows->groups[rows->group_count]);
        if (taken == 0)
            return false;
        rows->group_count++;
        index += taken;
    }
    return rows->group_count > 0;
}

// --- what each of them reads and leaves -----------------------------------------------------------------------------

static bool is_conv(const heddle_rows_group *group)
{
    return is_type(group->product, "conv2d");
}

static heddle_rows_source source_of(const heddle_rows_group *group, int index)
{
    const heddle_layer *layer = group->product;
    if (index == 0)
        return HEDDLE_ROWS_FROM_DATASET;
    if (!is_conv(group))
        return HEDDLE_ROWS_FEATURES;
    const bool shifts = layer->kernel == 3 && layer->stride == 1 && layer->dilation == 1 && layer->padding <= 2 &&
                        layer->in[0] >= LEAST_SHIFTED;
    return shifts ? HEDDLE_ROWS_SHIFTED : HEDDLE_ROWS_PATCHES;
}

// Columns of the product's input and rows of one image, as its shape has them.
static void set_shape(heddle_rows_group *group, int batch)
{
    const heddle_layer *layer = group->product;
    heddle_rows_conv_shape *shape = &group->shape;
    const int channels = is_conv(group) ? layer->channels : layer->features;
    *shape = (heddle_rows_conv_shape){.n = batch, .h = 1, .w = 1, .r = 1, .s = 1, .parts = 1};
    shape->k = padded(channels, HEDDLE_ROWS_ALIGNMENT);
    group->out_h = is_conv(group) ? layer->out[1] : 1;
    group->out_w = is_conv(group) ? layer->out[2] : 1;
    if (group->source == HEDDLE_ROWS_SHIFTED) {
        shape->h = layer->in[1], shape->w = layer->in[2];
        shape->gap = shape->padding = layer->padding;
        shape->r = shape->s = layer->kernel;
        shape->c = padded(layer->in[0], HEDDLE_ROWS_ALIGNMENT);
    } else if (is_conv(group)) {
        const int taps = layer->kernel * layer->kernel;
        shape->h = group->out_h, shape->w = group->out_w;
        shape->c = group->source == HEDDLE_ROWS_FROM_DATASET ? padded(layer->in[0] * taps, PATCH_ALIGNMENT)
                                                             : padded(layer->in[0], HEDDLE_ROWS_ALIGNMENT) * taps;
    }
    group->next_h = group->out_h / group->window;
    group->next_w = group->out_w / group->window;
}

// A linear layer's input: what the group before left of an image, padding included.
static void set_features(heddle_rows_group *group, const heddle_rows_group *before)
{
    group->shape.c =
        before ? before->next_h * before->next_w * before->shape.k : padded(group->product->in[0], PATCH_ALIGNMENT);
}

// In how many parts the gradient of the weight is added up: as many as keep all multiprocessors busy in pairs, but none
// of too few rows.
static void set_parts(heddle_rows_group *group)
{
    heddle_rows_conv_shape *shape = &group->shape;
    const bool taps = shape->r * shape->s > 1;
    const int tile_k = taps ? 64 : 128, tile_c = taps ? 64 : 128;
    const int tiles = (shape->k + tile_k - 1) / tile_k * ((shape->c + tile_c - 1) / tile_c);
    const int room = MULTIPROCESSORS / 2 / tiles, most = heddle_rows_conv_rows(shape) / PART_ROWS;
    shape->parts = room < most ? room : most;
    if (shape->parts < 1)
        shape->parts = 1;
}

// Whether the next group's product can read what this one's stores.
static bool follows_directly(const heddle_rows_group *group, const heddle_rows_group *next)
{
    if (group->norm || group->window > 1)
        return false;
    if (!next || (next->source == HEDDLE_ROWS_FEATURES && !is_conv(group)))
        return true;
    // Frames alike: the same lines, rows and gaps, all of them results.
    return next->source == HEDDLE_ROWS_SHIFTED && group->source == HEDDLE_ROWS_SHIFTED &&
           next->shape.gap == group->shape.gap && group->out_h == group->shape.h && group->out_w == group->shape.w;
}

bool heddle_rows_group_layers(const heddle_model *model, int batch, heddle_rows *rows)
{
    if (!take_groups(model, rows))
        return false;
    for (int i = 0; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        group->source = source_of(group, i);
        set_shape(group, batch);
        if (!is_conv(group))
            set_features(group, i > 0 ? group - 1 : NULL);
        // The largest number of images that indices reach, and statistics that lie side by side.
        if ((double)heddle_rows_conv_rows(&group->shape) *
                    (group->shape.c > group->shape.k ? group->shape.c : group->shape.k) >
                2e9 ||
            (group->norm && group->norm->in[0] % HEDDLE_ROWS_ALIGNMENT))
            return false;
        set_parts(group);
    }
    for (int i = 0; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        const heddle_rows_group *next = i + 1 < rows->group_count ? group + 1 : NULL;
        group->passes = !follows_directly(group, next);
        group->gap = next && next->source == HEDDLE_ROWS_SHIFTED ? next->shape.gap : 0;
        if (!next && group->passes)
            return false; // the last layer gives the logits themselves
        if (!group->passes && next)
            group->shape.function = group->function;
        group->shape.zero_gaps = !group->passes && next && next->source == HEDDLE_ROWS_SHIFTED;
    }
    const heddle_rows_group *last = &rows->groups[rows->group_count - 1];
    return !is_conv(last) && last->function == HEDDLE_ROWS_IDENTITY;
}
