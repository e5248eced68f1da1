// Folders of PNG and JPEG files: classes, splits, sizes and channels, and what is said when files do not fit.

#include "files.h"

#include <sys/stat.h>

#include "heddle/data.h"
#include "io/png.h"

#ifdef HEDDLE_HAVE_PNG

#ifdef HEDDLE_HAVE_JPEG
#include "jpeg_files.h"
#endif

enum { SIDE = 6, NAME_SIZE = 128 };

static void make_folders(const char *folder, const char *path)
{
    char part[NAME_SIZE];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(scratch_path(folder, part), 0777); // may be there
    }
}

// A picture of one colour, red = green = blue = `value`.
static void write_picture(const char *folder, const char *path, int width, int height, int channels, uint8_t value)
{
    make_folders(folder, path);
    size_t bytes = (size_t)width * (size_t)height * (size_t)channels;
    uint8_t *pixels = malloc(bytes);
    assert_non_null(pixels);
    memset(pixels, value, bytes);
    assert_ok(heddle_png_write(scratch_path(folder, path), &(heddle_picture){width, height, channels, pixels}));
    free(pixels);
}

// `count` grey pictures of a class, called 00.png and so on, of brightness `value` + their number.
static void write_class(const char *folder, const char *name, int count, uint8_t value)
{
    for (int i = 0; i < count; i++) {
        char path[NAME_SIZE];
        snprintf(path, sizeof path, "%s/%02d.png", name, i);
        write_picture(folder, path, SIDE, SIDE, 1, (uint8_t)(value + i));
    }
}

static heddle_dataset *open_split(const char *folder, heddle_split split)
{
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open(folder, NULL, split, &dataset));
    return dataset;
}

static void assert_refused(const char *folder, heddle_status status, const char *text)
{
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(folder, NULL, HEDDLE_TRAIN, &dataset), status, text);
    assert_null(dataset);
}

// --- classes and splits ---------------------------------------------------------------------------------------------

static void subfolders_are_classes_and_a_tenth_of_each_is_held_out(void **state)
{
    write_class(*state, "dog", 20, 100);
    write_class(*state, "Cat", 30, 10);
    write_class(*state, "ant", 3, 200);
    write_picture(*state, ".hidden/a.png", SIDE, SIDE, 1, 0);
    scratch_write(*state, "README.txt", "text", 4);
    scratch_write(*state, "dog/Thumbs.db", "text", 4);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN), *test = open_split(*state, HEDDLE_TEST);
    assert_int_equal(train->count, 18 + 27 + 2);
    assert_int_equal(test->count, 2 + 3 + 1);
    assert_int_equal(train->classes, 3);
    assert_string_equal(train->class_names[0], "Cat"); // byte by byte: capitals first
    assert_string_equal(train->class_names[1], "ant");
    assert_string_equal(test->class_names[2], "dog");
    assert_int_equal(train->channels, 1);
    assert_int_equal(train->height, SIDE);
    assert_int_equal(train->width, SIDE);
    assert_string_equal(train->scaled, "");
    bool seen[256] = {false}; // each picture is in one of the two, with its label
    const heddle_dataset *both[] = {train, test};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < both[k]->count; i++) {
            uint8_t value = both[k]->images[i * SIDE * SIDE];
            assert_false(seen[value]);
            seen[value] = true;
            assert_int_equal(both[k]->labels[i], value >= 200 ? 1 : value >= 100 ? 2 : 0);
        }
    heddle_dataset *again = open_split(*state, HEDDLE_TEST);
    assert_memory_equal(again->images, test->images, (size_t)(test->count * SIDE * SIDE));
    heddle_dataset_close(again);
    heddle_dataset_close(train);
    heddle_dataset_close(test);
}

static void train_and_test_subfolders_are_the_split(void **state)
{
    write_class(*state, "train/a", 4, 0);
    write_class(*state, "train/b", 4, 50);
    write_class(*state, "val/b", 2, 100);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN), *val = open_split(*state, HEDDLE_TEST);
    assert_int_equal(train->count, 8);
    assert_int_equal(val->count, 2);
    assert_int_equal(val->classes, 2);
    assert_int_equal(val->labels[0], 1);
    assert_int_equal(val->images[0], 100);
    heddle_dataset_close(train);
    heddle_dataset_close(val);
    write_class(*state, "test/a", 1, 150); // test comes before val
    heddle_dataset *test = open_split(*state, HEDDLE_TEST);
    assert_int_equal(test->count, 1);
    assert_int_equal(test->images[0], 150);
    heddle_dataset_close(test);
    write_class(*state, "test/c", 1, 0);
    assert_refused(*state, HEDDLE_INVALID, "test: class c is not one of");
}

