// Plans of the course's network on a device that is a module (HEDDLE_TEST_DEVICE: sim unless told): when one operator
// takes whole steps, that it gives the same bits however many at a time, and what a step is that overflows.

#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/optimizer.h"
#include "nn/plan.h"

// On a simulated GPU every sample takes a while; tf32 begins at 16.
enum { FEW = 2, BATCH = 16 };

static bool simulated(void)
{
    const char *name = getenv("HEDDLE_TEST_DEVICE");
    return !name || strcmp(name, "sim") == 0;
}

// Two batches of noise, of the size that the fused step takes.
static const heddle_dataset *noise(void)
{
    enum { COUNT = 2 * BATCH, SIDE = 28, CLASSES = 10 };
    static uint8_t images[COUNT * SIDE * SIDE], labels[COUNT];
    static heddle_dataset set;
    heddle_random random = heddle_random_make(11, 0);
    for (int i = 0; i < COUNT * SIDE * SIDE; i++)
        images[i] = (uint8_t)heddle_random_below(&random, 256);
    for (int i = 0; i < COUNT; i++)
        labels[i] = (uint8_t)heddle_random_below(&random, CLASSES);
    set = (heddle_dataset){.name = "noise",
                           .count = simulated() ? 2 * FEW : COUNT,
                           .channels = 1,
                           .height = SIDE,
                           .width = SIDE,
                           .classes = CLASSES,
                           .images = images,
                           .labels = labels};
    return &set;
}

static heddle_device *open_device(void)
{
    const char *name = getenv("HEDDLE_TEST_DEVICE");
    heddle_device *device = NULL;
    assert_ok(heddle_device_open(name ? name : "sim", 0, &device));
    return device;
}

// What a plan is made of.
typedef struct planned {
    heddle_device *device;
    heddle_stream *stream;
    heddle_model *model;
    heddle_state *state;
    heddle_feed *feed;
} planned;

static planned plan_begin(heddle_optimizer optimizer, int batch)
{
    const heddle_dataset *data = noise();
    planned all = {.device = open_device(), .model = model_for(data, "cnn")};
    const heddle_feed_options feed = {.batch = batch, .training = true, .seed = 3};
    assert_ok(heddle_stream_create(all.device, 0, &all.stream));
    assert_ok(heddle_state_create(all.device, all.model, true, optimizer, &all.state));
    assert_ok(heddle_feed_create(data, all.stream, &feed, &all.feed));
    return all;
}

static heddle_plan_options plan_how(const planned *all, heddle_arithmetic arithmetic, heddle_optimizer optimizer)
{
    return (heddle_plan_options){.batch = all->feed->options.batch,
                                 .training = true,
                                 .kernels = HEDDLE_FUSED,
                                 .arithmetic = arithmetic,
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
    planned all = plan_begin(HEDDLE_SGD, simulated() ? FEW : BATCH);
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

// Parameters and moments after two steps, taken together or one by one; the caller frees them.
static float *two_steps(planned *all, heddle_plan *plan, bool together)
{
    const heddle_train_options options = heddle_train_defaults();
    const heddle_position start = heddle_position_start();
    const size_t floats = all->state->floats[HEDDLE_BANK_PARAMETERS];
    float *values = calloc(2 * floats, sizeof *values);
    assert_ok(heddle_state_start(all->state, all->stream, 5));
    assert_ok(heddle_fill(all->stream, all->state->bank[HEDDLE_BANK_MOMENT1], 0, floats * sizeof *values));
    assert_ok(heddle_feed_begin(all->feed, all->stream, &options, &start, 2, all->state->hyper));
    if (together) {
        assert_ok(heddle_plan_run_steps(plan, all->stream, 2));
    } else {
        assert_ok(heddle_plan_run(plan, all->stream));
        assert_ok(heddle_plan_run(plan, all->stream));
    }
    assert_ok(heddle_state_read(all->state, all->stream, HEDDLE_BANK_PARAMETERS, values));
    assert_ok(heddle_state_read(all->state, all->stream, HEDDLE_BANK_MOMENT1, values + floats));
    return values;
}

static void compare_steps(planned *all, heddle_arithmetic arithmetic)
{
    heddle_plan_options how = plan_how(all, arithmetic, HEDDLE_MOMENTUM);
    how.several = 2;
    heddle_plan *plan;
    assert_ok(heddle_plan_create(all->state, all->stream, &how, &plan));
    assert_string_equal(plan->calls[0].op->name, "cnn_train");
    float *together = two_steps(all, plan, true), *single = two_steps(all, plan, false);
    assert_memory_equal(together, single, 2 * all->state->floats[HEDDLE_BANK_PARAMETERS] * sizeof *single);
    free(together);
    free(single);
    heddle_plan_destroy(plan);
}

// Between two steps of one graph weights are packed by other code than before the first.
static void steps_of_one_graph_give_the_bits_of_single_ones(void **state)
{
    (void)state;
    planned all = plan_begin(HEDDLE_MOMENTUM, simulated() ? FEW : BATCH);
    compare_steps(&all, HEDDLE_BFLOAT);
    if (!simulated()) {
        compare_steps(&all, HEDDLE_TF32);
        compare_steps(&all, HEDDLE_TF32X3);
    }
    plan_end(&all);
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
    planned all = plan_begin(HEDDLE_ADAMW, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_steps_are_one_operator_unless_gradients_are_wanted),
        cmocka_unit_test(steps_of_one_graph_give_the_bits_of_single_ones),
        cmocka_unit_test(a_step_that_overflows_is_none_for_adamw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
