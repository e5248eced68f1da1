// A run and its disk: what cannot be written is told before it costs anything, a failed save and a damaged file say how
// to go on, and runs begun at the same moment take folders of their own.

#include "helpers.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "nn/trainer_folder.h"

enum {
    PATH = 256,
    IMAGES = 400,
    BATCH = 30,
    EPOCH_STEPS = 14, // of IMAGES in batches of BATCH
    NOBODY = 65534,
    RUNS = 8,
    ROUNDS = 100,
};

// --- runs -----------------------------------------------------------------------------------------------------------

typedef struct watch {
    int stop_after, full_after; // steps until the run is asked to stop, and until the disk is full; 0: never
    int steps, started;
    int64_t first_images, step_images; // told when it started, and with its first step
    double first_seconds, step_seconds;
    volatile int stop;
} watch;

static struct rlimit before_full;

// No file may grow, which a write is told as it is of a full disk.
static void fill_disk(void)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before_full), 0);
    struct rlimit full = {0, before_full.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
}

static void make_room(void)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before_full), 0);
}

static void on_event(void *context, const heddle_train_event *event)
{
    watch *run = context;
    if (event->kind == HEDDLE_TRAIN_STARTED) {
        run->started++;
        run->first_images = event->images;
        run->first_seconds = event->seconds;
    }
    if (event->kind != HEDDLE_TRAIN_STEP)
        return;
    if (run->steps++ == 0) {
        run->step_images = event->images;
        run->step_seconds = event->seconds;
    }
    if (run->steps == run->stop_after)
        run->stop = 1;
    if (run->steps == run->full_after)
        fill_disk();
}

static heddle_train_options options_for(const char *folder, watch *run)
{
    heddle_train_options options = heddle_train_defaults();
    options.batch = BATCH;
    options.folder = folder;
    options.save_every = 0;
    options.optimizer = HEDDLE_MOMENTUM;
    options.learning_rate = 0.02;
    options.listener = on_event;
    options.listener_context = run;
    options.stop = &run->stop;
    return options;
}

static heddle_status train(const heddle_train_options *options)
{
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    heddle_status status = heddle_train(device, model, small_dataset(IMAGES, 1), small_dataset(200, 2), options, NULL);
    heddle_device_close(device);
    heddle_model_close(model);
    return status;
}

// A run in `folder` that was stopped after so many steps.
static void stop_after(const char *folder, int steps)
{
    watch run = {.stop_after = steps};
    heddle_train_options options = options_for(folder, &run);
    assert_int_equal(train(&options), HEDDLE_INTERRUPTED);
}

static heddle_status resume(const char *folder, watch *run)
{
    heddle_train_options options = options_for(folder, run);
    options.resume = true;
    return train(&options);
}

static void assert_same_run(const char *a, const char *b)
{
    static const char *const names[] = {"last.safetensors", "best.safetensors"};
    for (int i = 0; i < 2; i++) {
        char one[PATH], other[PATH];
        path_in(a, names[i], one, sizeof one);
        path_in(b, names[i], other, sizeof other);
        assert_same_file(one, other);
    }
}

// The run that nothing happened to, made once.
static const char *whole_run(void)
{
    static const char *folder;
    if (!folder) {
        watch run = {0};
        folder = temporary_folder();
        heddle_train_options options = options_for(folder, &run);
        assert_ok(train(&options));
    }
    return folder;
}

