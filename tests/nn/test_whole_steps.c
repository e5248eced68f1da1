// Plans of the course's network on a device that is a module (HEDDLE_TEST_DEVICE: sim unless told): when one operator
// takes whole steps, that it gives the same bits however many at a time, and what a step is that overflows.

#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/optimizer.h"
#include "nn/plan.h"
#include "ops/define.h"
#include "under_test.h"

// On a simulated GPU every sample takes a while; tf32 begins at 16.
enum { FEW = 2, BATCH = 16 };

static bool simulated(void)
{
    return strcmp(device_under_test("sim"), "sim") == 0;
}

// `count` images of noise, of the size that the fused step takes; the last set is freed by the next.
static const heddle_dataset *noise(int count)
{
    enum { SIDE = 28, CLASSES = 10 };
    static uint8_t *images;
    static heddle_dataset set;
    heddle_random random = heddle_random_make(11, 0);
    const size_t pixels = (size_t)count * SIDE * SIDE;
    free(images);
    images = malloc(pixels + (size_t)count);
    assert_non_null(images);
    for (size_t i = 0; i < pixels; i++)
        images[i] = (uint8_t)heddle_random_below(&random, 256);
    for (int i = 0; i < count; i++)
        images[pixels + (size_t)i] = (uint8_t)heddle_random_below(&random, CLASSES);
    set = (heddle_dataset){.name = "noise",
                           .count = count,
                           .channels = 1,
                           .height = SIDE,
                           .width = SIDE,
                           .classes = CLASSES,
                           .images = images,
                           .labels = images + pixels};
    return &set;
}

// What a plan is made of.
typedef struct planned {
    heddle_device *device;
    heddle_stream *stream;
    heddle_model *model;
    heddle_state *state;
    heddle_feed *feed;
} planned;

// Data of `batches` batches.
static planned plan_begin(heddle_optimizer optimizer, int batch, int batches)
{
    const heddle_dataset *data = noise(batch * batches);
    planned all = {.device = open_device(), .model = model_for(data, "cnn")};
    const heddle_feed_options feed = {.batch = batch, .training = true, .seed = 3};
    assert_ok(heddle_stream_create(all.device, 0, &all.stream));
    assert_ok(heddle_state_create(all.device, all.model, true, optimizer, &all.state));
    assert_ok(heddle_feed_create(data, all.stream, &feed, &all.feed));
    return all;
}

// With the ladders' own choice of rungs, for two plans are compared: the quicker one of two precisions is another under
// a tool that slows kernels down. Choices that are not kept anywhere (main) are not measured where they have to be the
// same.
static heddle_plan_options plan_how(const planned *all, heddle_arithmetic arithmetic, heddle_optimizer optimizer)
{
    return (heddle_plan_options){.batch = all->feed->options.batch,
                                 .training = true,
                                 .kernels = HEDDLE_FUSED,
                                 .arithmetic = arithmetic,
                                 .deterministic = true,
                                 .optimizer = optimizer,
                                 .feed = all->feed};
}

static void plan_end(planned *all)
{
    heddle_feed_destroy(all->feed);
    heddle_state_destroy(all->state);
    heddle_model_close(all->model);
    assert_ok(heddle_stream_destroy(all->stream));
    heddle_device_close(all->device);
}

static void begins_with(const planned *all, const heddle_plan_options *how, const char *op, int calls)
{
    heddle_plan *plan;
    assert_ok(heddle_plan_create(all->state, all->stream, how, &plan));
    assert_string_equal(plan->calls[0].op->name, op);
    assert_int_equal(plan->call_count, calls);
    heddle_plan_destroy(plan);
}

static void whole_steps_are_one_operator_unless_gradients_are_wanted(void **state)
{
    (void)state;
    planned all = plan_begin(HEDDLE_SGD, simulated() ? FEW : BATCH, 2);
    heddle_plan_options how = plan_how(&all, HEDDLE_BFLOAT, HEDDLE_SGD);
    begins_with(&all, &how, "cnn_train", 1);
    assert_ok(heddle_dist_open(HEDDLE_DIST_NCCL, NULL, &how.dist)); // a job of one rank, which has nobody to ask
    assert_int_equal(heddle_dist_ranks(how.dist)->ranks, 1);
    how.share = 1;
    begins_with(&all, &how, "cnn_train", 1);
    heddle_dist_close(how.dist, false);
    how.dist = NULL;
    how.keep_gradients = true;
    begins_with(&all, &how, "cnn_step", 3);
    how = plan_how(&all, HEDDLE_FP16, HEDDLE_SGD); // whether its gradients count is known only when all are there
    begins_with(&all, &how, "cnn_step", 3);
    plan_end(&all);
}

