// Training and evaluation on a device that is a module (HEDDLE_TEST_DEVICE; default: sim): the same numbers as on
// cpu within rounding, and the same bits however the run is cut and the images arrive. On sim every finding fails.

#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/backend.h"
#include "under_test.h"

enum { PATH = 256, CLASSES = 4 };

static bool on_a_card(void)
{
    return strcmp(device_under_test("sim"), "cuda") == 0;
}

static heddle_train_options quick_options(const char *folder)
{
    heddle_train_options options = heddle_train_defaults();
    options.epochs = 2;
    options.batch = 4;
    options.learning_rate = 0.02;
    options.folder = folder;
    options.save_every = 0;
    return options;
}

// As few numbers as still learn: a simulated GPU looks at each access to them.
static heddle_model *tiny_model(const heddle_dataset *data)
{
    return model_for(data, "{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": 8},"
                           "{\"type\": \"relu\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}");
}

// Evaluates on the images it trains on, small ones; whole digits would take the simulator too long.
static heddle_status train(heddle_device *device, const heddle_model *model, const heddle_dataset *data,
                           const heddle_train_options *options, heddle_train_result *result)
{
    return heddle_train(device, model, data, data->height < 28 ? data : NULL, options, result);
}

static void assert_same_file_in(const char *a, const char *b, const char *name)
{
    char path_a[PATH], path_b[PATH];
    path_in(a, name, path_a, sizeof path_a);
    path_in(b, name, path_b, sizeof path_b);
    assert_same_file(path_a, path_b);
}

static void assert_same_run(const char *a, const char *b)
{
    char best[PATH];
    assert_same_file_in(a, b, "last.safetensors");
    path_in(a, "best.safetensors", best, sizeof best);
    if (heddle_file_exists(best)) // there is none where nothing was evaluated
        assert_same_file_in(a, b, "best.safetensors");
}

// Relative distance of all parameters and statistics of two runs' last checkpoints.
static double distance(const char *a, const char *b)
{
    heddle_safetensors *files[2];
    const char *folders[] = {a, b};
    for (int i = 0; i < 2; i++) {
        char path[PATH];
        path_in(folders[i], "last.safetensors", path, sizeof path);
        assert_ok(heddle_safetensors_open(path, &files[i]));
    }
    double difference = 0, norm = 0;
    for (int i = 0; i < heddle_safetensors_count(files[0]); i++) {
        const heddle_array *left = heddle_safetensors_at(files[0], i);
        const heddle_array *right = heddle_safetensors_find(files[1], left->name);
        assert_non_null(right);
        const float *x = left->data, *y = right->data;
        for (size_t j = 0; j < left->bytes / sizeof(float); j++) {
            difference += ((double)x[j] - (double)y[j]) * ((double)x[j] - (double)y[j]);
            norm += (double)y[j] * (double)y[j];
        }
    }
    heddle_safetensors_close(files[0]);
    heddle_safetensors_close(files[1]);
    assert_true(norm > 0);
    return sqrt(difference / norm);
}

// --- the same as on cpu ---------------------------------------------------------------------------------------------

static void trains_as_on_the_cpu(const heddle_model *model, const heddle_dataset *data, heddle_train_options options,
                                 double tolerance)
{
    heddle_device *device = open_device(), *cpu = open_cpu(1);
    const char *here = temporary_folder(), *there = temporary_folder();
    heddle_train_result result, expected;
    options.folder = here;
    assert_ok(train(device, model, data, &options, &result));
    options.folder = there;
    assert_ok(train(cpu, model, data, &options, &expected));
    double apart = distance(here, there);
    if (!(apart <= tolerance))
        fail_msg("%s kernels, %s: parameters are %g apart", heddle_tier_names[options.kernels],
                 heddle_arithmetic_names[options.arithmetic], apart);
    assert_float_equal((float)result.train_loss, (float)expected.train_loss, 10 * (float)tolerance);
    if (isfinite(expected.test_loss))
        assert_float_equal((float)result.test_loss, (float)expected.test_loss, 10 * (float)tolerance);
    heddle_device_close(device);
    heddle_device_close(cpu);
}