static void a_class_may_be_called_train(void **state)
{
    write_class(*state, "car", 4, 0);
    write_class(*state, "train", 4, 50);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN);
    assert_int_equal(train->count, 6);
    assert_string_equal(train->class_names[1], "train");
    heddle_dataset_close(train);
}

static void files_may_be_deeper_in_the_folder_of_a_class(void **state)
{
    write_class(*state, "a/images", 5, 0);
    write_class(*state, "b/x/y", 5, 50);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN);
    assert_int_equal(train->count, 8);
    assert_int_equal(train->classes, 2);
    heddle_dataset_close(train);
}

static void a_networks_classes_give_the_labels(void **state)
{
    write_class(*state, "dog", 4, 0);
    const char *const names[] = {"ant", "cat", "dog"};
    heddle_dataset_options options = {.class_names = names, .classes = 3};
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open_with(*state, HEDDLE_TRAIN, &options, &dataset));
    assert_int_equal(dataset->classes, 3);
    assert_int_equal(dataset->labels[0], 2);
    heddle_dataset_close(dataset);
    options.classes = 2;
    assert_fails(heddle_dataset_open_with(*state, HEDDLE_TRAIN, &options, &dataset), HEDDLE_INVALID,
                 "class dog is not one of those the network was trained on");
}

// --- sizes and channels ---------------------------------------------------------------------------------------------

static void one_file_in_colour_makes_all_of_them_rgb(void **state)
{
    write_class(*state, "a", 4, 10);
    write_class(*state, "b", 4, 20);
    write_picture(*state, "b/colour.png", SIDE, SIDE, 3, 30);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN), *test = open_split(*state, HEDDLE_TEST);
    assert_int_equal(train->channels, 3);
    assert_int_equal(test->channels, 3);
    assert_int_equal(train->images[2 * SIDE * SIDE], train->images[0]);
    heddle_dataset_close(train);
    heddle_dataset_close(test);
    heddle_dataset *grey;
    assert_ok(
        heddle_dataset_open_with(*state, HEDDLE_TRAIN, &(heddle_dataset_options){.channels = 1, .threads = 1}, &grey));
    assert_int_equal(grey->channels, 1);
    heddle_dataset_close(grey);
}

static void different_sizes_are_scaled_to_one_and_that_is_said(void **state)
{
    write_class(*state, "a", 4, 10);
    write_class(*state, "b", 4, 20);
    write_picture(*state, "b/large.png", 100, 80, 1, 30);
    heddle_dataset *dataset = open_split(*state, HEDDLE_TRAIN);
    assert_int_equal(dataset->width, HEDDLE_IMAGE_SIZE);
    assert_int_equal(dataset->height, HEDDLE_IMAGE_SIZE);
    assert_string_equal(dataset->scaled, "sizes from 6×6 to 100×80, all scaled to 64×64");
    for (int i = 0; i < dataset->count; i++) // of one colour each, at any size
        for (int p = 1; p < HEDDLE_IMAGE_SIZE * HEDDLE_IMAGE_SIZE; p++)
            assert_int_equal(dataset->images[i * HEDDLE_IMAGE_SIZE * HEDDLE_IMAGE_SIZE + p],
                             dataset->images[i * HEDDLE_IMAGE_SIZE * HEDDLE_IMAGE_SIZE]);
    heddle_dataset_close(dataset);
    assert_ok(
        heddle_dataset_open_with(*state, HEDDLE_TEST, &(heddle_dataset_options){.height = 8, .width = 12}, &dataset));
    assert_int_equal(dataset->width, 12);
    assert_int_equal(dataset->height, 8);
    heddle_dataset_close(dataset);
}

