// Plans: every part of the ladders computes the same step, and memory is shared without harm. That nothing is allocated
// in a step is test_allocation.c's.

#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"
#include "nn/layout.h"
#include "nn/plan.h"

enum { BATCH = 10 };

typedef struct step_result {
    float loss;
    int32_t correct;
    size_t count;
    float *parameters, *gradients, *statistics;
} step_result;

static void free_result(step_result *result)
{
    free(result->parameters);
    free(result->gradients);
    free(result->statistics);
}

// One training step of `model` from seed 3 on the first images of a dataset.
static step_result one_step(const heddle_model *model, const heddle_dataset *data, int batch, heddle_tier kernels,
                            heddle_optimizer optimizer, int threads)
{
    heddle_device *device = open_cpu(threads);
    heddle_stream *stream = NULL;
    heddle_state *numbers = NULL;
    heddle_plan *plan = NULL;
    assert_ok(heddle_stream_create(device, 0, &stream));
    assert_ok(heddle_state_create(device, model, true, optimizer, &numbers));
    assert_ok(heddle_state_start(numbers, stream, 3));
    heddle_plan_options options = {.batch = batch, .training = true, .kernels = kernels, .optimizer = optimizer};
    assert_ok(heddle_plan_create(numbers, stream, &options, &plan));
    size_t pixels = (size_t)data->channels * (size_t)data->height * (size_t)data->width;
    float *images = calloc((size_t)batch * pixels, sizeof *images);
    int32_t *labels = calloc((size_t)batch, sizeof *labels);
    for (size_t i = 0; i < (size_t)batch * pixels; i++)
        images[i] = (float)data->images[i] / 255.0F;
    for (int i = 0; i < batch; i++)
        labels[i] = data->labels[i];
    float hyper[HEDDLE_HYPER_COUNT] = {0.1F, 0.01F, 0.9F, 0.99F, 1e-8F, 0.1F, 0.01F};
    int64_t random[HEDDLE_MAX_DROPOUTS * HEDDLE_RANDOM_WORDS] = {5, 6, 0};
    assert_ok(heddle_copy(stream, numbers->hyper, hyper, sizeof hyper));
    assert_ok(heddle_copy(stream, plan->random, random, sizeof random));
    assert_ok(heddle_copy(stream, plan->images, images, (size_t)batch * pixels * sizeof *images));
    assert_ok(heddle_copy(stream, plan->labels, labels, (size_t)batch * sizeof *labels));
    assert_ok(heddle_plan_run(plan, stream));
    step_result result = {.count = numbers->floats[HEDDLE_BANK_PARAMETERS]};
    result.parameters = calloc(result.count, sizeof(float));
    result.gradients = calloc(result.count, sizeof(float));
    result.statistics = calloc(numbers->floats[HEDDLE_BANK_STATISTICS] + 1, sizeof(float));
    assert_ok(heddle_copy(stream, &result.loss, plan->loss, sizeof result.loss));
    assert_ok(heddle_copy(stream, &result.correct, plan->correct, sizeof result.correct));
    assert_ok(heddle_state_read(numbers, stream, HEDDLE_BANK_PARAMETERS, result.parameters));
    assert_ok(heddle_state_read(numbers, stream, HEDDLE_BANK_GRADIENTS, result.gradients));
    assert_ok(heddle_state_read(numbers, stream, HEDDLE_BANK_STATISTICS, result.statistics));
    free(images);
    free(labels);
    heddle_plan_destroy(plan);
    heddle_state_destroy(numbers);
    assert_ok(heddle_stream_destroy(stream));
    heddle_device_close(device);
    return result;
}

static double relative_difference(const float *a, const float *b, size_t count)
{
    double difference = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(a[i]) && isfinite(b[i]));
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        norm += (double)b[i] * (double)b[i];
    }
    assert_true(norm > 0);
    return sqrt(difference / norm);
}

static void every_tier_computes_the_same_step(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(64, 2);
    heddle_model *models[] = {small_cnn(), model_for(data, "cnn"), model_for(data, "mlp")};
    for (int m = 0; m < 3; m++) {
        step_result naive = one_step(models[m], data, BATCH, HEDDLE_NAIVE, HEDDLE_SGD, 1);
        for (heddle_tier tier = HEDDLE_TUNED; tier <= HEDDLE_FUSED; tier++) {
            step_result other = one_step(models[m], data, BATCH, tier, HEDDLE_SGD, 2);
            assert_float_equal(other.loss, naive.loss, 1e-5F);
            assert_int_equal(other.correct, naive.correct);
            assert_true(relative_difference(other.gradients, naive.gradients, naive.count) < 1e-4);
            assert_true(relative_difference(other.parameters, naive.parameters, naive.count) < 1e-5);
            free_result(&other);
        }
        free_result(&naive);
        heddle_model_close(models[m]);
    }
}

static void the_bits_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(64, 2);
    heddle_model *model = model_for(data, "cnn");
    for (heddle_tier tier = HEDDLE_TUNED; tier <= HEDDLE_FUSED; tier++) {
        step_result one = one_step(model, data, 33, tier, HEDDLE_SGD, 1);
        step_result three = one_step(model, data, 33, tier, HEDDLE_SGD, 3);
        assert_memory_equal(one.parameters, three.parameters, one.count * sizeof(float));
        free_result(&one);
        free_result(&three);
    }
    heddle_model_close(model);
}

