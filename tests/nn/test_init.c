// Training from weights that are there: by their names, by order and shape where the names are others', in 16 bits too;
// and what does not fit is named.

#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/float16.h"

enum { PATH = 256, MOST_ARRAYS = 64 };

static char warnings[4096];

// What a call says on stderr.
static heddle_status train_and_listen(heddle_device *device, const heddle_model *model,
                                      const heddle_train_options *options)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    const heddle_status status = heddle_train(device, model, small_dataset(8, 1), NULL, options, NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    warnings[fread(warnings, 1, sizeof warnings - 1, file)] = '\0';
    fclose(file);
    return status;
}

// Starts a run of no steps, which writes what it starts from.
static heddle_status start(const char *init, uint64_t seed, char path[PATH])
{
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    heddle_train_options options = heddle_train_defaults();
    options.folder = temporary_folder();
    options.epochs = 0;
    options.seed = seed;
    options.init = init;
    const heddle_status status = train_and_listen(device, model, &options);
    heddle_device_close(device);
    heddle_model_close(model);
    path_in(options.folder, "last.safetensors", path, PATH);
    return status;
}

// Whether the arrays of two files have the same bytes: all of them, or those whose names begin with `part`.
static bool same_numbers(const char *one, const char *other, const char *part)
{
    heddle_safetensors *a = NULL, *b = NULL;
    assert_ok(heddle_safetensors_open(one, &a));
    assert_ok(heddle_safetensors_open(other, &b));
    bool same = true;
    int compared = 0;
    for (int i = 0; i < heddle_safetensors_count(a); i++) {
        const heddle_array *left = heddle_safetensors_at(a, i), *right = heddle_safetensors_find(b, left->name);
        if (strncmp(left->name, part, strlen(part)) != 0)
            continue;
        compared++;
        same &= right && left->bytes == right->bytes && memcmp(left->data, right->data, left->bytes) == 0;
    }
    assert_true(compared > 0);
    heddle_safetensors_close(a);
    heddle_safetensors_close(b);
    return same;
}

// The arrays of `from` under other names, in bfloat16 if asked for; one layer may be left out.
static void rename_layers(const char *from, const char *to, bool half, const char *without)
{
    heddle_safetensors *file = NULL;
    assert_ok(heddle_safetensors_open(from, &file));
    heddle_array arrays[MOST_ARRAYS];
    static char names[MOST_ARRAYS][64];
    uint16_t *halves[MOST_ARRAYS] = {0};
    int count = 0, all = heddle_safetensors_count(file);
    assert_true(all < MOST_ARRAYS);
    for (int i = 0; i < all; i++) {
        arrays[count] = *heddle_safetensors_at(file, i);
        if (without && strncmp(arrays[count].name, without, strlen(without)) == 0)
            continue;
        // "conv1.weight" as "net.10.conv.weight", "conv2.weight" as "net.11.conv.weight"
        const char *dot = strchr(arrays[count].name, '.');
        snprintf(names[count], sizeof names[count], "net.1%c.%.*s%s", dot[-1], (int)(dot - arrays[count].name) - 1,
                 arrays[count].name, dot);
        arrays[count].name = names[count];
        if (half) {
            const size_t elements = arrays[count].bytes / sizeof(float);
            halves[count] = calloc(elements + 1, sizeof *halves[count]);
            for (size_t j = 0; j < elements; j++)
                halves[count][j] = heddle_bf16_encode(((const float *)arrays[count].data)[j]);
            arrays[count].dtype = HEDDLE_BF16;
            arrays[count].bytes = elements * sizeof(uint16_t);
            arrays[count].data = halves[count];
        }
        count++;
    }
    assert_ok(heddle_safetensors_write(to, arrays, count, NULL, 0));
    for (int i = 0; i < count; i++)
        free(halves[i]);
    heddle_safetensors_close(file);
}

static void a_checkpoint_of_the_same_model_is_taken_as_it_is(void **unused)
{
    char other[PATH], fresh[PATH], started[PATH];
    (void)unused;
    assert_ok(start(NULL, 7, other));
    assert_ok(start(NULL, 1, fresh));
    assert_ok(start(other, 1, started));
    assert_true(same_numbers(other, started, ""));
    assert_false(same_numbers(other, fresh, "conv1"));
    assert_string_equal(warnings, "");
}

static void other_names_are_matched_by_order_and_shape(void **unused)
{
    char other[PATH], renamed[PATH], started[PATH];
    (void)unused;
    assert_ok(start(NULL, 7, other));
    path_in(temporary_folder(), "renamed.safetensors", renamed, PATH);
    rename_layers(other, renamed, false, NULL);
    assert_ok(start(renamed, 1, started));
    assert_true(same_numbers(other, started, ""));
    assert_non_null(strstr(warnings, "order and shape"));
}

static void weights_of_16_bits_are_widened(void **unused)
{
    char other[PATH], halved[PATH], started[PATH], again[PATH];
    (void)unused;
    assert_ok(start(NULL, 7, other));
    path_in(temporary_folder(), "halved.safetensors", halved, PATH);
    rename_layers(other, halved, true, NULL);
    assert_ok(start(halved, 1, started));
    assert_false(same_numbers(other, started, "conv1"));
    rename_layers(started, halved, true, NULL); // loses nothing any more
    assert_ok(start(halved, 1, again));
    assert_true(same_numbers(started, again, ""));
}

static void layers_that_the_file_lacks_are_named(void **unused)
{
    char other[PATH], fresh[PATH], part[PATH], started[PATH];
    (void)unused;
    assert_ok(start(NULL, 7, other));
    assert_ok(start(NULL, 1, fresh));
    path_in(temporary_folder(), "part.safetensors", part, PATH);
    rename_layers(other, part, false, "linear2");
    assert_ok(start(part, 1, started));
    assert_non_null(strstr(warnings, "linear2"));
    assert_null(strstr(warnings, "linear1"));
    assert_true(same_numbers(fresh, started, "linear2"));
    assert_true(same_numbers(other, started, "linear1"));
}

static void a_file_that_does_not_fit_at_all_is_refused(void **unused)
{
    char path[PATH], started[PATH];
    const float number = 1;
    const heddle_array array = {
        .name = "a.weight", .dtype = HEDDLE_F32, .rank = 1, .dims = {1}, .data = &number, .bytes = sizeof number};
    (void)unused;
    path_in(temporary_folder(), "odd.safetensors", path, PATH);
    assert_ok(heddle_safetensors_write(path, &array, 1, NULL, 0));
    assert_int_equal(start(path, 1, started), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "conv1.weight"));
    assert_int_equal(start("nowhere.safetensors", 1, started), HEDDLE_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_of_the_same_model_is_taken_as_it_is),
        cmocka_unit_test(other_names_are_matched_by_order_and_shape),
        cmocka_unit_test(weights_of_16_bits_are_widened),
        cmocka_unit_test(layers_that_the_file_lacks_are_named),
        cmocka_unit_test(a_file_that_does_not_fit_at_all_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