static void every_tier_trains_as_on_the_cpu(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(11, 2); // the last batch is short
    heddle_model *models[] = {small_cnn(), model_for(data, "mlp")};
    for (int m = 0; m < 2; m++) {
        for (heddle_tier tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++) {
            heddle_train_options options = quick_options(NULL);
            options.epochs = 1;
            options.kernels = tier;
            trains_as_on_the_cpu(models[m], data, options, 1e-4);
        }
        heddle_model_close(models[m]);
    }
}

static void every_optimizer_trains_as_on_the_cpu(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(11, 2);
    heddle_model *model = tiny_model(data);
    for (heddle_optimizer optimizer = HEDDLE_SGD; optimizer <= HEDDLE_ADAMW; optimizer++) {
        heddle_train_options options = quick_options(NULL);
        options.optimizer = optimizer;
        options.schedule = HEDDLE_COSINE;
        options.learning_rate = 0.002;
        options.weight_decay = 0.01;
        trains_as_on_the_cpu(model, data, options, 1e-4);
    }
    heddle_model_close(model);
}

static void the_fused_network_trains_as_on_the_cpu(void **state)
{
    (void)state;
    // What rounding does to a few steps' parameters, with room: the gradient moves by as much, times a small step.
    static const double tolerance[] = {[HEDDLE_FULL] = 1e-5,
                                       [HEDDLE_TF32X3] = 1e-5,
                                       [HEDDLE_TF32] = 1e-3,
                                       [HEDDLE_FP16] = 1e-3,
                                       [HEDDLE_BFLOAT] = 5e-3};
    // The simulator takes half a minute for all: there, test_whole_steps.c and the ladders compare the others.
    const heddle_arithmetic first = on_a_card() ? HEDDLE_TF32X3 : HEDDLE_BFLOAT;
    for (heddle_arithmetic arithmetic = first; arithmetic <= HEDDLE_BFLOAT; arithmetic++) {
        heddle_train_options options = quick_options(NULL);
        const heddle_dataset *data = digits(3); // a whole batch and a short one
        heddle_model *model = model_for(data, "cnn");
        options.epochs = 1;
        options.batch = 2;
        options.arithmetic = arithmetic;
        trains_as_on_the_cpu(model, data, options, tolerance[arithmetic]);
        heddle_model_close(model);
    }
}

// --- the same bits --------------------------------------------------------------------------------------------------

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

// Stops at every `after` reports, goes on, and compares with a run that was never stopped.
static void stop_and_resume(const heddle_model *model, const heddle_dataset *data, heddle_train_options options,
                            int after)
{
    const char *whole = temporary_folder(), *parts = temporary_folder();
    heddle_device *device = open_device();
    options.folder = whole;
    assert_ok(train(device, model, data, &options, NULL));
    options.folder = parts;
    options.listener = stop_after;
    heddle_status status = HEDDLE_INTERRUPTED;
    int parts_done = 0;
    for (; status == HEDDLE_INTERRUPTED; parts_done++) {
        assert_true(parts_done < 50);
        stopper stops = {.after = after};
        options.listener_context = &stops;
        options.stop = &stops.stop;
        options.resume = parts_done > 0;
        status = train(device, model, data, &options, NULL);
    }
    assert_ok(status);
    assert_true(parts_done > 1);
    assert_same_run(whole, parts);
    heddle_device_close(device);
}

static void a_resumed_run_gives_the_same_bits(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(7, 2);
    heddle_model *model = small_cnn(); // with dropout
    for (heddle_data_place place = HEDDLE_DATA_RESIDENT; place <= HEDDLE_DATA_STREAMED; place++) {
        heddle_train_options options = quick_options(NULL);
        options.data = place;
        options.augment = (heddle_augment){.crop = 1, .flip = 1};
        options.optimizer = HEDDLE_ADAMW;
        options.learning_rate = 0.003;
        stop_and_resume(model, data, options, 1);
    }
    heddle_model_close(model);
}

