// Datasets by name and by folder: where they are found, what their classes are, and what is said when files do not fit
// together.

#include "files.h"

#include <sys/stat.h>

#include "heddle/data.h"
#include "idx_files.h"

enum { MOST_FOLDERS = 8 };
static char *folders[MOST_FOLDERS]; // made by a test
static int folder_count;

// Each test gets a folder for itself, and an environment in which nothing else is found.
static int set_up(void **state)
{
    char *folder = scratch_create();
    unsetenv("HEDDLE_DATA");
    setenv("XDG_DATA_HOME", scratch_path(folder, "user"), 1);
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    scratch_remove(*state);
    while (folder_count > 0)
        free(folders[--folder_count]);
    return 0;
}

static const char *make_folder(const char *parent, const char *name)
{
    assert_true(folder_count < MOST_FOLDERS);
    char *path = strdup(scratch_path(parent, name));
    assert_non_null(path);
    folders[folder_count++] = path;
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

// The system's folder is looked in too; where it has mnist, nothing can be said about its absence.
static void skip_where_the_system_has_mnist(void)
{
    if (access("/usr/share/datasets/mnist", F_OK) == 0)
        skip();
}

static void write_labels(const char *folder, const char *name, const uint8_t *labels, uint32_t count)
{
    buffer bytes = idx_build(1, &count, 0, 1);
    buffer_append(&bytes, labels, count);
    scratch_write(folder, name, bytes.data, bytes.size);
    buffer_free(&bytes);
}

// --- folders --------------------------------------------------------------------------------------------------------

static void a_folder_in_mnists_layout_is_read(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset));
    assert_int_equal(dataset->count, 20);
    assert_int_equal(dataset->channels, 1);
    assert_int_equal(dataset->height, 6);
    assert_int_equal(dataset->width, 6);
    assert_int_equal(dataset->classes, 4);
    assert_int_equal(dataset->split, HEDDLE_TRAIN);
    assert_null(dataset->class_names);
    assert_string_equal(dataset->source, (const char *)*state);
    for (int i = 0; i < 20 * 36; i++)
        assert_int_equal(dataset->images[i], i % 251);
    for (int i = 0; i < 20; i++)
        assert_int_equal(dataset->labels[i], i % 4);
    heddle_dataset_close(dataset);
    assert_ok(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset));
    assert_int_equal(dataset->count, 8);
    heddle_dataset_close(dataset);
    heddle_dataset_close(NULL);
}

static void the_spec_opens_the_same_set_from_anywhere(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(*state), 0);
    heddle_dataset *relative, *again;
    assert_ok(heddle_dataset_open(".", NULL, HEDDLE_TRAIN, &relative));
    assert_int_equal(chdir(before), 0);
    assert_ok(heddle_dataset_open(relative->spec, NULL, HEDDLE_TRAIN, &again));
    assert_int_equal(again->count, 20);
    assert_string_equal(again->spec, relative->spec);
    heddle_dataset_close(again);
    heddle_dataset_close(relative);
    assert_ok(heddle_dataset_open("synth:count=30,seed=4", NULL, HEDDLE_TRAIN, &again));
    assert_string_equal(again->spec, "synth:count=30,seed=4");
    heddle_dataset_close(again);
}

static void file_names_may_have_a_dot_and_be_compressed(void **state)
{
    buffer images = idx_build(4, (uint32_t[]){3, 2, 4, 5}, 120, 256);
    buffer compressed = gzip_build(images.data, images.size);
    scratch_write(*state, "train-images.idx4-ubyte.gz", compressed.data, compressed.size);
    write_labels(*state, "train-labels.idx1-ubyte", (uint8_t[]){0, 1, 2}, 3);
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset));
    assert_int_equal(dataset->channels, 2);
    assert_int_equal(dataset->height, 4);
    assert_int_equal(dataset->width, 5);
    heddle_dataset_close(dataset);
    buffer_free(&images);
    buffer_free(&compressed);
}

static void a_missing_file_is_named(void **state)
{
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_NOT_FOUND,
                 "has no train-images-idx3-ubyte, raw or .gz");
    write_dataset(*state, 20, 8, 6, 4);
    unlink(scratch_path(*state, "t10k-labels-idx1-ubyte"));
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset), HEDDLE_NOT_FOUND,
                 "has no t10k-labels-idx1-ubyte, raw or .gz");
    assert_null(dataset);
}

