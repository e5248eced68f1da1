// rows_trunk in float64, one image after another: what its rungs are compared with.

#include <stdlib.h>
#include <string.h>

#include "ops/rows_define.h"
#include "ops/rows_trunk/rows_trunk.h"

// The place of a window's result `i` in the stage's activations.
static size_t place_of(const heddle_rows_trunk_stage *stage, const heddle_trunk_size *size, int k, int y, int x, int i)
{
    const int line = y * stage->window + i / stage->window, pixel = x * stage->window + i % stage->window;
    return ((size_t)k * size->kept_h + line) * size->kept_w + pixel;
}

// The result of a window, and which place has the largest.
static double pool(const heddle_rows_trunk_stage *stage, const heddle_trunk_size *size, const double *activations,
                   int k, int y, int x, int *winner)
{
    const int places = stage->window * stage->window;
    double sum = 0, most = 0;
    *winner = 0;
    for (int i = 0; i < places; i++) {
        const double value = activations[place_of(stage, size, k, y, x, i)];
        sum += value;
        if (i == 0 || value > most)
            most = value, *winner = i;
    }
    return stage->average ? sum / places : most;
}

// The input of every stage of an image, one after another; without padding. activations: the image's row.
static void inputs_of(const heddle_rows_trunk_shape *shape, int index, const double *image, const double *activations,
                      double *input)
{
    const heddle_trunk_size size = heddle_trunk_size_of(shape, index);
    const size_t elements = (size_t)size.c * size.h * size.w;
    if (index == 0) {
        for (size_t i = 0; i < elements; i++)
            input[i] = image[i] / 255;
        return;
    }
    const heddle_trunk_size before = heddle_trunk_size_of(shape, index - 1);
    int winner;
    for (size_t i = 0; i < elements; i++)
        input[i] =
            pool(&shape->stage[index - 1], &before, activations + before.kept, (int)(i / ((size_t)size.h * size.w)),
                 (int)(i / (size_t)size.w % (size_t)size.h), (int)(i % (size_t)size.w), &winner);
}

// Runs the last argument for every tap that touches the image: `at` is its element of the input, `tap` its weight's
// number in (c, r, r).
#define FOR_TAPS(stage, size, y, x, ...)                                                                               \
    for (int tap = 0; tap < (size)->c * (stage)->r * (stage)->r; tap++) {                                              \
        const int side = (stage)->r, line = (y) + tap / side % side - (stage)->padding;                                \
        const int pixel = (x) + tap % side - (stage)->padding, channel = tap / (side * side);                          \
        if (line < 0 || line >= (size)->h || pixel < 0 || pixel >= (size)->w)                                          \
            continue;                                                                                                  \
        const size_t at = ((size_t)channel * (size)->h + line) * (size)->w + pixel;                                    \
        __VA_ARGS__                                                                                                    \
    }

static void stage_forward(const heddle_rows_trunk_stage *stage, const heddle_trunk_size *size, const double *input,
                          const double *weight, const double *bias, double *activations)
{
    const size_t taps = (size_t)size->c * stage->r * stage->r;
    for (int k = 0; k < stage->k; k++)
        for (int y = 0; y < size->kept_h; y++)
            for (int x = 0; x < size->kept_w; x++) {
                double sum = bias ? bias[k] : 0;
                FOR_TAPS(stage, size, y, x, { sum += input[at] * weight[(size_t)k * taps + (size_t)tap]; })
                activations[((size_t)k * size->kept_h + y) * size->kept_w + x] =
                    heddle_rows_activate(stage->function, sum);
            }
}

// Room for an input of any stage.
static size_t largest_input(const heddle_rows_trunk_shape *shape)
{
    size_t most = 1; // no memory at all may be NULL
    for (int i = 0; i < heddle_trunk_stages(shape); i++) {
        const heddle_trunk_size size = heddle_trunk_size_of(shape, i);
        const size_t elements = (size_t)size.c * size.h * size.w;
        most = elements > most ? elements : most;
    }
    return most;
}

static const double *image_of(const heddle_rows_trunk_shape *shape, const double *const *input, int image, size_t *from)
{
    *from = (size_t)input[HEDDLE_TRUNK_ORDER][(size_t)input[HEDDLE_TRUNK_CURSOR][0] + (size_t)image];
    return input[HEDDLE_TRUNK_DATASET] + *from * (size_t)shape->c * shape->h * shape->w;
}

void heddle_trunk_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_trunk_shape *shape = shape_;
    const int last = heddle_trunk_stages(shape) - 1, channels = heddle_trunk_channels(shape);
    const int columns = heddle_trunk_columns(shape);
    const heddle_trunk_size left = heddle_trunk_size_of(shape, last);
    double *frame = calloc(largest_input(shape), sizeof *frame);
    for (int image = 0; frame && image < shape->n; image++) {
        size_t from;
        const double *pixels = image_of(shape, input, image, &from);
        double *activations = output[HEDDLE_TRUNK_ACTIVATIONS] + (size_t)image * heddle_trunk_kept(shape);
        double *row = output[HEDDLE_TRUNK_OUTPUT] + (size_t)image * columns;
        output[HEDDLE_TRUNK_LABELS][image] = input[HEDDLE_TRUNK_DATASET_LABELS][from];
        for (int i = 0; i <= last; i++) {
            const heddle_trunk_size size = heddle_trunk_size_of(shape, i);
            inputs_of(shape, i, pixels, activations, frame);
            stage_forward(&shape->stage[i], &size, frame, input[HEDDLE_TRUNK_FIRST_WEIGHT + 2 * i],
                          input[HEDDLE_TRUNK_FIRST_WEIGHT + 2 * i + 1], activations + size.kept);
        }
        for (int i = 0; i < columns; i++) {
            const int k = i % channels, x = i / channels % left.next_w, y = i / channels / left.next_w;
            int winner = 0;
            row[i] = k < shape->stage[last].k
                         ? pool(&shape->stage[last], &left, activations + left.kept, k, y, x, &winner)
                         : 0;
            if (shape->int8)
                row[i] = heddle_rows_byte(shape->stage[last].function, row[i]);
        }
    }
    free(frame);
}

