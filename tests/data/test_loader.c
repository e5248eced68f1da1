// The loader: every sample once an epoch, in an order that the seed and the epoch decide, prepared ahead by a thread.

#include "files.h"

#include <limits.h>
#include <time.h>

#include "data/augment.h"
#include "heddle/data.h"

enum { COUNT = 23, CHANNELS = 2, HEIGHT = 3, WIDTH = 5, PIXELS = CHANNELS * HEIGHT * WIDTH, CLASSES = 7 };

static uint8_t images[COUNT * PIXELS], labels[COUNT];
static heddle_dataset dataset;

static int make_dataset(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT * PIXELS; i++)
        images[i] = (uint8_t)(i * 31);
    for (int i = 0; i < COUNT; i++)
        labels[i] = (uint8_t)(i % CLASSES);
    dataset = (heddle_dataset){.name = "made",
                               .count = COUNT,
                               .channels = CHANNELS,
                               .height = HEIGHT,
                               .width = WIDTH,
                               .classes = CLASSES,
                               .images = images,
                               .labels = labels};
    return 0;
}

static heddle_loader *create(int batch, uint64_t seed, bool shuffle, bool drop_last)
{
    heddle_loader *loader;
    const heddle_loader_options options = {.batch = batch, .seed = seed, .shuffle = shuffle, .drop_last = drop_last};
    assert_ok(heddle_loader_create(&dataset, &options, &loader));
    return loader;
}

// The samples of the next `count` batches, one after another; returns how many.
static int draw(heddle_loader *loader, int count, uint32_t *order)
{
    int samples = 0;
    for (int i = 0; i < count; i++) {
        heddle_batch batch;
        assert_ok(heddle_loader_next(loader, &batch));
        memcpy(order + samples, batch.order, (size_t)batch.count * sizeof *order);
        samples += batch.count;
    }
    return samples;
}

static void an_epoch_has_every_sample_once(void **state)
{
    (void)state;
    heddle_loader *loader = create(4, 9, true, false);
    assert_int_equal(heddle_loader_batches(loader), 6);
    for (int epoch = 0; epoch < 3; epoch++) {
        int seen[COUNT] = {0};
        for (int index = 0; index < 6; index++) {
            heddle_batch batch;
            assert_ok(heddle_loader_next(loader, &batch));
            assert_int_equal(batch.epoch, epoch);
            assert_int_equal(batch.index, index);
            assert_int_equal(batch.count, index < 5 ? 4 : 3);
            for (int i = 0; i < batch.count; i++)
                seen[batch.order[i]]++;
        }
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(seen[i], 1);
    }
    heddle_loader_destroy(loader);
}

static void a_short_last_batch_can_be_left_out(void **state)
{
    (void)state;
    heddle_loader *loader = create(4, 9, true, true);
    assert_int_equal(heddle_loader_batches(loader), 5);
    heddle_batch batch;
    for (int i = 0; i < 11; i++) {
        assert_ok(heddle_loader_next(loader, &batch));
        assert_int_equal(batch.count, 4);
    }
    assert_int_equal(batch.epoch, 2);
    assert_int_equal(batch.index, 0);
    heddle_loader_destroy(loader);
}

// Batches of 4, 4, ..., 3 among 5 processes: parts of 1, and of none.
static void shards_together_are_the_batch(void **state)
{
    (void)state;
    enum { RANKS = 5, BATCH = 4, BATCHES = 6 };
    heddle_loader *whole = create(BATCH, 9, true, false), *parts[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        const heddle_loader_options options = {
            .batch = BATCH, .seed = 9, .shuffle = true, .rank = rank, .ranks = RANKS};
        assert_ok(heddle_loader_create(&dataset, &options, &parts[rank]));
    }
    for (int index = 0; index < BATCHES; index++) {
        heddle_batch all, part;
        int count = 0;
        assert_ok(heddle_loader_next(whole, &all));
        assert_int_equal(all.whole, all.count);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_ok(heddle_loader_next(parts[rank], &part));
            assert_int_equal(part.whole, all.count);
            assert_int_equal(part.first, count);
            assert_int_equal(part.count, rank < all.count);
            assert_memory_equal(part.images, all.images + (size_t)count * PIXELS,
                                (size_t)part.count * PIXELS * sizeof(float));
            assert_memory_equal(part.labels, all.labels + count, (size_t)part.count * sizeof(int32_t));
            count += part.count;
        }
        assert_int_equal(count, all.count);
    }
    for (int rank = 0; rank < RANKS; rank++)
        heddle_loader_destroy(parts[rank]);
    heddle_loader_destroy(whole);
}