static void a_folder_around_the_right_one_is_guessed(void **state)
{
    write_dataset(make_folder(*state, "mnist"), 20, 8, 6, 4);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_NOT_FOUND, "did you mean");
    assert_non_null(strstr(heddle_last_error(), "/mnist?"));
}

static void more_labels_than_images_are_refused(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    write_labels(*state, "train-labels-idx1-ubyte", (uint8_t[21]){0}, 21);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT, "has 21 labels, but");
    assert_non_null(strstr(heddle_last_error(), "has 20 images"));
}

static void a_test_label_that_training_does_not_know_is_refused(void **state)
{
    write_dataset(*state, 20, 3, 6, 4);
    write_labels(*state, "t10k-labels-idx1-ubyte", (uint8_t[]){0, 4, 3}, 3);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset), HEDDLE_CORRUPT,
                 "label 4 of image 1 is out of range: the classes are 0 to 3");
}

static void a_test_split_alone_counts_its_own_classes(void **state)
{
    write_dataset(*state, 20, 3, 6, 4);
    write_labels(*state, "t10k-labels-idx1-ubyte", (uint8_t[]){0, 6, 3}, 3);
    unlink(scratch_path(*state, "train-labels-idx1-ubyte"));
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset));
    assert_int_equal(dataset->classes, 7);
    heddle_dataset_close(dataset);
}

static void classes_can_be_named(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    const char names[] = "cat\r\n dog \nbird\nfish of the sea\nnever seen\n\n";
    scratch_write(*state, "classes.txt", names, sizeof names - 1);
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset));
    assert_int_equal(dataset->classes, 5);
    assert_string_equal(dataset->class_names[0], "cat");
    assert_string_equal(dataset->class_names[1], "dog");
    assert_string_equal(dataset->class_names[3], "fish of the sea");
    heddle_dataset_close(dataset);
}

static void a_label_without_a_name_is_refused(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    scratch_write(*state, "classes.txt", "cat\ndog\nbird", 12);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT,
                 "label 3 of image 3 is out of range: classes.txt names 3 classes, 0 to 2");
}

static void class_names_that_make_no_sense_are_refused(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    heddle_dataset *dataset;
    scratch_write(*state, "classes.txt", "\n \n", 3);
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT, "names no class");
    scratch_write(*state, "classes.txt", "a\n\nb\n", 5);
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT,
                 "line 3 names a class after an empty line");
    scratch_write(*state, "classes.txt", "a\0b\n", 4);
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT, "is not text");
    char many[257 * 2];
    for (int i = 0; i < 257; i++)
        memcpy(many + (size_t)2 * i, "x\n", 2);
    scratch_write(*state, "classes.txt", many, sizeof many);
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT,
                 "names more than 256 classes");
}

static void a_damaged_file_is_named_with_its_path(void **state)
{
    write_dataset(*state, 20, 8, 6, 4);
    scratch_write(*state, "train-images-idx3-ubyte", "nonsense", 8);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_CORRUPT,
                 "/train-images-idx3-ubyte: not an IDX file");
}

// --- names ----------------------------------------------------------------------------------------------------------

static void assert_opens_from(const char *name, const char *folder, const char *source)
{
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(name, folder, HEDDLE_TEST, &dataset));
    assert_string_equal(dataset->source, source);
    assert_string_equal(dataset->name, name);
    assert_int_equal(dataset->classes, 10);
    heddle_dataset_close(dataset);
}

static void mnist_is_found_in_every_place_the_nearest_first(void **state)
{
    const char *user_mnist = make_folder(make_folder(make_folder(*state, "user"), "heddle"), "mnist");
    write_dataset(user_mnist, 20, 10, 6, 10);
    assert_opens_from("mnist", NULL, user_mnist);

    const char *environment = make_folder(*state, "environment");
    write_dataset(environment, 20, 10, 6, 10);
    setenv("HEDDLE_DATA", environment, 1);
    assert_opens_from("mnist", NULL, environment);
    const char *inner = make_folder(environment, "mnist");
    write_dataset(inner, 20, 10, 6, 10);
    assert_opens_from("mnist", NULL, inner);

    const char *given = make_folder(*state, "given");
    assert_opens_from("mnist", given, inner);
    write_dataset(given, 20, 10, 6, 10);
    assert_opens_from("mnist", given, given);
}

