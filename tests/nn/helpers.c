#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "under_test.h"

enum { SIDE = 12, CLASSES = 4, MOST_IMAGES = 1024, SETS = 4 };

heddle_device *open_cpu(int threads)
{
    heddle_device *device = NULL;
    assert_ok(heddle_device_open("cpu", threads, &device));
    return device;
}

heddle_device *open_device(void)
{
    heddle_device *device = NULL;
    assert_ok(heddle_device_open(device_under_test("sim"), 0, &device));
    return device;
}

const heddle_dataset *small_dataset(int count, uint64_t seed)
{
    static uint8_t images[SETS][MOST_IMAGES * SIDE * SIDE], labels[SETS][MOST_IMAGES];
    static heddle_dataset sets[SETS];
    static int next;
    int which = next++ % SETS;
    assert_true(count <= MOST_IMAGES);
    heddle_random random = heddle_random_make(seed, 0);
    for (int i = 0; i < count; i++) {
        int label = (int)heddle_random_below(&random, CLASSES);
        labels[which][i] = (uint8_t)label;
        for (int row = 0; row < SIDE; row++)
            for (int col = 0; col < SIDE; col++) {
                int quarter = 2 * (row >= SIDE / 2) + (col >= SIDE / 2);
                uint32_t noise = heddle_random_below(&random, 130);
                images[which][(i * SIDE + row) * SIDE + col] = (uint8_t)(noise + (quarter == label ? 60 : 0));
            }
    }
    sets[which] = (heddle_dataset){.name = "quarters",
                                   .count = count,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .classes = CLASSES,
                                   .images = images[which],
                                   .labels = labels[which]};
    return &sets[which];
}

heddle_model *model_for(const heddle_dataset *dataset, const char *name_or_json)
{
    heddle_input_shape input = {dataset->channels, dataset->height, dataset->width, dataset->classes};
    heddle_model *model = NULL;
    if (name_or_json[0] == '{')
        assert_ok(heddle_model_parse("test", name_or_json, &input, &model));
    else
        assert_ok(heddle_model_open(name_or_json, &input, &model));
    return model;
}

const heddle_dataset *digits(int count)
{
    enum { MOST = 1501, DIGIT = 28 };
    static uint8_t images[MOST * DIGIT * DIGIT], labels[MOST];
    static heddle_dataset set;
    assert_true(count <= MOST);
    heddle_random random = heddle_random_make(11, 0);
    for (int i = 0; i < count; i++) {
        int label = (int)heddle_random_below(&random, 10);
        labels[i] = (uint8_t)label;
        for (int p = 0; p < DIGIT * DIGIT; p++) {
            bool lit = p / DIGIT / 3 == label;
            images[i * DIGIT * DIGIT + p] = (uint8_t)(heddle_random_below(&random, 120) + (lit ? 130 : 0));
        }
    }
    set = (heddle_dataset){.name = "stripes",
                           .count = count,
                           .channels = 1,
                           .height = DIGIT,
                           .width = DIGIT,
                           .classes = 10,
                           .images = images,
                           .labels = labels};
    return &set;
}

heddle_model *small_cnn(void)
{
    return model_for(
        small_dataset(1, 1),
        "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 16, \"padding\": 1}, {\"type\": \"batchnorm2d\"},"
        "{\"type\": \"relu\"}, {\"type\": \"maxpool2d\"}, {\"type\": \"flatten\"},"
        "{\"type\": \"dropout\", \"probability\": 0.2}, {\"type\": \"linear\", \"features\": 24},"
        "{\"type\": \"gelu\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}");
}

static char folders[64][64];
static int folder_count;

static void remove_folders(void)
{
    for (int i = 0; i < folder_count; i++) {
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s'", folders[i]);
        if (system(command) != 0)
            fprintf(stderr, "could not remove %s\n", folders[i]);
    }
}

const char *temporary_folder(void)
{
    if (folder_count == 0)
        atexit(remove_folders);
    assert_true(folder_count < 64);
    char *folder = folders[folder_count];
    strcpy(folder, "/tmp/heddle-nn-XXXXXX");
    assert_non_null(mkdtemp(folder));
    folder_count++;
    return folder;
}

void path_in(const char *folder, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
}

char *read_file(const char *path, size_t *size)
{
    char *content = NULL;
    assert_ok(heddle_file_read(path, 1 << 28, &content, size));
    return content;
}

void assert_same_file(const char *a, const char *b)
{
    size_t size_a, size_b;
    char *content_a = read_file(a, &size_a), *content_b = read_file(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(content_a, content_b, size_a);
    free(content_a);
    free(content_b);
}
