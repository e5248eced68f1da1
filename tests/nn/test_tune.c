// Rungs chosen by measurement: the winners are kept and found again, a damaged cache does no harm, and what a call
// updates in place is left alone. On cpu, whose streams keep time as a GPU's do.

#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "heddle/ops.h"
#include "nn/run.h"
#include "nn/tune.h"

enum { PATH = 512, COUNT = 1000 };

typedef struct bench {
    heddle_device *device;
    heddle_stream *stream;
    const heddle_op *op;
    heddle_update_shape shape;
    float parameter[COUNT], grad[COUNT], hyper[HEDDLE_HYPER_COUNT];
    heddle_call call;
    const heddle_rung *candidates[HEDDLE_TUNE_CANDIDATES];
    int count;
} bench;

static const heddle_tune_wish tuned = {.tier = HEDDLE_FUSED, .deterministic = true};

static bench begin(void)
{
    bench on = {.device = open_cpu(1), .shape = {.n = COUNT}};
    assert_ok(heddle_stream_create(on.device, 0, &on.stream));
    assert_ok(heddle_op_find("sgd_update", &on.op));
    on.hyper[HEDDLE_HYPER_LEARNING_RATE] = 0.5F;
    for (int i = 0; i < COUNT; i++)
        on.parameter[i] = on.grad[i] = (float)i;
    return on;
}

static void bind(bench *on)
{
    const struct {
        const char *name;
        float *memory;
    } operands[] = {{"parameter", on->parameter}, {"grad", on->grad}, {"hyper", on->hyper}};
    on->call = (heddle_call){.shape = &on->shape};
    for (int i = 0; i < 3; i++) {
        int slot, index = heddle_operand_find(on->op, operands[i].name);
        if (heddle_operand_slot(on->op, index, &slot))
            on->call.output[slot] = operands[i].memory;
        else
            on->call.input[slot] = operands[i].memory;
    }
    // The naive rung stands in for one that nearly wins: the list of those worth a measurement leaves it out.
    on->count = heddle_rung_candidates(on->op, HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL, &on->shape, on->candidates,
                                       HEDDLE_TUNE_CANDIDATES);
    assert_int_equal(on->count, 2);
}

static void end(bench *on)
{
    assert_ok(heddle_stream_destroy(on->stream));
    heddle_device_close(on->device);
}

static const heddle_rung *choose(bench *on)
{
    heddle_tuner *tuner = NULL;
    const heddle_rung *rung = NULL;
    assert_ok(heddle_tuner_open(on->stream, &tuner));
    assert_ok(heddle_tuner_choose(tuner, on->op, &on->call, &tuned, on->candidates, on->count, &rung));
    heddle_tuner_close(tuner);
    return rung;
}

// The one file in the cache.
static void cache_file(const char *folder, char path[PATH])
{
    char command[PATH];
    snprintf(command, sizeof command, "ls %s/heddle/tune-*.json", folder);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, PATH, list));
    path[strcspn(path, "\n")] = '\0';
    pclose(list);
}

static const char *use_empty_cache(void)
{
    const char *folder = temporary_folder();
    setenv("XDG_CACHE_HOME", folder, 1);
    return folder;
}

static void a_winner_is_kept_and_found_again(void **state)
{
    (void)state;
    const char *folder = use_empty_cache();
    bench on = begin();
    bind(&on);
    const heddle_rung *winner = choose(&on);
    char path[PATH], text[PATH];
    cache_file(folder, path);
    size_t size;
    char *content = read_file(path, &size);
    assert_non_null(strstr(content, "sgd_update n=1000 undecayed=0 full fused"));
    assert_non_null(strstr(content, winner->name));
    free(content);
    // What the file says is believed, not measured again.
    const heddle_rung *other = on.candidates[winner == on.candidates[0] ? 1 : 0];
    snprintf(text, sizeof text, "{\"sgd_update n=1000 undecayed=0 full fused\": \"%s\"}", other->name);
    heddle_slice slice = {text, strlen(text)};
    assert_ok(heddle_file_write_atomic(path, &slice, 1));
    assert_ptr_equal(choose(&on), other);
    heddle_tuner *tuner = NULL;
    const heddle_rung *known = NULL;
    assert_ok(heddle_tuner_open(on.stream, &tuner));
    assert_true(heddle_tuner_knows(tuner, on.op, &on.shape, &tuned, on.candidates, on.count, &known));
    assert_ptr_equal(known, other);
    on.shape.n = COUNT - 1;
    assert_false(heddle_tuner_knows(tuner, on.op, &on.shape, &tuned, on.candidates, on.count, &known));
    assert_ptr_equal(known, on.candidates[0]);
    assert_true(heddle_tuner_knows(tuner, on.op, &on.shape, &tuned, on.candidates, 1, &known)); // none to make
    heddle_tuner_close(tuner);
    end(&on);
}

