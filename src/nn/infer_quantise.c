// Quantises a network over rows. A channel's weights are bytes times one scale, activations bytes times one scale per
// tensor, found by calibrating. A product's sums go from the units of input and weight to those of the output by one
// factor and one addend per channel. Functions that are between -1 and 1 need no calibrating: 127 means 1.
//
// The convolutions of rows_stem and rows_trunk stay as they are, in fp16, and leave bytes: only their units change.

#include <math.h>
#include <stdlib.h>

#include "base/float16.h"
#include "nn/infer.h"
#include "nn/run.h"
#include "ops/rows_conv/rows_conv.h"

static const float most_byte = HEDDLE_ROWS_MOST_BYTE;
static const float pixel_unit = 1.0F / 255, pixel_zero = -128; // what rows_gather makes of bytes
static const double float_error = 1.0 / (1 << 22);             // of a sum of two products, in units of both
static const float unit_step = 1.0F / (1 << 13);               // between units that are tried
enum { MOST_UNITS = 128 };

// Everything that quantising holds: the parameters, and the buffers of heddle_rows in host memory.
typedef struct quantising {
    heddle_rows *rows;
    const heddle_state *state;
    const heddle_ranges *ranges;
    float *parameters, *vectors;
    uint16_t *copies;
    float unit[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS]; // what a byte that the group leaves is worth
} quantising;

// --- units -----------------------------------------------------------------------------------------------------------

static bool is_bounded(heddle_rows_function function)
{
    return function == HEDDLE_ROWS_TANH || function == HEDDLE_ROWS_SIGMOID;
}

// What a byte of a function's results is worth.
static float unit_of(heddle_rows_function function, float range)
{
    return is_bounded(function) ? 1 / most_byte : range > 0 ? range / most_byte : 1;
}

// What the function's argument is given in, so that its result is in units of bytes.
static float argument_unit(heddle_rows_function function, float unit)
{
    return is_bounded(function) ? 1 : unit;
}

// Whether bytes of two units have a sum so close to a half of unit `to` that float arithmetic decides how it is
// rounded.
static bool has_tie(heddle_rows_function function, double unit, double added, double to)
{
    const int most = HEDDLE_ROWS_MOST_BYTE, least = -most - 1;
    for (int a = least; a <= most; a++)
        for (int b = least; b <= most; b++) {
            const double left = a * (unit / to), right = b * (added / to), sum = left + right;
            const bool rounds = fabs(sum) < most + 1 && (sum > 0 || function != HEDDLE_ROWS_RELU);
            const double off = fabs(sum - floor(sum) - 0.5);
            if (rounds && off < (fabs(left) + fabs(right)) * float_error)
                return true;
        }
    return false;
}

float heddle_rows_unit_of_sum(heddle_rows_function function, float range, float unit, float added)
{
    const float least = unit_of(function, range);
    for (int i = 0; i < MOST_UNITS && !is_bounded(function); i++) {
        const float to = least * (1 + (float)i * unit_step);
        if (!has_tie(function, (double)unit, (double)added, (double)to))
            return to;
    }
    return least;
}

static float input_unit(const quantising *job, const heddle_rows_group *group)
{
    return group->from < 0 ? pixel_unit : job->unit[group->from];
}

// --- parameters ------------------------------------------------------------------------------------------------------

static const heddle_rows_segment *weight_of(const quantising *job, const heddle_rows_group *group)
{
    return &job->rows->segments[group->weight];
}

// Weight (row, tap, channel) of the model; 0 in the padding.
static float weight_at(const quantising *job, const heddle_rows_segment *of, int row, int tap, int channel)
{
    if (row >= of->k || channel >= of->c)
        return 0;
    const size_t place = ((size_t)row * (size_t)of->c + (size_t)channel) * (size_t)of->taps + (size_t)tap;
    return job->parameters[job->state->offset[of->parameter] + place];
}

static float bias_at(const quantising *job, const heddle_rows_group *group, int row)
{
    const heddle_rows_segment *of = group->bias < 0 ? NULL : &job->rows->segments[group->bias];
    return of && row < of->k ? job->parameters[job->state->offset[of->parameter] + (size_t)row] : 0;
}

// One channel of a product: its weights as bytes. Returns what such a byte is worth; *sum is that of all of them.
static float quantise_row(const quantising *job, const heddle_rows_segment *of, int row, int8_t *bytes, int *sum)
{
    float most = 0;
    for (int tap = 0; tap < of->taps; tap++)
        for (int channel = 0; channel < of->c; channel++)
            most = fmaxf(most, fabsf(weight_at(job, of, row, tap, channel)));
    const float unit = most > 0 ? most / most_byte : 1;
    *sum = 0;
    for (int tap = 0; tap < of->taps; tap++)
        for (int channel = 0; channel < of->padded_c; channel++) {
            const int8_t byte = (int8_t)rintf(weight_at(job, of, row, tap, channel) / unit);
            bytes[(size_t)tap * (size_t)of->padded_c + (size_t)channel] = byte;
            *sum += byte;
        }
    return unit;
}

bool heddle_rows_bias_sum(float bias, float unit, int32_t *sum)
{
    const double whole = rint((double)bias / (double)unit);
    const bool fits = fabs(whole) < INT32_MAX; // not where a unit is 0 either
    *sum = fits ? (int32_t)whole : 0;
    return fits;
}

