// The digits that heddle draws: the same bytes from a seed on every machine, different from image to image, and alike
// within a class.

#include "files.h"

#include "heddle/data.h"

static heddle_dataset *open_synth(const char *name, heddle_split split)
{
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(name, NULL, split, &dataset));
    return dataset;
}

// FNV-1a
static uint64_t sum_of(const uint8_t *bytes, size_t count, uint64_t sum)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

static uint64_t sum_of_dataset(const heddle_dataset *dataset)
{
    size_t pixels = (size_t)dataset->count * (size_t)dataset->height * (size_t)dataset->width;
    return sum_of(dataset->labels, (size_t)dataset->count, sum_of(dataset->images, pixels, 0xcbf29ce484222325));
}

static void by_default_there_are_10000_to_train_and_2000_to_test(void **state)
{
    (void)state;
    for (int split = 0; split < 2; split++) {
        heddle_dataset *dataset = open_synth("synth", split ? HEDDLE_TEST : HEDDLE_TRAIN);
        assert_string_equal(dataset->name, "synth");
        assert_int_equal(dataset->count, split ? 2000 : 10000);
        assert_int_equal(dataset->channels, 1);
        assert_int_equal(dataset->height, 28);
        assert_int_equal(dataset->width, 28);
        assert_int_equal(dataset->classes, 10);
        int seen[10] = {0};
        for (int i = 0; i < dataset->count; i++) {
            assert_in_range(dataset->labels[i], 0, 9);
            seen[dataset->labels[i]]++;
        }
        for (int digit = 0; digit < 10; digit++)
            assert_in_range(seen[digit], dataset->count / 13, dataset->count / 8);
        heddle_dataset_close(dataset);
    }
}

static void every_machine_draws_the_same_bytes(void **state)
{
    (void)state;
    // From the first machine that drew them; a change of the drawing changes them for good reason, a machine must not.
    const struct {
        const char *name;
        heddle_split split;
        uint64_t sum;
    } known[] = {
        {"synth:count=200", HEDDLE_TRAIN, 0x40a3afe140c0ed66},
        {"synth:count=200", HEDDLE_TEST, 0xbf2526b68d939548},
        {"synth:count=50,seed=18446744073709551615,size=45", HEDDLE_TRAIN, 0x63fb7704a7954c09},
    };
    for (int i = 0; i < 3; i++) {
        heddle_dataset *dataset = open_synth(known[i].name, known[i].split);
        char text[32], expected[32];
        snprintf(text, sizeof text, "%016llx", (unsigned long long)sum_of_dataset(dataset));
        snprintf(expected, sizeof expected, "%016llx", (unsigned long long)known[i].sum);
        assert_string_equal(text, expected);
        heddle_dataset_close(dataset);
    }
}

static void a_larger_count_only_adds_images(void **state)
{
    (void)state;
    heddle_dataset *few = open_synth("synth:count=100,seed=3", HEDDLE_TRAIN);   // drawn by one thread
    heddle_dataset *many = open_synth("synth:count=2000,seed=3", HEDDLE_TRAIN); // drawn by all
    assert_memory_equal(few->images, many->images, 100 * 28 * 28);
    assert_memory_equal(few->labels, many->labels, 100);
    heddle_dataset_close(few);
    heddle_dataset_close(many);
}

static void seeds_and_splits_differ(void **state)
{
    (void)state;
    heddle_dataset *train = open_synth("synth:count=100", HEDDLE_TRAIN);
    heddle_dataset *other = open_synth("synth:count=100,seed=2", HEDDLE_TRAIN);
    heddle_dataset *test = open_synth("synth:count=500", HEDDLE_TEST);
    assert_int_equal(test->count, 100);
    assert_memory_not_equal(train->images, other->images, 28 * 28);
    assert_memory_not_equal(train->images, test->images, 28 * 28);
    heddle_dataset_close(train);
    heddle_dataset_close(other);
    heddle_dataset_close(test);
}

static void every_image_shows_something(void **state)
{
    (void)state;
    static const int sizes[] = {8, 28, 64};
    for (int s = 0; s < 3; s++) {
        char name[64];
        snprintf(name, sizeof name, "synth:count=300,size=%d", sizes[s]);
        heddle_dataset *dataset = open_synth(name, HEDDLE_TRAIN);
        int pixels = sizes[s] * sizes[s];
        assert_int_equal(dataset->width, sizes[s]);
        for (int i = 0; i < dataset->count; i++) {
            int bright = 0;
            for (int p = 0; p < pixels; p++)
                bright += dataset->images[i * pixels + p] > 100;
            assert_in_range(bright, pixels / 50, pixels / 2);
        }
        heddle_dataset_close(dataset);
    }
}

