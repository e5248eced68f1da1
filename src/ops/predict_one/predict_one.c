// predict_one: the prediction of one image by a whole network. The steps' places, the operator's cost, reference and
// ladder.

#include "ops/predict_one/predict_one.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/random.h"
#include "ops/by_reference.h"
#include "ops/rows_define.h"

typedef heddle_predict_one_shape predict_shape;
typedef heddle_predict_step predict_step;

// The kernel counts in 16 bits within a line of pixels. A network of more weights, results or multiply-adds gains
// nothing: the work of its layers takes far longer than their launches.
enum {
    MOST_WINDOW = 4,
    MOST_FLOATS = 1 << 24,
    MOST_PRODUCTS = 1 << 28,
    MOST_PIXELS = 1 << 14,
    MOST_CHANNELS = 1 << 14,
    MOST_PADDING = 64,
};

// --- places ----------------------------------------------------------------------------------------------------------

// What step `index` reads: c, h and w.
static void read_sizes(const predict_step *steps, predict_step *step, const predict_shape *shape)
{
    const predict_step *from = step->from < 0 ? NULL : &steps[step->from];
    step->c = from ? from->channels : shape->c;
    step->h = from ? from->next_h : shape->h;
    step->w = from ? from->next_w : shape->w;
}

// The widest padding of the convolutions that read what step `index` leaves; -1: the image.
static int border_of(const predict_step *steps, int count, int index)
{
    int border = 0;
    for (int i = index + 1; i < count; i++)
        if (steps[i].kind == HEDDLE_PREDICT_CONV && steps[i].from == index && steps[i].padding > border)
            border = steps[i].padding;
    return border;
}

static void set_conv(predict_step *step)
{
    const int reach = (step->r - 1) * step->dilation + 1;
    step->out_h = (step->h + 2 * step->padding - reach) / step->stride + 1;
    step->out_w = (step->w + 2 * step->padding - reach) / step->stride + 1;
    step->next_h = step->out_h / step->window;
    step->next_w = step->out_w / step->window;
    // Columns are padded to rounds of all warps: one, three, five or nines of chunks each (kernel.h).
    const int each = HEDDLE_PREDICT_WARPS * HEDDLE_PREDICT_CHUNK,
              rounds = (heddle_predict_read(step) + each - 1) / each;
    step->columns = each * (rounds <= 1 ? 1 : rounds <= 3 ? 3 : rounds <= 5 ? 5 : (rounds + 8) / 9 * 9);
    step->parts = 1;
}

static void set_linear(predict_step *step, bool is_last)
{
    step->out_h = step->out_w = step->next_h = step->next_w = 1;
    step->columns =
        (heddle_predict_read(step) + HEDDLE_PREDICT_CHUNK - 1) / HEDDLE_PREDICT_CHUNK * HEDDLE_PREDICT_CHUNK;
    const int tiles = (step->channels + 7) / 8, chunks = step->columns / HEDDLE_PREDICT_CHUNK;
    const int wanted = is_last || step->kind == HEDDLE_PREDICT_MEANS ? 1 : (HEDDLE_PREDICT_UNITS + tiles - 1) / tiles;
    const int most = chunks / HEDDLE_PREDICT_WARPS, least = (step->columns - 1) / HEDDLE_PREDICT_VECTOR + 1;
    step->parts = wanted > most ? most : wanted;
    step->parts = step->parts < least && !is_last ? least : step->parts < 1 ? 1 : step->parts;
}

// Whether sizes can be computed from what the step reads, without an overflow.
static bool is_sane(const predict_step *step)
{
    const bool fits = (step->c + 3.0) * (step->h + 2.0 * step->edge) * (step->w + 2.0 * step->edge) <= MOST_FLOATS;
    return fits && (step->kind != HEDDLE_PREDICT_CONV ||
                    (step->r >= 1 && step->stride >= 1 && step->dilation >= 1 && step->padding >= 0 &&
                     step->padding < MOST_PADDING && step->r <= MOST_PIXELS && step->stride <= MOST_PIXELS &&
                     step->dilation <= MOST_PIXELS && step->h * step->w <= MOST_PIXELS));
}