// Parameters and moments after `steps` steps from the start, taken together or one by one; the caller frees them.
// Scratch memory is NaN before the ones and zero before the others, for nothing of it may matter.
static float *after_steps(planned *all, heddle_plan *plan, int steps, bool together)
{
    const heddle_train_options options = heddle_train_defaults();
    const heddle_position start = heddle_position_start();
    const size_t floats = all->state->floats[HEDDLE_BANK_PARAMETERS];
    float *values = calloc(2 * floats, sizeof *values);
    assert_ok(heddle_state_start(all->state, all->stream, 5));
    assert_ok(heddle_fill(all->stream, all->state->bank[HEDDLE_BANK_MOMENT1], 0, floats * sizeof *values));
    assert_ok(heddle_fill(all->stream, plan->workspace, together ? 0xff : 0, plan->workspace_bytes));
    assert_ok(heddle_feed_begin(all->feed, all->stream, &options, &start, all->feed->batches, all->state->hyper));
    if (together)
        assert_ok(heddle_plan_run_steps(plan, all->stream, steps));
    for (int i = 0; !together && i < steps; i++)
        assert_ok(heddle_plan_run(plan, all->stream));
    assert_ok(heddle_state_read(all->state, all->stream, HEDDLE_BANK_PARAMETERS, values));
    assert_ok(heddle_state_read(all->state, all->stream, HEDDLE_BANK_MOMENT1, values + floats));
    return values;
}

static void same_bits(const planned *all, float *expected, float *values, const char *what)
{
    const size_t count = 2 * all->state->floats[HEDDLE_BANK_PARAMETERS];
    for (size_t i = 0; i < count; i++)
        if (memcmp(expected + i, values + i, sizeof *values) != 0 || !isfinite(values[i]))
            fail_msg("batch %d, %s: number %zu of %zu is %g, not %g", all->feed->options.batch, what, i, count,
                     values[i], expected[i]);
    free(values);
}

static void compare_steps(planned *all, heddle_arithmetic arithmetic, int steps)
{
    heddle_plan_options how = plan_how(all, arithmetic, HEDDLE_MOMENTUM);
    how.several = steps;
    heddle_plan *plan;
    assert_ok(heddle_plan_create(all->state, all->stream, &how, &plan));
    assert_string_equal(plan->calls[0].op->name, arithmetic == HEDDLE_FP16 ? "cnn_step" : "cnn_train");
    float *together = after_steps(all, plan, steps, true);
    same_bits(all, together, after_steps(all, plan, steps, false), "steps one by one");
    if (!simulated())
        same_bits(all, together, after_steps(all, plan, steps, true), "the same once more");
    free(together);
    heddle_plan_destroy(plan);
}

// --- batches of every size ------------------------------------------------------------------------------------------

static const heddle_arithmetic arithmetics[] = {HEDDLE_BFLOAT, HEDDLE_FP16, HEDDLE_TF32, HEDDLE_TF32X3};

// Batches from HEDDLE_TEST_LEAST to HEDDLE_TEST_MOST, all unless told, ended by 0: kernels differ by how many images a
// multiprocessor has. On an H200 two blocks have an image up to 66, one has one up to 132, and above that blocks take
// several. scripts/sanitizing.py knows the sizes up to 300.
static const int *batches(void)
{
    static const int all[] = {1, 17, 66, 100, 133, 300, 1024, 4096};
    static int chosen[HEDDLE_COUNT(all) + 1];
    const char *least = getenv("HEDDLE_TEST_LEAST"), *most = getenv("HEDDLE_TEST_MOST");
    int count = 0;
    for (int i = 0; i < HEDDLE_COUNT(all); i++)
        if (all[i] >= (least ? atoi(least) : 1) && all[i] <= (simulated() ? 1 : most ? atoi(most) : 4096))
            chosen[count++] = all[i];
    assert_true(count > 0);
    chosen[count] = 0;
    return chosen;
}

