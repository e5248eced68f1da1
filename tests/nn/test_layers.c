// Layers in a network: gradients of a whole step against finite differences of the loss on the CPU, and every tier of
// the device under test (HEDDLE_TEST_DEVICE, default cpu) against the CPU's naive kernels.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"
#include "heddle/safetensors.h"
#include "helpers.h"
#include "nn/gradients.h"
#include "nn/plan.h"
#include "under_test.h"

enum { BATCH = 6 };

#define CONV(settings) "{\"type\": \"conv2d\", \"padding\": 1, " settings "}"
#define NORM           "{\"type\": \"batchnorm2d\"}"
#define TANH           "{\"type\": \"tanh\"}"
#define FLATTEN        "{\"type\": \"flatten\"}"
#define CLASSES        "{\"type\": \"linear\", \"features\": \"classes\"}"
#define MODEL(layers)  "{\"layers\": [" layers "]}"

// Smooth, so that finite differences are gradients.
static const struct {
    const char *what, *text;
} models[] = {
    {"residual",
     MODEL(CONV("\"channels\": 4") ", {\"type\": \"residual\", \"layers\": [" CONV(
         "\"channels\": 4") "," NORM "," TANH "," CONV("\"channels\": 4") "]}," TANH "," FLATTEN "," CLASSES)},
    {"residual first, with a projection",
     MODEL("{\"type\": \"residual\", \"layers\": [" CONV(
         "\"channels\": 5, \"stride\": 2") "," NORM
                                           "], \"projection\": [" CONV(
                                               "\"channels\": 5, \"stride\": 2, \"bias\": false") "]}," TANH "," FLATTEN
                                                                                                  "," CLASSES)},
    {"residual of features in a residual",
     MODEL(FLATTEN ", {\"type\": \"linear\", \"features\": 9}, {\"type\": \"residual\", \"layers\": [" TANH
                   ", {\"type\": \"residual\", \"layers\": [{\"type\": \"linear\", \"features\": 9}," TANH
                   "]}]}," CLASSES)},
    {"fused blocks inside and outside of a residual",
     MODEL(CONV("\"channels\": 8") "," NORM ", {\"type\": \"softplus\"}, {\"type\": \"residual\", \"layers\": [" CONV(
         "\"channels\": 8") "," NORM ", {\"type\": \"relu\"}, {\"type\": \"maxpool2d\"}], \"projection\": "
                            "[{\"type\": \"avgpool2d\"}]}," FLATTEN "," CLASSES)},
    {"globalavgpool",
     MODEL(CONV("\"channels\": 7, \"stride\": 2") "," TANH ", {\"type\": \"globalavgpool\"}," CLASSES)},
    {"layernorm of images",
     MODEL(CONV("\"channels\": 3, \"stride\": 2") ", {\"type\": \"layernorm\"}," TANH "," FLATTEN "," CLASSES)},
    {"layernorm of features", MODEL(FLATTEN ", {\"type\": \"linear\", \"features\": 11}, {\"type\": \"layernorm\", "
                                            "\"epsilon\": 0.01}," TANH "," CLASSES)},
    {"conv2d in groups", MODEL(CONV("\"channels\": 6, \"stride\": 2") "," TANH "," CONV(
                             "\"channels\": 9, \"groups\": 3") "," NORM "," TANH "," FLATTEN "," CLASSES)},
    {"depthwise and pointwise",
     MODEL(CONV("\"channels\": 4, \"stride\": 2") "," TANH "," CONV(
         "\"channels\": 8, \"groups\": 4, \"bias\": false") "," TANH ", {\"type\": \"conv2d\", \"channels\": 5, "
                                                            "\"kernel\": 1}," TANH "," FLATTEN "," CLASSES)},
};
enum { MODELS = sizeof models / sizeof *models };

// --- finite differences ---------------------------------------------------------------------------------------------

// A training step on the CPU that changes no parameter.
typedef struct trial {
    heddle_device *device;
    heddle_stream *stream;
    heddle_state *state;
    heddle_plan *plan;
    float *parameters, *gradients;
} trial;

