// Training runs: they learn, resume to the same bits, stop on request, notice divergence, and keep what is on disk
// safe.

#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "nn/trainer.h"

enum { PATH = 256 };

static heddle_train_options quick_options(const char *folder)
{
    heddle_train_options options = heddle_train_defaults();
    options.epochs = 3;
    options.batch = 30;
    options.learning_rate = 0.05;
    options.folder = folder;
    options.save_every = 0;
    return options;
}

typedef struct stopper {
    int after;
    volatile int stop;
} stopper;

static void stop_after(void *context, const heddle_train_event *event)
{
    stopper *stops = context;
    if (event->kind == HEDDLE_TRAIN_STEP && --stops->after == 0)
        stops->stop = 1;
}

static heddle_status train(const heddle_model *model, const heddle_train_options *options, heddle_train_result *result)
{
    heddle_device *device = open_cpu(2);
    heddle_status status = heddle_train(device, model, small_dataset(400, 1), small_dataset(200, 2), options, result);
    heddle_device_close(device);
    return status;
}

static void a_small_cnn_learns(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    heddle_train_result result;
    assert_ok(train(model, &options, &result));
    assert_int_equal(result.epochs, 3);
    assert_true(result.test_accuracy > 0.95);
    assert_true(result.best_accuracy >= result.test_accuracy);
    char best[PATH];
    path_in(folder, "best.safetensors", best, sizeof best);
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    assert_ok(heddle_network_open(device, best, 64, HEDDLE_FUSED, &network));
    int confusion[16];
    heddle_evaluation evaluation = {.confusion = confusion};
    assert_ok(heddle_network_evaluate(network, small_dataset(200, 2), &evaluation));
    assert_float_equal((float)evaluation.accuracy, (float)result.best_accuracy, 1e-9F);
    int total = 0, diagonal = 0;
    for (int i = 0; i < 16; i++) {
        total += confusion[i];
        diagonal += i % 5 == 0 ? confusion[i] : 0;
    }
    assert_int_equal(total, 200);
    assert_int_equal(diagonal, evaluation.correct);
    heddle_network_close(network);
    heddle_device_close(device);
    heddle_model_close(model);
}

// Stops after `after` steps, resumes, and compares every file with a run that was never stopped.
static void stop_and_resume(heddle_optimizer optimizer, int after, heddle_augment augment)
{
    heddle_model *model = small_cnn();
    const char *whole = temporary_folder(), *parts = temporary_folder();
    heddle_train_options options = quick_options(whole);
    options.optimizer = optimizer;
    options.augment = augment;
    options.learning_rate = optimizer == HEDDLE_ADAMW ? 0.003 : 0.02;
    assert_ok(train(model, &options, NULL));
    stopper stops = {.after = after};
    options.folder = parts;
    options.listener = stop_after;
    options.listener_context = &stops;
    options.stop = &stops.stop;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INTERRUPTED);
    options.listener = NULL;
    options.stop = NULL;
    options.resume = true;
    assert_ok(train(model, &options, NULL));
    char a[PATH], b[PATH];
    path_in(whole, "last.safetensors", a, sizeof a);
    path_in(parts, "last.safetensors", b, sizeof b);
    assert_same_file(a, b);
    path_in(whole, "best.safetensors", a, sizeof a);
    path_in(parts, "best.safetensors", b, sizeof b);
    assert_same_file(a, b);
    heddle_train_options read;
    assert_ok(heddle_train_options_from(b, &read, NULL, 0));
    assert_memory_equal(&read.augment, &augment, sizeof augment);
    options.augment.crop += 2;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "was trained with augmentation"));
    heddle_model_close(model);
}

static void a_resumed_run_gives_the_same_bits(void **state)
{
    (void)state;
    const heddle_augment none = {0}, all = {.crop = 2, .flip = 1, .shift = 1};
    stop_and_resume(HEDDLE_SGD, 5, all);
    stop_and_resume(HEDDLE_MOMENTUM, 14, none); // the last step of an epoch
    stop_and_resume(HEDDLE_ADAMW, 20, none);
}

