// "A plan allocates nothing while it runs": counts every allocation of the process, in whatever thread, between the
// steps of real training runs and between batches of inference.

#include "helpers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long allocations;

// --- counting -------------------------------------------------------------------------------------------------------

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__ // has an allocator of its own, and tells of every use
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *memory, size_t size)
{
    (void)memory, (void)size;
    atomic_fetch_add(&allocations, 1);
}

static void on_free(const volatile void *memory)
{
    (void)memory;
}

static void begin_counting(void)
{
    assert_true(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
}
#else // in front of the C library's
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

static void begin_counting(void)
{
}
#endif

static void the_counter_counts(void **state)
{
    (void)state;
    begin_counting();
    long before = atomic_load(&allocations);
    void *volatile memory[] = {malloc(10), calloc(2, 10), aligned_alloc(64, 64)};
    memory[0] = realloc(memory[0], 100000);
    assert_true(atomic_load(&allocations) >= before + 4);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}

// --- training -------------------------------------------------------------------------------------------------------

// Queues grow to what they need in the first steps.
enum { WARM_UP = 6, EPOCHS = 3, IMAGES = 330, BATCH = 32 };

typedef struct watch {
    int steps, counted;
    int64_t images_before;
    long at_step_before;
    long allocated; // between steps of one epoch, after the warm-up
} watch;

static void on_event(void *context, const heddle_train_event *event)
{
    watch *seen = context;
    if (event->kind != HEDDLE_TRAIN_STEP)
        return;
    long now = atomic_load(&allocations);
    bool same_epoch = event->images > seen->images_before;
    if (++seen->steps > WARM_UP && same_epoch) {
        seen->allocated += now - seen->at_step_before;
        seen->counted++;
    }
    seen->images_before = event->images;
    seen->at_step_before = now;
}

static void train_and_count(const heddle_model *model, const heddle_dataset *data, heddle_tier tier, int threads)
{
    heddle_device *device = open_cpu(threads);
    watch seen = {0};
    heddle_train_options options = heddle_train_defaults();
    options.epochs = EPOCHS;
    options.batch = BATCH;
    options.kernels = tier;
    options.optimizer = HEDDLE_ADAMW;
    options.learning_rate = 0.001;
    options.listener = on_event;
    options.listener_context = &seen;
    assert_ok(heddle_train(device, model, data, NULL, &options, NULL));
    assert_true(seen.counted > 20);
    assert_int_equal(seen.allocated, 0);
    heddle_device_close(device);
}

static void a_training_step_allocates_nothing(void **state)
{
    (void)state;
    heddle_model *small = small_cnn();
    const heddle_dataset *data = small_dataset(IMAGES, 1); // the last batch is short
    heddle_model *models[] = {small, model_for(data, "cnn"), model_for(data, "mlp")};
    for (int m = 0; m < 3; m++) {
        for (heddle_tier tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++)
            for (int threads = 1; threads <= 2; threads++)
                if (m == 0 || tier == HEDDLE_FUSED) // the small one has every kind of layer
                    train_and_count(models[m], data, tier, threads);
        heddle_model_close(models[m]);
    }
}

static void predicting_a_batch_allocates_nothing_once_planned(void **state)
{
    (void)state;
    const heddle_dataset *data = small_dataset(IMAGES, 1);
    heddle_model *model = model_for(data, "cnn");
    heddle_device *device = open_cpu(2);
    heddle_network *network = NULL;
    assert_ok(heddle_network_create(device, model, 1, BATCH, HEDDLE_FUSED, &network));
    size_t pixels = (size_t)data->channels * (size_t)data->height * (size_t)data->width;
    float *images = calloc(BATCH * pixels, sizeof *images);
    float *probabilities = calloc((size_t)BATCH * (size_t)data->classes, sizeof *probabilities);
    assert_true(images && probabilities);
    for (int i = 0; i < WARM_UP; i++)
        assert_ok(heddle_network_predict(network, images, BATCH, probabilities));
    long before = atomic_load(&allocations);
    for (int i = 0; i < 20; i++)
        assert_ok(heddle_network_predict(network, images, BATCH, probabilities));
    assert_int_equal(atomic_load(&allocations), before);
    free(images);
    free(probabilities);
    heddle_network_close(network);
    heddle_device_close(device);
    heddle_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts),
        cmocka_unit_test(a_training_step_allocates_nothing),
        cmocka_unit_test(predicting_a_batch_allocates_nothing_once_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