// Between two steps of one graph weights are packed by other code than before the first.
static void batches_of_every_size_give_the_same_bits_in_every_way(void **state)
{
    enum { STEPS = 3 };
    (void)state;
    for (const int *batch = batches(); *batch > 0; batch++) {
        planned all = plan_begin(HEDDLE_MOMENTUM, *batch, STEPS);
        for (int i = 0; i < (simulated() ? 1 : HEDDLE_COUNT(arithmetics)); i++)
            compare_steps(&all, arithmetics[i], STEPS);
        plan_end(&all);
    }
}

// The distance of a step's result from another's, over the length of the step.
static double distance(const float *start, const float *one, const float *other, size_t count)
{
    double difference = 0, step = 0;
    for (size_t i = 0; i < count; i++) {
        difference += pow((double)one[i] - other[i], 2);
        step += pow((double)one[i] - start[i], 2);
    }
    return sqrt(difference / step);
}

// The optimiser's step where gradients are added up, and by an operator of its own: the same but for how the last
// operation is rounded, of numbers some thousand times as large as the step.
static void whole_steps_are_those_of_gradients_and_an_optimiser(void **state)
{
    (void)state;
    for (const int *batch = batches(); *batch > 0; batch++) {
        planned all = plan_begin(HEDDLE_MOMENTUM, *batch, 1);
        const size_t count = 2 * all.state->floats[HEDDLE_BANK_PARAMETERS]; // and moments
        for (int i = 0; i < (simulated() ? 1 : HEDDLE_COUNT(arithmetics)); i++) {
            heddle_plan_options how = plan_how(&all, arithmetics[i], HEDDLE_MOMENTUM);
            heddle_plan *whole, *apart;
            if (arithmetics[i] == HEDDLE_FP16) // which has no whole steps
                continue;
            assert_ok(heddle_plan_create(all.state, all.stream, &how, &whole));
            assert_string_equal(whole->calls[0].op->name, "cnn_train");
            how.keep_gradients = true;
            assert_ok(heddle_plan_create(all.state, all.stream, &how, &apart));
            assert_string_equal(apart->calls[0].op->name, "cnn_step");
            assert_int_equal(apart->calls[0].rung->arithmetic, whole->calls[0].rung->arithmetic);
            float *start = after_steps(&all, whole, 0, false);
            float *one = after_steps(&all, whole, 1, false), *other = after_steps(&all, apart, 1, false);
            const double found = distance(start, one, other, count);
            if (!(found <= 1e-3))
                fail_msg("batch %d, arithmetic %d: a whole step is %g of its length away from one in parts", *batch,
                         (int)arithmetics[i], found);
            free(start);
            free(one);
            free(other);
            heddle_plan_destroy(whole);
            heddle_plan_destroy(apart);
        }
        plan_end(&all);
    }
}

// --- steps that are left out ----------------------------------------------------------------------------------------

typedef struct banks {
    float *parameters, *moment1, *moment2;
} banks;

static float *read_bank(const planned *all, heddle_bank bank)
{
    float *values = calloc(all->state->floats[bank], sizeof *values);
    assert_ok(heddle_state_read(all->state, all->stream, bank, values));
    return values;
}

static banks read_banks(const planned *all)
{
    return (banks){read_bank(all, HEDDLE_BANK_PARAMETERS), read_bank(all, HEDDLE_BANK_MOMENT1),
                   read_bank(all, HEDDLE_BANK_MOMENT2)};
}

static void assert_same_banks(const planned *all, banks a, banks b)
{
    const size_t bytes = all->state->floats[HEDDLE_BANK_PARAMETERS] * sizeof(float);
    assert_memory_equal(a.parameters, b.parameters, bytes);
    assert_memory_equal(a.moment1, b.moment1, bytes);
    assert_memory_equal(a.moment2, b.moment2, bytes);
}

static void free_banks(banks all)
{
    free(all.parameters);
    free(all.moment1);
    free(all.moment2);
}

static void begin_at(const planned *all, const heddle_train_options *options, const heddle_position *position)
{
    assert_ok(heddle_feed_begin(all->feed, all->stream, options, position, all->feed->batches, all->state->hyper));
}

