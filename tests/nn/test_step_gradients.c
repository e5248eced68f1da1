// Gradients of one step as they are written for others to check: the batch that training begins with, every trained
// parameter, and on the device under test (HEDDLE_TEST_DEVICE, cpu unless set) what the CPU's naive kernels give.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle/safetensors.h"
#include "nn/gradients.h"
#include "under_test.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

enum { BATCH = 5 };

typedef struct fixture {
    heddle_dataset *dataset;
    heddle_model *model;
    char path[64];
} fixture;

static int open_fixture(void **state)
{
    fixture *made = calloc(1, sizeof *made);
    *state = made;
    if (!made)
        return -1;
    snprintf(made->path, sizeof made->path, "step-gradients-%d.safetensors", (int)getpid());
    assert_ok(heddle_dataset_open("synth:count=32", NULL, HEDDLE_TRAIN, &made->dataset));
    heddle_input_shape input = {made->dataset->channels, made->dataset->height, made->dataset->width,
                                made->dataset->classes};
    assert_ok(heddle_model_open("cnn", &input, &made->model));
    return 0;
}

static int close_fixture(void **state)
{
    fixture *made = *state;
    unlink(made->path);
    heddle_model_close(made->model);
    heddle_dataset_close(made->dataset);
    free(made);
    return 0;
}

static heddle_safetensors *step_on(const fixture *with, const char *name, heddle_tier kernels)
{
    heddle_device *device = NULL;
    heddle_safetensors *file = NULL;
    heddle_train_options options = heddle_train_defaults();
    options.batch = BATCH;
    options.kernels = kernels;
    assert_ok(heddle_device_open(name, 1, &device));
    assert_ok(heddle_train_gradients(device, with->model, with->dataset, &options, with->path));
    heddle_device_close(device);
    assert_ok(heddle_safetensors_open(with->path, &file));
    return file;
}

static void the_file_has_the_first_batch_and_every_trained_parameter(void **state)
{
    const fixture *with = *state;
    heddle_safetensors *file = step_on(with, "cpu", HEDDLE_FUSED);
    uint32_t order[32];
    heddle_epoch_order(heddle_train_defaults().seed, 0, order, with->dataset->count);
    const heddle_array *images = heddle_safetensors_find(file, "images"),
                       *labels = heddle_safetensors_find(file, "labels");
    assert_non_null(images);
    assert_non_null(labels);
    size_t pixels = images->bytes / BATCH;
    for (size_t i = 0; i < BATCH; i++) {
        assert_memory_equal((const char *)images->data + i * pixels, with->dataset->images + order[i] * pixels, pixels);
        assert_int_equal(((const int32_t *)labels->data)[i], with->dataset->labels[order[i]]);
    }
    assert_non_null(heddle_safetensors_find(file, "loss"));
    assert_non_null(heddle_safetensors_find(file, "gradients/norm2.weight"));
    assert_null(heddle_safetensors_find(file, "gradients/norm2.running_mean"));
    heddle_safetensors_close(file);
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

static void the_device_under_test_agrees_with_naive_kernels_on_the_cpu(void **state)
{
    const fixture *with = *state;
    heddle_safetensors *naive = step_on(with, "cpu", HEDDLE_NAIVE);
    heddle_safetensors *fused = step_on(with, device_under_test("cpu"), HEDDLE_FUSED);
    int compared = 0;
    for (int i = 0; i < heddle_safetensors_count(naive); i++) {
        const heddle_array *expected = heddle_safetensors_at(naive, i);
        const heddle_array *found = heddle_safetensors_find(fused, expected->name);
        assert_non_null(found);
        assert_int_equal(found->bytes, expected->bytes);
        if (strncmp(expected->name, "gradients/", strlen("gradients/")) != 0)
            continue;
        size_t count = expected->bytes / sizeof(float);
        double norm = norm_of(expected->data, NULL, count), off = norm_of(found->data, expected->data, count);
        // A convolution's bias in front of a batchnorm has no gradient but rounding.
        bool vanishes = strstr(expected->name, "conv") && strstr(expected->name, ".bias");
        if (vanishes ? off > 1e-4 : !(off <= 1e-4 * norm && norm > 0))
            fail_msg("%s is off by %g of %g", expected->name, off, norm);
        compared++;
    }
    assert_int_equal(compared, 12);
    heddle_safetensors_close(naive);
    heddle_safetensors_close(fused);
}

static void what_cannot_be_done_is_refused(void **state)
{
    const fixture *with = *state;
    heddle_device *device = NULL;
    heddle_train_options options = heddle_train_defaults();
    assert_ok(heddle_device_open("cpu", 1, &device));
    options.batch = with->dataset->count + 1;
    assert_int_equal(heddle_train_gradients(device, with->model, with->dataset, &options, with->path), HEDDLE_INVALID);
    options.batch = 1;
    assert_int_equal(heddle_train_gradients(device, with->model, with->dataset, &options, "/no/such/folder/file"),
                     HEDDLE_NOT_FOUND);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_has_the_first_batch_and_every_trained_parameter),
        cmocka_unit_test(the_device_under_test_agrees_with_naive_kernels_on_the_cpu),
        cmocka_unit_test(what_cannot_be_done_is_refused),
    };
    return cmocka_run_group_tests_name("step_gradients", tests, open_fixture, close_fixture);
}