static void mnist_and_fashion_are_not_taken_for_each_other(void **state)
{
    skip_where_the_system_has_mnist();
    const char *fashion = make_folder(*state, "fashion-mnist");
    write_dataset(fashion, 20, 10, 6, 10);
    assert_opens_from("fashion", *state, fashion);
    assert_opens_from("fashion", fashion, fashion);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open("mnist", fashion, HEDDLE_TEST, &dataset), HEDDLE_MISSING, "mnist");
    const char *mnist = make_folder(*state, "digits");
    write_dataset(mnist, 20, 10, 6, 10);
    assert_opens_from("mnist", mnist, mnist);
    heddle_dataset_info list[3];
    assert_int_equal(heddle_dataset_list(mnist, list, 3), 3);
    assert_true(list[0].present);
    assert_string_equal(list[0].where, mnist);
    assert_string_not_equal(list[1].where, mnist);
}

static void fashion_has_names_for_its_classes(void **state)
{
    const char *folder = make_folder(*state, "fashion");
    write_dataset(folder, 20, 10, 6, 10);
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open("fashion", *state, HEDDLE_TEST, &dataset));
    assert_string_equal(dataset->class_names[9], "ankle boot");
    heddle_dataset_close(dataset);
}

static void a_named_set_has_exactly_ten_classes(void **state)
{
    write_dataset(*state, 20, 13, 6, 13);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open("mnist", *state, HEDDLE_TEST, &dataset), HEDDLE_CORRUPT,
                 "label 10 of image 10 is out of range: the classes are 0 to 9");
}

static void a_missing_set_says_how_to_get_it(void **state)
{
    skip_where_the_system_has_mnist();
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open("mnist", *state, HEDDLE_TRAIN, &dataset), HEDDLE_MISSING,
                 "dataset mnist is not in");
    assert_non_null(strstr(heddle_last_error(), "`heddle data get mnist`"));
    assert_non_null(strstr(heddle_last_error(), "--data DIR"));
    heddle_dataset_info list[3];
    assert_int_equal(heddle_dataset_list(*state, list, 3), 3);
    assert_string_equal(list[0].name, "mnist");
    assert_false(list[0].present);
    assert_non_null(strstr(list[0].where, "heddle data get mnist"));
    if (!list[1].present)
        assert_non_null(strstr(list[1].where, "apt install dataset-fashion-mnist"));
}

static void listing_keeps_to_its_room(void **state)
{
    heddle_dataset_info list[2] = {{0}};
    assert_int_equal(heddle_dataset_list(*state, list, 1), 3);
    assert_non_null(list[0].name);
    assert_null(list[1].name);
    assert_int_equal(heddle_dataset_list(*state, NULL, 0), 3);
}

static void an_unknown_name_suggests_the_nearest(void **state)
{
    (void)state;
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open("mnits", NULL, HEDDLE_TRAIN, &dataset), HEDDLE_NOT_FOUND, "did you mean mnist");
    assert_fails(heddle_dataset_open("no/such/folder", NULL, HEDDLE_TRAIN, &dataset), HEDDLE_NOT_FOUND,
                 "no/such/folder: no such folder");
    scratch_write(*state, "images.zip", "zip", 3);
    assert_fails(heddle_dataset_open(scratch_path(*state, "images.zip"), NULL, HEDDLE_TRAIN, &dataset), HEDDLE_INVALID,
                 "images.zip is a file, not the folder");
    assert_fails(heddle_dataset_open("", NULL, HEDDLE_TRAIN, &dataset), HEDDLE_INVALID, "no dataset named");
    assert_fails(heddle_dataset_open(NULL, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_INVALID, "no dataset named");
    assert_fails(heddle_dataset_open("mnist:count=3", NULL, HEDDLE_TRAIN, &dataset), HEDDLE_INVALID,
                 "takes no options");
    assert_fails(heddle_dataset_open("mnist", NULL, (heddle_split)7, &dataset), HEDDLE_INVALID, "7 is not a split");
}

static void the_default_is_mnist_where_it_is(void **state)
{
    skip_where_the_system_has_mnist();
    assert_string_not_equal(heddle_dataset_default(*state), "mnist");
    write_dataset(*state, 20, 10, 6, 10);
    assert_string_equal(heddle_dataset_default(*state), "mnist");
    unlink(scratch_path(*state, "t10k-labels-idx1-ubyte")); // half a set is none
    assert_string_not_equal(heddle_dataset_default(*state), "mnist");
}

