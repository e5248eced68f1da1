// Parts of the trainer by themselves: data that does not fit the model, shards of a batch, what events and messages
// say.

#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dist/inside.h"
#include "nn/trainer.h"

enum { IMAGES = 70, BATCH = 30, BATCHES = 3, EPOCHS = 3, PATH_SIZE = 4096 };

static heddle_train_options quick_options(const char *folder)
{
    heddle_train_options options = heddle_train_defaults();
    options.epochs = EPOCHS;
    options.batch = BATCH;
    options.folder = folder;
    options.save_every = 0;
    return options;
}

static heddle_status train(const heddle_dataset *data, const heddle_dataset *test, const heddle_train_options *options)
{
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    heddle_status status = heddle_train(device, model, data, test, options, NULL);
    heddle_device_close(device);
    heddle_model_close(model);
    return status;
}

static void data_that_does_not_fit_the_model_is_refused(void **state)
{
    (void)state;
    const heddle_train_options options = quick_options(NULL);
    const heddle_dataset *data = small_dataset(IMAGES, 1); // 1×12×12, 4 classes
    heddle_dataset wrong[] = {*data, *data, *data, *data};
    wrong[0].channels = 3;
    wrong[1].height = 11;
    wrong[2].width = 11;
    wrong[3].classes = 5;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(train(&wrong[i], NULL, &options), HEDDLE_INVALID);
        assert_non_null(strstr(heddle_last_error(), "takes 1×12×12 images of 4 classes"));
        assert_int_equal(train(data, &wrong[i], &options), HEDDLE_INVALID);
    }
    heddle_dataset empty = *data;
    empty.count = 0;
    assert_int_equal(train(&empty, NULL, &options), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "is empty"));
}

