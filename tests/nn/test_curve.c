// The curve of a run: what a run writes, how a resumed one goes on with it, and what becomes of a full disk, a torn
// line and a damaged one.

#include "helpers.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/log.h"
#include "nn/curve.h"
#include "nn/runs.h"
#include "nn/trainer_folder.h"

enum {
    PATH = 256,
    IMAGES = 400,
    BATCH = 30,
    EPOCH_STEPS = 14, // of IMAGES in batches of BATCH
    EPOCHS = 2,
    MOST_EPOCHS = 3,
};

typedef struct watch {
    int stop_after, full_from, full_to; // steps; 0: never
    int batch;                          // 0: BATCH
    int epochs;
    int steps;
    volatile int stop;
    double epoch_loss[MOST_EPOCHS]; // as told at the end of an epoch
} watch;

static struct rlimit before_full;

static void set_room(bool any)
{
    struct rlimit limit = before_full;
    (void)signal(SIGXFSZ, SIG_IGN);
    if (!any) {
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before_full), 0);
        limit = (struct rlimit){0, before_full.rlim_max};
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void on_event(void *context, const heddle_train_event *event)
{
    watch *run = context;
    if (event->kind != HEDDLE_TRAIN_STEP)
        return;
    run->steps++;
    if (event->images == event->images_total)
        run->epoch_loss[event->epoch] = event->loss;
    if (run->steps == run->stop_after)
        run->stop = 1;
    if (run->steps == run->full_from)
        set_room(false);
    if (run->steps == run->full_to)
        set_room(true);
}

static heddle_status train(const char *folder, bool resume, watch *run)
{
    heddle_train_options options = heddle_train_defaults();
    options.batch = run->batch ? run->batch : BATCH;
    options.epochs = run->epochs ? run->epochs : EPOCHS;
    options.folder = folder;
    options.resume = resume;
    options.save_every = 0;
    options.optimizer = HEDDLE_MOMENTUM;
    options.learning_rate = 0.02;
    options.listener = on_event;
    options.listener_context = run;
    options.stop = &run->stop;
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    heddle_status status = heddle_train(device, model, small_dataset(IMAGES, 1), small_dataset(200, 2), &options, NULL);
    heddle_device_close(device);
    heddle_model_close(model);
    return status;
}

// The run that nothing happened to.
static heddle_curve whole_curve(watch *run)
{
    const char *folder = temporary_folder();
    heddle_curve curve;
    assert_ok(train(folder, false, run));
    assert_ok(heddle_curve_read(folder, &curve));
    return curve;
}

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-6 * fmax(1, fabs(b)))
        fail_msg("%.9g is not %.9g", a, b);
}

static void assert_same_curve(const heddle_curve *a, const heddle_curve *b)
{
    assert_int_equal(a->point_count, b->point_count);
    assert_int_equal(a->test_count, b->test_count);
    for (int i = 0; i < a->point_count; i++) {
        assert_int_equal(a->points[i].step, b->points[i].step);
        assert_int_equal(a->points[i].images, b->points[i].images);
        assert_int_equal(a->points[i].epoch, b->points[i].epoch);
        assert_near(a->points[i].loss, b->points[i].loss);
        assert_near(a->points[i].accuracy, b->points[i].accuracy);
        assert_near(a->points[i].learning_rate, b->points[i].learning_rate);
        assert_true(i == 0 || a->points[i].seconds > a->points[i - 1].seconds);
    }
    for (int i = 0; i < a->test_count; i++) {
        assert_int_equal(a->tests[i].step, b->tests[i].step);
        assert_near(a->tests[i].accuracy, b->tests[i].accuracy);
    }
}

static void add_text(const char *folder, const char *text)
{
    char path[PATH];
    path_in(folder, HEDDLE_RUN_CURVE, path, sizeof path);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// --- tests ----------------------------------------------------------------------------------------------------------

static void a_run_writes_its_settings_its_loss_and_its_tests(void **state)
{
    (void)state;
    watch run = {0};
    heddle_curve curve = whole_curve(&run);
    heddle_run shown = {.curve = curve};
    char text[PATH];
    assert_int_equal(curve.starts, 1);
    assert_string_equal(curve.end, "complete");
    assert_int_equal(curve.bad_line, 0);
    assert_string_equal(heddle_run_setting(&shown, "batch", text, sizeof text), "30");
    assert_string_equal(heddle_run_setting(&shown, "optimizer", text, sizeof text), "momentum");
    assert_string_equal(heddle_run_setting(&shown, "precision", text, sizeof text), "fp32");
    assert_string_equal(heddle_run_setting(&shown, "deterministic", text, sizeof text), "yes");
    assert_string_equal(heddle_run_setting(&shown, "unheard", text, sizeof text), "");
    assert_int_equal(curve.point_count, EPOCHS * EPOCH_STEPS);
    assert_int_equal(curve.test_count, EPOCHS);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double sum = 0;
        int64_t images = 0;
        for (int i = epoch * EPOCH_STEPS; i < (epoch + 1) * EPOCH_STEPS; i++) {
            assert_int_equal(curve.points[i].step, i + 1);
            assert_int_equal(curve.points[i].epoch, epoch + 1);
            sum += curve.points[i].loss * (double)curve.points[i].images;
            images += curve.points[i].images;
        }
        assert_int_equal(images, IMAGES);
        assert_near(sum / IMAGES, run.epoch_loss[epoch]);
        assert_int_equal(curve.tests[epoch].epoch, epoch + 1);
        assert_int_equal(curve.tests[epoch].step, (epoch + 1) * EPOCH_STEPS);
    }
    heddle_curve_free(&curve);
}