static void the_users_data_folder_follows_the_environment(void **state)
{
    (void)state;
    char path[256];
    setenv("XDG_DATA_HOME", "/somewhere", 1);
    assert_ok(heddle_data_folder(path, sizeof path));
    assert_string_equal(path, "/somewhere/heddle");
    setenv("XDG_DATA_HOME", "relative/is/ignored", 1);
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", "/home/ada", 1);
    assert_ok(heddle_data_folder(path, sizeof path));
    assert_string_equal(path, "/home/ada/.local/share/heddle");
    assert_fails(heddle_data_folder(path, 8), HEDDLE_INVALID, "longer than 8");
    unsetenv("HOME");
    unsetenv("XDG_DATA_HOME");
    assert_fails(heddle_data_folder(path, sizeof path), HEDDLE_MISSING, "HOME");
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

// --- from memory ----------------------------------------------------------------------------------------------------

static void images_in_memory_are_a_dataset(void **state)
{
    (void)state;
    const uint8_t images[2 * 3 * 2 * 2] = {1, 2, 3}, labels[] = {0, 1};
    const char *names[] = {"cat", "dog"};
    heddle_dataset given = {.split = HEDDLE_TEST, .count = 2, .channels = 3, .height = 2, .width = 2, .classes = 2};
    given.images = images;
    given.labels = labels;
    given.class_names = names;
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_create(&given, &dataset));
    names[1] = "gone";
    assert_string_equal(dataset->name, "memory");
    assert_string_equal(dataset->spec, "");
    assert_string_equal(dataset->class_names[1], "dog");
    assert_ptr_equal(dataset->images, images);
    assert_ptr_equal(dataset->labels, labels);
    assert_int_equal(dataset->split, HEDDLE_TEST);
    assert_int_equal(dataset->count * dataset->channels * dataset->height * dataset->width, sizeof images);
    heddle_dataset_close(dataset);
}

static void images_in_memory_that_make_no_dataset_are_refused(void **state)
{
    (void)state;
    const uint8_t pixels[4] = {0}, labels[] = {0, 3};
    const char *const names[] = {"cat", NULL, "cow", "hen"};
    const heddle_dataset good = {
        .count = 2, .channels = 1, .height = 1, .width = 2, .classes = 4, .images = pixels, .labels = labels};
    heddle_dataset wrong[] = {good, good, good, good, good, good, good};
    const char *const says[] = {"not below the number of classes, 3",
                                "of 0 images",
                                "is too large",
                                "257 classes",
                                "got NULL",
                                "a split",
                                "class 1 has no name"};
    wrong[0].classes = 3;
    wrong[1].count = 0;
    wrong[2].height = wrong[2].width = 1 << 20;
    wrong[3].classes = 257;
    wrong[4].labels = NULL;
    wrong[5].split = (heddle_split)2;
    wrong[6].class_names = names;
    heddle_dataset *dataset;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(heddle_dataset_create(&wrong[i], &dataset), HEDDLE_INVALID);
        assert_null(dataset);
        assert_non_null(strstr(heddle_last_error(), says[i]));
    }
    assert_int_equal(heddle_dataset_create(NULL, &dataset), HEDDLE_INVALID);
    assert_ok(heddle_dataset_create(&good, &dataset));
    heddle_dataset_close(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_in_memory_are_a_dataset),
        cmocka_unit_test(images_in_memory_that_make_no_dataset_are_refused),
        TEST(a_folder_in_mnists_layout_is_read),
        TEST(the_spec_opens_the_same_set_from_anywhere),
        TEST(file_names_may_have_a_dot_and_be_compressed),
        TEST(a_missing_file_is_named),
        TEST(a_folder_around_the_right_one_is_guessed),
        TEST(more_labels_than_images_are_refused),
        TEST(a_test_label_that_training_does_not_know_is_refused),
        TEST(a_test_split_alone_counts_its_own_classes),
        TEST(classes_can_be_named),
        TEST(a_label_without_a_name_is_refused),
        TEST(class_names_that_make_no_sense_are_refused),
        TEST(a_damaged_file_is_named_with_its_path),
        TEST(mnist_is_found_in_every_place_the_nearest_first),
        TEST(mnist_and_fashion_are_not_taken_for_each_other),
        TEST(fashion_has_names_for_its_classes),
        TEST(a_named_set_has_exactly_ten_classes),
        TEST(a_missing_set_says_how_to_get_it),
        TEST(listing_keeps_to_its_room),
        TEST(an_unknown_name_suggests_the_nearest),
        TEST(the_default_is_mnist_where_it_is),
        TEST(the_users_data_folder_follows_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
