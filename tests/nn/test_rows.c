// Training in bf16, tf32 and tf32x3 over rows: models of every kind that the grouping rules know, each step's gradients
// against the CPU's naive float32 kernels, and whole steps against gradients and an optimiser by themselves. Runs on a
// GPU, simulated or real.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/safetensors.h"
#include "helpers.h"
#include "nn/gradients.h"
#include "nn/rows.h"

enum { BATCH = 4 };

#define CONV(settings) "{\"type\": \"conv2d\", \"kernel\": 3, " settings "}"
#define NORM           "{\"type\": \"batchnorm2d\"}"
#define RELU           "{\"type\": \"relu\"}"
#define TANH           "{\"type\": \"tanh\"}"
#define POOL(kind)     "{\"type\": \"" kind "\", \"window\": 2}"
#define FLATTEN        "{\"type\": \"flatten\"}"
#define AVERAGE        "{\"type\": \"globalavgpool\"}"
#define AROUND(layers) "{\"type\": \"residual\", \"layers\": [" layers "]}"
#define PROJECTED(layers, projection)                                                                                  \
    "{\"type\": \"residual\", \"layers\": [" layers "], \"projection\": [" projection "]}"
#define LINEAR(features) "{\"type\": \"linear\", \"features\": " features "}"
#define MODEL(layers)    "{\"name\": \"rows\", \"layers\": [" layers "]}"
#define CLASSES          LINEAR("\"classes\"")
#define CLASSES_OF       FLATTEN "," CLASSES

// What each of them is for, and how far a gradient may be from float32's, as a part of its norm. Where roundings turn
// nothing over, 8 bits are a percent at most; a relu or a window whose winner changes moves gradients further.
static const struct {
    const char *what, *text;
    double most;
} models[] = {
    {"linear layers alone", MODEL(FLATTEN "," LINEAR("24") "," RELU "," LINEAR("20") "," TANH "," CLASSES), 0.02},
    {"batchnorm and pooling",
     MODEL(CONV("\"channels\": 16, \"padding\": 1") "," NORM "," TANH "," POOL("avgpool2d") "," CONV(
         "\"channels\": 24, \"padding\": 1") "," NORM "," TANH
                                             "," POOL("avgpool2d") "," FLATTEN "," LINEAR("20") "," TANH "," CLASSES),
     0.03},
    {"batchnorm, relu and the largest of a window",
     MODEL(CONV("\"channels\": 16, \"padding\": 1") "," NORM "," RELU "," POOL("maxpool2d") "," CONV(
         "\"channels\": 24, \"padding\": 1") "," NORM "," RELU "," POOL("maxpool2d") "," FLATTEN "," CLASSES),
     0.2},
    // clang-format off
    {"small channels, which are patches",
     MODEL("{\"type\": \"conv2d\", \"channels\": 6, \"kernel\": 5, \"padding\": 2}," TANH "," POOL("avgpool2d") ","
           "{\"type\": \"conv2d\", \"channels\": 10, \"kernel\": 5, \"stride\": 2},{\"type\": \"sigmoid\"},"
           FLATTEN "," CLASSES),
     0.02},
    {"LeNet-5",
     MODEL("{\"type\": \"conv2d\", \"channels\": 6, \"kernel\": 5, \"padding\": 2}," TANH "," POOL("avgpool2d") ","
           "{\"type\": \"conv2d\", \"channels\": 16, \"kernel\": 5}," TANH "," POOL("avgpool2d") "," FLATTEN ","
           LINEAR("120") "," TANH "," LINEAR("84") "," TANH "," CLASSES),
     0.02},
    {"small channels, which are a trunk",
     MODEL("{\"type\": \"conv2d\", \"channels\": 6, \"kernel\": 5, \"padding\": 2}," TANH "," POOL("avgpool2d") ","
           "{\"type\": \"conv2d\", \"channels\": 10, \"kernel\": 3, \"bias\": false},{\"type\": \"sigmoid\"},"
           FLATTEN "," LINEAR("20") "," TANH "," CLASSES),
     0.02},
    {"a trunk of one convolution", MODEL(CONV("\"channels\": 5") "," TANH "," POOL("maxpool2d") "," CLASSES_OF), 0.02},
    {"a trunk of three",
     MODEL(CONV("\"channels\": 8, \"padding\": 1") "," TANH "," CONV("\"channels\": 12") "," TANH ","
           POOL("avgpool2d") "," CONV("\"channels\": 8, \"padding\": 2") "," TANH "," CLASSES_OF),
     0.02},
    // clang-format on
    {"convolutions one behind another",
     MODEL(CONV("\"channels\": 16, \"padding\": 1") "," TANH "," CONV(
         "\"channels\": 16, \"padding\": 1, \"bias\": "
         "false") "," TANH
                  "," CONV("\"channels\": 16, \"padding\": 1") "," NORM "," TANH "," CONV(
                      "\"channels\": 8, \"stride\": 2") "," TANH "," FLATTEN "," CLASSES),
     0.03},
    // clang-format off
    {"residuals",
     MODEL(CONV("\"channels\": 16, \"padding\": 1") "," NORM "," TANH ","
           AROUND(CONV("\"channels\": 16, \"padding\": 1") "," NORM "," TANH ","
                  CONV("\"channels\": 16, \"padding\": 1") "," NORM) "," TANH ","
           PROJECTED(CONV("\"channels\": 24, \"padding\": 1, \"stride\": 2") "," NORM "," TANH ","
                     CONV("\"channels\": 24, \"padding\": 1") "," NORM,
                     "{\"type\": \"conv2d\", \"channels\": 24, \"kernel\": 1, \"stride\": 2}," NORM) "," TANH ","
           AROUND(CONV("\"channels\": 24, \"padding\": 1")) "," POOL("avgpool2d") "," AVERAGE "," CLASSES),
     0.05},
    {"a projection without batchnorm",
     MODEL(CONV("\"channels\": 16, \"padding\": 1") "," TANH ","
           PROJECTED(CONV("\"channels\": 24, \"padding\": 1, \"stride\": 2"),
                     "{\"type\": \"conv2d\", \"channels\": 24, \"kernel\": 1, \"stride\": 2}," TANH) "," TANH "," FLATTEN ","
           CLASSES),
     0.03},
    // clang-format on
};
enum { MODELS = sizeof models / sizeof *models };