static bool is_conv_possible(const predict_step *steps, const predict_step *step)
{
    const predict_step *around = step->around < 0 ? NULL : &steps[step->around];
    if (step->window > MOST_WINDOW || step->next_h < 1 || step->next_w < 1)
        return false;
    if (around && (around->channels != step->channels || around->next_h != step->out_h ||
                   around->next_w != step->out_w || around->kind != HEDDLE_PREDICT_CONV))
        return false;
    // A pixel of the image has four floats.
    return (step->from >= 0 || step->c <= 4) && step->out_h * step->out_w <= MOST_PIXELS &&
           step->channels <= MOST_CHANNELS;
}

// What a linear layer's part reads has to fit into shared memory; means are not cut into parts.
static bool is_linear_possible(const predict_step *steps, const predict_step *step)
{
    const bool after_conv = step->from >= 0 && steps[step->from].kind == HEDDLE_PREDICT_CONV;
    const int chunks = step->columns / HEDDLE_PREDICT_CHUNK, per = (chunks + step->parts - 1) / step->parts;
    return step->window == 1 && step->around < 0 && step->channels <= MOST_CHANNELS &&
           per * HEDDLE_PREDICT_CHUNK <= HEDDLE_PREDICT_VECTOR &&
           (step->kind != HEDDLE_PREDICT_MEANS || (after_conv && step->parts == 1));
}

// Convolutions over as many channels with the same filter share a table. Returns how much of all tables is taken.
static int place_taps(predict_step *steps, int index, int taken)
{
    predict_step *step = &steps[index];
    for (int i = 0; i < index; i++)
        if (steps[i].kind == HEDDLE_PREDICT_CONV && steps[i].c == step->c && steps[i].r == step->r &&
            steps[i].dilation == step->dilation && steps[i].w + 2 * steps[i].edge == step->w + 2 * step->edge) {
            step->taps = steps[i].taps;
            return taken;
        }
    step->taps = taken;
    return taken + step->columns / 4;
}

static int phase_after(const predict_step *steps, int index, int phase)
{
    return index < 0 || steps[index].phase < phase ? phase : steps[index].phase + 1;
}

bool heddle_predict_place(predict_step *steps, int count, predict_shape *shape)
{
    double weights = 0, activations = 0, products = 0;
    int taps = 0;
    if (count < 1 || count > HEDDLE_PREDICT_STEPS || shape->classes > HEDDLE_PREDICT_CLASSES)
        return false;
    for (int i = 0; i < count; i++) {
        predict_step *step = &steps[i];
        const bool is_last = i == count - 1, is_conv = step->kind == HEDDLE_PREDICT_CONV;
        if (step->from >= i || step->around >= i || step->channels < 1 || step->window < 1)
            return false;
        read_sizes(steps, step, shape);
        step->border = border_of(steps, count, i);
        step->edge = step->from < 0 ? border_of(steps, count, -1) : steps[step->from].border;
        if (!is_sane(step))
            return false;
        if (is_conv)
            set_conv(step);
        else
            set_linear(step, is_last);
        if (is_conv ? !is_conv_possible(steps, step) || is_last : !is_linear_possible(steps, step))
            return false;
        if (step->from >= 0 ? is_conv && steps[step->from].kind != HEDDLE_PREDICT_CONV : step->kind != steps[0].kind)
            return false;
        taps = is_conv ? place_taps(steps, i, taps) : taps;
        if (i == 0) // the image comes first
            activations = is_conv ? 4.0 * (step->h + 2 * step->edge) * (step->w + 2 * step->edge) : step->columns;
        step->phase = phase_after(steps, step->around, phase_after(steps, step->from, i > 0 ? steps[i - 1].phase : 0));
        const double rows = (step->channels + 7) / 8 * 8, bias = weights + rows * step->columns;
        products += rows * step->columns * step->out_h * step->out_w;
        if (bias + rows > MOST_FLOATS || products > MOST_PRODUCTS)
            return false;
        step->weight = (int)weights;
        step->bias = (int)bias;
        step->left = (int)activations;
        weights = bias + rows;
        activations += (double)step->parts * (step->next_h + 2 * step->border) * (step->next_w + 2 * step->border) *
                       heddle_predict_padded(step->channels);
        if (activations > MOST_FLOATS || taps > HEDDLE_PREDICT_TAPS)
            return false;
    }
    const predict_step *last = &steps[count - 1];
    if (last->channels != shape->classes || last->function != HEDDLE_ROWS_IDENTITY ||
        (count > 1 && last->phase == steps[count - 2].phase))
        return false;
    shape->steps = count;
    shape->weights = (int)weights;
    shape->activations = (int)activations;
    return true;
}