static void a_size_that_all_have_can_be_changed(void **state)
{
    write_class(*state, "a", 2, 10);
    heddle_dataset *dataset;
    assert_ok(
        heddle_dataset_open_with(*state, HEDDLE_TRAIN, &(heddle_dataset_options){.height = 3, .width = 3}, &dataset));
    assert_string_equal(dataset->scaled, "6×6, scaled to 3×3");
    heddle_dataset_close(dataset);
}

static void sizes_that_make_no_sense_are_refused(void **state)
{
    write_class(*state, "a", 2, 10);
    const heddle_dataset_options wrong[] = {
        {.height = 8}, {.height = -1, .width = 4}, {.height = 5000, .width = 5000}, {.channels = 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_dataset *dataset;
        assert_fails(heddle_dataset_open_with(*state, HEDDLE_TRAIN, &wrong[i], &dataset), HEDDLE_INVALID,
                     wrong[i].channels ? "1 or 3 channels, not 2" : "images cannot be scaled to");
        assert_null(dataset);
    }
    write_picture(*state, "b/wide.png", 5000, 1, 1, 0);
    write_picture(*state, "b/wide2.png", 5000, 1, 1, 0);
    heddle_dataset *dataset = open_split(*state, HEDDLE_TRAIN); // sizes differ, so they are scaled
    assert_int_equal(dataset->width, HEDDLE_IMAGE_SIZE);
    heddle_dataset_close(dataset);
    assert_int_equal(remove(scratch_path(*state, "a/00.png")), 0);
    assert_int_equal(remove(scratch_path(*state, "a/01.png")), 0);
    write_picture(*state, "a/wide.png", 5000, 1, 1, 0);
    assert_refused(*state, HEDDLE_UNSUPPORTED, "images of 5000×1 pixels; a network takes at most 4096×4096");
}

#ifdef HEDDLE_HAVE_JPEG
static void jpeg_and_png_files_go_together(void **state)
{
    uint8_t pixels[SIDE * SIDE];
    memset(pixels, 77, sizeof pixels);
    size_t size;
    uint8_t *content = jpeg_build(&(jpeg_kind){.width = SIDE, .height = SIDE, .colors = JCS_GRAYSCALE}, pixels, &size);
    write_class(*state, "a", 2, 10);
    scratch_write(*state, "a/x.JPEG", content, size);
    scratch_write(*state, "a/y.jpg", content, size);
    heddle_dataset *train = open_split(*state, HEDDLE_TRAIN), *test = open_split(*state, HEDDLE_TEST);
    assert_int_equal(train->count + test->count, 4);
    assert_int_equal(train->channels, 1);
    assert_in_range(train->images[2 * SIDE * SIDE], 76, 78);
    heddle_dataset_close(train);
    heddle_dataset_close(test);
    scratch_write(*state, "a/y.jpg", content, size - 40); // one line, with the file's name
    assert_refused(*state, HEDDLE_CORRUPT, "a/y.jpg: the JPEG is corrupt");
    free(content);
}
#endif

// --- progress -------------------------------------------------------------------------------------------------------

static void count_files(void *context, int files, int total)
{
    int *last = context;
    assert_true(files > last[0] && files <= total);
    last[0] = files;
    last[1] = total;
}

static void the_listener_hears_of_every_file(void **state)
{
    write_class(*state, "a", 90, 0);
    int last[2] = {0};
    heddle_dataset *dataset;
    assert_ok(heddle_dataset_open_with(*state, HEDDLE_TRAIN,
                                       &(heddle_dataset_options){.progress = count_files, .context = last}, &dataset));
    assert_int_equal(last[0], 90 + 81); // the headers of all, the pixels of the split
    assert_int_equal(last[1], 90 + 81);
    heddle_dataset_close(dataset);
}

// --- what can be wrong ----------------------------------------------------------------------------------------------

static void a_broken_file_is_named_and_ends_it(void **state)
{
    write_class(*state, "a", 12, 0);
    scratch_write(*state, "a/05.png", "not a picture", 13);
    assert_refused(*state, HEDDLE_CORRUPT, "a/05.png is neither a PNG nor a JPEG file");
    scratch_write(*state, "a/05.png", "", 0);
    assert_refused(*state, HEDDLE_CORRUPT, "a/05.png is empty");
    scratch_write(*state, "a/06.png", "\x89PNG\r\n\x1a\n1234567", 15);
    assert_refused(*state, HEDDLE_CORRUPT, "2 of 12 image files cannot be read; repair or remove them");
}

// The header is whole, the pixels are not.
static void a_file_that_breaks_off_is_named(void **state)
{
    write_class(*state, "a", 12, 0);
    for (int i = 0; i < 12; i++) {
        char path[NAME_SIZE];
        snprintf(path, sizeof path, "a/%02d.png", i);
        assert_int_equal(truncate(scratch_path(*state, path), 50), 0);
    }
    assert_refused(*state, HEDDLE_CORRUPT, "of 12 image files cannot be read");
}

static void folders_without_classes_say_what_is_missing(void **state)
{
    assert_refused(*state, HEDDLE_NOT_FOUND, "no subfolders of PNG or JPEG files");
    write_picture(*state, "loose.png", SIDE, SIDE, 1, 0);
    assert_refused(*state, HEDDLE_NOT_FOUND, "has image files but no subfolders");
    write_class(*state, "a", 3, 0);
    assert_int_equal(mkdir(scratch_path(*state, "empty"), 0777), 0);
    assert_refused(*state, HEDDLE_NOT_FOUND, "empty has no PNG or JPEG files; every subfolder of");
}

static void a_class_with_one_picture_has_none_to_test_with(void **state)
{
    write_class(*state, "a", 1, 0);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TEST, &dataset), HEDDLE_NOT_FOUND,
                 "put at least two into a class");
}