static heddle_safetensors *step_on(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                   heddle_tier kernels, heddle_arithmetic arithmetic, const char *name)
{
    char path[512];
    heddle_safetensors *file = NULL;
    heddle_train_options options = heddle_train_defaults();
    options.batch = BATCH;
    options.kernels = kernels;
    options.arithmetic = arithmetic;
    path_in(temporary_folder(), name, path, sizeof path);
    assert_ok(heddle_train_gradients(device, model, dataset, &options, path));
    assert_ok(heddle_safetensors_open(path, &file));
    return file;
}

static double norm_of(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)a[i] - (b ? (double)b[i] : 0);
        sum += difference * difference;
    }
    return sqrt(sum);
}

static void compare(const char *what, double most, const heddle_safetensors *expected, const heddle_safetensors *found)
{
    int compared = 0;
    for (int i = 0; i < heddle_safetensors_count(expected); i++) {
        const heddle_array *right = heddle_safetensors_at(expected, i),
                           *got = heddle_safetensors_find(found, right->name);
        assert_non_null(got);
        if (strncmp(right->name, "gradients/", strlen("gradients/")) != 0)
            continue;
        const size_t count = right->bytes / sizeof(float);
        const double norm = norm_of(right->data, NULL, count), off = norm_of(got->data, right->data, count);
        if (norm > 1e-5 ? !(off <= most * norm) : !(off <= 1e-4)) // a bias before a batchnorm has none
            fail_msg("%s: %s is off by %g of %g", what, right->name, off, norm);
        compared++;
    }
    assert_true(compared > 3);
}

