// Predictions and evaluations on a GPU, simulated or real, against the CPU's naive float32 kernels: networks with
// batchnorm that is folded, residuals, every precision, batches that are not full, single images. And int8 against both
// float32 and the CPU's int8, which is whole numbers by the operators' references.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "nn/infer.h"

enum { IMAGES = 5, TRAINED_IMAGES = 36, CLASSES_OF_IMAGES = 4, TRAIN_BATCH = 6 };

#define CONV(settings)   "{\"type\": \"conv2d\", \"kernel\": 3, " settings "}"
#define SAME(channels)   CONV("\"padding\": 1, \"channels\": " channels)
#define NORM             "{\"type\": \"batchnorm2d\"}"
#define RELU             "{\"type\": \"relu\"}"
#define TANH             "{\"type\": \"tanh\"}"
#define POOL(kind)       "{\"type\": \"" kind "\", \"window\": 2}"
#define FLATTEN          "{\"type\": \"flatten\"}"
#define AVERAGE          "{\"type\": \"globalavgpool\"}"
#define DROPOUT          "{\"type\": \"dropout\", \"probability\": 0.25}"
#define LINEAR(features) "{\"type\": \"linear\", \"features\": " features "}"
#define MODEL(layers)    "{\"name\": \"infer\", \"layers\": [" layers "]}"
#define CLASSES          LINEAR("\"classes\"")

// clang-format off
static const struct {
    const char *what, *text;
} models[] = {
    {"linear layers alone", MODEL(FLATTEN "," LINEAR("24") "," RELU "," CLASSES)},
    {"the course's layers, smaller",
     MODEL(SAME("16") "," NORM "," RELU "," POOL("maxpool2d") "," SAME("24") "," NORM "," RELU "," POOL("maxpool2d") ","
           FLATTEN "," LINEAR("20") "," RELU "," DROPOUT "," CLASSES)},
    {"5x5 filters, tanh and average pooling",
     MODEL("{\"type\": \"conv2d\", \"channels\": 6, \"kernel\": 5, \"padding\": 2}," TANH "," POOL("avgpool2d") ","
           "{\"type\": \"conv2d\", \"channels\": 10, \"kernel\": 5}," TANH "," FLATTEN "," LINEAR("12") "," TANH ","
           CLASSES)},
    {"convolutions one behind another, channels that are padded",
     MODEL(SAME("16") "," NORM "," RELU "," SAME("20") "," NORM "," RELU "," POOL("maxpool2d") "," SAME("24") "," NORM
           "," RELU "," FLATTEN "," LINEAR("16") "," RELU "," CLASSES)},
    {"residuals without biases",
     MODEL(CONV("\"channels\": 16, \"padding\": 1, \"bias\": false") "," NORM "," RELU ","
           "{\"type\": \"residual\", \"layers\": [" CONV("\"channels\": 16, \"padding\": 1, \"bias\": false") "," NORM
           "," RELU "," SAME("16") "," NORM "]}," RELU ","
           "{\"type\": \"residual\", \"layers\": [" CONV("\"channels\": 24, \"stride\": 2, \"padding\": 1") "," NORM ","
           RELU "," SAME("24") "," NORM "], \"projection\": ["
           "{\"type\": \"conv2d\", \"channels\": 24, \"kernel\": 1, \"stride\": 2}," NORM "]}," RELU ","
           AVERAGE "," CLASSES)},
    {"layers that rows do not have",
     MODEL(SAME("8") "," NORM ",{\"type\": \"gelu\"}," POOL("maxpool2d") "," FLATTEN "," CLASSES)},
};
// clang-format on
enum { MODELS = sizeof models / sizeof *models };

static const struct precision {
    heddle_tier kernels;
    heddle_arithmetic arithmetic;
    double most; // difference between two probabilities
} precisions[] = {
    {HEDDLE_NAIVE, HEDDLE_FULL, 1e-5},  {HEDDLE_FUSED, HEDDLE_TF32X3, 1e-5}, {HEDDLE_FUSED, HEDDLE_TF32, 0.005},
    {HEDDLE_FUSED, HEDDLE_FP16, 0.005}, {HEDDLE_FUSED, HEDDLE_FULL, 1e-5},   {HEDDLE_FUSED, HEDDLE_BFLOAT, 0.04},
};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

