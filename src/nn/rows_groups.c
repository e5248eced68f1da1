// From a model's layers to groups of them: which layers belong together, what each product reads and what it leaves.

#include <stdio.h>
#include <string.h>

#include "nn/rows.h"
#include "ops/rows_conv/rows_conv.h"

enum {
    PATCH_ALIGNMENT = 16,             // columns of the first layer's patches: one step of the tensor cores
    LEAST_SHIFTED = 16,               // channels with which shifts beat patches
    WIDEST_SHIFTED = 63,              // pixels of a line and its gap: the rows that a filter reaches fit a load of TMA
    MOST_READERS = 2,                 // of a result: rows_norm adds up two gradients
    MOST_NORMALISED = 2048,           // channels that rows_norm has rungs for
    PART_ROWS = 4 * HEDDLE_ROWS_PART, // rows worth a part of their own
    MULTIPROCESSORS = 132,            // that parts of a gradient are spread over
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

const char *heddle_rows_misfit_reason(const heddle_layer *misfit, char *text, size_t size)
{
    heddle_rows_function function;
    const bool follows = function_of(misfit, &function) || is_type(misfit, "batchnorm2d");
    snprintf(text, size, "(%s%s)", misfit->type->name, follows ? ", which has to follow a conv2d or linear layer" : "");
    return text;
}

// Windows side by side, all of them inside the image.
static bool is_pool(const heddle_layer *layer)
{
    return (is_type(layer, "maxpool2d") || is_type(layer, "avgpool2d")) && layer->stride == layer->window &&
           layer->padding == 0;
}

static heddle_rows_group *add_group(heddle_rows *rows, const heddle_layer *product, int *at)
{
    if (rows->group_count == HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS)
        return NULL;
    heddle_rows_group *group = &rows->groups[rows->group_count];
    *group = (heddle_rows_group){.product = product, .window = 1, .from = *at, .around = -1};
    *at = rows->group_count++;
    return group;
}

// A product and what belongs to it, from layers[index] on; returns how many layers that are, 0 where none begins there.
static int take_product(const heddle_layer_list *list, int index, heddle_rows *rows, int *at)
{
    const heddle_layer *layers = list->layers, *product = &layers[index];
    const int count = list->count;
    int next = index + 1;
    if ((!is_type(product, "conv2d") || product->groups > 1) && !is_type(product, "linear"))
        return 0;
    heddle_rows_group *group = add_group(rows, product, at);
    if (!group)
        return 0;
    if (next < count && is_type(&layers[next], "batchnorm2d"))
        group->norm = &layers[next++];
    if (next < count && function_of(&layers[next], &group->function))
        next++;
    if (next < count && is_pool(&layers[next])) {
        group->window = layers[next].window;
        group->average = is_type(&layers[next], "avgpool2d");
        next++;
    }
    return next - index;
}

// Pooling behind a residual, or over whole images.
static int take_pool(const heddle_layer *layer, heddle_rows *rows, int *at)
{
    const bool whole = is_type(layer, "globalavgpool") && layer->in[1] == layer->in[2];
    if (*at < 0 || !(whole || is_pool(layer)))
        return 0;
    heddle_rows_group *group = add_group(rows, NULL, at);
    if (!group)
        return 0;
    group->window = whole ? layer->in[1] : layer->window;
    group->average = whole || is_type(layer, "avgpool2d");
    return 1;
}

static bool take_list(const heddle_layer_list *list, heddle_rows *rows, int *at);

// A residual and the function behind it. Its last product adds the way around, before that function.
static int take_residual(const heddle_layer_list *list, int index, heddle_rows *rows, int *at)
{
    const heddle_layer *layer = &list->layers[index];
    int through = *at, around = *at;
    if (!is_type(layer, "residual") || *at < 0 || !take_list(&layer->projection, rows, &around) ||
        !take_list(&layer->layers, rows, &through) || through == *at)
        return 0;
    heddle_rows_group *last = &rows->groups[through];
    if (!last->product || last->around >= 0 || last->window > 1 || last->function != HEDDLE_ROWS_IDENTITY)
        return 0;
    last->around = around;
    *at = through;
    return index + 1 < list->count && function_of(&list->layers[index + 1], &last->function) ? 2 : 1;
}

// The groups of a list of layers; *at is the group whose result they read, and then the one that has theirs.
static bool take_list(const heddle_layer_list *list, heddle_rows *rows, int *at)
{
    for (int index = 0, taken; index < list->count; index += taken) {
        taken = is_type(&list->layers[index], "flatten") ? 1 : take_product(list, index, rows, at);
        if (taken == 0)
            taken = take_residual(list, index, rows, at);
        if (taken == 0)
            taken = take_pool(&list->layers[index], rows, at);
        if (taken == 0) {
            if (!rows->misfit) // one inside of it has been noted before a residual
                rows->misfit = &list->layers[index];
            return false;
        }
    }
    return true;
}

static bool take_groups(const heddle_model *model, heddle_rows *rows)
{
    const heddle_layer_list list = {.layers = model->layers, .count = model->layer_count};
    int at = -1;
    return take_list(&list, rows, &at) && at >= 0 && at == rows->group_count - 1;
}

// --- what each of them reads and leaves -----------------------------------------------------------------------------

static bool is_conv(const heddle_rows_group *group)
{
    return is_type(group->product, "conv2d");
}

static heddle_rows_source source_of(const heddle_rows_group *group)
{
    const heddle_layer *layer = group->product;
    if (group->from < 0)
        return HEDDLE_ROWS_FROM_DATASET;
    if (!layer)
        return HEDDLE_ROWS_FRAME;
    if (!is_conv(group))
        return HEDDLE_ROWS_FEATURES;
    const bool shifts = layer->kernel == 3 && layer->stride == 1 && layer->dilation == 1 && layer->padding <= 2 &&
                        layer->in[0] >= LEAST_SHIFTED && layer->in[2] + layer->padding <= WIDEST_SHIFTED;
    return shifts ? HEDDLE_ROWS_SHIFTED : HEDDLE_ROWS_PATCHES;
}

// Columns of the product's input and rows of one image, as its shape has them.
static void set_shape(heddle_rows_group *group, const heddle_layer *layer, int batch, int alignment)
{
    heddle_rows_conv_shape *shape = &group->shape;
    const int channels = is_conv(group) ? layer->channels : layer->features;
    *shape = (heddle_rows_conv_shape){.n = batch, .h = 1, .w = 1, .r = 1, .s = 1, .parts = 1};
    shape->k = padded(channels, alignment);
    group->out_h = is_conv(group) ? layer->out[1] : 1;
    group->out_w = is_conv(group) ? layer->out[2] : 1;
    if (group->source == HEDDLE_ROWS_SHIFTED) {
        shape->h = layer->in[1], shape->w = layer->in[2];
        shape->gap = shape->padding = layer->padding;
        shape->r = shape->s = layer->kernel;
        shape->c = padded(layer->in[0], alignment);
    } else if (is_conv(group)) {
        const int taps = layer->kernel * layer->kernel;
        shape->h = group->out_h, shape->w = group->out_w;
        shape->c = group->source == HEDDLE_ROWS_FROM_DATASET ? padded(layer->in[0] * taps, PATCH_ALIGNMENT)
                                                             : padded(layer->in[0], alignment) * taps;
    }
    group->next_h = group->out_h / group->window;
    group->next_w = group->out_w / group->window;
}

// Pooling alone: it leaves what it reads, with fewer pixels.
static void set_pool(heddle_rows_group *group, const heddle_rows_group *from, int batch)
{
    const int channels = from->shape.k;
    group->shape =
        (heddle_rows_conv_shape){.n = batch, .h = 1, .w = 1, .r = 1, .s = 1, .c = channels, .k = channels, .parts = 1};
    group->out_h = from->next_h, group->out_w = from->next_w;
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
    const int room = tiles > 0 ? MULTIPROCESSORS / 2 / tiles : 1, most = heddle_rows_conv_rows(shape) / PART_ROWS;
    shape->parts = room < most ? room : most;
    if (shape->parts < 1)
        shape->parts = 1;
}

// Whether linear layers read what a group leaves, images that become rows; false: others read it too. A row of pairs
// has all upper halves first, so that it cannot be both.
static bool set_flat(heddle_rows *rows, int index)
{
    heddle_rows_group *group = &rows->groups[index];
    bool alike = true;
    for (int i = 0; i < rows->group_count; i++)
        if (rows->groups[i].from == index && rows->groups[i].source == HEDDLE_ROWS_FEATURES)
            group->flat = group->next_h * group->next_w > 1;
    for (int i = 0; i < rows->group_count; i++)
        if ((rows->groups[i].from == index && rows->groups[i].source != HEDDLE_ROWS_FEATURES) ||
            rows->groups[i].around == index)
            alike = !group->flat;
    return alike;
}

// How many groups read what a group leaves, and one of them.
static int count_readers(const heddle_rows *rows, int index, const heddle_rows_group **reader)
{
    int count = 0;
    *reader = NULL;
    for (int i = 0; i < rows->group_count; i++) {
        if (rows->groups[i].from == index) {
            *reader = &rows->groups[i];
            count++;
        }
        count += rows->groups[i].around == index;
    }
    return count;
}

// Whether the only reader's product can read what this one's stores.
static bool follows_directly(const heddle_rows_group *group, const heddle_rows_group *next)
{
    if (!group->product || group->norm || group->window > 1 || group->around >= 0)
        return false;
    if (!next || (next->source == HEDDLE_ROWS_FEATURES && !is_conv(group)))
        return true;
    // Frames alike: the same lines, rows and gaps, all of them results.
    return next->source == HEDDLE_ROWS_SHIFTED && group->source == HEDDLE_ROWS_SHIFTED &&
           next->shape.gap == group->shape.gap && group->out_h == group->shape.h && group->out_w == group->shape.w;
}

// The gap of every frame: what the filters that are shifted over it need, and the same on both ways of a residual.
// false: some frame would need two.
static bool set_gaps(heddle_rows *rows)
{
    heddle_rows_group *groups = rows->groups;
    for (int i = 0; i < rows->group_count; i++)
        if (groups[i].source == HEDDLE_ROWS_SHIFTED && groups[i].shape.gap > groups[groups[i].from].gap)
            groups[groups[i].from].gap = groups[i].shape.gap;
    for (int round = 0; round < rows->group_count; round++) // a gap may pass on through many residuals
        for (int i = 0; i < rows->group_count; i++) {
            heddle_rows_group *around = groups[i].around < 0 ? &groups[i] : &groups[groups[i].around];
            groups[i].gap = around->gap = groups[i].gap > around->gap ? groups[i].gap : around->gap;
        }
    for (int i = 0; i < rows->group_count; i++) {
        const heddle_rows_group *from = groups[i].from < 0 ? NULL : &groups[groups[i].from];
        if (from && ((groups[i].source == HEDDLE_ROWS_SHIFTED && from->gap != groups[i].shape.gap) ||
                     (groups[i].source == HEDDLE_ROWS_FEATURES && from->gap > 0)))
            return false;
    }
    return true;
}

// Whether both ways of a residual give as many pixels of as many channels.
static bool ways_agree(const heddle_rows *rows, const heddle_rows_group *group)
{
    const heddle_rows_group *around = group->around < 0 ? group : &rows->groups[group->around];
    return around->next_h == group->next_h && around->next_w == group->next_w && around->shape.k == group->shape.k;
}

static bool set_group(heddle_rows *rows, heddle_rows_group *group, int batch)
{
    const heddle_rows_group *from = group->from < 0 ? NULL : &rows->groups[group->from];
    group->source = source_of(group);
    if (!group->product) {
        if (from)
            set_pool(group, from, batch);
        return from != NULL;
    }
    set_shape(group, group->product, batch, rows->alignment ? rows->alignment : HEDDLE_ROWS_ALIGNMENT);
    if (!is_conv(group))
        set_features(group, from);
    set_parts(group);
    // The largest number of images that indices reach, and statistics that lie side by side.
    const heddle_rows_conv_shape *shape = &group->shape;
    const double rows_of_all = (double)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap);
    const int channels = group->norm ? group->norm->in[0] : 0;
    return rows_of_all * (shape->c > shape->k ? shape->c : shape->k) <= 2e9 && channels % HEDDLE_ROWS_ALIGNMENT == 0 &&
           channels <= MOST_NORMALISED;
}