static void gradients_are_those_of_float32_within_what(heddle_arithmetic arithmetic, double share, int step)
{
    const heddle_dataset *dataset = small_dataset(2 * BATCH, 5);
    heddle_device *cpu = open_cpu(1), *device = open_device();
    for (int i = 0; i < MODELS; i += step) {
        heddle_model *model = model_for(dataset, models[i].text);
        heddle_rows *rows = calloc(1, sizeof *rows);
        assert_non_null(rows);
        rows->pairs = arithmetic == HEDDLE_TF32X3;
        assert_true(heddle_rows_group_layers(model, BATCH, rows));
        free(rows);
        heddle_safetensors *expected = step_on(cpu, model, dataset, HEDDLE_NAIVE, HEDDLE_FULL, "expected");
        heddle_safetensors *found = step_on(device, model, dataset, HEDDLE_FUSED, arithmetic, "found");
        compare(models[i].what, models[i].most * share, expected, found);
        heddle_safetensors_close(expected);
        heddle_safetensors_close(found);
        heddle_model_close(model);
    }
    heddle_device_close(device);
    heddle_device_close(cpu);
}

static void gradients_are_those_of_float32_within_what_bf16_allows(void **state)
{
    (void)state;
    gradients_are_those_of_float32_within_what(HEDDLE_BFLOAT, 1, 1);
}

// Three bits more; how many windows a rounding turns over goes by the root of it. The operators are the same, so every
// third model will do: linear layers, patches, a trunk, residuals with batchnorm.
static void gradients_are_those_of_float32_within_what_tf32_allows(void **state)
{
    (void)state;
    gradients_are_those_of_float32_within_what(HEDDLE_TF32, 0.2, 3);
}

// 22 bits: float32's own roundings, and those of sums on tensor cores, are as large.
static void gradients_are_those_of_float32_within_what_tf32x3_allows(void **state)
{
    (void)state;
    gradients_are_those_of_float32_within_what(HEDDLE_TF32X3, 0.001, 3);
}

// Summed of rounded gradients, it would be off by their roundings, 2e-4 of its norm.
static void the_last_bias_has_the_sum_of_gradients_that_are_not_rounded(void **state)
{
    (void)state;
    const double most = 5e-5;
    const char *name = "gradients/linear3.bias";
    const heddle_dataset *dataset = small_dataset(2 * BATCH, 5);
    heddle_device *cpu = open_cpu(1), *device = open_device();
    heddle_model *model = model_for(dataset, models[0].text);
    heddle_safetensors *expected = step_on(cpu, model, dataset, HEDDLE_NAIVE, HEDDLE_FULL, "expected");
    heddle_safetensors *found = step_on(device, model, dataset, HEDDLE_FUSED, HEDDLE_TF32, "found");
    const heddle_array *right = heddle_safetensors_find(expected, name), *got = heddle_safetensors_find(found, name);
    assert_true(right && got);
    const size_t count = right->bytes / sizeof(float);
    const double off = norm_of(got->data, right->data, count), norm = norm_of(right->data, NULL, count);
    if (!(off <= most * norm))
        fail_msg("%s is off by %g of %g", name, off, norm);
    heddle_safetensors_close(expected);
    heddle_safetensors_close(found);
    heddle_model_close(model);
    heddle_device_close(device);
    heddle_device_close(cpu);
}

static void models_with_other_layers_are_not_grouped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *misfit;
    } others[] = {
        {MODEL(FLATTEN "," LINEAR("8") ",{\"type\": \"dropout\"}," CLASSES), "dropout1"},
        {MODEL(FLATTEN "," LINEAR("8") ",{\"type\": \"gelu\"}," CLASSES), "gelu1"},
        {MODEL(CONV("\"channels\": 12") "," NORM "," FLATTEN "," CLASSES), "norm1"}, // statistics that are not padded
        {MODEL(CONV("\"channels\": 8") "," RELU "," NORM "," FLATTEN "," CLASSES), "norm1"},
        {MODEL(FLATTEN "," CLASSES ",{\"type\": \"log_softmax\"}"), "log_softmax1"},
        {MODEL(FLATTEN "," CLASSES "," RELU), "relu1"},
        // a result that three layers read, and ways of a residual whose elements lie in different orders
        {MODEL(CONV("\"channels\": 16, \"padding\": 1") "," AROUND(AROUND(
             CONV("\"channels\": 16, \"padding\": 1")) "," CONV("\"channels\": 16, \"padding\": 1")) "," FLATTEN
                                                                                                     "," CLASSES),
         NULL},
        {MODEL(CONV("\"channels\": 16, \"stride\": 2") "," FLATTEN "," AROUND(LINEAR("400")) "," CLASSES), NULL},
        {MODEL(CONV("\"channels\": 8") "," CONV("\"channels\": 8, \"groups\": 8") "," FLATTEN "," CLASSES), "conv2"},
    };
    const heddle_dataset *dataset = small_dataset(8, 5);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        heddle_model *model = model_for(dataset, others[i].text);
        heddle_rows *rows = calloc(1, sizeof *rows);
        assert_non_null(rows);
        assert_false(heddle_rows_group_layers(model, 8, rows));
        if (others[i].misfit)
            assert_string_equal(rows->misfit->name, others[i].misfit);
        else
            assert_null(rows->misfit);
        free(rows);
        heddle_model_close(model);
    }
}