// For the fused step: on a card so many that graphs of many steps run, of another length where the images pass through
// it; the simulated one takes a second per step, and they run one by one.
static const heddle_dataset *digits_for_fused_steps(int simulated)
{
    return digits(on_a_card() ? 1501 : simulated);
}

static void a_resumed_fused_run_gives_the_same_bits(void **state)
{
    (void)state;
    const heddle_dataset *data = digits_for_fused_steps(3);
    heddle_model *model = model_for(data, "cnn");
    heddle_train_options options = quick_options(NULL);
    options.batch = 1;
    options.epochs = 1;
    options.arithmetic = HEDDLE_BFLOAT;
    options.optimizer = HEDDLE_MOMENTUM;
    options.learning_rate = 0.001;
    stop_and_resume(model, data, options, on_a_card() ? 5 : 1); // each report is of more steps than the one before
    heddle_model_close(model);
}

static void streamed_images_give_the_same_bits(void **state)
{
    (void)state;
    const heddle_dataset *few = small_dataset(61, 3);
    const heddle_dataset *sets[] = {few, digits_for_fused_steps(2), few};
    heddle_model *models[] = {tiny_model(few), model_for(sets[1], "cnn"), tiny_model(few)};
    for (int i = 0; i < 3; i++) {
        const char *folders[2];
        heddle_device *device = open_device();
        for (int place = 0; place < 2; place++) {
            heddle_train_options options = quick_options(folders[place] = temporary_folder());
            options.kernels = i == 1 ? HEDDLE_FUSED : HEDDLE_NAIVE;
            options.epochs = 1;
            options.batch = 2; // of the first set: more steps than the ring holds at a time
            options.arithmetic = HEDDLE_BFLOAT;
            options.learning_rate = 0.002;
            options.data = place ? HEDDLE_DATA_STREAMED : HEDDLE_DATA_RESIDENT;
            if (i == 2) // the loader moves images that are streamed, gather those that are on the device
                options.augment = (heddle_augment){.crop = 2, .flip = 1, .shift = 1};
            assert_ok(heddle_train(device, models[i], sets[i], NULL, &options, NULL));
        }
        assert_same_file_in(folders[0], folders[1], "last.safetensors");
        heddle_device_close(device);
        heddle_model_close(models[i]);
    }
}

// --- using networks -------------------------------------------------------------------------------------------------

static void evaluation_and_prediction_are_as_on_the_cpu(void **state)
{
    (void)state;
    enum { COUNT = 11, PIXELS = 144 };
    const heddle_dataset *data = small_dataset(COUNT, 4);
    heddle_model *model = small_cnn();
    heddle_device *device = open_device(), *cpu = open_cpu(1);
    static float images[COUNT * PIXELS], expected[COUNT * CLASSES], got[COUNT * CLASSES];
    for (int i = 0; i < COUNT * PIXELS; i++)
        images[i] = (float)data->images[i] / 255.0F;
    int confusion[CLASSES * CLASSES], there[CLASSES * CLASSES];
    heddle_evaluation on_cpu = {.confusion = there};
    heddle_network *network = NULL;
    assert_ok(heddle_network_create(cpu, model, 5, 16, HEDDLE_FUSED, &network));
    assert_ok(heddle_network_evaluate(network, data, &on_cpu));
    assert_ok(heddle_network_predict(network, images, COUNT, expected));
    heddle_network_close(network);
    static const int batches[] = {1, 4, 10000};
    for (int b = 0; b < 3; b++) {
        assert_ok(heddle_network_create(device, model, 5, batches[b], HEDDLE_FUSED, &network));
        for (int again = 0; again < 2; again++) {
            heddle_evaluation evaluation = {.confusion = again ? confusion : NULL};
            assert_ok(heddle_network_evaluate(network, data, &evaluation));
            assert_int_equal(evaluation.count, COUNT);
            assert_int_equal(evaluation.correct, on_cpu.correct);
            assert_float_equal((float)evaluation.loss, (float)on_cpu.loss, 1e-5F);
        }
        assert_memory_equal(confusion, there, sizeof there);
        assert_ok(heddle_network_predict(network, images, COUNT, got));
        for (int i = 0; i < COUNT * CLASSES; i++)
            assert_float_equal(got[i], expected[i], 1e-5F);
        heddle_network_close(network);
    }
    heddle_device_close(device);
    heddle_device_close(cpu);
    heddle_model_close(model);
}