static void upload_batch(const trial *one, const heddle_dataset *data)
{
    size_t pixels = (size_t)BATCH * (size_t)data->channels * (size_t)data->height * (size_t)data->width;
    float *images = calloc(pixels, sizeof *images);
    int32_t labels[BATCH];
    assert_non_null(images);
    for (size_t i = 0; i < pixels; i++)
        images[i] = (float)data->images[i] / 255.0F;
    for (int i = 0; i < BATCH; i++)
        labels[i] = data->labels[i];
    assert_ok(heddle_copy(one->stream, one->plan->images, images, pixels * sizeof *images));
    assert_ok(heddle_copy(one->stream, one->plan->labels, labels, sizeof labels));
    assert_ok(heddle_stream_synchronize(one->stream));
    free(images);
}

static trial open_trial(const heddle_model *model, const heddle_dataset *data, heddle_tier kernels)
{
    trial one = {.device = open_cpu(1)};
    heddle_plan_options options = {.batch = BATCH, .training = true, .kernels = kernels};
    assert_ok(heddle_stream_create(one.device, 0, &one.stream));
    assert_ok(heddle_state_create(one.device, model, true, HEDDLE_SGD, &one.state));
    assert_ok(heddle_state_start(one.state, one.stream, 3));
    assert_ok(heddle_plan_create(one.state, one.stream, &options, &one.plan));
    upload_batch(&one, data);
    size_t floats = one.state->floats[HEDDLE_BANK_PARAMETERS];
    one.parameters = calloc(floats, sizeof(float));
    one.gradients = calloc(floats, sizeof(float));
    assert_true(one.parameters && one.gradients);
    assert_ok(heddle_state_read(one.state, one.stream, HEDDLE_BANK_PARAMETERS, one.parameters));
    assert_ok(heddle_plan_run(one.plan, one.stream));
    assert_ok(heddle_state_read(one.state, one.stream, HEDDLE_BANK_GRADIENTS, one.gradients));
    return one;
}

static void close_trial(trial *one)
{
    heddle_plan_destroy(one->plan);
    heddle_state_destroy(one->state);
    assert_ok(heddle_stream_destroy(one->stream));
    heddle_device_close(one->device);
    free(one->parameters);
    free(one->gradients);
}

// The loss with `distance` along the gradient of one parameter, whose norm is given.
static double loss_at(const trial *one, int parameter, double norm, double distance)
{
    size_t floats = one->state->floats[HEDDLE_BANK_PARAMETERS], offset = one->state->offset[parameter];
    float *moved = calloc(floats, sizeof *moved), loss;
    assert_non_null(moved);
    memcpy(moved, one->parameters, floats * sizeof *moved);
    for (size_t i = 0; i < heddle_state_elements(one->state, parameter); i++)
        moved[offset + i] += (float)(distance / norm * one->gradients[offset + i]);
    assert_ok(heddle_state_write(one->state, one->stream, HEDDLE_BANK_PARAMETERS, moved));
    assert_ok(heddle_plan_run(one->plan, one->stream));
    assert_ok(heddle_copy(one->stream, &loss, one->plan->loss, sizeof loss));
    assert_ok(heddle_stream_synchronize(one->stream));
    free(moved);
    return loss;
}

static double norm_of(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)a[i] - (b ? (double)b[i] : 0);
        sum += difference * difference;
    }
    return sqrt(sum);
}

static void gradients_are_finite_differences_of_the_loss(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(BATCH, 2);
    for (int m = 0; m < MODELS; m++) {
        heddle_model *model = model_for(data, models[m].text);
        trial one = open_trial(model, data, HEDDLE_NAIVE);
        for (int i = 0; i < model->parameter_count; i++) {
            if (!model->parameters[i].trained)
                continue;
            const double step = 0.01;
            double norm = norm_of(one.gradients + one.state->offset[i], NULL, heddle_state_elements(one.state, i));
            if (norm < 1e-4) // a bias before a batchnorm
                continue;
            double slope = (loss_at(&one, i, norm, step) - loss_at(&one, i, norm, -step)) / (2 * step);
            if (!(fabs(slope - norm) <= 0.02 * norm + 1e-4))
                fail_msg("%s: the gradient of %s has norm %g, the loss a slope of %g", models[m].what,
                         model->parameters[i].name, norm, slope);
        }
        close_trial(&one);
        heddle_model_close(model);
    }
}

// --- weight decay ---------------------------------------------------------------------------------------------------

static const char partly_decayed[] =
    MODEL("{\"type\": \"conv2d\", \"channels\": 5, \"stride\": 3, \"decay\": false}," NORM "," TANH "," FLATTEN
          ", {\"type\": \"linear\", \"features\": 7}," TANH
          ", {\"type\": \"linear\", \"features\": \"classes\", \"decay\": false}");