// Images lie in memory one way for a convolution and another way for a linear layer.
static void pairs_of_an_image_are_read_in_one_way(void **state)
{
    (void)state;
    const heddle_dataset *dataset = small_dataset(8, 5);
    heddle_model *model = model_for(
        dataset, MODEL(CONV("\"channels\": 16") "," PROJECTED(CONV("\"channels\": 8") "," FLATTEN "," LINEAR("8"),
                                                              FLATTEN "," LINEAR("8")) "," CLASSES));
    for (int pairs = 0; pairs < 2; pairs++) {
        heddle_rows *rows = calloc(1, sizeof *rows);
        assert_non_null(rows);
        rows->pairs = pairs;
        assert_int_equal(heddle_rows_group_layers(model, 8, rows), !pairs);
        free(rows);
    }
    heddle_model_close(model);
}

// How many of a model's groups are in a trunk.
static int trunk_groups(heddle_device *device, const heddle_dataset *dataset, const char *text)
{
    heddle_model *model = model_for(dataset, text);
    const heddle_feed feed = {.rows = dataset->count, .length = dataset->count};
    const heddle_plan plan = {.device = device, .options = {.batch = BATCH, .feed = &feed, .arithmetic = HEDDLE_TF32}};
    heddle_rows *rows = calloc(1, sizeof *rows);
    assert_non_null(rows);
    assert_true(heddle_rows_group_layers(model, BATCH, rows));
    heddle_rows_find_trunk(&plan, model, rows);
    const int count = heddle_rows_trunk_groups(rows);
    free(rows);
    heddle_model_close(model);
    return count;
}

static void small_convolutions_before_a_linear_layer_are_a_trunk(void **state)
{
    (void)state;
    static const struct {
        int groups;
        const char *text;
    } cases[] = {
        {1, MODEL(CONV("\"channels\": 5") "," RELU "," CLASSES_OF)},
        {2, MODEL(CONV("\"channels\": 5") "," RELU "," CONV("\"channels\": 7") "," POOL("maxpool2d") "," CLASSES_OF)},
        {3, MODEL(CONV("\"channels\": 5") "," CONV("\"channels\": 7") "," CONV("\"channels\": 3") "," CLASSES_OF)},
        // too many of them, too wide, too much to compute, batchnorm, a stride, no linear layer just behind, none at
        // all
        {0, MODEL(CONV("\"channels\": 3") "," CONV("\"channels\": 3") "," CONV("\"channels\": 3") "," CONV(
                "\"channels\": 3") "," CLASSES_OF)},
        {0, MODEL(CONV("\"channels\": 33") "," CLASSES_OF)},
        {0,
         MODEL(CONV("\"channels\": 32, \"padding\": 1") "," CONV("\"channels\": 32, \"padding\": 1") "," CLASSES_OF)},
        {0, MODEL(CONV("\"channels\": 8") "," NORM "," CLASSES_OF)},
        {0, MODEL(CONV("\"channels\": 8, \"stride\": 2") "," CLASSES_OF)},
        {0, MODEL(CONV("\"channels\": 8") "," AVERAGE "," CLASSES)},
        {0, MODEL(FLATTEN "," LINEAR("8") "," RELU "," CLASSES)},
    };
    const heddle_dataset *dataset = small_dataset(2 * BATCH, 5);
    heddle_device *device = open_device();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(trunk_groups(device, dataset, cases[i].text), cases[i].groups);
    heddle_device_close(device);
}