static void the_same_seed_gives_the_same_file_and_another_seed_another(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    const char *folders[] = {temporary_folder(), temporary_folder(), temporary_folder()};
    char paths[3][PATH];
    for (int i = 0; i < 3; i++) {
        heddle_train_options options = quick_options(folders[i]);
        options.epochs = 1;
        options.seed = i == 2 ? 9 : 1;
        assert_ok(train(model, &options, NULL));
        path_in(folders[i], "last.safetensors", paths[i], sizeof paths[i]);
    }
    assert_same_file(paths[0], paths[1]);
    size_t size_a, size_b;
    char *a = read_file(paths[0], &size_a), *b = read_file(paths[2], &size_b);
    assert_true(size_a != size_b || memcmp(a, b, size_a) != 0);
    free(a);
    free(b);
    heddle_model_close(model);
}

static void divergence_is_caught_and_the_checkpoint_kept(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(4, 1);
    heddle_model *model = model_for(data, "mlp");
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.learning_rate = 1e5;
    assert_int_equal(train(model, &options, NULL), HEDDLE_DIVERGED);
    assert_non_null(strstr(heddle_last_error(), "smaller learning rate"));
    char last[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    heddle_safetensors *file = NULL;
    assert_ok(heddle_safetensors_open(last, &file));
    for (int i = 0; i < heddle_safetensors_count(file); i++) {
        const heddle_array *array = heddle_safetensors_at(file, i);
        for (size_t j = 0; j < array->bytes / sizeof(float); j++)
            assert_true(isfinite(((const float *)array->data)[j]));
    }
    heddle_safetensors_close(file);
    heddle_model_close(model);
}

// Not even when the very step before a save, or the last one of all, spoilt the numbers.
static void spoilt_numbers_are_never_saved(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(60, 1);
    heddle_model *model = model_for(data, "mlp");
    for (int with_test = 0; with_test < 2; with_test++) {
        const char *folder = temporary_folder();
        heddle_train_options options = quick_options(folder);
        options.learning_rate = 3e38; // one step takes every parameter out of range
        options.weight_decay = 1e3;
        options.batch = 60; // and is the whole epoch
        options.epochs = 1;
        heddle_device *device = open_cpu(1);
        assert_int_equal(heddle_train(device, model, data, with_test ? data : NULL, &options, NULL), HEDDLE_DIVERGED);
        assert_non_null(strstr(heddle_last_error(), "smaller learning rate"));
        options.batch = 20; // and now inside an epoch
        options.save_every = 1e-9;
        options.overwrite = true;
        assert_int_equal(heddle_train(device, model, data, NULL, &options, NULL), HEDDLE_DIVERGED);
        char path[PATH];
        path_in(folder, "last.safetensors", path, sizeof path);
        heddle_network *network = NULL;
        assert_ok(heddle_network_open(device, path, 1, HEDDLE_FUSED, &network)); // checks every number
        heddle_network_close(network);
        path_in(folder, "best.safetensors", path, sizeof path);
        assert_false(heddle_file_exists(path));
        heddle_device_close(device);
    }
    heddle_model_close(model);
}

static void a_loss_that_is_not_finite_ends_a_run_in_its_first_step(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(NULL);
    const double finite[] = {0, 1, 50}, spoilt[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        heddle_trainer trainer = {.model = model, .options = &options, .smooth_loss = NAN};
        assert_ok(heddle_trainer_check_loss(&trainer, finite[i], 1));
        trainer.smooth_loss = NAN;
        assert_int_equal(heddle_trainer_check_loss(&trainer, spoilt[i], 1), HEDDLE_DIVERGED);
        assert_non_null(strstr(heddle_last_error(), "at epoch 1, step 1 (learning rate 0.05)"));
    }
    heddle_model_close(model);
}

static void a_loss_far_above_guessing_ends_a_run_once_it_stays_there(void **state)
{
    (void)state;
    heddle_model *model = small_cnn(); // of 4 classes: guessing has a loss of 1.39, and 20 times that is 27.7
    heddle_train_options options = quick_options(NULL);
    heddle_trainer trainer = {.model = model, .options = &options, .smooth_loss = NAN};
    for (int i = 0; i < 1000; i++)
        assert_ok(heddle_trainer_check_loss(&trainer, 27, 1));
    int steps = 0;
    while (heddle_trainer_check_loss(&trainer, 100, 1) == HEDDLE_OK)
        assert_in_range(++steps, 1, 10);
    trainer.smooth_loss = 27;
    assert_int_equal(heddle_trainer_check_loss(&trainer, 100, 10), HEDDLE_DIVERGED); // ten steps at once
    heddle_model_close(model);
}

static void a_loss_on_the_test_set_that_is_not_finite_ends_a_run_unsaved(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(60, 1);
    heddle_model *model = model_for(data, "mlp");
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.learning_rate = 1e30; // parameters stay finite, products of two layers do not
    options.batch = 60;
    options.epochs = 1;
    heddle_device *device = open_cpu(1);
    assert_int_equal(heddle_train(device, model, data, data, &options, NULL), HEDDLE_DIVERGED);
    assert_non_null(strstr(heddle_last_error(), "the loss on the test set is"));
    assert_non_null(strstr(heddle_last_error(), "the last checkpoint is from before the first step"));
    char best[PATH];
    path_in(folder, "best.safetensors", best, sizeof best);
    assert_false(heddle_file_exists(best));
    heddle_device_close(device);
    heddle_model_close(model);
}

static void an_earlier_runs_best_is_neither_kept_nor_lost_unasked(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(temporary_folder());
    char last[PATH], best[PATH];
    path_in(options.folder, "last.safetensors", last, sizeof last);
    path_in(options.folder, "best.safetensors", best, sizeof best);
    options.epochs = 1;
    assert_ok(train(model, &options, NULL));
    assert_int_equal(unlink(last), 0);
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID); // the best alone is a run too
    assert_non_null(strstr(heddle_last_error(), "already holds a run, but no last.safetensors of it; copy its best"));
    options.overwrite = true;
    options.epochs = 0;
    assert_ok(train(model, &options, NULL));
    assert_true(heddle_file_exists(last));
    assert_false(heddle_file_exists(best)); // it would pass for the new run's
    heddle_model_close(model);
}