// A step with a hidden layer of weights so large that what they give back has no half; then they are as before.
static void overflowing_step(const planned *all, heddle_plan *plan)
{
    const int index = heddle_model_parameter_index(all->model, all->model->layers[9].name, "weight");
    const size_t first = all->state->offset[index], count = heddle_state_elements(all->state, index);
    banks before = read_banks(all);
    float *huge = read_bank(all, HEDDLE_BANK_PARAMETERS);
    for (size_t i = first; i < first + count; i++)
        huge[i] *= 1e6F;
    assert_ok(heddle_state_write(all->state, all->stream, HEDDLE_BANK_PARAMETERS, huge));
    assert_ok(heddle_plan_run(plan, all->stream));
    banks after = read_banks(all);
    assert_same_banks(all, after, (banks){huge, before.moment1, before.moment2});
    assert_ok(heddle_state_write(all->state, all->stream, HEDDLE_BANK_PARAMETERS, before.parameters));
    free(huge);
    free_banks(before);
    free_banks(after);
}

static void read_hyper(const planned *all, float hyper[HEDDLE_HYPER_COUNT])
{
    assert_ok(heddle_copy(all->stream, hyper, all->state->hyper, HEDDLE_HYPER_COUNT * sizeof *hyper));
    assert_ok(heddle_stream_synchronize(all->stream));
}

// The third step behind one that was left out, and behind none: from the first one's numbers, as a resumed run has it.
static void third_step_is_the_second(planned *all, heddle_plan *plan, const heddle_train_options *options,
                                     const heddle_position *position, banks first)
{
    assert_ok(heddle_plan_run(plan, all->stream));
    banks third = read_banks(all);
    assert_ok(heddle_state_write(all->state, all->stream, HEDDLE_BANK_PARAMETERS, first.parameters));
    assert_ok(heddle_state_write(all->state, all->stream, HEDDLE_BANK_MOMENT1, first.moment1));
    assert_ok(heddle_state_write(all->state, all->stream, HEDDLE_BANK_MOMENT2, first.moment2));
    begin_at(all, options, position);
    assert_ok(heddle_plan_run(plan, all->stream));
    banks resumed = read_banks(all);
    assert_same_banks(all, third, resumed);
    free_banks(third);
    free_banks(resumed);
}

static void a_step_that_overflows_is_none_for_adamw(void **state)
{
    (void)state;
    planned all = plan_begin(HEDDLE_ADAMW, 1, 4);
    heddle_plan_options how = plan_how(&all, HEDDLE_FP16, HEDDLE_ADAMW);
    heddle_plan *plan;
    heddle_train_options options = heddle_train_defaults();
    heddle_position position = heddle_position_start();
    float hyper[HEDDLE_HYPER_COUNT], resumed[HEDDLE_HYPER_COUNT];
    heddle_feed_report report;
    options.optimizer = HEDDLE_ADAMW;
    assert_ok(heddle_plan_create(all.state, all.stream, &how, &plan));
    assert_ok(heddle_state_start(all.state, all.stream, 5));
    begin_at(&all, &options, &position);
    assert_ok(heddle_plan_run(plan, all.stream));
    banks first = read_banks(&all);
    overflowing_step(&all, plan);
    assert_ok(heddle_feed_report_to(all.feed, all.stream, &report));
    read_hyper(&all, hyper);
    assert_int_equal(report.cursor[1], 2);
    assert_true(report.tally[4] == 1);
    // The third step's learning rate, the second update's corrections.
    assert_true(hyper[HEDDLE_HYPER_LEARNING_RATE] == (float)heddle_learning_rate(&options, 2, all.feed->batches));
    assert_true(hyper[HEDDLE_HYPER_CORRECTION1] == (float)(1 - pow(options.momentum, 2)));
    assert_true(hyper[HEDDLE_HYPER_CORRECTION2] == (float)(1 - pow(options.beta2, 2)));
    position.batch = 2;
    position.step = 2;
    position.left_out = 1;
    if (!simulated()) // where two more steps take a while
        third_step_is_the_second(&all, plan, &options, &position, first);
    begin_at(&all, &options, &position);
    read_hyper(&all, resumed);
    assert_memory_equal(hyper, resumed, sizeof hyper);
    free_banks(first);
    heddle_plan_destroy(plan);
    plan_end(&all);
}

// The tests to run, as cmocka's filter has them; all unless told.
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_steps_are_one_operator_unless_gradients_are_wanted),
        cmocka_unit_test(batches_of_every_size_give_the_same_bits_in_every_way),
        cmocka_unit_test(whole_steps_are_those_of_gradients_and_an_optimiser),
        cmocka_unit_test(a_step_that_overflows_is_none_for_adamw),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