static void pixels_and_labels_are_those_of_the_samples(void **state)
{
    (void)state;
    heddle_loader *loader = create(5, 1, true, false);
    for (int b = 0; b < 10; b++) {
        heddle_batch batch;
        assert_ok(heddle_loader_next(loader, &batch));
        for (int i = 0; i < batch.count; i++) {
            uint32_t sample = batch.order[i];
            assert_int_equal(batch.labels[i], labels[sample]);
            for (int p = 0; p < PIXELS; p++) {
                float expected = (float)images[sample * PIXELS + (uint32_t)p] / 255.0f;
                assert_memory_equal(&batch.images[i * PIXELS + p], &expected, sizeof expected);
            }
        }
    }
    heddle_loader_destroy(loader);
}

static void bytes_come_in_the_callers_memory_and_stay_as_long_as_asked(void **state)
{
    (void)state;
    enum { BATCH = 4, AHEAD = 2, HOLD = 3, PLACES = AHEAD + HOLD, BATCHES = 14 };
    static uint8_t bytes[PLACES * BATCH * PIXELS];
    static int32_t numbers[PLACES * BATCH];
    const heddle_loader_options options = {
        .batch = BATCH, .seed = 3, .shuffle = true, .ahead = AHEAD, .hold = HOLD, .bytes = bytes, .labels = numbers};
    heddle_loader *loader;
    assert_ok(heddle_loader_create(&dataset, &options, &loader));
    heddle_batch held[BATCHES];
    uint32_t order[BATCHES][BATCH];
    for (int b = 0; b < BATCHES; b++) {
        assert_ok(heddle_loader_next(loader, &held[b]));
        assert_null(held[b].images);
        assert_true(held[b].bytes >= bytes && held[b].bytes < bytes + sizeof bytes);
        memcpy(order[b], held[b].order, (size_t)held[b].count * sizeof **order);
        // The latest three are all there.
        for (int old = b < HOLD ? 0 : b - HOLD + 1; old <= b; old++)
            for (int i = 0; i < held[old].count; i++) {
                assert_int_equal(held[old].labels[i], labels[order[old][i]]);
                assert_memory_equal(held[old].bytes + i * PIXELS, images + order[old][i] * PIXELS, PIXELS);
            }
    }
    heddle_loader_destroy(loader);
}

static void the_order_of_an_epoch_can_be_had_alone(void **state)
{
    (void)state;
    heddle_loader *loader = create(COUNT, 17, true, false);
    for (int epoch = 0; epoch < 3; epoch++) {
        uint32_t drawn[COUNT], order[COUNT];
        assert_int_equal(draw(loader, 1, drawn), COUNT);
        heddle_epoch_order(17, epoch, order, COUNT);
        assert_memory_equal(order, drawn, sizeof order);
    }
    heddle_loader_destroy(loader);
}