typedef struct intruder {
    const heddle_model *model;
    heddle_train_options options;
    heddle_status status;
    char message[PATH];
} intruder;

static void train_in_the_same_folder(void *context, const heddle_train_event *event)
{
    intruder *second = context;
    if (event->kind != HEDDLE_TRAIN_STARTED)
        return;
    heddle_device *device = open_cpu(1);
    second->status = heddle_train(device, second->model, small_dataset(40, 3), NULL, &second->options, NULL);
    snprintf(second->message, sizeof second->message, "%.200s", heddle_last_error());
    heddle_device_close(device);
}

static void two_runs_do_not_share_a_folder(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    intruder second = {.model = model, .options = quick_options(temporary_folder())};
    heddle_train_options options = second.options;
    second.options.overwrite = true;
    options.epochs = 1;
    options.listener = train_in_the_same_folder;
    options.listener_context = &second;
    assert_ok(train(model, &options, NULL));
    assert_int_equal(second.status, HEDDLE_INVALID);
    assert_non_null(strstr(second.message, "another run is training"));
    heddle_model_close(model);
}

static void a_run_is_not_overwritten_unless_told(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(temporary_folder());
    options.epochs = 1;
    assert_ok(train(model, &options, NULL));
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "already holds a run"));
    options.overwrite = true;
    assert_ok(train(model, &options, NULL));
    heddle_model_close(model);
}