// One step of SGD: every parameter p becomes p - rate * (gradient + decay * p), decay being 0 where its layer says so.
static void check_decay(const heddle_dataset *data, heddle_tier kernels)
{
    heddle_model *model = model_for(data, partly_decayed);
    trial one = open_trial(model, data, kernels);
    const float hyper[HEDDLE_HYPER_COUNT] = {[HEDDLE_HYPER_LEARNING_RATE] = 0.1F, [HEDDLE_HYPER_WEIGHT_DECAY] = 0.5F};
    size_t floats = one.state->floats[HEDDLE_BANK_PARAMETERS];
    float *after = calloc(floats, sizeof *after);
    assert_non_null(after);
    assert_ok(heddle_copy(one.stream, one.state->hyper, hyper, sizeof hyper));
    assert_ok(heddle_plan_run(one.plan, one.stream));
    assert_ok(heddle_state_read(one.state, one.stream, HEDDLE_BANK_PARAMETERS, after));
    int decayed = 0, others = 0;
    for (int i = 0; i < model->parameter_count; i++) {
        if (!model->parameters[i].trained)
            continue;
        bool decays = strstr(model->parameters[i].name, "norm1") || strstr(model->parameters[i].name, "linear1");
        for (size_t at = one.state->offset[i]; at < one.state->offset[i] + heddle_state_elements(one.state, i); at++) {
            float slope = one.gradients[at] + (decays ? 0.5F : 0.0F) * one.parameters[at];
            assert_float_equal(after[at], one.parameters[at] - 0.1F * slope, 1e-6F);
        }
        decayed += decays;
        others += !decays;
    }
    assert_true(decayed == 4 && others == 4);
    free(after);
    close_trial(&one);
    heddle_model_close(model);
}

static void weight_decay_leaves_out_the_layers_that_say_so(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(BATCH, 2);
    for (heddle_tier tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++)
        check_decay(data, tier);
}

// --- other kernels --------------------------------------------------------------------------------------------------

static heddle_safetensors *step_on(const char *device_name, const heddle_model *model, const heddle_dataset *data,
                                   heddle_tier kernels)
{
    char path[512];
    heddle_safetensors *file = NULL;
    heddle_device *device = NULL;
    heddle_train_options options = heddle_train_defaults();
    options.batch = BATCH;
    options.kernels = kernels;
    path_in(temporary_folder(), "step", path, sizeof path);
    assert_ok(heddle_device_open(device_name, 2, &device));
    assert_ok(heddle_train_gradients(device, model, data, &options, path));
    heddle_device_close(device);
    assert_ok(heddle_safetensors_open(path, &file));
    return file;
}

static void compare(const char *what, heddle_tier tier, const heddle_safetensors *expected,
                    const heddle_safetensors *found)
{
    int compared = 0;
    for (int i = 0; i < heddle_safetensors_count(expected); i++) {
        const heddle_array *right = heddle_safetensors_at(expected, i);
        const heddle_array *got = heddle_safetensors_find(found, right->name);
        assert_non_null(got);
        if (strncmp(right->name, "gradients/", strlen("gradients/")) != 0)
            continue;
        size_t count = right->bytes / sizeof(float);
        double norm = norm_of(right->data, NULL, count), off = norm_of(got->data, right->data, count);
        if (!(off <= 1e-4 * norm + 1e-6))
            fail_msg("%s, %s kernels: %s is off by %g of %g", what, heddle_tier_names[tier], right->name, off, norm);
        compared++;
    }
    assert_true(compared > 2);
}

static void every_tier_gives_the_gradients_of_naive_kernels_on_the_cpu(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(2 * BATCH, 5);
    const char *device = device_under_test("cpu");
    for (int m = 0; m < MODELS; m++) {
        heddle_model *model = model_for(data, models[m].text);
        heddle_safetensors *expected = step_on("cpu", model, data, HEDDLE_NAIVE);
        for (heddle_tier tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++) {
            heddle_safetensors *found = step_on(device, model, data, tier);
            compare(models[m].what, tier, expected, found);
            heddle_safetensors_close(found);
        }
        heddle_safetensors_close(expected);
        heddle_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_finite_differences_of_the_loss),
        cmocka_unit_test(weight_decay_leaves_out_the_layers_that_say_so),
        cmocka_unit_test(every_tier_gives_the_gradients_of_naive_kernels_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
