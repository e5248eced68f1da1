// Rates: measured through the trainer itself, with the number of rounds asked for; nonsense is refused, and so is the
// time of a run that has not learnt. Rounds are cut where clock and images belong together, which a device that reports
// in bursts shows.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "bench/rate.h"
#include "bench/rate_watch.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

// --- the jobs -------------------------------------------------------------------------------------------------------

typedef struct bench {
    heddle_device *device;
    heddle_dataset *dataset;
    heddle_model *model;
} bench;

static int open_all(void **state)
{
    bench *made = calloc(1, sizeof *made);
    assert_non_null(made);
    assert_ok(heddle_device_open("cpu", 1, &made->device));
    assert_ok(heddle_dataset_open("synth:count=100", NULL, HEDDLE_TRAIN, &made->dataset));
    heddle_input_shape input = {made->dataset->channels, made->dataset->height, made->dataset->width,
                                made->dataset->classes};
    assert_ok(heddle_model_open("mlp", &input, &made->model));
    *state = made;
    return 0;
}

static int close_all(void **state)
{
    bench *made = *state;
    heddle_model_close(made->model);
    heddle_dataset_close(made->dataset);
    heddle_device_close(made->device);
    free(made);
    return 0;
}

static heddle_rate_options quick(void)
{
    return (heddle_rate_options){.batch = 32, .kernels = HEDDLE_FUSED, .seconds = 0.01, .rounds = 3, .warm_up = 2};
}

static heddle_status train(const bench *with, const heddle_rate_options *options, heddle_rate *rate)
{
    return heddle_rate_train(with->device, with->model, with->dataset, options, rate);
}

static heddle_status infer(const bench *with, const heddle_rate_options *options, heddle_rate *rate)
{
    return heddle_rate_infer(with->device, with->model, with->dataset, options, rate);
}

static void both_jobs_give_a_rate_between_their_extremes(void **state)
{
    heddle_rate_options options = quick();
    heddle_rate rate;
    for (int job = 0; job < 2; job++) {
        double called = heddle_now();
        assert_ok(job ? infer(*state, &options, &rate) : train(*state, &options, &rate));
        assert_true(rate.least > 0 && rate.least <= rate.images_per_second && rate.images_per_second <= rate.most);
        assert_true(rate.step_milliseconds > 0);
        assert_true(rate.first > called && rate.first < heddle_now());
        assert_int_equal(rate.rounds, 3);
        for (int i = 0; i < 3; i++)
            assert_true(rate.round[i] >= rate.least && rate.round[i] <= rate.most);
        assert_true(isnan(rate.sustained));
    }
    options.warm_up = 0; // the first round must not count from the clock's beginning
    assert_ok(infer(*state, &options, &rate));
    assert_true(rate.least > 1);
}

static void nonsense_is_refused(void **state)
{
    heddle_rate_options options = quick();
    heddle_rate rate;
    options.batch = 101;
    assert_int_equal(infer(*state, &options, &rate), HEDDLE_INVALID);
    options = quick();
    for (int i = 0; i < 2; i++) {
        options.rounds = i ? HEDDLE_RATE_MAX_ROUNDS + 1 : 2; // no median of two
        assert_int_equal(train(*state, &options, &rate), HEDDLE_INVALID);
    }
}

static void a_run_that_has_not_learnt_has_no_rate_and_says_its_loss(void **state)
{
    heddle_rate_options options = quick();
    heddle_rate rate;
    options.loss_below = 1e-9;
    options.loss_steps = 3;
    options.steps = 4;
    assert_int_equal(train(*state, &options, &rate), HEDDLE_DIVERGED);
    assert_non_null(strstr(heddle_last_error(), "steps, not below 1e-09: the network has not learnt"));
    options.loss_steps = 1 << 30; // too few steps to have learnt in
    assert_ok(train(*state, &options, &rate));
    options.loss_steps = 3;
    options.loss_below = 100;
    assert_ok(train(*state, &options, &rate));
    assert_true(rate.loss > 0 && rate.loss < 3);
    options.loss_below = 0;
    assert_ok(infer(*state, &options, &rate));
    assert_true(isnan(rate.loss));
}