static void a_resumed_run_goes_on_with_its_curve(void **state)
{
    (void)state;
    watch whole = {0}, part = {.stop_after = EPOCH_STEPS + 5}, rest = {0};
    heddle_curve expected = whole_curve(&whole), curve;
    const char *folder = temporary_folder();
    assert_int_equal(train(folder, false, &part), HEDDLE_INTERRUPTED);
    assert_ok(heddle_curve_read(folder, &curve));
    assert_string_equal(curve.end, "stopped");
    assert_int_equal(curve.point_count, EPOCH_STEPS + 5);
    heddle_curve_free(&curve);
    // As if the process had gone on, and been killed before its next checkpoint; the second line is torn.
    add_text(folder, "{\"event\":\"step\",\"step\":20,\"epoch\":2,\"images\":30,\"loss\":9,\"accuracy\":0,"
                     "\"learning_rate\":0.1,\"seconds\":100}\n{\"event\":\"st");
    assert_ok(train(folder, true, &rest));
    assert_ok(heddle_curve_read(folder, &curve));
    assert_int_equal(curve.starts, 2);
    assert_string_equal(curve.end, "complete");
    assert_int_equal(curve.bad_line, 0);
    assert_same_curve(&curve, &expected);
    heddle_curve_free(&curve);
    heddle_curve_free(&expected);
}

static void a_long_run_has_few_points_and_a_resumed_one_the_same(void **state)
{
    (void)state;
    enum { STRIDE = MOST_EPOCHS * IMAGES / HEDDLE_CURVE_POINTS + 1 };
    const char *folder = temporary_folder();
    watch whole = {.batch = 1, .epochs = MOST_EPOCHS}, part = whole, rest = whole;
    part.stop_after = STRIDE + 1; // between two points
    heddle_curve expected = whole_curve(&whole), curve;
    assert_int_equal(train(folder, false, &part), HEDDLE_INTERRUPTED);
    assert_ok(train(folder, true, &rest));
    assert_ok(heddle_curve_read(folder, &curve));
    assert_same_curve(&curve, &expected);
    assert_in_range(curve.point_count, MOST_EPOCHS * IMAGES / STRIDE, HEDDLE_CURVE_POINTS);
    assert_int_equal(curve.points[1].step, 2 * STRIDE);
    assert_int_equal(curve.points[1].images, STRIDE);
    heddle_curve_free(&curve);
    heddle_curve_free(&expected);
}

static void a_full_disk_costs_no_point(void **state)
{
    (void)state;
    watch whole = {0}, run = {.full_from = 3, .full_to = 9};
    heddle_curve expected = whole_curve(&whole), curve;
    const char *folder = temporary_folder();
    heddle_log_set_level(HEDDLE_LOG_ERROR); // it warns
    assert_ok(train(folder, false, &run));
    heddle_log_set_level(HEDDLE_LOG_WARN);
    assert_ok(heddle_curve_read(folder, &curve));
    assert_same_curve(&curve, &expected);
    heddle_curve_free(&curve);
    heddle_curve_free(&expected);
}