static void on_a_gpu_every_rank_needs_an_image_of_every_batch(void **state)
{
    (void)state;
    static const struct {
        int batch, images, ranks;
        bool streamed, fits;
    } cases[] = {{4, 8, 2, false, true}, {4, 10, 2, false, true}, {4, 9, 2, false, false}, {1, 8, 2, false, false},
                 {2, 8, 2, false, true}, {4, 7, 3, false, true},  {4, 6, 3, false, false}, {4, 8, 2, true, false},
                 {4, 9, 1, false, true}, {4, 9, 1, true, true},   {1, 8, 1, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const heddle_dataset data = {.count = cases[i].images};
        int batch = 0, sum = 0;
        for (int rank = 0; rank < cases[i].ranks; rank++) {
            heddle_trainer trainer = {
                .batch = cases[i].batch, .train = &data, .ranks = {.rank = rank, .ranks = cases[i].ranks}};
            heddle_status status = heddle_trainer_check_shards(&trainer, cases[i].streamed, &batch);
            assert_int_equal(status, cases[i].fits ? HEDDLE_OK : HEDDLE_UNSUPPORTED);
            sum += batch;
        }
        assert_int_equal(sum, cases[i].batch); // together they have all of it
    }
}

static void a_rank_without_an_image_counts_for_nothing(void **state)
{
    (void)state;
    double shares = 0;
    for (int rank = 0; rank < 3; rank++) {
        const heddle_trainer trainer = {.ranks = {.rank = rank, .ranks = 3}};
        heddle_plan_options plan = {0};
        heddle_trainer_take_share(&trainer, 2, &plan);
        assert_int_equal(plan.batch, 1); // also of the rank that has none, whose image is made up
        assert_true(plan.share == 0 || plan.share == 0.5);
        shares += plan.share;
        heddle_trainer_take_share(&trainer, 0, &plan);
        assert_int_equal(plan.batch, 1);
        assert_true(plan.share == 0);
    }
    assert_true(shares == 1);
}

typedef struct told {
    int steps, evaluations, saves, wrong;
} told;

// Each event says which epoch it belongs to; between two epochs, the one that is over.
static void check_event(void *context, const heddle_train_event *event)
{
    told *so_far = context;
    int epoch = 0;
    if (event->kind == HEDDLE_TRAIN_STEP) {
        epoch = so_far->steps++ / BATCHES;
        so_far->wrong += !(event->loss > 0) || event->images > IMAGES;
    } else if (event->kind == HEDDLE_TRAIN_EVALUATED) {
        epoch = so_far->evaluations++;
    } else if (event->kind == HEDDLE_TRAIN_SAVED) {
        epoch = so_far->steps ? (so_far->steps - 1) / BATCHES : 0;
        so_far->saves++;
    }
    so_far->wrong += event->epoch != epoch || event->epochs != EPOCHS || event->images_total != IMAGES;
}

static void events_say_which_epoch_they_belong_to(void **state)
{
    (void)state;
    told all = {0};
    heddle_train_options options = quick_options(temporary_folder());
    options.save_every = 1e-9; // after every step
    options.listener = check_event;
    options.listener_context = &all;
    assert_ok(train(small_dataset(IMAGES, 1), small_dataset(20, 2), &options));
    assert_int_equal(all.wrong, 0);
    assert_int_equal(all.steps, EPOCHS * BATCHES);
    assert_int_equal(all.evaluations, EPOCHS);
    assert_true(all.saves > EPOCHS * BATCHES); // all of them, the best ones, and one before the first step
}

static void a_run_that_diverged_says_which_checkpoint_is_left(void **state)
{
    (void)state;
    static const char first[] = "; the last checkpoint is from before the first step";
    heddle_train_options options = quick_options(NULL);
    heddle_trainer trainer = {.options = &options, .saved_step = 1};
    assert_string_equal(heddle_trainer_kept(&trainer), "");
    options.folder = "run";
    assert_string_equal(heddle_trainer_kept(&trainer), "; the last checkpoint is from before");
    trainer.saved_step = 0;
    assert_string_equal(heddle_trainer_kept(&trainer), first);
    options = quick_options(temporary_folder());
    options.learning_rate = 1e4;
    for (int every_step = 0; every_step < 2; every_step++) {
        options.save_every = every_step ? 1e-9 : 0;
        options.overwrite = true;
        assert_int_equal(train(small_dataset(IMAGES, 1), NULL, &options), HEDDLE_DIVERGED);
        assert_non_null(strstr(heddle_last_error(), "; the last checkpoint is from before"));
        assert_int_equal(strstr(heddle_last_error(), first) == NULL, every_step);
    }
}

// The other rank of two: what it adds to a sum.
static double others[4];

static heddle_status play_start(heddle_channel channel, const heddle_exchange *exchange)
{
    (void)channel;
    for (size_t i = 0; i < exchange->count; i++)
        ((double *)exchange->receive)[i] += others[i];
    return HEDDLE_OK;
}

static heddle_status play_test(heddle_channel channel, bool *done)
{
    (void)channel;
    *done = true;
    return HEDDLE_OK;
}

static void a_loss_that_is_not_finite_on_one_rank_stops_all(void **state)
{
    (void)state;
    static const heddle_engine played = {.version = HEDDLE_ENGINE_VERSION, .start = play_start, .test = play_test};
    heddle_dist dist = {.ranks = {.ranks = 2}, .mpi = &played, .lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER};
    heddle_train_options options = quick_options(NULL);
    options.dist = &dist;
    heddle_trainer trainer = {.options = &options, .ranks = {.ranks = 2}};
    for (int bad = 0; bad < 2; bad++) {
        heddle_feed_report report = {.tally = {2, 7, 0, 0}};
        memcpy(others, (double[]){1, 5, bad, 0}, sizeof others);
        assert_int_equal(heddle_trainer_sum_report(&trainer, &report), HEDDLE_OK);
        assert_true(report.tally[0] == 3 && report.tally[1] == 12);
        assert_true(report.tally[2] == bad);
        assert_int_equal(isnan(report.tally[3]) != 0, bad);
        assert_false(trainer.stop_agreed);
    }
}

static void a_folder_whose_files_have_names_too_long_is_refused(void **state)
{
    (void)state;
    static const char last[] = "/last.safetensors";
    char folder[PATH_SIZE];
    size_t length = PATH_SIZE - strlen(last);
    memset(folder, 'x', length);
    folder[length] = 0;
    heddle_train_options options = quick_options(folder);
    assert_int_equal(train(small_dataset(IMAGES, 1), NULL, &options), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "the folder's name is longer than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_that_does_not_fit_the_model_is_refused),
        cmocka_unit_test(on_a_gpu_every_rank_needs_an_image_of_every_batch),
        cmocka_unit_test(a_rank_without_an_image_counts_for_nothing),
        cmocka_unit_test(events_say_which_epoch_they_belong_to),
        cmocka_unit_test(a_run_that_diverged_says_which_checkpoint_is_left),
        cmocka_unit_test(a_loss_that_is_not_finite_on_one_rank_stops_all),
        cmocka_unit_test(a_folder_whose_files_have_names_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