static void the_loss_falls_the_longer_the_run(void **state)
{
    heddle_rate_options options = quick();
    heddle_rate first, later;
    options.steps = 1;
    options.seconds = 1e-6;
    assert_ok(train(*state, &options, &first));
    options.steps = 300;
    assert_ok(train(*state, &options, &later));
    assert_true(first.loss > 1.5); // a handful of steps
    assert_true(later.loss < 0.5); // a mean over everything would still be above
}

static void sustained_goes_on_after_the_rounds(void **state)
{
    heddle_rate_options options = quick();
    heddle_rate rate;
    options.sustained = 0.05;
    bool near = false;
    for (int tries = 0; tries < 20 && !near; tries++) { // a busy machine may stop for longer than it is measured
        assert_ok(train(*state, &options, &rate));
        near = rate.sustained > rate.least / 10 && rate.sustained < rate.most * 10;
    }
    assert_true(near);
    assert_ok(infer(*state, &options, &rate));
    assert_true(rate.sustained > 0);
}

// --- rounds of a device that is made up -----------------------------------------------------------------------------

static void close_to(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= share * expected))
        fail_msg("%g, not within %g %% of %g", value, 100 * share, expected);
}

static heddle_rate_options made_up(void)
{
    return (heddle_rate_options){.batch = 10, .seconds = 0.2, .rounds = 5, .warm_up = 20};
}

// Images a second of a device, and its reports: images of each in an epoch.
static const double TRUE_RATE = 1e5;
static const int chunks[] = {500, 2000, 8000, 16000, 8000, 4000, 1500};
enum { CHUNKS = sizeof chunks / sizeof *chunks, EPOCH = 40000 };

// As a trainer whose host is held up while it queues, until the chunk that it queues is nearly done: it sees each
// report one chunk late, and the last two of an epoch together. What a host would make of that which takes all reports
// for prompt is `trusting`. Returns how far the worst round is from the truth.
static double bursty(bool trusting, heddle_rate *rate)
{
    heddle_rate_options options = made_up();
    heddle_rate_watch watch;
    double began = 100, now = began; // no clock begins at 0
    int64_t done = 0;                // images, when the report's own chunk ended
    bool over = false;
    heddle_rate_watch_start(&watch, &options, began);
    for (int i = 0; !over; i = (i + 1) % CHUNKS) {
        bool last = i == CHUNKS - 1;
        done += chunks[i];
        now = began + (double)(done + (last ? 0 : chunks[i + 1])) / TRUE_RATE;
        heddle_rate_report report = {.now = now, .images = chunks[i], .loss = 1, .late = !last && !trusting};
        over = heddle_rate_watch_take(&watch, &report);
    }
    heddle_rate_watch_sum_up(&watch, rate);
    double worst = 0;
    for (int i = 0; i < rate->rounds; i++)
        worst = fmax(worst, fabs(rate->round[i] / TRUE_RATE - 1));
    return worst;
}

static void reports_in_bursts_give_the_true_rate(void **state)
{
    (void)state;
    heddle_rate rate;
    assert_true(bursty(true, &rate) > 0.2); // cut anywhere, rounds are wrong by much
    assert_true(bursty(false, &rate) < 1e-9);
    close_to(rate.images_per_second, TRUE_RATE, 1e-9);
    assert_int_equal(rate.images % EPOCH, 0); // what really passed: whole epochs here
}

static void where_every_report_is_late_rounds_are_long(void **state)
{
    (void)state;
    heddle_rate_options options = made_up();
    heddle_rate_watch watch;
    heddle_rate rate;
    uint32_t random = 1;
    double now = 5, done = 0, told = 0;
    bool over = false;
    heddle_rate_watch_start(&watch, &options, now);
    while (!over) {
        random = random * 1664525u + 1013904223u;
        double gap = 0.02 + 0.03 * (random >> 16) / 65536; // between two reports
        double behind = gap * (double)(random >> 8 & 255) / 255;
        now += gap;
        done = (now - 5) * TRUE_RATE;
        int64_t images = (int64_t)(done - behind * TRUE_RATE - told);
        images = images > 0 ? images : 0;
        told += (double)images;
        heddle_rate_report report = {.now = now, .images = images, .loss = 1, .late = true};
        over = heddle_rate_watch_take(&watch, &report);
    }
    heddle_rate_watch_sum_up(&watch, &rate);
    close_to(rate.least, TRUE_RATE, 0.04);
    close_to(rate.most, TRUE_RATE, 0.04);
    assert_true(now - 5 < 5 * 3); // long, but not for ever
}