// Returns the checkpoint's path.
static const char *train_for(heddle_device *cpu, const char *text, int images, int epochs)
{
    static char path[512];
    const heddle_dataset *dataset = small_dataset(images, 7);
    heddle_model *model = model_for(dataset, text);
    heddle_train_options options = heddle_train_defaults();
    options.epochs = epochs;
    options.batch = TRAIN_BATCH;
    options.folder = temporary_folder();
    options.overwrite = true;
    assert_ok(heddle_train(cpu, model, dataset, NULL, &options, NULL));
    heddle_model_close(model);
    path_in(options.folder, "last.safetensors", path, sizeof path);
    return path;
}

// For an epoch, so that running statistics differ from their start.
static const char *train(heddle_device *cpu, const char *text)
{
    return train_for(cpu, text, TRAINED_IMAGES, 1);
}

static heddle_network *open_network(heddle_device *device, const char *path, int batch, const struct precision *how)
{
    heddle_network *network = NULL;
    const heddle_network_options options = {
        .batch = batch, .kernels = how->kernels, .arithmetic = how->arithmetic, .deterministic = true};
    assert_ok(heddle_network_open_with(device, path, &options, &network));
    return network;
}

static void assert_near(const char *what, const struct precision *how, const float *expected, const float *found,
                        int count)
{
    for (int i = 0; i < count; i++)
        if (!(fabs((double)expected[i] - (double)found[i]) <= how->most))
            fail_msg("%s, %s: probability %d is %g, not %g", what, heddle_arithmetic_names[how->arithmetic], i,
                     (double)found[i], (double)expected[i]);
}

// What the CPU says of all images, once with naive kernels.
static void find_expected(heddle_device *cpu, const char *path, const heddle_dataset *dataset, float *probabilities,
                          heddle_evaluation *evaluation)
{
    heddle_network *network = open_network(cpu, path, IMAGES, &precisions[0]);
    assert_ok(heddle_network_predict_bytes(network, dataset->images, IMAGES, probabilities));
    assert_ok(heddle_network_evaluate(network, dataset, evaluation));
    heddle_network_close(network);
}

static void compare(heddle_device *device, const char *path, const char *what, const heddle_dataset *dataset,
                    const float *expected, const heddle_evaluation *evaluated, const struct precision *how, int batch)
{
    float found[IMAGES * CLASSES_OF_IMAGES];
    heddle_evaluation evaluation = {0};
    heddle_network *network = open_network(device, path, batch, how);
    assert_ok(heddle_network_predict_bytes(network, dataset->images, IMAGES, found));
    assert_near(what, how, expected, found, IMAGES * CLASSES_OF_IMAGES);
    assert_ok(heddle_network_evaluate(network, dataset, &evaluation));
    if (!(fabs(evaluation.loss - evaluated->loss) <= how->most))
        fail_msg("%s, %s: a loss of %g, not %g", what, heddle_arithmetic_names[how->arithmetic], evaluation.loss,
                 evaluated->loss);
    heddle_network_close(network);
}

// One by one. Networks of few layers are quick enough to be asked again: each of the plans that take turns then
// predicts three times.
static void compare_alone(heddle_device *device, const char *path, int model, const heddle_dataset *dataset,
                          const float *expected, const struct precision *how)
{
    const bool is_small = model < 3;
    const int images = is_small ? IMAGES : 2;
    heddle_network *network = open_network(device, path, 1, how);
    for (int time = 0; time <= is_small; time++) {
        float found[IMAGES * CLASSES_OF_IMAGES] = {0};
        assert_ok(heddle_network_predict_bytes(network, dataset->images, images, found));
        assert_near(models[model].what, how, expected, found, images * CLASSES_OF_IMAGES);
    }
    heddle_network_close(network);
}