// The gradient of a stage's convolution at every place that it keeps, from that of the windows' results.
static void spread(const heddle_rows_trunk_stage *stage, const heddle_trunk_size *size, const double *activations,
                   const double *of_windows, double *gradient)
{
    const int places = stage->window * stage->window;
    for (int k = 0; k < stage->k; k++)
        for (int y = 0; y < size->next_h; y++)
            for (int x = 0; x < size->next_w; x++) {
                int winner = 0;
                pool(stage, size, activations, k, y, x, &winner);
                const double whole = of_windows[((size_t)k * size->next_h + y) * size->next_w + x];
                for (int i = 0; i < places; i++) {
                    const size_t place = place_of(stage, size, k, y, x, i);
                    const double share = stage->average ? 1.0 / places : i == winner;
                    gradient[place] = share * whole * heddle_rows_slope(stage->function, activations[place]);
                }
            }
}

// Adds to the gradients of weight and bias; of_input, if there is one, is set.
static void stage_backward(const heddle_rows_trunk_stage *stage, const heddle_trunk_size *size, const double *input,
                           const double *weight, const double *gradient, double *grad_weight, double *grad_bias,
                           double *of_input)
{
    const size_t taps = (size_t)size->c * stage->r * stage->r;
    if (of_input)
        memset(of_input, 0, (size_t)size->c * size->h * size->w * sizeof *of_input);
    for (int k = 0; k < stage->k; k++)
        for (int y = 0; y < size->kept_h; y++)
            for (int x = 0; x < size->kept_w; x++) {
                const double one = gradient[((size_t)k * size->kept_h + y) * size->kept_w + x];
                if (grad_bias)
                    grad_bias[k] += one;
                FOR_TAPS(stage, size, y, x, {
                    grad_weight[(size_t)k * taps + (size_t)tap] += one * input[at];
                    if (of_input)
                        of_input[at] += one * weight[(size_t)k * taps + (size_t)tap];
                })
            }
}

// All gradients of one image. frame, of_windows and gradient: room for the largest of each
static void image_backward(const heddle_rows_trunk_shape *shape, const double *const *input, double *const *output,
                           int image, double *frame, double *of_windows, double *gradient)
{
    size_t from;
    const double *pixels = image_of(shape, input, image, &from);
    const double *activations = input[HEDDLE_TRUNK_ACTIVATIONS_OF] + (size_t)image * heddle_trunk_kept(shape);
    const double *row = input[HEDDLE_TRUNK_GRAD_OUTPUT] + (size_t)image * heddle_trunk_columns(shape);
    const int last = heddle_trunk_stages(shape) - 1, part = image / heddle_trunk_part(shape);
    const heddle_trunk_size left = heddle_trunk_size_of(shape, last);
    const int pixels_left = left.next_h * left.next_w, channels = heddle_trunk_channels(shape);
    for (int i = 0; i < shape->stage[last].k * pixels_left; i++)
        of_windows[i] = row[(size_t)(i % pixels_left) * channels + i / pixels_left];
    for (int i = last; i >= 0; i--) {
        const heddle_trunk_size size = heddle_trunk_size_of(shape, i);
        double *const *to = output + HEDDLE_TRUNK_FIRST_GRADIENT + 2 * i;
        spread(&shape->stage[i], &size, activations + size.kept, of_windows, gradient);
        inputs_of(shape, i, pixels, activations, frame);
        stage_backward(&shape->stage[i], &size, frame, i > 0 ? input[HEDDLE_TRUNK_SECOND_WEIGHT + i - 1] : NULL,
                       gradient, to[0] + (size_t)part * heddle_trunk_weights(shape, i),
                       to[1] ? to[1] + (size_t)part * shape->stage[i].k : NULL, i > 0 ? of_windows : NULL);
    }
}

void heddle_trunk_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_rows_trunk_shape *shape = shape_;
    const int last = heddle_trunk_stages(shape) - 1;
    const size_t most = largest_input(shape), columns = (size_t)heddle_trunk_columns(shape);
    double *frame = calloc(most, sizeof *frame);
    double *of_windows = calloc(most > columns ? most : columns, sizeof *of_windows);
    double *gradient = calloc((size_t)heddle_trunk_kept(shape), sizeof *gradient);
    for (int i = 0; i <= last; i++) {
        double *const *to = output + HEDDLE_TRUNK_FIRST_GRADIENT + 2 * i;
        memset(to[0], 0, (size_t)shape->parts * heddle_trunk_weights(shape, i) * sizeof *to[0]);
        if (to[1])
            memset(to[1], 0, (size_t)shape->parts * shape->stage[i].k * sizeof *to[1]);
    }
    for (int image = 0; frame && of_windows && gradient && image < shape->n; image++)
        image_backward(shape, input, output, image, frame, of_windows, gradient);
    free(frame);
    free(of_windows);
    free(gradient);
}