static int entries_of(const char *folder)
{
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void assert_said(const char *part)
{
    if (!strstr(heddle_last_error(), part))
        fail_msg("'%s' is not in: %s", part, heddle_last_error());
}

// --- what cannot be written -----------------------------------------------------------------------------------------

static void a_resumed_run_that_cannot_save_says_so_before_its_first_step(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    char last[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    stop_after(folder, 5);
    size_t size, size_after;
    char *content = read_file(last, &size);
    watch run = {0};
    fill_disk();
    heddle_status status = resume(folder, &run);
    make_room();
    assert_int_equal(status, HEDDLE_IO);
    assert_said(
        "last.safetensors: cannot write: File too large; a resumed run saves where it was begun, so nothing was "
        "trained: ");
    assert_int_equal(run.started + run.steps, 0);
    assert_int_equal(entries_of(folder), 2); // the checkpoint and the curve
    char *after = read_file(last, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(content, after, size);
    free(content);
    free(after);
    assert_ok(resume(folder, &run));
    assert_same_run(folder, whole_run());
}

// Resumes with no right to write in `folder`: root, whom nothing hinders, becomes somebody else for it.
static heddle_status resume_without_right(const char *folder, watch *run)
{
    bool root = geteuid() == 0;
    assert_int_equal(chmod(folder, 0555), 0);
    if (root)
        assert_int_equal(seteuid(NOBODY), 0);
    heddle_status status = resume(folder, run);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    return status;
}

static void a_run_is_not_resumed_in_a_folder_of_somebody_else_unless_it_is_over(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    stop_after(folder, 5);
    watch run = {0};
    assert_int_equal(resume_without_right(folder, &run), HEDDLE_IO);
    assert_said("Permission denied");
    assert_said("so nothing was trained: mend that, or copy ");
    assert_int_equal(run.started + run.steps, 0);
    assert_ok(resume(folder, &run));
    run = (watch){0};
    assert_ok(resume_without_right(folder, &run)); // which saves nothing
    assert_int_equal(run.steps, 0);
}

// Fills the disk after so many steps of a run, which must say from where it can go on, and end as if nothing had
// happened.
static void fail_and_go_on(int full_after, double save_every, const char *kept)
{
    const char *folder = temporary_folder();
    watch run = {.full_after = full_after};
    heddle_train_options options = options_for(folder, &run);
    options.save_every = save_every;
    heddle_status status = train(&options);
    make_room();
    assert_int_equal(status, HEDDLE_IO);
    assert_said("cannot write: File too large; last.safetensors is whole, as of ");
    assert_said(kept);
    assert_said("then resume to go on from there");
    run = (watch){0};
    assert_ok(resume(folder, &run));
    assert_same_run(folder, whole_run());
}

static void a_save_that_fails_says_what_is_kept_and_that_can_be_resumed(void **state)
{
    (void)state;
    fail_and_go_on(1, 0, "as of the start: ");
    fail_and_go_on(EPOCH_STEPS + 6, 0, "as of the end of epoch 1: ");
    fail_and_go_on(EPOCH_STEPS + 6, 1e-9, "as of epoch 2, step 5: ");
}

static void a_run_that_could_not_begin_claims_to_have_kept_nothing(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    stop_after(folder, 5);
    watch run = {0};
    heddle_train_options options = options_for(folder, &run);
    options.overwrite = true; // what stays is the earlier run's
    fill_disk();
    heddle_status status = train(&options);
    make_room();
    assert_int_equal(status, HEDDLE_IO);
    assert_said("last.safetensors: cannot write: File too large");
    assert_null(strstr(heddle_last_error(), "whole"));
    char second[PATH];
    path_in(folder, "last.safetensors.before", second, sizeof second);
    assert_int_not_equal(access(second, F_OK), 0);
    assert_ok(resume(folder, &(watch){0}));
}

// --- what cannot be read --------------------------------------------------------------------------------------------

// Flips a bit of the data, or of the header.
static void damage(const char *path, bool header)
{
    enum { WITHIN_HEADER = 300, FROM_END = 100 };
    size_t size;
    char *content = read_file(path, &size);
    content[header ? WITHIN_HEADER : size - FROM_END] ^= 1;
    heddle_slice slice = {content, size};
    assert_ok(heddle_file_write_atomic(path, &slice, 1));
    free(content);
}

static void copy(const char *from, const char *to)
{
    size_t size;
    char *content = read_file(from, &size);
    heddle_slice slice = {content, size};
    assert_ok(heddle_file_write_atomic(to, &slice, 1));
    free(content);
}

// As the command does, which looks for the settings first, and as a program does.
static void must_fail_to_resume(const char *folder, heddle_status expected, const char *part)
{
    char last[PATH];
    watch run = {0};
    heddle_train_options options;
    path_in(folder, "last.safetensors", last, sizeof last);
    assert_int_equal(heddle_train_options_from(last, &options, NULL, 0), expected);
    assert_said(part);
    assert_int_equal(resume(folder, &run), expected);
    assert_said(part);
}

static void a_run_whose_last_checkpoint_is_damaged_or_gone_goes_on_from_its_best(void **state)
{
    (void)state;
    static const char way[] =
        "; best.safetensors beside it is whole, as of the end of epoch 1: use that, or copy it to "
        "last.safetensors and --resume goes on from there";
    enum { DATA, HEADER, GONE, WAYS };
    for (int how = 0; how < WAYS; how++) {
        const char *folder = temporary_folder();
        char last[PATH], best[PATH];
        path_in(folder, "last.safetensors", last, sizeof last);
        path_in(folder, "best.safetensors", best, sizeof best);
        stop_after(folder, EPOCH_STEPS + 3);
        if (how == GONE)
            assert_int_equal(unlink(last), 0);
        else
            damage(last, how == HEADER);
        must_fail_to_resume(folder, how == GONE ? HEDDLE_NOT_FOUND : HEDDLE_CORRUPT, way);
        if (how == HEADER)
            assert_said("it is corrupt, or another program changed it");
        copy(best, last);
        watch run = {0};
        assert_ok(resume(folder, &run));
        assert_int_equal(run.steps, 2 * EPOCH_STEPS);
        assert_same_run(folder, whole_run());
    }
}

static void a_run_of_which_nothing_is_whole_is_to_begin_anew(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    char last[PATH], best[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    path_in(folder, "best.safetensors", best, sizeof best);
    stop_after(folder, EPOCH_STEPS + 3);
    damage(last, false);
    damage(best, true);
    must_fail_to_resume(folder, HEDDLE_CORRUPT, "there is no whole best.safetensors beside it either to go on from: ");
    assert_int_equal(unlink(best), 0);
    must_fail_to_resume(folder, HEDDLE_CORRUPT, "begin the run anew");
    heddle_train_options options;
    damage(last, false); // whole again: only what is said of a last checkpoint is about the best
    copy(last, best);
    damage(best, false);
    assert_int_equal(heddle_train_options_from(best, &options, NULL, 0), HEDDLE_CORRUPT);
    assert_null(strstr(heddle_last_error(), "beside it"));
}

// --- from where -----------------------------------------------------------------------------------------------------

static void a_resumed_run_tells_what_it_did_itself(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    stop_after(folder, 5);
    watch run = {0};
    assert_ok(resume(folder, &run));
    assert_int_equal(run.first_images, 5 * BATCH);
    assert_true(run.first_seconds == 0);
    assert_int_equal(run.step_images - run.first_images, BATCH); // and these took
    assert_true(run.step_seconds > 0);
    assert_int_equal(run.steps, 3 * EPOCH_STEPS - 5);
}

// --- folders --------------------------------------------------------------------------------------------------------

typedef struct taker {
    const char *base;
    pthread_barrier_t *together;
    heddle_run_folder folder;
    int failures;
} taker;

static void *take_once(void *context)
{
    taker *one = context;
    pthread_barrier_wait(one->together);
    one->failures = heddle_run_folder_take(one->base, &one->folder) != HEDDLE_OK;
    return NULL;
}

static void *take_and_give_back(void *context)
{
    taker *one = context;
    pthread_barrier_wait(one->together);
    for (int i = 0; i < ROUNDS; i++) {
        one->failures += heddle_run_folder_take(one->base, &one->folder) != HEDDLE_OK;
        heddle_run_folder_release(&one->folder);
    }
    return NULL;
}

static void at_the_same_moment(taker takers[RUNS], const char *base, void *(*what)(void *))
{
    pthread_t threads[RUNS];
    pthread_barrier_t together;
    assert_int_equal(pthread_barrier_init(&together, NULL, RUNS), 0);
    for (int i = 0; i < RUNS; i++) {
        takers[i] = (taker){.base = base, .together = &together};
        assert_int_equal(pthread_create(&threads[i], NULL, what, &takers[i]), 0);
    }
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&together);
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(takers[i].failures, 0);
}

static void runs_begun_at_the_same_moment_have_folders_of_their_own(void **state)
{
    (void)state;
    const char *home = temporary_folder();
    char runs[PATH], base[PATH], kept[PATH + 16];
    path_in(home, "deep/runs", runs, sizeof runs);
    path_in(runs, "synth-cnn", base, sizeof base);
    static taker takers[RUNS];
    at_the_same_moment(takers, base, take_once);
    bool seen[RUNS + 1] = {false};
    for (int i = 0; i < RUNS; i++) {
        const char *suffix = takers[i].folder.path + strlen(base);
        int number = suffix[0] == '-' ? (int)strtol(suffix + 1, NULL, 10) : 1;
        assert_in_range(number, 1, RUNS);
        assert_false(seen[number]);
        seen[number] = true;
        assert_true(heddle_folder_exists(takers[i].folder.path));
    }
    // One has saved, the others give up.
    path_in(takers[3].folder.path, "last.safetensors", kept, sizeof kept);
    heddle_slice slice = {"x", 1};
    assert_ok(heddle_file_write_atomic(kept, &slice, 1));
    for (int i = 0; i < RUNS; i++)
        heddle_run_folder_release(&takers[i].folder);
    assert_true(heddle_file_exists(kept));
    assert_int_equal(entries_of(runs), 1);
}

static void runs_that_give_up_leave_nothing_and_hinder_nobody(void **state)
{
    (void)state;
    const char *home = temporary_folder();
    char base[PATH];
    path_in(home, "runs/synth-cnn", base, sizeof base);
    static taker takers[RUNS];
    at_the_same_moment(takers, base, take_and_give_back);
    heddle_run_folder last;
    assert_ok(heddle_run_folder_take(base, &last)); // one may have found `runs` there, and so left it
    heddle_run_folder_release(&last);
    path_in(home, "runs", base, sizeof base);
    assert_true(rmdir(base) == 0 || !heddle_folder_exists(base)); // empty, or gone
    assert_int_equal(entries_of(home), 0);
}

static void a_folder_that_cannot_be_had_leaves_none_behind(void **state)
{
    (void)state;
    const char *home = temporary_folder();
    char file[PATH], base[PATH], name[HEDDLE_RUN_FOLDER_SIZE + 1];
    heddle_run_folder folder;
    path_in(home, "runs", file, sizeof file);
    path_in(home, "runs/synth-cnn", base, sizeof base);
    heddle_slice slice = {"x", 1};
    assert_ok(heddle_file_write_atomic(file, &slice, 1));
    assert_int_equal(heddle_run_folder_take(base, &folder), HEDDLE_IO);
    assert_said("a file of that name exists; choose another (--out)");
    assert_string_equal(folder.path, "");
    heddle_run_folder_release(&folder); // nothing
    assert_int_equal(unlink(file), 0);
    memset(name, 'x', 300); // longer than any file system takes
    name[300] = '\0';
    char path[PATH + 512];
    snprintf(path, sizeof path, "%s/runs/%s", home, name);
    assert_int_equal(heddle_run_folder_take(path, &folder), HEDDLE_IO);
    assert_said("choose another (--out)");
    assert_int_equal(entries_of(home), 0);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(heddle_run_folder_take(name, &folder), HEDDLE_INVALID);
    assert_string_equal(folder.path, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_that_cannot_save_says_so_before_its_first_step),
        cmocka_unit_test(a_run_is_not_resumed_in_a_folder_of_somebody_else_unless_it_is_over),
        cmocka_unit_test(a_save_that_fails_says_what_is_kept_and_that_can_be_resumed),
        cmocka_unit_test(a_run_that_could_not_begin_claims_to_have_kept_nothing),
        cmocka_unit_test(a_run_whose_last_checkpoint_is_damaged_or_gone_goes_on_from_its_best),
        cmocka_unit_test(a_run_of_which_nothing_is_whole_is_to_begin_anew),
        cmocka_unit_test(a_resumed_run_tells_what_it_did_itself),
        cmocka_unit_test(runs_begun_at_the_same_moment_have_folders_of_their_own),
        cmocka_unit_test(runs_that_give_up_leave_nothing_and_hinder_nobody),
        cmocka_unit_test(a_folder_that_cannot_be_had_leaves_none_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