// Zeros around the pixels of an area.
static void clear_border(int32_t *area, int h, int w, int border, int padded)
{
    const int wide = w + 2 * border;
    for (int y = 0; y < h + 2 * border; y++)
        for (int x = 0; x < wide; x++)
            if (y < border || y >= h + border || x < border || x >= w + border)
                memset(area + ((size_t)y * (size_t)wide + (size_t)x) * (size_t)padded, 0,
                       (size_t)padded * sizeof *area);
}

void heddle_predict_begin(const predict_step *steps, const predict_shape *shape, int32_t *state)
{
    memset(state, 0, HEDDLE_PREDICT_TURNS * sizeof *state);
    memset(state + HEDDLE_PREDICT_TURNS, 0xff, 2 * (size_t)shape->activations * sizeof *state);
    for (int turn = 0; turn < 2; turn++) {
        int32_t *bank = state + HEDDLE_PREDICT_TURNS + turn * shape->activations;
        if (steps[0].kind == HEDDLE_PREDICT_CONV)
            clear_border(bank, steps[0].h, steps[0].w, steps[0].edge, heddle_predict_padded(steps[0].c));
        for (int i = 0; i < shape->steps; i++)
            clear_border(bank + steps[i].left, steps[i].next_h, steps[i].next_w, steps[i].border,
                         heddle_predict_padded(steps[i].channels));
    }
}

// --- the operator ----------------------------------------------------------------------------------------------------

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(predict_shape, steps, "products of the network, at most 24")},
    {HEDDLE_REQUIRED_INT(predict_shape, c, "channels of the image")},
    {HEDDLE_REQUIRED_INT(predict_shape, h, "its lines")},
    {HEDDLE_REQUIRED_INT(predict_shape, w, "pixels of a line")},
    {HEDDLE_REQUIRED_INT(predict_shape, classes, "classes, at most 32")},
    {HEDDLE_REQUIRED_INT(predict_shape, weights, "floats of all weights and biases")},
    {HEDDLE_REQUIRED_INT(predict_shape, activations, "floats that the steps leave")},
};

static heddle_status validate(const void *shape_)
{
    const predict_shape *shape = shape_;
    if (shape->steps < 1 || shape->steps > HEDDLE_PREDICT_STEPS)
        return heddle_fail(HEDDLE_INVALID, "predict_one: steps=%d: a network may have 1 to %d products", shape->steps,
                           HEDDLE_PREDICT_STEPS);
    if (shape->c < 1 || shape->h < 1 || shape->w < 1 || shape->classes < 1 || shape->classes > HEDDLE_PREDICT_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "predict_one: c=%d h=%d w=%d classes=%d: at least 1, and at most %d classes",
                           shape->c, shape->h, shape->w, shape->classes, HEDDLE_PREDICT_CLASSES);
    return HEDDLE_OK;
}

HEDDLE_DIMS(dims_network, predict_shape, shape->steps, HEDDLE_PREDICT_FIELDS)
HEDDLE_DIMS(dims_image, predict_shape, shape->c, shape->h, shape->w)
HEDDLE_DIMS(dims_weights, predict_shape, shape->weights)
HEDDLE_DIMS(dims_probabilities, predict_shape, shape->classes)
HEDDLE_DIMS(dims_state, predict_shape, heddle_predict_state(shape))

enum { NETWORK, IMAGE, WEIGHTS, PROBABILITIES, STATE };