static void a_damaged_line_costs_no_other(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"event\":\"step\",\"step\":-1}\n",
        ("{\"event\":\"step\",\"step\":40,\"epoch\":2,\"images\":0,\"loss\":1,\"accuracy\":1,\"learning_rate\":1,"
         "\"seconds\":1}\n"),
        ("{\"event\":\"step\",\"step\":40,\"epoch\":2,\"images\":1,\"loss\":1,\"accuracy\":2,\"learning_rate\":1,"
         "\"seconds\":1}\n"),
        "{\"event\":\"evaluated\",\"step\":1,\"epoch\":2,\"loss\":1e999,\"accuracy\":1,\"seconds\":1}\n",
        "{\"event\":\"evaluated\",\"step\":1.5,\"epoch\":2,\"loss\":1,\"accuracy\":1,\"seconds\":1}\n",
        "{\"event\":\"evaluated\",\"step\":1,\"epoch\":2,\"loss\":\"x\",\"accuracy\":1,\"seconds\":1}\n",
        "{\"event\":\"ended\",\"step\":1,\"state\":\"a word that is longer than any state is\"}\n",
        "{\"event\":\"started\",\"step\":1,\"format\":2,\"time\":\"\",\"settings\":{}}\n",
        "{\"event\":\"unheard\",\"step\":1}\n",
        "\n",
        "[]\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *folder = temporary_folder();
        heddle_curve curve;
        add_text(folder, "{\"event\":\"started\",\"step\":0,\"format\":1,\"time\":\"now\",\"settings\":{}}\n");
        add_text(folder, bad[i]);
        add_text(folder, "{\"event\":\"ended\",\"step\":1,\"state\":\"complete\"}\n");
        assert_ok(heddle_curve_read(folder, &curve));
        assert_int_equal(curve.bad_line, 2);
        assert_int_equal(curve.point_count + curve.test_count, 0);
        assert_string_equal(curve.started, "now");
        assert_string_equal(curve.end, "complete");
        heddle_curve_free(&curve);
    }
}

static void a_damaged_start_costs_the_settings_only(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    heddle_curve curve;
    add_text(folder, "{\"event\":\"star\n");
    add_text(folder, "{\"event\":\"evaluated\",\"step\":1,\"epoch\":1,\"loss\":1,\"accuracy\":1,\"seconds\":1}\n");
    assert_ok(heddle_curve_read(folder, &curve));
    assert_int_equal(curve.bad_line, 1);
    assert_int_equal(curve.test_count, 1);
    assert_non_null(curve.settings);
    heddle_curve_free(&curve);
}

// Writes `byte` over the first character of a line, counted from 1.
static void damage(const char *folder, int number, char byte)
{
    char path[PATH];
    path_in(folder, HEDDLE_RUN_CURVE, path, sizeof path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    while (number > 1) {
        const int read = fgetc(file);
        assert_int_not_equal(read, EOF);
        number -= read == '\n';
    }
    assert_int_equal(fseek(file, 0, SEEK_CUR), 0);
    assert_int_not_equal(fputc(byte, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void a_resumed_run_drops_the_damaged_line_only(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        watch part = {.stop_after = EPOCH_STEPS + 5}, rest = {0};
        const char *folder = temporary_folder();
        heddle_curve curve;
        assert_int_equal(train(folder, false, &part), HEDDLE_INTERRUPTED);
        damage(folder, 4, i == 0 ? 'x' : '\0'); // of the third step
        heddle_log_set_level(HEDDLE_LOG_ERROR); // it warns
        assert_ok(train(folder, true, &rest));
        heddle_log_set_level(HEDDLE_LOG_WARN);
        assert_ok(heddle_curve_read(folder, &curve));
        assert_int_equal(curve.bad_line, 0);
        assert_int_equal(curve.starts, 2);
        assert_int_equal(curve.test_count, EPOCHS);
        assert_int_equal(curve.point_count, EPOCHS * EPOCH_STEPS - 1);
        assert_int_equal(curve.points[1].step, 2);
        assert_int_equal(curve.points[2].step, 4);
        heddle_curve_free(&curve);
    }
}

static void what_is_no_curve_is_refused(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    heddle_curve curve;
    assert_int_equal(heddle_curve_read(folder, &curve), HEDDLE_NOT_FOUND);
    heddle_curve_free(&curve);
    add_text(folder, "{\"event\":\"ended\",\"step\":1,\"state\":\"complete\"}\n");
    assert_int_equal(heddle_curve_read(folder, &curve), HEDDLE_CORRUPT);
    assert_non_null(strstr(heddle_last_error(), "this is not the curve of a run"));
    heddle_curve_free(&curve);
}

static void a_folder_is_busy_while_a_run_trains_in_it(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    int lock, second;
    assert_false(heddle_run_folder_is_busy(folder));
    assert_ok(heddle_run_folder_lock(folder, &lock));
    assert_true(lock >= 0);
    assert_true(heddle_run_folder_is_busy(folder));
    assert_int_equal(heddle_run_folder_lock(folder, &second), HEDDLE_INVALID);
    assert_false(heddle_run_folder_is_busy("/no/such/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_writes_its_settings_its_loss_and_its_tests),
        cmocka_unit_test(a_resumed_run_goes_on_with_its_curve),
        cmocka_unit_test(a_long_run_has_few_points_and_a_resumed_one_the_same),
        cmocka_unit_test(a_full_disk_costs_no_point),
        cmocka_unit_test(a_damaged_line_costs_no_other),
        cmocka_unit_test(a_damaged_start_costs_the_settings_only),
        cmocka_unit_test(a_resumed_run_drops_the_damaged_line_only),
        cmocka_unit_test(what_is_no_curve_is_refused),
        cmocka_unit_test(a_folder_is_busy_while_a_run_trains_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