static void the_seed_decides_the_order(void **state)
{
    (void)state;
    uint32_t first[COUNT], same[COUNT], other[COUNT];
    heddle_loader *loaders[] = {create(4, 9, true, false), create(7, 9, true, false), create(4, 10, true, false)};
    assert_int_equal(draw(loaders[0], 6, first), COUNT);
    assert_int_equal(draw(loaders[1], 4, same), COUNT); // another batch size cuts the same order elsewhere
    assert_int_equal(draw(loaders[2], 6, other), COUNT);
    assert_memory_equal(first, same, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    draw(loaders[0], 6, other); // the next epoch
    assert_memory_not_equal(first, other, sizeof first);
    for (int i = 0; i < 3; i++)
        heddle_loader_destroy(loaders[i]);
}

static void without_shuffling_samples_come_in_order(void **state)
{
    (void)state;
    heddle_loader *loader = create(4, 9, false, false);
    uint32_t order[2 * COUNT];
    assert_int_equal(draw(loader, 12, order), 2 * COUNT);
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        assert_int_equal(order[i], i % COUNT);
    heddle_loader_destroy(loader);
}

static void seeking_gives_what_running_on_would_have(void **state)
{
    (void)state;
    uint32_t run[4 * COUNT], sought[2 * COUNT];
    heddle_loader *loader = create(4, 9, true, false);
    draw(loader, 4 * 6, run);
    for (int epoch = 3; epoch >= 0; epoch--)
        for (int index = 0; index < 6; index++) {
            assert_ok(heddle_loader_seek(loader, epoch, index));
            int samples = draw(loader, 1, sought);
            assert_memory_equal(sought, run + epoch * COUNT + index * 4, (size_t)samples * sizeof *sought);
        }
    assert_ok(heddle_loader_seek(loader, 1, 5));
    int samples = draw(loader, 7, sought); // over the end of the epoch
    assert_memory_equal(sought, run + COUNT + 20, (size_t)samples * sizeof *sought);
    assert_ok(heddle_loader_seek(loader, 1, 6)); // the end of an epoch is the beginning of the next
    heddle_batch batch;
    assert_ok(heddle_loader_next(loader, &batch));
    assert_int_equal(batch.epoch, 2);
    assert_int_equal(batch.index, 0);
    heddle_loader_destroy(loader);
}

static void seeking_while_the_thread_works_loses_nothing(void **state)
{
    (void)state;
    heddle_loader *loader = create(2, 9, false, false);
    for (int i = 0; i < 2000; i++) {
        int index = i * 7 % 12;
        assert_ok(heddle_loader_seek(loader, i, index));
        if (i % 3 == 0)
            continue; // seek again at once
        heddle_batch batch;
        assert_ok(heddle_loader_next(loader, &batch));
        assert_int_equal(batch.epoch, i);
        assert_int_equal(batch.index, index);
        assert_int_equal(batch.order[0], 2 * index);
    }
    heddle_loader_destroy(loader);
}

static void places_that_do_not_exist_cannot_be_sought(void **state)
{
    (void)state;
    heddle_loader *loader = create(4, 9, true, false);
    assert_fails(heddle_loader_seek(loader, 0, 7), HEDDLE_INVALID, "batch 7 of epoch 0 does not exist: an epoch has 6");
    assert_fails(heddle_loader_seek(loader, 0, -1), HEDDLE_INVALID, "batch -1 of epoch 0 does not exist");
    assert_fails(heddle_loader_seek(loader, -1, 0), HEDDLE_INVALID, "epoch -1");
    assert_fails(heddle_loader_seek(loader, INT_MAX, 0), HEDDLE_INVALID, "of epoch 2147483647");
    heddle_loader_destroy(loader);
}

static void a_batch_stays_as_it_is_until_the_next_call(void **state)
{
    (void)state;
    heddle_loader *loader;
    const heddle_loader_options options = {.batch = 4, .seed = 5, .shuffle = true, .ahead = 1};
    assert_ok(heddle_loader_create(&dataset, &options, &loader));
    for (int b = 0; b < 5; b++) {
        heddle_batch batch;
        float before[4 * PIXELS];
        assert_ok(heddle_loader_next(loader, &batch));
        memcpy(before, batch.images, sizeof before);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); // the thread fills all the room it has
        assert_memory_equal(before, batch.images, sizeof before);
    }
    heddle_loader_destroy(loader);
}

static void a_batch_larger_than_the_dataset_is_the_dataset(void **state)
{
    (void)state;
    heddle_loader *loader = create(1000000, 9, true, false);
    heddle_batch batch;
    assert_int_equal(heddle_loader_batches(loader), 1);
    assert_ok(heddle_loader_next(loader, &batch));
    assert_int_equal(batch.count, COUNT);
    heddle_loader_destroy(loader);
}

static void it_can_be_destroyed_at_any_moment(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        heddle_loader *loader = create(1 + i % 9, (uint64_t)i, true, false);
        heddle_batch batch;
        for (int b = 0; b < i % 4; b++)
            assert_ok(heddle_loader_next(loader, &batch));
        heddle_loader_destroy(loader);
    }
    heddle_loader_destroy(NULL);
}

static void a_wrong_label_stops_at_its_batch(void **state)
{
    (void)state;
    labels[9] = CLASSES;
    heddle_loader *loader = create(4, 9, false, false);
    heddle_batch batch;
    for (int round = 0; round < 2; round++) {
        assert_ok(heddle_loader_next(loader, &batch));
        assert_ok(heddle_loader_next(loader, &batch));
        for (int again = 0; again < 2; again++)
            assert_fails(heddle_loader_next(loader, &batch), HEDDLE_CORRUPT,
                         "dataset made: label 7 of image 9 is out of range: the classes are 0 to 6");
        assert_ok(heddle_loader_seek(loader, 0, 0));
    }
    assert_ok(heddle_loader_seek(loader, 0, 3));
    assert_ok(heddle_loader_next(loader, &batch));
    assert_int_equal(batch.order[0], 12);
    heddle_loader_destroy(loader);
}

