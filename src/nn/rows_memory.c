// The buffers of a plan over rows: copies of the weights, parts of their gradients, padded biases, counters of
// blocks, and the table that says where in them each parameter is.

#include <limits.h>
#include <stdlib.h>

#include "nn/rows_build.h"
#include "nn/run.h"
#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_update/rows_update.h"

enum { ALIGNMENT = 128 }; // elements: what every tensor begins at a multiple of

// Room for `elements` more in a buffer of which *used are given out; returns where it begins, -1 where it would not be
// countable.
static int take(int *used, double elements)
{
    const int at = *used;
    const double end = at + elements;
    if (end > INT_MAX - ALIGNMENT)
        return -1;
    *used = ((int)end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static heddle_status too_large(const heddle_model *model)
{
    return heddle_fail(HEDDLE_UNSUPPORTED,
                       "model %s has too many parameters to be trained on 16-bit rows; use --precision fp32",
                       model->name);
}

// A segment for a layer's parameter; *index is -1 where the layer has none of that name.
static heddle_rows_segment *add_segment(const heddle_model *model, const heddle_layer *layer, const char *name,
                                        heddle_rows *rows, int *index)
{
    const int parameter = layer ? heddle_model_parameter_index(model, layer->name, name) : -1;
    *index = parameter < 0 ? -1 : rows->segment_count;
    if (parameter < 0)
        return NULL;
    heddle_rows_segment *segment = &rows->segments[rows->segment_count++];
    *segment = (heddle_rows_segment){
        .parameter = parameter, .c = 1, .taps = 1, .padded_c = 1, .columns = 1, .copy = -1, .vector = -1};
    return segment;
}

// How the weight's columns lie: channels by taps, or as the filter's patches have them.
static void set_columns(const heddle_rows_group *group, const heddle_rows_group *from, heddle_rows_segment *segment)
{
    const heddle_layer *layer = group->product;
    segment->padded_c = segment->columns = group->shape.c;
    if (group->in_trunk) {
        // As the parameter lies, in one row: its parts are read four floats at a time.
        segment->c = segment->padded_c = segment->columns = segment->k * layer->in[0] * layer->kernel * layer->kernel;
        segment->k = segment->padded_k = 1;
    } else if (from && (group->source == HEDDLE_ROWS_SHIFTED || group->source == HEDDLE_ROWS_PATCHES)) {
        segment->c = layer->in[0];
        segment->taps = layer->kernel * layer->kernel;
        segment->padded_c = from->shape.k;
    } else if (group->source == HEDDLE_ROWS_FEATURES && from) {
        segment->taps = from->next_h * from->next_w;
        segment->c = layer->in[0] / segment->taps;
        segment->padded_c = from->shape.k;
    } else {
        segment->c = layer->in_rank == 3 ? layer->in[0] * layer->kernel * layer->kernel : layer->in[0];
    }
}

static heddle_status place_vector(const heddle_model *model, heddle_rows_segment *segment, int k, int padded_k,
                                  int parts, heddle_rows *rows)
{
    segment->k = k;
    segment->padded_k = padded_k;
    segment->parts = parts;
    segment->part = take(&rows->update.parts, (double)parts * padded_k);
    if (k != padded_k)
        segment->vector = take(&rows->update.vectors, padded_k);
    return segment->part < 0 || (k != padded_k && segment->vector < 0) ? too_large(model) : HEDDLE_OK;
}

// What a product of bytes has besides its weights. The weights of a trunk are float32, in other units than the model's.
static heddle_status place_scales(const heddle_model *model, heddle_rows *rows, heddle_rows_group *group,
                                  heddle_rows_segment *weight, int padded_k)
{
    group->scale = take(&rows->update.vectors, padded_k);
    group->shift = take(&rows->update.vectors, padded_k);
    if (group->in_trunk)
        weight->vector = take(&rows->update.vectors, weight->padded_c);
    return group->scale < 0 || group->shift < 0 || (group->in_trunk && weight->vector < 0) ? too_large(model)
                                                                                           : HEDDLE_OK;
}

// `in_head`: an operator adds up the gradient of the bias by itself.
static heddle_status place_group(const heddle_model *model, heddle_rows *rows, heddle_rows_group *group, bool in_head)
{
    if (!group->product) {
        group->weight = group->bias = group->gamma = group->beta = -1;
        return HEDDLE_OK;
    }
    const heddle_layer *layer = group->product;
    const int k = layer->in_rank == 3 ? layer->channels : layer->features;
    const int padded_k = group->in_trunk ? k : group->shape.k;
    heddle_rows_segment *weight = add_segment(model, layer, "weight", rows, &group->weight);
    if (!weight)
        return heddle_fail(HEDDLE_INTERNAL, "layer %s has no weight", layer->name);
    weight->k = k;
    weight->padded_k = padded_k;
    weight->parts = group->steps ? 0 : group->shape.parts;
    weight->stepped = group->steps;
    set_columns(group, group->from < 0 ? NULL : &rows->groups[group->from], weight);
    const double elements = (double)weight->padded_k * weight->taps * weight->padded_c;
    weight->part = take(&rows->update.parts, weight->parts * elements);
    const bool bytes = rows->int8 && !group->in_stem;
    weight->copy = group->in_trunk ? -1
                                   : take(&rows->update.copies, rows->pairs ? 2 * elements
                                                                : bytes     ? elements / 2
                                                                            : elements);
    if (weight->part < 0 || (weight->copy < 0 && !group->in_trunk))
        return too_large(model);
    if (rows->int8)
        HEDDLE_TRY(place_scales(model, rows, group, weight, padded_k));
    // Before a batchnorm a bias makes no difference, and has no gradient.
    heddle_rows_segment *bias = add_segment(model, layer, "bias", rows, &group->bias);
    if (bias) {
        const int bias_parts = group->norm ? 0 : in_head && !group->steps ? 1 : weight->parts;
        bias->stepped = group->steps;
        HEDDLE_TRY(place_vector(model, bias, k, padded_k, bias_parts, rows));
    }
    heddle_rows_segment *gamma = add_segment(model, group->norm, "weight", rows, &group->gamma);
    if (gamma)
        HEDDLE_TRY(place_vector(model, gamma, k, padded_k, 1, rows));
    heddle_rows_segment *beta = add_segment(model, group->norm, "bias", rows, &group->beta);
    if (beta)
        HEDDLE_TRY(place_vector(model, beta, k, padded_k, 1, rows));
    return HEDDLE_OK;
}

static int tiles_of(const heddle_rows_segment *segment)
{
    return heddle_segment_tiles(segment->padded_k, segment->taps, segment->padded_c, segment->parts);
}

// Those that rows_update has to do come first.
static void fill_table(const heddle_rows *rows, const heddle_state *state, int32_t *table)
{
    int first = 0;
    for (int i = 0; i < 2 * rows->segment_count; i++) {
        const heddle_rows_segment *segment = &rows->segments[i % rows->segment_count];
        if (segment->stepped != (i >= rows->segment_count))
            continue;
        table[HEDDLE_SEGMENT_FIRST] = first;
        table[HEDDLE_SEGMENT_PARAMETER] = (int32_t)state->offset[segment->parameter];
        table[HEDDLE_SEGMENT_K] = segment->k;
        table[HEDDLE_SEGMENT_C] = segment->c;
        table[HEDDLE_SEGMENT_TAPS] = segment->taps;
        table[HEDDLE_SEGMENT_PADDED_K] = segment->padded_k;
        table[HEDDLE_SEGMENT_PADDED_C] = segment->padded_c;
        table[HEDDLE_SEGMENT_PARTS] = segment->parts;
        table[HEDDLE_SEGMENT_PART] = segment->part;
        table[HEDDLE_SEGMENT_COPY] = segment->copy;
        table[HEDDLE_SEGMENT_VECTOR] = segment->vector;
        table[HEDDLE_SEGMENT_COLUMNS] = segment->columns;
        first += tiles_of(segment);
        table += HEDDLE_SEGMENT_FIELDS;
    }
}

static heddle_status upload_table(const heddle_rows *rows, const heddle_state *state, heddle_stream *stream)
{
    const size_t bytes = (size_t)rows->segment_count * HEDDLE_SEGMENT_FIELDS * sizeof(int32_t);
    int32_t *table = malloc(bytes);
    if (!table)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the table of a plan's parameters");
    fill_table(rows, state, table);
    heddle_status status = heddle_copy(stream, rows->table, table, bytes);
    status = heddle_wait_after(stream, status);
    free(table);
    return status;
}

heddle_status heddle_rows_place(heddle_plan *plan, const heddle_state *state, heddle_stream *stream, heddle_rows *rows)
{
    int arrived = heddle_rows_trunk_groups(rows) > 0 ? rows->trunk.parts : 0;
    for (int i = 0; i < rows->group_count; i++) {
        const bool in_head = i == rows->group_count - 1 && heddle_rows_has_head(rows);
        HEDDLE_TRY(place_group(state->model, rows, &rows->groups[i], in_head));
        arrived += rows->groups[i].shape.k / HEDDLE_ROWS_COUNTED + 1; // of the product
    }
    for (int i = 0; i < rows->segment_count; i++) {
        rows->update.tiles += tiles_of(&rows->segments[i]);
        rows->rest_tiles += rows->segments[i].stepped ? 0 : tiles_of(&rows->segments[i]);
        rows->rest_segments += !rows->segments[i].stepped;
    }
    rows->update.segments = rows->segment_count;
    rows->update.parameters = (int)state->floats[HEDDLE_BANK_PARAMETERS];
    rows->update.optimizer = (int)plan->options.optimizer;
    const size_t counters = (size_t)(arrived + 1) * sizeof(int32_t);
    const heddle_part parts[] = {
        {(void **)&rows->table, (size_t)rows->segment_count * HEDDLE_SEGMENT_FIELDS * sizeof(int32_t)},
        {(void **)&rows->copies, (size_t)rows->update.copies * sizeof(uint16_t)},
        {(void **)&rows->parts, (size_t)rows->update.parts * sizeof(float)},
        {(void **)&rows->vectors, (size_t)rows->update.vectors * sizeof(float)},
        {(void **)&rows->arrived, counters},
    };
    HEDDLE_TRY(heddle_alloc_parts(plan->device, "copies of weights and their gradients", parts,
                                  sizeof parts / sizeof *parts, &rows->memory));
    HEDDLE_TRY(heddle_fill(stream, rows->arrived, 0, counters));
    // What no copy has, between two of them, is never looked at; but a copy of memory has to have been written.
    HEDDLE_TRY(heddle_fill(stream, rows->copies, 0, (size_t)rows->update.copies * sizeof(uint16_t)));
    HEDDLE_TRY(heddle_fill(stream, rows->parts, 0, (size_t)rows->update.parts * sizeof(float)));
    return upload_table(rows, state, stream);
}

void heddle_rows_destroy(heddle_plan *plan)
{
    if (plan->rows)
        heddle_free(plan->device, plan->rows->memory);
    free(plan->rows);
}