static void evaluation_sees_that_the_images_have_changed(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(9, 4);
    heddle_model *model = tiny_model(data);
    heddle_device *device = open_device();
    heddle_network *network = NULL;
    heddle_evaluation before = {0}, after = {0};
    assert_ok(heddle_network_create(device, model, 5, 4, HEDDLE_FUSED, &network));
    assert_ok(heddle_network_evaluate(network, data, &before));
    memset((uint8_t *)data->images, 7, 144);
    assert_ok(heddle_network_evaluate(network, data, &after));
    assert_true(before.loss != after.loss);
    heddle_network_close(network);
    heddle_device_close(device);
    heddle_model_close(model);
}

// --- what goes wrong ------------------------------------------------------------------------------------------------

static void divergence_is_caught_and_the_checkpoint_kept(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(40, 2);
    heddle_model *model = tiny_model(data);
    heddle_device *device = open_device();
    const char *folder = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.learning_rate = 1e9;
    options.epochs = 3;
    assert_int_equal(train(device, model, data, &options, NULL), HEDDLE_DIVERGED);
    char last[PATH];
    path_in(folder, "last.safetensors", last, sizeof last);
    heddle_network *network = NULL;
    assert_ok(heddle_network_open(device, last, 4, HEDDLE_FUSED, &network));
    heddle_network_close(network);
    options.learning_rate = 1e38; // the loss of the second step is the first that is not finite
    options.batch = 20;
    options.overwrite = true;
    assert_int_equal(train(device, model, data, &options, NULL), HEDDLE_DIVERGED);
    assert_non_null(strstr(heddle_last_error(), " at epoch 1, step 2 "));
    heddle_device_close(device);
    heddle_model_close(model);
}

// A device that fails on purpose: its backend with one function in front of another.
static struct {
    const heddle_backend *real;
    heddle_backend faulty;
    size_t most;           // larger allocations fail
    int launches;          // of graphs until one fails; -1: none does
    heddle_status refusal; // what that one says
    const char *reason;
    int synchronises; // until the device is lost; -1: never
} fault;

static heddle_status scarce_alloc(heddle_device *device, size_t bytes, void **memory)
{
    if (bytes > fault.most)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cudaMalloc failed: out of memory");
    return fault.real->alloc(device, bytes, memory);
}

static heddle_status lost_event_synchronize(heddle_event *event)
{
    heddle_status status = fault.real->event_synchronize(event);
    if (fault.synchronises >= 0 && fault.synchronises-- == 0)
        return heddle_fail(HEDDLE_DEVICE, "cudaEventSynchronize failed: the GPU has fallen off the bus");
    return status;
}

static heddle_status failing_graph_launch(heddle_graph *graph, heddle_stream *stream)
{
    if (fault.launches >= 0 && fault.launches-- == 0)
        return heddle_fail(fault.refusal, "cudaGraphLaunch failed: %s", fault.reason);
    return fault.real->graph_launch(graph, stream);
}

static heddle_device *open_faulty(void)
{
    heddle_device *device = open_device();
    fault.real = device->backend;
    fault.faulty = *fault.real;
    fault.faulty.alloc = scarce_alloc;
    fault.faulty.event_synchronize = lost_event_synchronize;
    fault.most = SIZE_MAX;
    fault.faulty.graph_launch = failing_graph_launch;
    fault.synchronises = fault.launches = -1;
    device->backend = &fault.faulty;
    return device;
}