static void colour_adds_planes_to_the_image_in_grey(void **state)
{
    (void)state;
    enum { CHANNELS = 3, PIXELS = 32 * 32 };
    heddle_dataset *grey = open_synth("synth:count=50,size=32", HEDDLE_TRAIN);
    heddle_dataset *colour = open_synth("synth:count=50,size=32,channels=3", HEDDLE_TRAIN);
    assert_int_equal(colour->channels, CHANNELS);
    int apart = 0;
    for (int i = 0; i < grey->count; i++) {
        const uint8_t *planes = colour->images + (size_t)i * CHANNELS * PIXELS;
        assert_int_equal(colour->labels[i], grey->labels[i]);
        assert_memory_equal(planes, grey->images + (size_t)i * PIXELS, PIXELS);
        for (int p = 0; p < PIXELS; p++)
            assert_true(planes[PIXELS + p] <= planes[p] && planes[2 * PIXELS + p] <= planes[p]);
        apart += memcmp(planes + PIXELS, planes + (size_t)2 * PIXELS, PIXELS) != 0;
    }
    assert_true(apart > grey->count / 2);
    heddle_dataset_close(grey);
    heddle_dataset_close(colour);
}

// The nearest mean image is a poor classifier, but far better than guessing only if a class has a shape.
static void a_class_has_a_shape_but_is_no_giveaway(void **state)
{
    (void)state;
    enum { PIXELS = 28 * 28 };
    static double means[10][PIXELS];
    heddle_dataset *train = open_synth("synth:count=3000", HEDDLE_TRAIN);
    heddle_dataset *test = open_synth("synth:count=3000", HEDDLE_TEST);
    int counts[10] = {0};
    for (int i = 0; i < train->count; i++) {
        counts[train->labels[i]]++;
        for (int p = 0; p < PIXELS; p++)
            means[train->labels[i]][p] += train->images[i * PIXELS + p];
    }
    for (int digit = 0; digit < 10; digit++)
        for (int p = 0; p < PIXELS; p++)
            means[digit][p] /= counts[digit];
    int right = 0;
    for (int i = 0; i < test->count; i++) {
        double nearest = 1e30;
        int guess = -1;
        for (int digit = 0; digit < 10; digit++) {
            double distance = 0;
            for (int p = 0; p < PIXELS; p++) {
                double difference = test->images[i * PIXELS + p] - means[digit][p];
                distance += difference * difference;
            }
            if (distance < nearest) {
                nearest = distance;
                guess = digit;
            }
        }
        right += guess == test->labels[i];
    }
    assert_in_range(right, test->count / 2, test->count * 9 / 10);
    heddle_dataset_close(train);
    heddle_dataset_close(test);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *name, *says;
    } wrong[] = {
        {"synth:cuont=5", "no option cuont; did you mean count"},
        {"synth:count", "option count needs a value"},
        {"synth:count=0", "count=0 is not an integer from 1 to"},
        {"synth:count=-3", "count=-3 is not an integer"},
        {"synth:count=3x", "count=3x is not an integer"},
        {"synth:count=", "count= is not an integer"},
        {"synth:seed=18446744073709551616", "is not an integer"},
        {"synth:size=4", "size=4 is not an integer from 8 to 256"},
        {"synth:channels=0", "channels=0 is not an integer from 1 to 64"},
        {"synth:size=256,count=10000000", "more than 4 GiB"},
        {"synth:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1", "too long"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_dataset *dataset;
        assert_fails(heddle_dataset_open(wrong[i].name, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_INVALID, wrong[i].says);
        assert_null(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_there_are_10000_to_train_and_2000_to_test),
        cmocka_unit_test(every_machine_draws_the_same_bytes),
        cmocka_unit_test(a_larger_count_only_adds_images),
        cmocka_unit_test(seeds_and_splits_differ),
        cmocka_unit_test(every_image_shows_something),
        cmocka_unit_test(colour_adds_planes_to_the_image_in_grey),
        cmocka_unit_test(a_class_has_a_shape_but_is_no_giveaway),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