static void a_damaged_cache_is_written_anew(void **state)
{
    (void)state;
    const char *folder = use_empty_cache();
    bench on = begin();
    bind(&on);
    choose(&on);
    char path[PATH];
    cache_file(folder, path);
    static const char *const damaged[] = {
        "", "{\"sgd_upd", "[1, 2]", "{\"sgd_update n=1000 undecayed=0 full fused\": 7}",
        "{\"sgd_update n=1000 undecayed=0 full fused\": \"a rung of another version\"}"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        heddle_slice slice = {damaged[i], strlen(damaged[i])};
        assert_ok(heddle_file_write_atomic(path, &slice, 1));
        const heddle_rung *winner = choose(&on);
        size_t size;
        char *content = read_file(path, &size);
        assert_non_null(strstr(content, winner->name));
        free(content);
    }
    end(&on);
}

static void what_a_call_updates_is_left_as_it_was(void **state)
{
    (void)state;
    use_empty_cache();
    bench on = begin();
    bind(&on);
    choose(&on);
    for (int i = 0; i < COUNT; i++)
        assert_true(on.parameter[i] == (float)i);
    end(&on);
}

static void a_cache_that_cannot_be_written_says_so_and_nothing_fails(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/proc/heddle-cannot-write-here", 1);
    bench on = begin();
    bind(&on);
    heddle_tuner *tuner = NULL;
    assert_ok(heddle_tuner_open(on.stream, &tuner));
    assert_false(heddle_tuner_keeps(tuner));
    heddle_tuner_close(tuner);
    assert_non_null(choose(&on));
    end(&on);
}

// Another process, played by another tuner: what it has measured since the cache was opened is believed and stays.
static void a_choice_made_meanwhile_is_taken_and_kept(void **state)
{
    (void)state;
    const char *folder = use_empty_cache();
    bench on = begin();
    bind(&on);
    heddle_tuner *late = NULL;
    assert_ok(heddle_tuner_open(on.stream, &late)); // sees an empty cache
    const heddle_rung *winner = choose(&on), *rung = NULL;
    const heddle_rung *other = on.candidates[winner == on.candidates[0] ? 1 : 0];
    char path[PATH], text[PATH];
    cache_file(folder, path);
    snprintf(text, sizeof text, "{\"sgd_update n=1000 undecayed=0 full fused\": \"%s\"}", other->name);
    heddle_slice slice = {text, strlen(text)};
    assert_ok(heddle_file_write_atomic(path, &slice, 1));
    on.shape.n = COUNT - 1; // not in the cache
    assert_ok(heddle_tuner_choose(late, on.op, &on.call, &tuned, on.candidates, on.count, &rung));
    on.shape.n = COUNT;
    assert_ok(heddle_tuner_choose(late, on.op, &on.call, &tuned, on.candidates, on.count, &rung));
    assert_ptr_equal(rung, other);
    heddle_tuner_close(late);
    size_t size;
    char *content = read_file(path, &size);
    assert_non_null(strstr(content, "sgd_update n=999 undecayed=0 full fused"));
    assert_non_null(strstr(content, "sgd_update n=1000 undecayed=0 full fused"));
    free(content);
    end(&on);
}

// A plan may be made after an epoch, when the place that samples are read from is behind the last.
static void trials_read_the_first_samples_wherever_the_feed_stands(void **state)
{
    (void)state;
    use_empty_cache();
    bench on = begin();
    const heddle_gather_shape shape = {.n = 2, .count = 3, .length = 4, .pixels = 1};
    const uint8_t dataset[] = {0, 51, 255};
    const int32_t dataset_labels[] = {7, 8, 9}, order[] = {2, 1, 0, 0};
    const int64_t cursor[HEDDLE_CURSOR_COUNT] = {(int64_t)1 << 40, 5};
    int32_t labels[2] = {0};
    float images[2] = {0};
    const heddle_call call = {
        .shape = &shape, .input = {dataset, dataset_labels, order, cursor}, .output = {images, labels}};
    const heddle_op *op;
    const heddle_rung *rung, *candidates[2];
    assert_ok(heddle_op_find("gather", &op));
    assert_ok(heddle_rung_find(op, "cpu_naive", &candidates[0]));
    candidates[1] = candidates[0];
    heddle_tuner *tuner = NULL;
    assert_ok(heddle_tuner_open(on.stream, &tuner));
    assert_ok(heddle_tuner_choose(tuner, op, &call, &tuned, candidates, 2, &rung));
    heddle_tuner_close(tuner);
    assert_int_equal(labels[0], 9);
    assert_int_equal(labels[1], 8);
    assert_true(cursor[0] == (int64_t)1 << 40 && cursor[1] == 5);
    end(&on);
}