// Trains until the fault, sees that it is told, and that the run goes on from its last checkpoint as if nothing had
// been.
static void fails_and_resumes(int synchronises, int launches, heddle_status refusal, const char *message)
{
    const heddle_dataset *data = small_dataset(24, 2);
    heddle_model *model = tiny_model(data);
    heddle_device *device = open_faulty();
    const char *folder = temporary_folder(), *whole = temporary_folder();
    heddle_train_options options = quick_options(folder);
    options.kernels = HEDDLE_NAIVE;
    options.epochs = 3;
    fault.synchronises = synchronises;
    fault.launches = launches;
    fault.refusal = refusal;
    fault.reason = message;
    assert_int_equal(train(device, model, data, &options, NULL), HEDDLE_DEVICE);
    assert_non_null(strstr(heddle_last_error(), message));
    assert_non_null(strstr(heddle_last_error(), "the last checkpoint is whole"));
    fault.synchronises = fault.launches = -1;
    options.resume = true;
    assert_ok(train(device, model, data, &options, NULL));
    options.resume = false;
    options.folder = whole;
    assert_ok(train(device, model, data, &options, NULL));
    assert_same_run(folder, whole);
    heddle_device_close(device);
    heddle_model_close(model);
}

static void a_lost_device_leaves_the_last_checkpoint(void **state)
{
    (void)state;
    fails_and_resumes(4, -1, HEDDLE_DEVICE, "fallen off the bus"); // three epochs have at least five reports
}

static void a_kernel_that_fails_leaves_the_last_checkpoint(void **state)
{
    (void)state;
    fails_and_resumes(-1, 8, HEDDLE_DEVICE,
                      "illegal instruction"); // after the first epoch's 6 steps and its evaluation
}

// Its handles are refused, which is told as the device's failure: the caller has made no mistake.
static void a_context_that_is_gone_leaves_the_last_checkpoint(void **state)
{
    (void)state;
    fails_and_resumes(-1, 8, HEDDLE_INVALID, "invalid resource handle");
}

static void images_that_do_not_fit_are_streamed(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(1000, 2);
    heddle_model *model =
        model_for(data, "{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}");
    heddle_device *device = open_faulty();
    const char *scarce = temporary_folder(), *plenty = temporary_folder();
    heddle_train_options options = quick_options(plenty);
    options.kernels = HEDDLE_NAIVE; // the simulator's quickest
    options.epochs = 1;
    options.batch = 8;
    assert_ok(heddle_train(device, model, data, NULL, &options, NULL));
    fault.most = 120000; // the images are 144,000 bytes, the ring and all else is less
    options.folder = scarce;
    options.data = HEDDLE_DATA_RESIDENT;
    assert_int_equal(heddle_train(device, model, data, NULL, &options, NULL), HEDDLE_OUT_OF_MEMORY);
    assert_non_null(strstr(heddle_last_error(), "streamed"));
    options.data = HEDDLE_DATA_AUTO;
    options.overwrite = true;
    assert_ok(heddle_train(device, model, data, NULL, &options, NULL));
    assert_same_file_in(scarce, plenty, "last.safetensors");
    heddle_device_close(device);
    heddle_model_close(model);
}

// A host that comes late to every report, and one that comes to none too late.
static heddle_status has_ended(heddle_event *event, bool *done)
{
    (void)event;
    *done = true;
    return HEDDLE_OK;
}

static heddle_status goes_on(heddle_event *event, bool *done)
{
    (void)event;
    *done = false;
    return HEDDLE_OK;
}

typedef struct lateness {
    int steps, late, late_at_end;
} lateness;

static void count_late(void *context, const heddle_train_event *event)
{
    lateness *counted = context;
    counted->steps += event->kind == HEDDLE_TRAIN_STEP;
    counted->late += event->late;
    counted->late_at_end += event->late && event->images == event->images_total;
}