static void resuming_with_other_settings_is_refused(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(temporary_folder());
    options.epochs = 1;
    assert_ok(train(model, &options, NULL));
    options.resume = true;
    heddle_train_options other = options;
    other.learning_rate = 0.5;
    assert_int_equal(train(model, &other, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "learning rate"));
    other = options;
    other.seed = 77;
    assert_int_equal(train(model, &other, NULL), HEDDLE_INVALID);
    other = options;
    other.optimizer = HEDDLE_ADAMW;
    assert_int_equal(train(model, &other, NULL), HEDDLE_INVALID);
    other = options;
    other.arithmetic = HEDDLE_BFLOAT;
    assert_int_equal(train(model, &other, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "full arithmetic, not bf16"));
    heddle_device *device = open_cpu(1);
    const heddle_dataset *data = small_dataset(400, 1);
    ((uint8_t *)data->images)[1] ^= 1; // one bit of one pixel
    assert_int_equal(heddle_train(device, model, data, NULL, &options, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "the data of quarters has changed since"));
    heddle_dataset elsewhere = *small_dataset(400, 55);
    snprintf(elsewhere.spec, sizeof elsewhere.spec, "/data/elsewhere");
    assert_int_equal(heddle_train(device, model, &elsewhere, NULL, &options, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "other data: on quarters, not /data/elsewhere"));
    heddle_device_close(device);
    char nowhere[PATH];
    path_in(temporary_folder(), "nowhere", nowhere, sizeof nowhere);
    options.folder = nowhere;
    assert_int_equal(train(model, &options, NULL), HEDDLE_NOT_FOUND);
    assert_false(heddle_folder_exists(nowhere)); // nothing was begun, so nothing is made
    heddle_model_close(model);
}

static void seeds_that_differ_in_the_last_bit_are_different(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(temporary_folder());
    options.epochs = 0;
    options.seed = UINT64_C(1) << 60; // its neighbour is the same double
    assert_ok(train(model, &options, NULL));
    options.resume = true;
    assert_ok(train(model, &options, NULL));
    options.seed++;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "seed 1152921504606846976, not 1152921504606846977"));
    heddle_model_close(model);
}

static void a_checkpoint_says_which_arithmetic_it_was_trained_with(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder), found;
    options.epochs = 0;
    options.arithmetic = HEDDLE_TF32;
    assert_ok(train(model, &options, NULL));
    char last[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    assert_ok(heddle_train_options_from(last, &found, NULL, 0));
    assert_int_equal(found.arithmetic, HEDDLE_TF32);
    assert_true(found.deterministic);
    heddle_model_close(model);
}