// The first round ends at a late report, for it is long enough; the next report is prompt, and has what that one
// lacked. A round from there to the next prompt one would have a report's images too many.
static void a_round_that_begins_at_a_late_report_is_long(void **state)
{
    (void)state;
    const double gap = 0.05;
    const int64_t images = (int64_t)(gap * TRUE_RATE);
    heddle_rate_options options = made_up();
    heddle_rate_watch watch;
    heddle_rate rate;
    bool over = false;
    options.warm_up = 0;
    options.rounds = 3;
    heddle_rate_watch_start(&watch, &options, 0);
    for (int i = 1; !over && i < 1000; i++) {
        const bool late = i > 60 && i <= 100;
        heddle_rate_report report = {.now = i * gap, .images = images, .loss = 1, .late = late};
        report.images = i == 61 ? 0 : i == 101 ? 2 * images : images;
        options.seconds = i < 100 ? 5 : 0.2;
        over = heddle_rate_watch_take(&watch, &report);
    }
    assert_true(over);
    heddle_rate_watch_sum_up(&watch, &rate);
    close_to(rate.least, TRUE_RATE, 0.04);
    close_to(rate.most, TRUE_RATE, 0.04);
}

static void rounds_stay_in_their_order_and_two_in_the_middle_are_shared(void **state)
{
    (void)state;
    static const double seconds[] = {0.4, 0.2, 0.8, 0.5}; // a round of 1000 images each
    heddle_rate_options options = made_up();
    heddle_rate_watch watch;
    heddle_rate rate;
    double now = 0;
    options.rounds = 4;
    options.warm_up = 0;
    heddle_rate_watch_start(&watch, &options, now);
    for (int i = 0; i < 4; i++) {
        now += seconds[i];
        heddle_rate_report report = {.now = now, .images = 1000, .loss = 1};
        assert_int_equal(heddle_rate_watch_take(&watch, &report), i == 3);
    }
    heddle_rate_watch_sum_up(&watch, &rate);
    for (int i = 0; i < 4; i++)
        close_to(rate.round[i], 1000 / seconds[i], 1e-9);
    close_to(rate.images_per_second, 1000 / 0.45, 1e-9);
    close_to(rate.step_milliseconds, 4.5, 1e-9);
    assert_int_equal(rate.images, 4000);
}

static void sustained_is_the_mean_of_the_last_half(void **state)
{
    (void)state;
    heddle_rate_options options = made_up();
    heddle_rate_watch watch;
    heddle_rate rate;
    double now = 0;
    options.sustained = 10;
    heddle_rate_watch_start(&watch, &options, now);
    // A card that slows down: 1000 images a second in the rounds and long after, 500 and 250 in turns at last.
    bool over = false;
    for (int i = 0; !over; i++) {
        double speed = now < 6 ? 1000 : i % 2 ? 500 : 250;
        now += 10 / speed;
        heddle_rate_report report = {.now = now, .images = 10, .loss = 1};
        over = heddle_rate_watch_take(&watch, &report);
    }
    heddle_rate_watch_sum_up(&watch, &rate);
    close_to(rate.images_per_second, 1000, 1e-9);
    close_to(rate.sustained, 1000.0 / 3, 0.05); // as many images at either speed
    close_to(now, 11.2, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_jobs_give_a_rate_between_their_extremes),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_run_that_has_not_learnt_has_no_rate_and_says_its_loss),
        cmocka_unit_test(the_loss_falls_the_longer_the_run),
        cmocka_unit_test(sustained_goes_on_after_the_rounds),
        cmocka_unit_test(reports_in_bursts_give_the_true_rate),
        cmocka_unit_test(where_every_report_is_late_rounds_are_long),
        cmocka_unit_test(a_round_that_begins_at_a_late_report_is_long),
        cmocka_unit_test(rounds_stay_in_their_order_and_two_in_the_middle_are_shared),
        cmocka_unit_test(sustained_is_the_mean_of_the_last_half),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