// Runs one epoch and returns its training loss.
static double train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                    heddle_optimizer optimizer, heddle_arithmetic arithmetic)
{
    heddle_train_options options = heddle_train_defaults();
    heddle_train_result result;
    options.batch = BATCH;
    options.epochs = 1;
    options.optimizer = optimizer;
    options.learning_rate = optimizer == HEDDLE_ADAMW ? 0.01 : 0.1;
    options.arithmetic = arithmetic;
    assert_ok(heddle_train(device, model, dataset, NULL, &options, &result));
    return result.train_loss;
}

static void every_optimiser_learns_as_in_float32(void **state)
{
    (void)state;
    const heddle_dataset *dataset = small_dataset(5 * BATCH + 2, 5); // the last batch is short
    heddle_device *cpu = open_cpu(1), *device = open_device();
    heddle_model *model = model_for(dataset, models[0].text);
    for (heddle_optimizer optimizer = HEDDLE_SGD; optimizer <= HEDDLE_ADAMW; optimizer++) {
        const double expected = train(cpu, model, dataset, optimizer, HEDDLE_FULL);
        for (heddle_arithmetic arithmetic = HEDDLE_TF32X3; arithmetic <= HEDDLE_BFLOAT; arithmetic++) {
            static const double most[] = {
                [HEDDLE_TF32X3] = 1e-5, [HEDDLE_TF32] = 0.002, [HEDDLE_FP16] = 0.002, [HEDDLE_BFLOAT] = 0.02};
            const double found = train(device, model, dataset, optimizer, arithmetic);
            const double off = fabs(found - expected);
            if (!(off < most[arithmetic] * expected))
                fail_msg("optimiser %d in %s: a loss of %g, float32 has %g", (int)optimizer,
                         heddle_arithmetic_names[arithmetic], found, expected);
        }
    }
    heddle_model_close(model);
    heddle_device_close(device);
    heddle_device_close(cpu);
}

// How many calls of a training step are of an operator.
static int calls_of(const heddle_plan *plan, const char *op)
{
    int count = 0;
    for (int i = 0; i < plan->call_count; i++)
        count += strcmp(plan->calls[i].op->name, op) == 0;
    return count;
}

static void linear_layers_of_small_batches_are_updated_with_their_gradients(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        heddle_arithmetic arithmetic;
        bool keep_gradients;
        int steps, gradients, updates;
    } cases[] = {
        {MODEL(FLATTEN "," LINEAR("24") "," RELU "," CLASSES), HEDDLE_FP16, false, 2, 0, 0},
        {MODEL(FLATTEN "," LINEAR("24") "," RELU "," CLASSES), HEDDLE_BFLOAT, true, 0, 2, 0},
        // columns that lie in another order than those of the parameter
        {MODEL(CONV("\"channels\": 40") "," RELU "," FLATTEN "," LINEAR("24") "," RELU "," CLASSES), HEDDLE_BFLOAT,
         false, 1, 2, 1},
    };
    const heddle_dataset *dataset = small_dataset(2 * BATCH, 5);
    heddle_device *device = open_device();
    heddle_stream *stream;
    assert_ok(heddle_stream_create(device, 0, &stream));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heddle_model *model = model_for(dataset, cases[i].text);
        const heddle_feed_options feed = {.batch = BATCH, .training = true};
        heddle_plan_options options = {.batch = BATCH,
                                       .training = true,
                                       .kernels = HEDDLE_FUSED,
                                       .arithmetic = cases[i].arithmetic,
                                       .keep_gradients = cases[i].keep_gradients};
        heddle_state *numbers;
        heddle_feed *images;
        heddle_plan *plan;
        assert_ok(heddle_state_create(device, model, true, HEDDLE_SGD, &numbers));
        assert_ok(heddle_feed_create(dataset, stream, &feed, &images));
        options.feed = images;
        assert_ok(heddle_plan_create(numbers, stream, &options, &plan));
        assert_int_equal(calls_of(plan, "rows_linear_step"), cases[i].steps);
        assert_int_equal(calls_of(plan, "rows_conv_backward_weight"), cases[i].gradients);
        assert_int_equal(calls_of(plan, "rows_update"), cases[i].updates);
        heddle_plan_destroy(plan);
        heddle_feed_destroy(images);
        heddle_state_destroy(numbers);
        heddle_model_close(model);
    }
    heddle_stream_destroy(stream);
    heddle_device_close(device);
}