static void train_without_test_says_how_to_go_on(void **state)
{
    write_class(*state, "train/a", 3, 0);
    assert_refused(*state, HEDDLE_NOT_FOUND, "has train but neither test nor val; give");
}

static void a_link_that_leads_back_is_refused(void **state)
{
    write_class(*state, "a", 3, 0);
    assert_int_equal(symlink("..", scratch_path(*state, "a/back")), 0);
    assert_refused(*state, HEDDLE_INVALID, "nested more than 16 deep");
}

static void too_many_classes_are_refused(void **state)
{
    for (int i = 0; i < 257; i++) {
        char path[NAME_SIZE];
        snprintf(path, sizeof path, "%03d/a.png", i);
        write_picture(*state, path, 1, 1, 1, 0);
    }
    assert_refused(*state, HEDDLE_INVALID, "more than 256 subfolders");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(subfolders_are_classes_and_a_tenth_of_each_is_held_out),
        WITH_FOLDER(train_and_test_subfolders_are_the_split),
        WITH_FOLDER(a_class_may_be_called_train),
        WITH_FOLDER(files_may_be_deeper_in_the_folder_of_a_class),
        WITH_FOLDER(a_networks_classes_give_the_labels),
        WITH_FOLDER(one_file_in_colour_makes_all_of_them_rgb),
        WITH_FOLDER(different_sizes_are_scaled_to_one_and_that_is_said),
        WITH_FOLDER(a_size_that_all_have_can_be_changed),
        WITH_FOLDER(sizes_that_make_no_sense_are_refused),
#ifdef HEDDLE_HAVE_JPEG
        WITH_FOLDER(jpeg_and_png_files_go_together),
#endif
        WITH_FOLDER(the_listener_hears_of_every_file),
        WITH_FOLDER(a_broken_file_is_named_and_ends_it),
        WITH_FOLDER(a_file_that_breaks_off_is_named),
        WITH_FOLDER(folders_without_classes_say_what_is_missing),
        WITH_FOLDER(a_class_with_one_picture_has_none_to_test_with),
        WITH_FOLDER(train_without_test_says_how_to_go_on),
        WITH_FOLDER(a_link_that_leads_back_is_refused),
        WITH_FOLDER(too_many_classes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void without_libpng_it_says_what_to_install(void **state)
{
    assert_int_equal(mkdir(scratch_path(*state, "a"), 0777), 0);
    scratch_write(*state, "a/x.png", "\x89PNG", 4);
    scratch_write(*state, "a/y.png", "\x89PNG", 4);
    heddle_dataset *dataset;
    assert_fails(heddle_dataset_open(*state, NULL, HEDDLE_TRAIN, &dataset), HEDDLE_MISSING, "libpng-dev");
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_FOLDER(without_libpng_it_says_what_to_install)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