bool heddle_rows_group_layers(const heddle_model *model, int batch, heddle_rows *rows)
{
    if (!take_groups(model, rows))
        return false;
    for (int i = 0; i < rows->group_count; i++)
        if (!set_group(rows, &rows->groups[i], batch)) {
            rows->misfit = rows->groups[i].norm ? rows->groups[i].norm : rows->groups[i].product;
            return false;
        }
    if (!set_gaps(rows))
        return false;
    for (int i = 0; i < rows->group_count; i++) {
        heddle_rows_group *group = &rows->groups[i];
        const heddle_rows_group *reader;
        const int readers = count_readers(rows, i, &reader);
        if (readers > MOST_READERS || !ways_agree(rows, group) || (!set_flat(rows, i) && rows->pairs))
            return false;
        group->passes = readers > 1 || (readers == 1 && !reader) || !follows_directly(group, reader);
        if (!group->passes && reader)
            group->shape.function = group->function;
        group->shape.zero_gaps = !group->passes && reader && reader->source == HEDDLE_ROWS_SHIFTED;
    }
    // The last layer gives the logits themselves.
    const heddle_rows_group *last = &rows->groups[rows->group_count - 1];
    if (last->product && !is_conv(last) && !last->passes && last->function == HEDDLE_ROWS_IDENTITY)
        return true;
    rows->misfit = &model->layers[model->layer_count - 1];
    return false;
}

heddle_dtype heddle_rows_dtype(const heddle_rows *rows)
{
    return rows->pairs ? HEDDLE_F16_PAIR : rows->half ? HEDDLE_F16 : HEDDLE_BF16;
}