static void each_optimizer_takes_its_own_step(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(64, 2);
    heddle_model *model = model_for(data, "mlp");
    step_result results[3];
    for (heddle_optimizer optimizer = HEDDLE_SGD; optimizer <= HEDDLE_ADAMW; optimizer++)
        results[optimizer] = one_step(model, data, BATCH, HEDDLE_FUSED, optimizer, 1);
    // The first step of momentum is SGD's; AdamW moves every parameter by about the learning rate.
    assert_true(relative_difference(results[HEDDLE_MOMENTUM].parameters, results[HEDDLE_SGD].parameters,
                                    results[0].count) < 1e-6);
    assert_true(
        relative_difference(results[HEDDLE_ADAMW].parameters, results[HEDDLE_SGD].parameters, results[0].count) > 1e-2);
    for (int i = 0; i < 3; i++)
        free_result(&results[i]);
    heddle_model_close(model);
}

static void a_batch_of_one_works(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(4, 2);
    heddle_model *model = model_for(data, "cnn");
    step_result naive = one_step(model, data, 1, HEDDLE_NAIVE, HEDDLE_SGD, 1);
    step_result fused = one_step(model, data, 1, HEDDLE_FUSED, HEDDLE_SGD, 1);
    assert_true(relative_difference(fused.gradients, naive.gradients, naive.count) < 1e-3);
    free_result(&naive);
    free_result(&fused);
    heddle_model_close(model);
}

static void a_batch_with_more_elements_than_can_be_counted_is_refused(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(4, 2);
    heddle_model *model = model_for(data, "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 64, \"padding\": 1},"
                                          "{\"type\": \"relu\"}, {\"type\": \"flatten\"},"
                                          "{\"type\": \"linear\", \"features\": \"classes\"}]}");
    heddle_device *device = open_cpu(1);
    heddle_stream *stream = NULL;
    heddle_state *numbers = NULL;
    heddle_plan *plan = NULL;
    assert_ok(heddle_stream_create(device, 0, &stream));
    assert_ok(heddle_state_create(device, model, true, HEDDLE_SGD, &numbers));
    heddle_plan_options options = {.batch = 1 << 18, .training = true, .kernels = HEDDLE_FUSED}; // × 64 × 144 > 2^31
    assert_int_equal(heddle_plan_create(numbers, stream, &options, &plan), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "layer relu1: a batch of 262144"));
    assert_null(plan);
    heddle_state_destroy(numbers);
    assert_ok(heddle_stream_destroy(stream));
    heddle_device_close(device);
    heddle_model_close(model);
}

static void values_alive_together_never_overlap(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(4, 2);
    heddle_model *model = model_for(data, "cnn");
    heddle_device *device = open_cpu(1);
    heddle_stream *stream = NULL;
    heddle_state *numbers = NULL;
    heddle_plan *plan = NULL;
    assert_ok(heddle_stream_create(device, 0, &stream));
    assert_ok(heddle_state_create(device, model, true, HEDDLE_SGD, &numbers));
    heddle_plan_options options = {.batch = 4, .training = true, .kernels = HEDDLE_VENDOR};
    assert_ok(heddle_plan_create(numbers, stream, &options, &plan));
    const heddle_trace *trace = &plan->trace;
    // No output of an operator may share memory with any other operand of the same operator, unless it is the same
    // value.
    for (int node = 0; node < trace->node_count; node++) {
        const heddle_trace_node *run = &trace->nodes[node];
        for (int i = 0; i < run->op->operand_count; i++)
            for (int j = 0; j < run->op->operand_count; j++) {
                if (run->op->operands[i].role == HEDDLE_INPUT || run->operand[i] < 0 || run->operand[j] < 0)
                    continue;
                const heddle_trace_value *a = &trace->values[trace->values[run->operand[i]].root];
                const heddle_trace_value *b = &trace->values[trace->values[run->operand[j]].root];
                const char *a_begin = a->memory, *b_begin = b->memory;
                size_t a_bytes = a->elements * heddle_dtype_size(a->dtype);
                size_t b_bytes = b->elements * heddle_dtype_size(b->dtype);
                if (a != b)
                    assert_true(a_begin + a_bytes <= b_begin || b_begin + b_bytes <= a_begin);
            }
    }
    assert_true(plan->arena_bytes < plan->values_bytes); // and something was reused
    heddle_plan_destroy(plan);
    heddle_state_destroy(numbers);
    assert_ok(heddle_stream_destroy(stream));
    heddle_device_close(device);
    heddle_model_close(model);
}

static void a_graph_has_as_many_steps_as_leave_few_over(void **state)
{
    (void)state;
    static const struct {
        int steps, most, graph;
    } cases[] = {
        {0, 64, 0},    {1, 1, 1},      {15, 15, 15}, {58, 58, 58}, {60, 20, 20},   {15, 5, 5},
        {14, 5, 4},    {64, 64, 64},   {65, 65, 64}, {66, 66, 33}, {937, 937, 52}, {960, 960, 64},
        {240, 81, 60}, {234, 234, 39}, {100, 0, 0},  {9, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(heddle_plan_steps_for(cases[i].steps, cases[i].most), cases[i].graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tier_computes_the_same_step),
        cmocka_unit_test(the_bits_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(each_optimizer_takes_its_own_step),
        cmocka_unit_test(a_batch_of_one_works),
        cmocka_unit_test(a_batch_with_more_elements_than_can_be_counted_is_refused),
        cmocka_unit_test(values_alive_together_never_overlap),
        cmocka_unit_test(a_graph_has_as_many_steps_as_leave_few_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