// Whatever the batches, the threads and the form of the pixels.
static void augmented_images_are_moved_by_epoch_and_sample(void **state)
{
    (void)state;
    enum { EPOCHS = 2, MOST_BATCH = 23, PLACES = 3 };
    const heddle_augment augment = {.crop = 1, .flip = 1, .shift = 2};
    static uint8_t bytes[PLACES * MOST_BATCH * PIXELS];
    static int32_t numbers[PLACES * MOST_BATCH];
    for (int way = 0; way < 4; way++) {
        heddle_loader_options options = {.batch = way % 2 ? MOST_BATCH : 4,
                                         .seed = 5,
                                         .shuffle = true,
                                         .threads = way % 2 ? 3 : 1,
                                         .bytes = way < 2 ? bytes : NULL,
                                         .labels = way < 2 ? numbers : NULL,
                                         .augment = augment};
        heddle_loader *loader;
        assert_ok(heddle_loader_create(&dataset, &options, &loader));
        for (int i = 0; i < EPOCHS * heddle_loader_batches(loader); i++) {
            heddle_batch batch;
            assert_ok(heddle_loader_next(loader, &batch));
            for (int k = 0; k < batch.count; k++) {
                int8_t move[HEDDLE_MOVE_COUNT];
                uint8_t expected[PIXELS];
                heddle_augment_draw(&augment, 5, batch.epoch, batch.order[k], move);
                heddle_augment_apply(move, images + batch.order[k] * PIXELS, CHANNELS, HEIGHT, WIDTH, expected);
                for (int p = 0; p < PIXELS; p++)
                    assert_true(way < 2 ? batch.bytes[k * PIXELS + p] == expected[p]
                                        : batch.images[k * PIXELS + p] == (float)expected[p] / 255.0F);
            }
        }
        heddle_loader_destroy(loader);
    }
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    heddle_loader *loader;
    heddle_loader_options options = {.batch = 0};
    assert_fails(heddle_loader_create(&dataset, &options, &loader), HEDDLE_INVALID, "batch size 0 is invalid");
    options = (heddle_loader_options){.batch = 24, .drop_last = true};
    assert_fails(heddle_loader_create(&dataset, &options, &loader), HEDDLE_INVALID, "fewer than one batch of 24");
    options = (heddle_loader_options){.batch = 4, .ahead = -1};
    assert_fails(heddle_loader_create(&dataset, &options, &loader), HEDDLE_INVALID, "not -1");
    options = (heddle_loader_options){.batch = 4, .augment = {.crop = HEIGHT}};
    assert_fails(heddle_loader_create(&dataset, &options, &loader), HEDDLE_INVALID, "out of sight");
    options = (heddle_loader_options){.batch = 4};
    dataset.images = NULL;
    assert_fails(heddle_loader_create(&dataset, &options, &loader), HEDDLE_INVALID, "images and labels");
    assert_null(loader);
}

#define TEST(test) cmocka_unit_test_setup(test, make_dataset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_epoch_has_every_sample_once),
        TEST(a_short_last_batch_can_be_left_out),
        TEST(shards_together_are_the_batch),
        TEST(pixels_and_labels_are_those_of_the_samples),
        TEST(bytes_come_in_the_callers_memory_and_stay_as_long_as_asked),
        TEST(the_order_of_an_epoch_can_be_had_alone),
        TEST(the_seed_decides_the_order),
        TEST(without_shuffling_samples_come_in_order),
        TEST(seeking_gives_what_running_on_would_have),
        TEST(seeking_while_the_thread_works_loses_nothing),
        TEST(places_that_do_not_exist_cannot_be_sought),
        TEST(a_batch_stays_as_it_is_until_the_next_call),
        TEST(a_batch_larger_than_the_dataset_is_the_dataset),
        TEST(it_can_be_destroyed_at_any_moment),
        TEST(a_wrong_label_stops_at_its_batch),
        TEST(augmented_images_are_moved_by_epoch_and_sample),
        TEST(options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