static const heddle_operand operands[] = {
    {.name = "network",
     .role = HEDDLE_INPUT,
     .dtype = HEDDLE_I32,
     .values = HEDDLE_VALUES_OWN,
     .dims = dims_network,
     .on_host = true},
    {"image", HEDDLE_INPUT, HEDDLE_U8, HEDDLE_VALUES_BYTES, dims_image},
    {HEDDLE_FLOAT_INPUT("weights", HEDDLE_VALUES_OWN, dims_weights)},
    {HEDDLE_FLOAT_OUTPUT("probabilities", dims_probabilities)},
    {.name = "state",
     .role = HEDDLE_UPDATE,
     .dtype = HEDDLE_I32,
     .values = HEDDLE_VALUES_OWN,
     .dims = dims_state,
     .saved = true},
};

// --- networks for tests ----------------------------------------------------------------------------------------------

// Each has the number of steps that it is found by. What is 0 here is as usual: see network_of.
static const predict_step networks[][HEDDLE_PREDICT_STEPS] = {
    {{.kind = HEDDLE_PREDICT_LINEAR}},
    {{.kind = HEDDLE_PREDICT_LINEAR, .channels = 37, .function = 2}, {.kind = HEDDLE_PREDICT_LINEAR}},
    {{.channels = 6, .r = 5, .padding = 2, .function = 2, .window = 2, .average = 1},
     {.kind = HEDDLE_PREDICT_LINEAR, .channels = 20, .function = 3},
     {.kind = HEDDLE_PREDICT_LINEAR}},
    {{.channels = 40, .padding = 1, .function = 1, .window = 2},
     {.channels = 70, .padding = 1, .function = 1, .window = 3},
     {.kind = HEDDLE_PREDICT_LINEAR, .channels = 130, .function = 1},
     {.kind = HEDDLE_PREDICT_LINEAR}},
    // units of 32 and of 16 channels, a filter of one pixel, distant taps, a stride, no function
    {{.channels = 40, .padding = 2, .dilation = 2, .function = 3},
     {.channels = 24, .r = 1, .function = 1},
     {.channels = 5, .r = 4, .stride = 3, .padding = 1},
     {.channels = 33, .r = 2, .window = 4, .function = 1},
     {.kind = HEDDLE_PREDICT_LINEAR}},
    // residuals, one with a projection, and the means of channels
    {{.channels = 12, .padding = 1, .function = 1},
     {.channels = 12, .padding = 1, .function = 1},
     {.channels = 12, .padding = 1, .around = 1, .function = 1, .window = 2},
     {.channels = 20, .r = 1, .stride = 2},
     {.channels = 20, .from = -1, .stride = 2, .padding = 1, .function = 2},
     {.channels = 20, .padding = 1, .around = 4, .function = 1},
     {.kind = HEDDLE_PREDICT_MEANS}},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static int steps_of(const predict_step *network)
{
    int count = 1;
    while (network[count - 1].kind == HEDDLE_PREDICT_CONV || network[count - 1].channels > 0)
        count++;
    return count;
}

// Fills in what the table leaves out: a step reads the one before it, `from` says how many steps earlier; `around` is
// the number of a step, counted from 1; filters are of three pixels.
static bool network_of(const predict_shape *shape, predict_step steps[HEDDLE_PREDICT_STEPS])
{
    for (int n = 0; n < NETWORKS; n++) {
        if (steps_of(networks[n]) != shape->steps)
            continue;
        predict_shape found = *shape;
        for (int i = 0; i < shape->steps; i++) {
            predict_step *step = &steps[i];
            *step = networks[n][i];
            step->from += i - 1;
            step->around--;
            step->channels = step->channels ? step->channels : shape->classes;
            step->r = step->r ? step->r : 3;
            step->stride = step->stride ? step->stride : 1;
            step->dilation = step->dilation ? step->dilation : 1;
            step->window = step->window ? step->window : 1;
        }
        return heddle_predict_place(steps, shape->steps, &found) && found.weights == shape->weights &&
               found.activations == shape->activations;
    }
    return false;
}

// Weights as a network begins with, zero in the padding.
static void fill_weights(const predict_shape *shape, uint64_t seed, double *values)
{
    predict_step steps[HEDDLE_PREDICT_STEPS];
    memset(values, 0, (size_t)shape->weights * sizeof *values);
    if (!network_of(shape, steps))
        return;
    heddle_random random = heddle_random_make(seed, 0);
    for (int i = 0; i < shape->steps; i++) {
        const predict_step *step = &steps[i];
        const int lines = heddle_predict_lines(step), pixels = heddle_predict_pixels(step);
        const double bound = 1 / sqrt((double)lines * pixels * step->c);
        for (int row = 0; row < step->channels; row++) {
            values[step->bias + row] = heddle_random_normal(&random) / 8;
            for (int c = 0; c < step->c; c++)
                for (int y = 0; y < lines; y++)
                    for (int x = 0; x < pixels; x++)
                        values[step->weight +
                               heddle_predict_place_of(step, row, heddle_predict_column(step, c, y, x))] =
                            heddle_random_normal(&random) * bound;
        }
    }
}

static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const predict_shape *shape = shape_;
    predict_step steps[HEDDLE_PREDICT_STEPS] = {0};
    const int count = operand == NETWORK ? shape->steps * HEDDLE_PREDICT_FIELDS : heddle_predict_state(shape);
    int32_t *state = operand == STATE ? malloc((size_t)count * sizeof *state) : NULL;
    if (operand == WEIGHTS) {
        fill_weights(shape, seed, values);
        return;
    }
    network_of(shape, steps);
    if (state)
        heddle_predict_begin(steps, shape, state);
    for (int i = 0; i < count; i++)
        values[i] = operand == NETWORK ? ((const int *)steps)[i] : state ? state[i] : NAN;
    free(state);
}