// From the start. Read from the device; the caller frees them.
static float *parameters_after(heddle_state *numbers, heddle_stream *stream, heddle_feed *feed, heddle_plan *plan,
                               int steps, bool together)
{
    const heddle_train_options options = heddle_train_defaults();
    const heddle_position start = heddle_position_start();
    float *values = calloc(numbers->floats[HEDDLE_BANK_PARAMETERS], sizeof *values);
    assert_non_null(values);
    assert_ok(heddle_state_start(numbers, stream, 5));
    assert_ok(heddle_feed_begin(feed, stream, &options, &start, feed->batches, numbers->hyper));
    if (together)
        assert_ok(heddle_plan_run_steps(plan, stream, steps));
    for (int i = 0; !together && i < steps; i++)
        assert_ok(heddle_plan_run(plan, stream));
    assert_ok(heddle_state_read(numbers, stream, HEDDLE_BANK_PARAMETERS, values));
    return values;
}

// Two graphs of two steps and one of a single step: copies of the weights are made for the first of them alone.
static void steps_of_several_graphs_give_the_bits_of_single_ones(void **state)
{
    (void)state;
    enum { STEPS = 5 };
    const heddle_dataset *dataset = small_dataset(STEPS * BATCH, 5);
    const heddle_feed_options order = {.batch = BATCH, .training = true};
    heddle_device *device = open_device();
    heddle_model *model = model_for(dataset, models[0].text);
    heddle_plan_options options = {.batch = BATCH,
                                   .training = true,
                                   .kernels = HEDDLE_FUSED,
                                   .arithmetic = HEDDLE_BFLOAT,
                                   .deterministic = true,
                                   .several = 2};
    heddle_stream *stream;
    heddle_state *numbers;
    heddle_feed *feed;
    heddle_plan *plan;
    assert_ok(heddle_stream_create(device, 0, &stream));
    assert_ok(heddle_state_create(device, model, true, HEDDLE_SGD, &numbers));
    assert_ok(heddle_feed_create(dataset, stream, &order, &feed));
    options.feed = feed;
    assert_ok(heddle_plan_create(numbers, stream, &options, &plan));
    float *together = parameters_after(numbers, stream, feed, plan, STEPS, true);
    float *alone = parameters_after(numbers, stream, feed, plan, STEPS, false);
    assert_memory_equal(together, alone, numbers->floats[HEDDLE_BANK_PARAMETERS] * sizeof *alone);
    free(together);
    free(alone);
    heddle_plan_destroy(plan);
    heddle_feed_destroy(feed);
    heddle_state_destroy(numbers);
    heddle_stream_destroy(stream);
    heddle_model_close(model);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_float32_within_what_bf16_allows),
        cmocka_unit_test(gradients_are_those_of_float32_within_what_tf32_allows),
        cmocka_unit_test(gradients_are_those_of_float32_within_what_tf32x3_allows),
        cmocka_unit_test(the_last_bias_has_the_sum_of_gradients_that_are_not_rounded),
        cmocka_unit_test(models_with_other_layers_are_not_grouped),
        cmocka_unit_test(pairs_of_an_image_are_read_in_one_way),
        cmocka_unit_test(small_convolutions_before_a_linear_layer_are_a_trunk),
        cmocka_unit_test(every_optimiser_learns_as_in_float32),
        cmocka_unit_test(steps_of_several_graphs_give_the_bits_of_single_ones),
        cmocka_unit_test(linear_layers_of_small_batches_are_updated_with_their_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