static void a_report_that_waited_for_the_host_while_the_device_went_on_is_late(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(24, 2);
    heddle_model *model = tiny_model(data);
    for (int held_up = 0; held_up < 2; held_up++) {
        heddle_device *device = open_faulty();
        lateness counted = {0};
        fault.faulty.event_query = held_up ? has_ended : goes_on;
        heddle_train_options options = quick_options(NULL);
        options.kernels = HEDDLE_NAIVE;
        options.listener = count_late;
        options.listener_context = &counted;
        assert_ok(train(device, model, data, &options, NULL));
        assert_true(counted.steps > 2);
        assert_true(held_up ? counted.late > 0 && counted.late < counted.steps : counted.late == 0);
        assert_int_equal(counted.late_at_end, 0); // with nothing left to do the device waits too
        heddle_device_close(device);
    }
    heddle_model_close(model);
}

static void no_memory_for_a_batch_says_how_much_was_wanted(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(1000, 2);
    heddle_model *model = small_cnn();
    heddle_device *device = open_faulty();
    fault.most = 1 << 20;
    heddle_train_options options = quick_options(NULL);
    options.batch = 1000;
    assert_int_equal(heddle_train(device, model, data, NULL, &options, NULL), HEDDLE_OUT_OF_MEMORY);
    assert_non_null(strstr(heddle_last_error(), "wanted"));
    assert_non_null(strstr(heddle_last_error(), "MiB"));
    assert_non_null(strstr(heddle_last_error(), "smaller batch"));
    fault.most = SIZE_MAX;
    options.batch = 4;
    options.epochs = 0;
    assert_ok(heddle_train(device, model, data, NULL, &options, NULL)); // nothing is left behind
    heddle_device_close(device);
    heddle_model_close(model);
}

static void a_label_out_of_range_is_found_before_a_kernel_reads_there(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(20, 2);
    heddle_model *model = tiny_model(data);
    heddle_device *device = open_device();
    ((uint8_t *)data->labels)[13] = CLASSES;
    for (heddle_data_place place = HEDDLE_DATA_RESIDENT; place <= HEDDLE_DATA_STREAMED; place++) {
        heddle_train_options options = quick_options(NULL);
        options.data = place;
        assert_int_equal(heddle_train(device, model, data, NULL, &options, NULL), HEDDLE_CORRUPT);
        assert_non_null(strstr(heddle_last_error(), "label 4 of image 13"));
    }
    heddle_device_close(device);
    heddle_model_close(model);
}

// An argument picks tests by name, '*' for any text.
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tier_trains_as_on_the_cpu),
        cmocka_unit_test(every_optimizer_trains_as_on_the_cpu),
        cmocka_unit_test(the_fused_network_trains_as_on_the_cpu),
        cmocka_unit_test(a_resumed_run_gives_the_same_bits),
        cmocka_unit_test(a_resumed_fused_run_gives_the_same_bits),
        cmocka_unit_test(streamed_images_give_the_same_bits),
        cmocka_unit_test(evaluation_and_prediction_are_as_on_the_cpu),
        cmocka_unit_test(evaluation_sees_that_the_images_have_changed),
        cmocka_unit_test(divergence_is_caught_and_the_checkpoint_kept),
        cmocka_unit_test(a_lost_device_leaves_the_last_checkpoint),
        cmocka_unit_test(a_kernel_that_fails_leaves_the_last_checkpoint),
        cmocka_unit_test(a_context_that_is_gone_leaves_the_last_checkpoint),
        cmocka_unit_test(images_that_do_not_fit_are_streamed),
        cmocka_unit_test(a_report_that_waited_for_the_host_while_the_device_went_on_is_late),
        cmocka_unit_test(no_memory_for_a_batch_says_how_much_was_wanted),
        cmocka_unit_test(a_label_out_of_range_is_found_before_a_kernel_reads_there),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