// --- the reference ---------------------------------------------------------------------------------------------------

typedef struct predicting {
    const double *image, *weights;
    double *left[HEDDLE_PREDICT_STEPS]; // what each step leaves, (c, h, w)
} predicting;

// What a step reads at a place; zero around it.
static double read_at(const predicting *job, const predict_step *step, int c, int y, int x)
{
    if (y < 0 || x < 0 || y >= step->h || x >= step->w)
        return 0;
    const size_t at = ((size_t)c * (size_t)step->h + (size_t)y) * (size_t)step->w + (size_t)x;
    return step->from < 0 ? job->image[at] / 255 : job->left[step->from][at];
}

static double mean_of(const predicting *job, const predict_step *step, int c)
{
    double sum = 0;
    for (int y = 0; y < step->h; y++)
        for (int x = 0; x < step->w; x++)
            sum += read_at(job, step, c, y, x);
    return sum / step->h / step->w;
}

// A result of a step's product, bias included.
static double product_at(const predicting *job, const predict_step *step, int row, int oy, int ox)
{
    const double *weight = job->weights + step->weight;
    const bool is_conv = step->kind == HEDDLE_PREDICT_CONV, is_means = step->kind == HEDDLE_PREDICT_MEANS;
    const int lines = heddle_predict_lines(step), pixels = heddle_predict_pixels(step);
    double sum = job->weights[step->bias + row];
    for (int c = 0; c < step->c; c++)
        for (int y = 0; y < lines; y++)
            for (int x = 0; x < pixels; x++) {
                const double value = is_means ? mean_of(job, step, c)
                                     : is_conv
                                         ? read_at(job, step, c, oy * step->stride - step->padding + y * step->dilation,
                                                   ox * step->stride - step->padding + x * step->dilation)
                                         : read_at(job, step, c, y, x);
                sum += value * weight[heddle_predict_place_of(step, row, heddle_predict_column(step, c, y, x))];
            }
    return sum;
}

// The larger one; NaN if one is.
static double larger(double value, double other)
{
    return other > value || isnan(other) ? other : value;
}

static double window_at(const predicting *job, const predict_step *step, int row, int y, int x)
{
    double pooled = step->average ? 0 : -INFINITY;
    for (int wy = 0; wy < step->window; wy++)
        for (int wx = 0; wx < step->window; wx++) {
            const int oy = y * step->window + wy, ox = x * step->window + wx;
            double value = product_at(job, step, row, oy, ox);
            if (step->around >= 0)
                value += job->left[step->around]
                                  [((size_t)row * (size_t)step->out_h + (size_t)oy) * (size_t)step->out_w + (size_t)ox];
            value = heddle_rows_activate(step->function, value);
            pooled = step->average ? pooled + value / (step->window * step->window) : larger(pooled, value);
        }
    return pooled;
}