// What a device says of all images in int8, calibrated on some of them; false: it has no kernels for the model.
static bool predict_int8(heddle_device *device, const char *path, const heddle_dataset *dataset, float *probabilities)
{
    static const struct precision int8 = {HEDDLE_FUSED, HEDDLE_INT8, 0};
    bool quantised = false;
    heddle_network *network = open_network(device, path, 3, &int8);
    assert_int_equal(heddle_network_predict_bytes(network, dataset->images, 1, probabilities), HEDDLE_INVALID);
    assert_ok(heddle_network_calibrate(network, dataset, 2, &quantised));
    assert_ok(heddle_network_predict_bytes(network, dataset->images, IMAGES, probabilities));
    heddle_network_close(network);
    return quantised;
}

// Where every value is a byte or a whole sum of products of bytes, both devices agree but for the softmax. Elsewhere
// the first convolution is fp16, and tanh is not exact: a byte may be one off.
static void compare_int8(heddle_device *cpu, heddle_device *device, const char *path, int model,
                         const heddle_dataset *dataset, const float *expected)
{
    const struct precision exact = {HEDDLE_FUSED, HEDDLE_INT8, model == 0 ? 1e-6 : 0.01};
    const struct precision near = {HEDDLE_FUSED, HEDDLE_INT8, 0.04};
    const bool has_rows = model != MODELS - 1;
    float on_cpu[IMAGES * CLASSES_OF_IMAGES], found[IMAGES * CLASSES_OF_IMAGES];
    assert_int_equal(predict_int8(cpu, path, dataset, on_cpu), has_rows);
    assert_int_equal(predict_int8(device, path, dataset, found), has_rows);
    assert_near(models[model].what, &near, expected, on_cpu, IMAGES * CLASSES_OF_IMAGES);
    assert_near(models[model].what, &exact, on_cpu, found, IMAGES * CLASSES_OF_IMAGES);
}

static void predictions_are_those_of_float32_on_the_cpu(void **state)
{
    static const struct precision alone[] = {
        {HEDDLE_FUSED, HEDDLE_FULL, 1e-5}, {HEDDLE_FUSED, HEDDLE_TF32X3, 1e-5}, {HEDDLE_FUSED, HEDDLE_TF32, 0.005}};
    (void)state;
    heddle_device *cpu = open_cpu(1), *device = open_device();
    for (int i = 0; i < MODELS; i++) {
        float expected[IMAGES * CLASSES_OF_IMAGES];
        heddle_evaluation evaluation = {0};
        const char *path = train(cpu, models[i].text);
        const heddle_dataset *dataset = small_dataset(IMAGES, 5);
        find_expected(cpu, path, dataset, expected, &evaluation);
        compare(device, path, models[i].what, dataset, expected, &evaluation, &precisions[PRECISIONS - 1], 2);
        compare(device, path, models[i].what, dataset, expected, &evaluation, &precisions[i % (PRECISIONS - 1)], 3);
        compare_alone(device, path, i, dataset, expected, &alone[i % (sizeof alone / sizeof *alone)]);
        compare_int8(cpu, device, path, i, dataset, expected);
    }
    heddle_device_close(device);
    heddle_device_close(cpu);
}

// Single images are read where they are, larger batches are copied, several at a time; pinned memory is used as it is.
static void batches_of_any_size_and_memory_give_the_same(void **state)
{
    (void)state;
    enum { TIMES = 13, MANY = TIMES * IMAGES };
    static const int batches[] = {1, 30, MANY};
    const heddle_dataset *dataset = small_dataset(IMAGES, 5);
    heddle_device *cpu = open_cpu(1), *device = open_device();
    const struct precision *how = &precisions[PRECISIONS - 1];
    const size_t bytes = (size_t)IMAGES * 12 * 12, rows = (size_t)IMAGES * CLASSES_OF_IMAGES;
    float expected[IMAGES * CLASSES_OF_IMAGES], found[TIMES * IMAGES * CLASSES_OF_IMAGES];
    heddle_evaluation evaluation = {0};
    void *images, *answers;
    const char *path = train(cpu, models[0].text);
    find_expected(cpu, path, dataset, expected, &evaluation);
    assert_ok(heddle_alloc_pinned(device, TIMES * bytes, &images));
    assert_ok(heddle_alloc_pinned(device, sizeof found, &answers));
    for (int i = 0; i < TIMES; i++)
        memcpy((uint8_t *)images + (size_t)i * bytes, dataset->images, bytes);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        heddle_network *network = open_network(device, path, batches[i], how);
        memset(answers, 0, sizeof found);
        assert_ok(heddle_network_predict_bytes(network, images, MANY, answers));
        assert_ok(heddle_network_predict_bytes(network, images, MANY, found));
        assert_memory_equal(found, answers, sizeof found);
        for (int j = 0; j < TIMES; j++)
            assert_near("pinned memory", how, expected, found + (size_t)j * rows, (int)rows);
        assert_ok(heddle_network_predict_bytes(network, images, 0, found));
        heddle_network_close(network);
    }
    assert_ok(heddle_free_pinned(device, images));
    assert_ok(heddle_free_pinned(device, answers));
    heddle_device_close(device);
    heddle_device_close(cpu);
}