// Whether a dataset is all on the device or passes through it, the same rung is chosen.
static void a_choice_is_the_same_however_large_the_dataset(void **state)
{
    (void)state;
    const char *folder = use_empty_cache();
    bench on = begin();
    heddle_gather_shape shape = {.n = 2, .count = 5, .length = 5, .pixels = 3};
    uint8_t dataset[15] = {0};
    int32_t dataset_labels[5] = {0}, order[5] = {0}, labels[2];
    int64_t cursor[HEDDLE_CURSOR_COUNT] = {0};
    float images[6];
    heddle_call call = {.shape = &shape, .input = {dataset, dataset_labels, order, cursor}, .output = {images, labels}};
    const heddle_op *op;
    const heddle_rung *rung, *candidates[2];
    assert_ok(heddle_op_find("gather", &op));
    assert_ok(heddle_rung_find(op, "cpu_naive", &candidates[0]));
    candidates[1] = candidates[0]; // it has no other on cpu
    heddle_tuner *tuner = NULL;
    assert_ok(heddle_tuner_open(on.stream, &tuner));
    assert_ok(heddle_tuner_choose(tuner, op, &call, &tuned, candidates, 2, &rung));
    shape.count = 4;
    shape.length = 3;
    assert_ok(heddle_tuner_choose(tuner, op, &call, &tuned, candidates, 2, &rung));
    heddle_tuner_close(tuner);
    char path[PATH];
    cache_file(folder, path);
    size_t size;
    char *content = read_file(path, &size), *found = strstr(content, "\"gather n=2 pixels=3 h=0 w=0 full fused\"");
    assert_non_null(found);
    assert_null(strstr(found + 2, "gather"));
    free(content);
    end(&on);
}

// The cache's folder is there, but the file cannot be written: then the ladder's order has to do.
static void what_cannot_be_kept_is_not_measured(void **state)
{
    (void)state;
    const char *folder = use_empty_cache();
    bench on = begin();
    bind(&on);
    choose(&on);
    char path[PATH];
    cache_file(folder, path);
    assert_int_equal(unlink(path), 0);
    assert_ok(heddle_folder_create(path)); // in the file's place
    const heddle_rung *backwards[] = {on.candidates[1], on.candidates[0]};
    for (int i = 0; i < 2; i++) {
        const heddle_rung *const *candidates = i ? backwards : on.candidates;
        heddle_tuner *tuner = NULL;
        const heddle_rung *rung = NULL;
        assert_ok(heddle_tuner_open(on.stream, &tuner));
        assert_ok(heddle_tuner_choose(tuner, on.op, &on.call, &tuned, candidates, on.count, &rung));
        assert_ptr_equal(rung, candidates[0]);
        heddle_tuner_close(tuner);
    }
    end(&on);
}

static void candidates_keep_to_what_was_asked_for(void **state)
{
    (void)state;
    // Sums have a rung that adds by atomics.
    heddle_elements_shape shape = {.n = 1 << 20};
    const heddle_op *op;
    assert_ok(heddle_op_find("sum_forward", &op));
    const heddle_rung *rungs[HEDDLE_TUNE_CANDIDATES];
    for (heddle_tier tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++) {
        heddle_tune_wish wish = {.tier = tier, .deterministic = true};
        int count = heddle_tune_candidates(op, HEDDLE_CUDA, &wish, &shape, rungs);
        assert_true(count >= 1);
        for (int i = 0; i < count; i++) {
            assert_false(rungs[i]->unordered);
            assert_int_equal(rungs[i]->arithmetic, HEDDLE_FULL);
            if (tier != HEDDLE_FUSED)
                assert_true(rungs[i]->tier <= tier);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_winner_is_kept_and_found_again),
        cmocka_unit_test(a_damaged_cache_is_written_anew),
        cmocka_unit_test(what_a_call_updates_is_left_as_it_was),
        cmocka_unit_test(a_cache_that_cannot_be_written_says_so_and_nothing_fails),
        cmocka_unit_test(a_choice_made_meanwhile_is_taken_and_kept),
        cmocka_unit_test(trials_read_the_first_samples_wherever_the_feed_stands),
        cmocka_unit_test(a_choice_is_the_same_however_large_the_dataset),
        cmocka_unit_test(what_cannot_be_kept_is_not_measured),
        cmocka_unit_test(candidates_keep_to_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