// What a step leaves. false: no memory.
static bool leave(const predicting *job, const predict_step *step, double **left)
{
    const size_t count = (size_t)step->channels * (size_t)step->next_h * (size_t)step->next_w;
    double *to = *left = count > 0 ? malloc(count * sizeof *to) : NULL;
    for (int row = 0; row < step->channels && to; row++)
        for (int y = 0; y < step->next_h; y++)
            for (int x = 0; x < step->next_w; x++)
                *to++ = window_at(job, step, row, y, x);
    return to != NULL;
}

static void softmax(const double *logits, int classes, double *probabilities)
{
    double most = logits[0], sum = 0;
    for (int i = 1; i < classes; i++)
        most = fmax(most, logits[i]);
    for (int i = 0; i < classes; i++)
        sum += exp(logits[i] - most);
    for (int i = 0; i < classes; i++)
        probabilities[i] = exp(logits[i] - most) / sum;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const predict_shape *shape = shape_;
    predict_step steps[HEDDLE_PREDICT_STEPS] = {0};
    predicting job = {.image = input[IMAGE], .weights = input[WEIGHTS]};
    bool whole = true;
    for (int i = 0; i < shape->steps * HEDDLE_PREDICT_FIELDS; i++)
        ((int *)steps)[i] = (int)input[NETWORK][i];
    for (int i = 0; i < shape->steps && whole; i++)
        whole = leave(&job, &steps[i], &job.left[i]);
    if (whole)
        softmax(job.left[shape->steps - 1], shape->classes, output[0]);
    else // no memory
        memset(output[0], 0xff, (size_t)shape->classes * sizeof **output);
    for (int i = 0; i < shape->steps; i++)
        free(job.left[i]);
}

// Every weight is read once; how often each is used, the shape does not say.
static heddle_cost cost(const void *shape_)
{
    const predict_shape *shape = shape_;
    return (heddle_cost){.flops = 2.0 * shape->weights,
                         .bytes_read = sizeof(float) * (double)shape->weights + (double)shape->c * shape->h * shape->w,
                         .bytes_written = sizeof(float) * (double)shape->classes};
}

// Of all steps: roundings of one are in the sums of the next.
HEDDLE_OF_SHAPE(int64_t, reduction, predict_shape, 1 + shape->weights / 8)

static const char *const test_shapes[] = {"steps=1 c=1 h=1 w=1 classes=1 weights=136 activations=20",
                                          "steps=2 c=3 h=5 w=7 classes=10 weights=5304 activations=164",
                                          "steps=3 c=1 h=16 w=15 classes=4 weights=12072 activations=2032",
                                          "steps=4 c=2 h=14 w=13 classes=9 weights=74504 activations=4404",
                                          "steps=5 c=3 h=17 w=19 classes=6 weights=16888 activations=24760",
                                          "steps=7 c=4 h=10 w=11 classes=32 weights=22680 activations=5848",
                                          NULL};
static const char *const bench_shapes[] = {"steps=4 c=1 h=28 w=28 classes=10 weights=192008 activations=16060", NULL};

HEDDLE_BY_REFERENCE(predict_one)

// Copies of a state and of weights that are not aligned.
HEDDLE_WORKSPACE(workspace, predict_shape,
                 ((size_t)heddle_predict_state(shape) + (size_t)shape->weights) * sizeof(float))

#define RUNG(title, precision, needs, text)                                                                            \
    {                                                                                                                  \
        title, HEDDLE_CUDA, HEDDLE_FUSED, NULL, text, NULL, workspace, .arithmetic = precision, .capability = needs    \
    }

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(predict_one),
    RUNG(
        "01_cuda_cores", HEDDLE_FULL, 70,
        "blocks that stay from the image to the probabilities, and wait for the numbers they read: limited by latency"),
    RUNG("02_tf32x3", HEDDLE_TF32X3, 80,
         "convolutions by three products on tensor cores, close to float32: limited by latency"),
    RUNG("03_tf32", HEDDLE_TF32, 80, "convolutions by one product on tensor cores: limited by latency"),
};

const heddle_op heddle_op_predict_one = {
    .name = "predict_one",
    .ladder_name = "predict_one",
    .summary = "a whole network's prediction of one image",
    .shape_size = sizeof(predict_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