// Trained long enough to be right, so that an error in scales, weights or pooling shows.
static void int8_is_as_accurate_as_float32(void **state)
{
    (void)state;
    enum { TEST_IMAGES = 200, MOST_LOST = 3 };
    heddle_device *cpu = open_cpu(1);
    const struct precision precision[] = {{HEDDLE_FUSED, HEDDLE_FULL, 0}, {HEDDLE_FUSED, HEDDLE_INT8, 0}};
    const char *path = train_for(cpu, models[1].text, 300, 4);
    const heddle_dataset *dataset = small_dataset(TEST_IMAGES, 5);
    heddle_evaluation evaluation[2] = {0};
    for (int i = 0; i < 2; i++) {
        heddle_network *network = open_network(cpu, path, 64, &precision[i]);
        if (i == 1)
            assert_ok(heddle_network_calibrate(network, dataset, 32, NULL));
        assert_ok(heddle_network_evaluate(network, dataset, &evaluation[i]));
        heddle_network_close(network);
    }
    assert_true(evaluation[0].correct > TEST_IMAGES * 3 / 4);
    assert_true(abs(evaluation[0].correct - evaluation[1].correct) <= MOST_LOST);
    assert_true(fabs(evaluation[0].loss - evaluation[1].loss) < 0.05);
    heddle_device_close(cpu);
}

// What is computed by one kernel, if it is alone.
static void large_and_unusual_networks_keep_their_layers(void **state)
{
    (void)state;
    static const struct {
        const char *layers;
        bool alone;
    } cases[] = {
        {SAME("8") "," RELU "," POOL("maxpool2d") "," FLATTEN "," CLASSES, true},
        {SAME("8") ",{\"type\": \"gelu\"}," FLATTEN "," CLASSES, false},
        {SAME("4096") "," RELU "," AVERAGE "," LINEAR("8") "," RELU "," CLASSES, true},
        {SAME("4100") "," RELU "," AVERAGE "," LINEAR("8") "," RELU "," CLASSES, false}, // of a block's shared memory
        {FLATTEN "," LINEAR("5000") "," LINEAR("5000") "," CLASSES, false},              // of weights
        {SAME("600") "," SAME("600") "," FLATTEN "," CLASSES, false},                    // of multiply-adds
    };
    const heddle_dataset *dataset = small_dataset(IMAGES, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, MODEL("%s"), cases[i].layers);
        heddle_model *model = model_for(dataset, text);
        for (int batch = 1; batch <= 2; batch++)
            if (heddle_infer_alone(model, batch, HEDDLE_SIM, HEDDLE_FUSED, HEDDLE_FULL) !=
                (cases[i].alone && batch == 1))
                fail_msg("batch %d of %s", batch, text);
        assert_false(heddle_infer_alone(model, 1, HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL));
        assert_false(heddle_infer_alone(model, 1, HEDDLE_SIM, HEDDLE_NAIVE, HEDDLE_FULL));
        heddle_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_float32_on_the_cpu),
        cmocka_unit_test(batches_of_any_size_and_memory_give_the_same),
        cmocka_unit_test(int8_is_as_accurate_as_float32),
        cmocka_unit_test(large_and_unusual_networks_keep_their_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