// `to`: the unit of sums.
static void quantise_product(const quantising *job, const heddle_rows_group *group, float to)
{
    const heddle_rows_segment *of = weight_of(job, group);
    const float in = input_unit(job, group), zero = group->from < 0 ? pixel_zero : 0;
    int8_t *bytes = (int8_t *)(job->copies + of->copy);
    for (int row = 0; row < of->padded_k; row++) {
        int sum;
        const float unit =
            quantise_row(job, of, row, bytes + (size_t)row * (size_t)of->taps * (size_t)of->padded_c, &sum);
        const double scale = (double)in * (double)unit / (double)to;
        const float bias = bias_at(job, group, row);
        int32_t whole;
        const double addend = heddle_rows_bias_sum(bias, in * unit, &whole) ? scale * whole : (double)bias / (double)to;
        job->vectors[group->scale + row] = (float)scale;
        job->vectors[group->shift + row] = (float)(addend - scale * (double)zero * sum);
    }
}

// Weights of rows_stem in fp16, or of rows_trunk in float32, and their biases, in units of `to`.
static void scale_convolution(const quantising *job, const heddle_rows_group *group, float to)
{
    const heddle_rows_segment *of = weight_of(job, group);
    const size_t elements = (size_t)of->padded_k * (size_t)of->taps * (size_t)of->padded_c;
    for (size_t i = 0; i < elements; i++) {
        const int channel = (int)(i % (size_t)of->padded_c), tap = (int)(i / (size_t)of->padded_c) % of->taps;
        const int row = (int)(i / (size_t)of->padded_c / (size_t)of->taps);
        const float value = weight_at(job, of, row, tap, channel) / to;
        if (group->in_trunk)
            job->vectors[(size_t)of->vector + i] = value;
        else
            job->copies[(size_t)of->copy + i] = heddle_f16_encode((double)value);
    }
    const int channels = group->in_trunk ? group->product->channels : group->shape.k;
    for (int row = 0; row < channels; row++)
        job->vectors[group->shift + row] = bias_at(job, group, row) / to;
}

// --- groups ----------------------------------------------------------------------------------------------------------

static void quantise_group(quantising *job, int index)
{
    heddle_rows_group *group = &job->rows->groups[index];
    const float range = job->ranges->left[index];
    group->norm_scale = group->add_scale = 1;
    if (!group->product) { // pooling; means are far smaller than what they are of
        job->unit[index] = group->average ? unit_of(group->function, range) : input_unit(job, group);
        group->norm_scale = input_unit(job, group) / job->unit[index];
    } else if (group->in_stem || group->in_trunk) {
        const bool leaves = group->in_stem || index + 1 == heddle_rows_trunk_groups(job->rows);
        job->unit[index] = unit_of(group->function, range);
        scale_convolution(job, group, leaves ? argument_unit(group->function, job->unit[index]) : 1);
    } else if (index + 1 == job->rows->group_count) { // logits are what they are
        quantise_product(job, group, 1);
    } else if (group->around < 0) {
        job->unit[index] = unit_of(group->function, job->ranges->output[index]);
        quantise_product(job, group, argument_unit(group->function, job->unit[index]));
    } else {
        const float unit = unit_of(HEDDLE_ROWS_IDENTITY, job->ranges->output[index]);
        job->unit[index] = heddle_rows_unit_of_sum(group->function, range, unit, job->unit[group->around]);
        group->product_unit = unit;
        quantise_product(job, group, unit);
        group->norm_scale = unit / argument_unit(group->function, job->unit[index]);
        group->add_scale = job->unit[group->around] / argument_unit(group->function, job->unit[index]);
    }
    group->unit = job->unit[index];
}

static heddle_status upload(const quantising *job, heddle_stream *stream)
{
    const heddle_rows *rows = job->rows;
    HEDDLE_TRY(heddle_copy(stream, rows->copies, job->copies, (size_t)rows->update.copies * sizeof *job->copies));
    HEDDLE_TRY(heddle_copy(stream, rows->vectors, job->vectors, (size_t)rows->update.vectors * sizeof *job->vectors));
    return HEDDLE_OK;
}

heddle_status heddle_rows_quantise(heddle_plan *plan, const heddle_state *state, heddle_stream *stream)
{
    heddle_rows *rows = plan->rows;
    quantising job = {.rows = rows, .state = state, .ranges = plan->options.ranges};
    job.parameters = calloc(state->floats[HEDDLE_BANK_PARAMETERS] + 1, sizeof *job.parameters);
    job.vectors = calloc((size_t)rows->update.vectors + 1, sizeof *job.vectors);
    job.copies = calloc((size_t)rows->update.copies + 1, sizeof *job.copies);
    const bool enough = job.parameters && job.vectors && job.copies;
    heddle_status status =
        enough ? heddle_state_read(state, stream, HEDDLE_BANK_PARAMETERS, job.parameters)
               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to quantise model %s", state->model->name);
    for (int i = 0; enough && status == HEDDLE_OK && i < rows->group_count; i++)
        quantise_group(&job, i);
    if (enough && status == HEDDLE_OK)
        status = heddle_wait_after(stream, upload(&job, stream));
    free(job.parameters);
    free(job.vectors);
    free(job.copies);
    return status;
}
