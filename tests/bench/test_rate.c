// Rates: measured through the trainer itself, with the number of rounds asked for; nonsense is refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/rate.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

static void both_jobs_give_a_rate_between_their_extremes(void **state)
{
    (void)state;
    heddle_device *device = NULL;
    heddle_dataset *dataset = NULL;
    heddle_model *model = NULL;
    assert_ok(heddle_device_open("cpu", 1, &device));
    assert_ok(heddle_dataset_open("synth:count=100", NULL, HEDDLE_TRAIN, &dataset));
    heddle_input_shape input = {dataset->channels, dataset->height, dataset->width, dataset->classes};
    assert_ok(heddle_model_open("mlp", &input, &model));
    heddle_rate_options options = {.batch = 32, .kernels = HEDDLE_FUSED, .seconds = 0.01, .rounds = 3, .warm_up = 2};
    heddle_rate rate;
    for (int job = 0; job < 2; job++) {
        assert_ok(job ? heddle_rate_infer(device, model, dataset, &options, &rate)
                      : heddle_rate_train(device, model, dataset, &options, &rate));
        assert_true(rate.least > 0 && rate.least <= rate.images_per_second && rate.images_per_second <= rate.most);
        assert_true(rate.step_milliseconds > 0);
    }
    options.warm_up = 0; // the first round must not count from the clock's beginning
    assert_ok(heddle_rate_infer(device, model, dataset, &options, &rate));
    assert_true(rate.least > 1);
    options.batch = 101;
    assert_int_equal(heddle_rate_infer(device, model, dataset, &options, &rate), HEDDLE_INVALID);
    options.batch = 32;
    options.rounds = 0;
    assert_int_equal(heddle_rate_train(device, model, dataset, &options, &rate), HEDDLE_INVALID);
    heddle_model_close(model);
    heddle_dataset_close(dataset);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_jobs_give_a_rate_between_their_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