static void a_damaged_checkpoint_is_refused_in_one_line(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.epochs = 0;
    assert_ok(train(model, &options, NULL));
    char last[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    size_t size;
    char *content = read_file(last, &size);
    heddle_device *device = open_cpu(1);
    // Cut anywhere, it must not load.
    for (size_t cut = 0; cut < size; cut += size / 40 + 1) {
        heddle_slice slice = {content, cut};
        assert_ok(heddle_file_write_atomic(last, &slice, 1));
        heddle_network *network = NULL;
        assert_int_not_equal(heddle_network_open(device, last, 1, HEDDLE_FUSED, &network), HEDDLE_OK);
        assert_null(strchr(heddle_last_error(), '\n'));
    }
    free(content);
    heddle_device_close(device);
    heddle_model_close(model);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    heddle_train_options options = quick_options(NULL);
    const heddle_dataset *data = small_dataset(40, 1);
    heddle_device *device = open_cpu(1);
    assert_int_equal(heddle_train(NULL, model, data, NULL, &options, NULL), HEDDLE_INVALID);
    assert_int_equal(heddle_train(device, NULL, data, NULL, &options, NULL), HEDDLE_INVALID);
    assert_int_equal(heddle_train(device, model, NULL, NULL, &options, NULL), HEDDLE_INVALID);
    assert_int_equal(heddle_train(device, model, data, NULL, NULL, NULL), HEDDLE_INVALID);
    heddle_device_close(device);
    options.batch = 0;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.learning_rate = NAN;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.momentum = 1;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.optimizer = (heddle_optimizer)7;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.kernels = (heddle_tier)-1;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.arithmetic = (heddle_arithmetic)9;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.data = (heddle_data_place)9;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options(NULL);
    options.save_every = NAN;
    assert_int_equal(train(model, &options, NULL), HEDDLE_INVALID);
    options = quick_options("/proc/heddle-cannot-write-here");
    assert_int_not_equal(train(model, &options, NULL), HEDDLE_OK);
    heddle_model_close(model);
}

static void prediction_does_not_depend_on_the_batch(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(37, 4);
    heddle_model *model = model_for(data, "cnn");
    heddle_device *device = open_cpu(2);
    float images[37 * 144], one[37 * 4], many[37 * 4];
    for (int i = 0; i < 37 * 144; i++)
        images[i] = (float)data->images[i] / 255.0F;
    float *results[] = {one, many};
    for (int i = 0; i < 2; i++) {
        heddle_network *network = NULL;
        assert_ok(heddle_network_create(device, model, 5, i ? 16 : 1, HEDDLE_FUSED, &network));
        assert_ok(heddle_network_predict(network, images, 37, results[i]));
        heddle_network_close(network);
    }
    for (int i = 0; i < 37; i++) {
        float sum = 0;
        for (int j = 0; j < 4; j++) {
            sum += one[i * 4 + j];
            assert_float_equal(one[i * 4 + j], many[i * 4 + j], 1e-5F);
        }
        assert_float_equal(sum, 1, 1e-5F);
    }
    heddle_device_close(device);
    heddle_model_close(model);
}

static int best_said;
static int wrong_epochs;

static void watch_events(void *context, const heddle_train_event *event)
{
    (void)context;
    best_said += event->kind == HEDDLE_TRAIN_EVALUATED && event->best;
    wrong_epochs += event->epoch >= event->epochs;
}

static void among_equals_the_best_is_the_one_with_the_lower_loss(void **state)
{
    (void)state;
    heddle_model *model = small_cnn();
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.epochs = 6; // all right after a few epochs, and surer with each
    options.listener = watch_events;
    best_said = wrong_epochs = 0;
    heddle_train_result result;
    assert_ok(train(model, &options, &result));
    assert_float_equal((float)result.test_accuracy, 1, 0);
    assert_int_equal(wrong_epochs, 0);
    assert_true(best_said > 1);
    char last[PATH], best[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    path_in(folder, "best.safetensors", best, sizeof best);
    heddle_device *device = open_cpu(1);
    double losses[2];
    for (int i = 0; i < 2; i++) {
        heddle_network *network = NULL;
        heddle_evaluation evaluation = {0};
        assert_ok(heddle_network_open(device, i ? best : last, 64, HEDDLE_FUSED, &network));
        assert_ok(heddle_network_evaluate(network, small_dataset(200, 2), &evaluation));
        losses[i] = evaluation.loss;
        heddle_network_close(network);
    }
    assert_true(losses[1] <= losses[0]);
    heddle_device_close(device);
    heddle_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(among_equals_the_best_is_the_one_with_the_lower_loss),
        cmocka_unit_test(a_small_cnn_learns),
        cmocka_unit_test(a_resumed_run_gives_the_same_bits),
        cmocka_unit_test(the_same_seed_gives_the_same_file_and_another_seed_another),
        cmocka_unit_test(divergence_is_caught_and_the_checkpoint_kept),
        cmocka_unit_test(spoilt_numbers_are_never_saved),
        cmocka_unit_test(a_loss_that_is_not_finite_ends_a_run_in_its_first_step),
        cmocka_unit_test(a_loss_far_above_guessing_ends_a_run_once_it_stays_there),
        cmocka_unit_test(a_loss_on_the_test_set_that_is_not_finite_ends_a_run_unsaved),
        cmocka_unit_test(an_earlier_runs_best_is_neither_kept_nor_lost_unasked),
        cmocka_unit_test(two_runs_do_not_share_a_folder),
        cmocka_unit_test(a_run_is_not_overwritten_unless_told),
        cmocka_unit_test(resuming_with_other_settings_is_refused),
        cmocka_unit_test(seeds_that_differ_in_the_last_bit_are_different),
        cmocka_unit_test(a_checkpoint_says_which_arithmetic_it_was_trained_with),
        cmocka_unit_test(a_damaged_checkpoint_is_refused_in_one_line),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(prediction_does_not_depend_on_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
