// Checkpoints whose text or numbers are not what they should be, or not what was written: each is refused with one line
// that says so, whoever opens it, before room is made for anything it claims. Those of earlier versions still load.

#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "nn/checkpoint.h"
#include "nn/checkpoint_about.h"

enum { PATH = 256, MOST_ARRAYS = 64, LENGTH_BYTES = 8 };
static const char KEY_MODEL[] = "heddle.model", KEY_TRAINING[] = "heddle.training";

// A checkpoint in the middle of an epoch, with momentum's arrays.
static void write_good(char *path)
{
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    const char *folder = temporary_folder();
    volatile int stop = 1; // after the first step
    heddle_train_options options = heddle_train_defaults();
    options.optimizer = HEDDLE_MOMENTUM;
    options.folder = folder;
    options.batch = 10;
    options.stop = &stop;
    assert_int_equal(heddle_train(device, model, small_dataset(40, 1), NULL, &options, NULL), HEDDLE_INTERRUPTED);
    heddle_device_close(device);
    heddle_model_close(model);
    path_in(folder, "last.safetensors", path, PATH);
}

// Writes `path` again with other texts; NULL leaves one out. An array called `without` is left out too.
static void rewrite(const char *path, const char *model, const char *training, const char *without)
{
    heddle_safetensors *file = NULL;
    assert_ok(heddle_safetensors_open(path, &file));
    heddle_array arrays[MOST_ARRAYS];
    int count = 0;
    for (int i = 0; i < heddle_safetensors_count(file); i++) {
        assert_true(count < MOST_ARRAYS);
        arrays[count] = *heddle_safetensors_at(file, i);
        count += !without || strcmp(arrays[count].name, without) != 0;
    }
    heddle_text_pair metadata[2];
    int pairs = 0;
    if (model)
        metadata[pairs++] = (heddle_text_pair){KEY_MODEL, model};
    if (training)
        metadata[pairs++] = (heddle_text_pair){KEY_TRAINING, training};
    assert_ok(heddle_safetensors_write(path, arrays, count, metadata, pairs));
    heddle_safetensors_close(file);
}

static char *metadata_of(const char *path, const char *key)
{
    heddle_safetensors *file = NULL;
    assert_ok(heddle_safetensors_open(path, &file));
    char *text = strdup(heddle_safetensors_metadata(file, key));
    heddle_safetensors_close(file);
    return text;
}

// Everybody who opens a checkpoint must say the same of it: HEDDLE_CORRUPT, in one line that names the file and `part`.
static void must_be_refused(const char *path, const char *part, const char *why)
{
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    heddle_model *model = NULL;
    heddle_train_options options;
    for (int i = 0; i < 3; i++) {
        heddle_status status = i == 0   ? heddle_network_open(device, path, 1, HEDDLE_FUSED, &network)
                               : i == 1 ? heddle_train_options_from(path, &options, NULL, 0)
                                        : heddle_model_from(path, &model);
        if (status != HEDDLE_CORRUPT)
            fail_msg("%s: %s instead of HEDDLE_CORRUPT: %s", why, heddle_status_name(status), heddle_last_error());
        if (!strstr(heddle_last_error(), part) || !strstr(heddle_last_error(), path))
            fail_msg("%s: neither file nor '%s' in: %s", why, part, heddle_last_error());
        assert_null(strchr(heddle_last_error(), '\n'));
    }
    assert_null(network);
    assert_null(model);
    heddle_device_close(device);
}

// Replaces one field ("position.epoch" for one inside) by `text`; NULL removes it. The caller frees the result.
static char *with_field(const char *training, const char *field, const char *text)
{
    cJSON *json = cJSON_Parse(training), *inside = json;
    const char *dot = strchr(field, '.');
    if (dot) {
        inside = cJSON_GetObjectItemCaseSensitive(json, "position");
        field = dot + 1;
    }
    assert_non_null(cJSON_GetObjectItemCaseSensitive(inside, field)); // a misspelt field would test nothing
    if (text)
        cJSON_ReplaceItemInObjectCaseSensitive(inside, field, cJSON_CreateRaw(text));
    else
        cJSON_DeleteItemFromObjectCaseSensitive(inside, field);
    char *changed = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return changed;
}

static void refuse_field(const char *path, const char *model, const char *training, const char *field, const char *text)
{
    char why[PATH], *changed = with_field(training, field, text);
    snprintf(why, sizeof why, "%s = %s", field, text ? text : "nothing");
    rewrite(path, model, changed, NULL);
    must_be_refused(path, path, why);
    free(changed);
}

static void every_field_missing_of_another_type_or_out_of_range_is_refused(void **state)
{
    (void)state;
    // After the name, values that make no sense for it, beside those that make none for any.
    static const char *const fields[][6] = {
        {"dataset"},
        {"fingerprint", "\"12\"", "\"zzzzzzzzzzzzzzzz\""},
        {"seed", "\"123456789012345\"", "\"12345678901234567\""},
        {"optimizer", "\"sgdd\""},
        {"schedule", "\"\""},
        {"kernels", "\"fastest\""},
        {"epochs", "-1", "1.5", "2147483648"},
        {"batch", "0", "-4", "1e30"},
        {"learning_rate", "0", "-1", "1e999", "null"},
        {"momentum", "1", "-0.1", "null"},
        {"beta2", "1", "null"},
        {"epsilon", "0", "null"},
        {"weight_decay", "-1", "null"},
        {"border", "null"},
        {"position", "[]", "7"},
        {"position.epoch", "-1", "1", "99", "2147483647"},
        {"position.batch", "-1", "0", "2", "2147483647"},
        {"position.step", "-1", "0", "1e300"},
        {"position.loss_sum", "null", "1e999"},
        {"position.correct", "-1", "11"},
        {"position.images", "0", "9", "11", "41"},
        {"position.epochs_done", "1", "-1"},
        {"position.train_loss"},
        {"position.train_accuracy"},
        {"position.test_loss"},
        {"position.test_accuracy"},
        {"position.best_accuracy", "1e999"},
    };
    char path[PATH];
    write_good(path);
    char *model = metadata_of(path, KEY_MODEL), *training = metadata_of(path, KEY_TRAINING);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        refuse_field(path, model, training, fields[i][0], NULL);
        refuse_field(path, model, training, fields[i][0], "true");
        refuse_field(path, model, training, fields[i][0], "{\"a\": 1}");
        for (int j = 1; j < 6 && fields[i][j]; j++)
            refuse_field(path, model, training, fields[i][0], fields[i][j]);
    }
    rewrite(path, model, training, NULL); // and the original is still fine
    heddle_train_options options;
    assert_ok(heddle_train_options_from(path, &options, NULL, 0));
    free(model);
    free(training);
}

static void a_position_outside_the_run_is_not_resumed(void **state)
{
    (void)state;
    char path[PATH], folder[PATH];
    write_good(path); // epoch 0, batch 1 of 4, step 1
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    char *model_text = metadata_of(path, KEY_MODEL), *training = metadata_of(path, KEY_TRAINING);
    heddle_train_options options;
    assert_ok(heddle_train_options_from(path, &options, NULL, 0));
    options.folder = folder;
    options.resume = true;
    options.epochs = 2;
    heddle_model *model = small_cnn();
    heddle_device *device = open_cpu(1);
    // The numbers agree with one another, but not with 4 batches in an epoch.
    static const struct {
        const char *batch, *step, *images;
        heddle_status expected;
    } positions[] = {{"4", "4", "40", HEDDLE_CORRUPT},
                     {"5", "5", "50", HEDDLE_CORRUPT},
                     {"1", "2", "10", HEDDLE_CORRUPT},
                     {"3", "3", "30", HEDDLE_OK}};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        char *batch = with_field(training, "position.batch", positions[i].batch);
        char *step = with_field(batch, "position.step", positions[i].step);
        char *images = with_field(step, "position.images", positions[i].images);
        rewrite(path, model_text, images, NULL);
        heddle_status status = heddle_train(device, model, small_dataset(40, 1), NULL, &options, NULL);
        if (status != positions[i].expected)
            fail_msg("batch %s, step %s: %s", positions[i].batch, positions[i].step, heddle_last_error());
        if (status != HEDDLE_OK)
            assert_non_null(strstr(heddle_last_error(), "its position does not lie in the run"));
        free(batch);
        free(step);
        free(images);
    }
    heddle_device_close(device);
    heddle_model_close(model);
    free(model_text);
    free(training);
}

static void texts_that_are_not_what_they_should_be_are_refused(void **state)
{
    (void)state;
    char path[PATH], *changed;
    write_good(path);
    char *model = metadata_of(path, KEY_MODEL), *training = metadata_of(path, KEY_TRAINING);
    static const char *const nonsense[] = {"", "{", "[]", "7", "null", "{}", "{\"layers\": []}", "{\"input\": 3}"};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        rewrite(path, nonsense[i], training, NULL);
        must_be_refused(path, path, nonsense[i]);
        rewrite(path, model, nonsense[i], NULL);
        must_be_refused(path, path, nonsense[i]);
    }
    rewrite(path, NULL, training, NULL);
    must_be_refused(path, "not a checkpoint of heddle (no 'heddle.model'", "no model");
    rewrite(path, model, NULL, NULL);
    must_be_refused(path, "not a checkpoint of heddle (no 'heddle.training'", "no training");
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "\"", 1);
    memcpy(long_name + sizeof long_name - 2, "\"", 2);
    changed = with_field(training, "dataset", long_name);
    rewrite(path, model, changed, NULL);
    must_be_refused(path, "dataset", "a long name");
    free(changed);
    free(model);
    free(training);
}

// The same model with another number of features in its hidden layer.
static char *with_features(const char *model, const char *features)
{
    const char *at = strstr(model, "\"features\":24");
    assert_non_null(at);
    char *changed = malloc(strlen(model) + strlen(features) + 1);
    sprintf(changed, "%.*s\"features\":%s%s", (int)(at - model), model, features, at + strlen("\"features\":24"));
    return changed;
}

static void arrays_that_do_not_fit_the_model_are_refused(void **state)
{
    (void)state;
    char path[PATH];
    write_good(path);
    char *model = metadata_of(path, KEY_MODEL), *training = metadata_of(path, KEY_TRAINING);
    char *other = with_features(model, "25"), *huge = with_features(model, "1000000");
    rewrite(path, other, training, NULL);
    must_be_refused(path, "another shape", "25 features");
    rewrite(path, huge, training, NULL); // gigabytes of parameters in a file of kilobytes
    must_be_refused(path, "another shape", "a huge model");
    rewrite(path, model, training, "linear2.bias");
    must_be_refused(path, "'linear2.bias' is missing", "without a bias");
    free(model);
    free(training);
    free(other);
    free(huge);
}

static void missing_moments_stop_resuming_and_nothing_else(void **state)
{
    (void)state;
    char path[PATH], folder[PATH];
    write_good(path);
    char *text = metadata_of(path, KEY_MODEL), *training = metadata_of(path, KEY_TRAINING);
    rewrite(path, text, training, "moment1/linear1.weight");
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    assert_ok(heddle_network_open(device, path, 1, HEDDLE_FUSED, &network));
    heddle_network_close(network);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    heddle_train_options options;
    heddle_model *model = NULL;
    assert_ok(heddle_train_options_from(path, &options, NULL, 0));
    assert_ok(heddle_model_from(path, &model));
    options.folder = folder;
    options.resume = true;
    assert_int_equal(heddle_train(device, model, small_dataset(40, 1), NULL, &options, NULL), HEDDLE_CORRUPT);
    assert_non_null(strstr(heddle_last_error(), "'moment1/linear1.weight' is missing"));
    heddle_model_close(model);
    heddle_device_close(device);
    free(text);
    free(training);
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    char path[PATH];
    write_good(path);
    heddle_safetensors *file = NULL;
    assert_ok(heddle_safetensors_open(path, &file));
    const heddle_array *weight = heddle_safetensors_find(file, "linear1.weight");
    ((float *)weight->data)[weight->bytes / sizeof(float) - 1] = NAN;
    heddle_array arrays[MOST_ARRAYS];
    for (int i = 0; i < heddle_safetensors_count(file); i++)
        arrays[i] = *heddle_safetensors_at(file, i);
    heddle_text_pair metadata[] = {{KEY_MODEL, heddle_safetensors_metadata(file, KEY_MODEL)},
                                   {KEY_TRAINING, heddle_safetensors_metadata(file, KEY_TRAINING)}};
    assert_ok(heddle_safetensors_write(path, arrays, heddle_safetensors_count(file), metadata, 2));
    heddle_safetensors_close(file);
    must_be_refused(path, "'linear1.weight' has numbers that are not finite", "NaN");
}

// --- damage ---------------------------------------------------------------------------------------------------------

// Where the data begins.
static size_t header_end(const char *content)
{
    uint64_t length;
    memcpy(&length, content, sizeof length);
    return LENGTH_BYTES + (size_t)length;
}

static void every_flipped_bit_of_a_checkpoints_header_is_told_as_damage(void **state)
{
    (void)state;
    char path[PATH];
    size_t size;
    write_good(path);
    char *content = read_file(path, &size);
    for (size_t place = 0; place < header_end(content); place++)
        for (int bit = 0; bit < 8; bit++) {
            heddle_checkpoint *checkpoint = NULL;
            content[place] ^= (char)(1 << bit);
            heddle_status status = heddle_checkpoint_parse("damaged.safetensors", content, size, &checkpoint);
            content[place] ^= (char)(1 << bit);
            if (status != HEDDLE_CORRUPT)
                fail_msg("byte %zu, bit %d: %s", place, bit, heddle_status_name(status));
            if (!strstr(heddle_last_error(), "it is corrupt, or another program changed it") ||
                !strstr(heddle_last_error(), "; use another checkpoint") || strchr(heddle_last_error(), '\n'))
                fail_msg("byte %zu, bit %d: %s", place, bit, heddle_last_error());
            assert_null(checkpoint);
        }
    free(content);
}

static void edits_of_equal_length_are_refused_by_all_who_open_a_checkpoint(void **state)
{
    (void)state;
    static const char *const edits[][2] = {
        {"\\\"epsilon\\\":1e-05", "\\\"epsilon\\\":1e-01"}, // of batchnorm, in the model
        {"\\\"learning_rate\\\":0.05", "\\\"learning_rate\\\":0.85"},
        {"\"tensors_crc32\":", "\"tensors_crc33\":"},
        {"\"header_crc32\":", "\"header_crc33\":"},
        {"\\\"channels\\\":", "\\\"channelz\\\":"},
    };
    char path[PATH];
    size_t size;
    write_good(path);
    char *content = read_file(path, &size);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *changed = malloc(size), *place;
        memcpy(changed, content, size);
        place = memmem(changed, header_end(content), edits[i][0], strlen(edits[i][0]));
        if (!place)
            fail_msg("%s is not in the header: %.*s", edits[i][0], (int)header_end(content) - LENGTH_BYTES,
                     content + LENGTH_BYTES);
        memcpy(place, edits[i][1], strlen(edits[i][1]));
        heddle_slice slice = {changed, size};
        assert_ok(heddle_file_write_atomic(path, &slice, 1));
        must_be_refused(path, "its header does not match its checksum: it is corrupt, or another program changed it",
                        edits[i][1]);
        free(changed);
    }
    free(content);
}

// Writes the file again without entries of its metadata.
static void remove_metadata(const char *path, const char *const *keys, int count)
{
    size_t size;
    char *content = read_file(path, &size);
    cJSON *header = cJSON_ParseWithLength(content + LENGTH_BYTES, header_end(content) - LENGTH_BYTES);
    for (int i = 0; i < count; i++) {
        cJSON *metadata = cJSON_GetObjectItemCaseSensitive(header, "__metadata__");
        assert_true(cJSON_HasObjectItem(metadata, keys[i]));
        cJSON_DeleteItemFromObjectCaseSensitive(metadata, keys[i]);
    }
    char *text = cJSON_PrintUnformatted(header);
    uint64_t length = strlen(text);
    const heddle_slice slices[] = {
        {&length, sizeof length}, {text, length}, {content + header_end(content), size - header_end(content)}};
    assert_ok(heddle_file_write_atomic(path, slices, 3));
    cJSON_free(text);
    cJSON_Delete(header);
    free(content);
}

static void a_checkpoint_of_an_earlier_version_still_loads(void **state)
{
    (void)state;
    static const char *const header_keys[] = {"heddle.checksums", "header_crc32"}, *const tensor_key = "tensors_crc32";
    char path[PATH];
    write_good(path);
    for (int version = 0; version < 2; version++) { // with a sum of its tensors, and with none
        if (version == 0)
            remove_metadata(path, header_keys, 2);
        else
            remove_metadata(path, &tensor_key, 1);
        heddle_device *device = open_cpu(1);
        heddle_network *network = NULL;
        heddle_train_options options;
        assert_ok(heddle_network_open(device, path, 1, HEDDLE_FUSED, &network));
        assert_ok(heddle_train_options_from(path, &options, NULL, 0));
        assert_int_equal(options.batch, 10);
        heddle_network_close(network);
        heddle_device_close(device);
        size_t size;
        char *content = read_file(path, &size);
        heddle_checkpoint *checkpoint = NULL;
        content[size - 1] ^= 1;
        assert_int_equal(heddle_checkpoint_parse(path, content, size, &checkpoint),
                         version == 0 ? HEDDLE_CORRUPT : HEDDLE_OK);
        heddle_checkpoint_close(checkpoint);
        free(content);
    }
}

// --- the text of the training ---------------------------------------------------------------------------------------

// Resuming adds to sums that were written as text: not one may come back changed.
static void doubles_survive_being_written_exactly(void **state)
{
    (void)state;
    heddle_random random = heddle_random_make(1, 2);
    for (int i = 0; i < 2000; i++) {
        heddle_checkpoint_about about = {.options = heddle_train_defaults(), .position = heddle_position_start()}, back;
        about.position.loss_sum = 1000 * heddle_random_uniform(&random) + 1e-6 * heddle_random_uniform(&random);
        about.position.best_accuracy = (double)heddle_random_below(&random, 10000) / 9973;
        about.options.learning_rate =
            ldexp(1 + heddle_random_uniform(&random), -(int)heddle_random_below(&random, 900));
        char *text = heddle_about_to_json(&about);
        assert_non_null(text);
        assert_ok(heddle_about_from_json("text", text, &back));
        assert_true(back.position.loss_sum == about.position.loss_sum);
        assert_true(back.position.best_accuracy == about.position.best_accuracy);
        assert_true(back.options.learning_rate == about.options.learning_rate);
        assert_true(isnan(back.position.test_loss));
        cJSON_free(text);
    }
}

static void a_checkpoint_from_before_there_were_arithmetics_is_full(void **state)
{
    (void)state;
    static const char field[] = "\"arithmetic\":\"full\",";
    heddle_checkpoint_about about = {.options = heddle_train_defaults(), .position = heddle_position_start()}, back;
    char *text = heddle_about_to_json(&about), *place = strstr(text, field);
    assert_non_null(place);
    memmove(place, place + sizeof field - 1, strlen(place + sizeof field - 1) + 1);
    assert_ok(heddle_about_from_json("text", text, &back));
    assert_int_equal(back.options.arithmetic, HEDDLE_FULL);
    cJSON_free(text);
}

static void a_checkpoint_from_before_steps_were_left_out_has_none(void **state)
{
    (void)state;
    static const char field[] = "\"left_out\":3,";
    heddle_checkpoint_about about = {.options = heddle_train_defaults(), .position = heddle_position_start()}, back;
    about.position.step = about.position.left_out = 3;
    char *text = heddle_about_to_json(&about), *place = strstr(text, field);
    assert_non_null(place);
    assert_ok(heddle_about_from_json("text", text, &back));
    assert_int_equal(back.position.left_out, 3);
    place[sizeof field - 3] = '4'; // more than there were steps
    assert_int_equal(heddle_about_from_json("text", text, &back), HEDDLE_CORRUPT);
    memmove(place, place + sizeof field - 1, strlen(place + sizeof field - 1) + 1);
    assert_ok(heddle_about_from_json("text", text, &back));
    assert_int_equal(back.position.left_out, 0);
    cJSON_free(text);
}

static void data_may_have_fewer_classes_than_the_model(void **state)
{
    (void)state;
    static const char *const names[] = {"north", "east\033[31m", "south", "west"};
    heddle_dataset data = *small_dataset(40, 1);
    data.class_names = names;
    heddle_input_shape input = {data.channels, data.height, data.width, data.classes + 2};
    heddle_model *model = NULL;
    assert_ok(heddle_model_open("mlp", &input, &model));
    heddle_device *device = open_cpu(1);
    heddle_train_options options = heddle_train_defaults();
    options.folder = temporary_folder();
    options.epochs = 0;
    assert_ok(heddle_train(device, model, &data, NULL, &options, NULL));
    char path[PATH];
    path_in(options.folder, "last.safetensors", path, sizeof path);
    heddle_network *network = NULL;
    assert_ok(heddle_network_open(device, path, 1, HEDDLE_FUSED, &network));
    assert_string_equal(heddle_network_class_name(network, 3), "west");
    assert_string_equal(heddle_network_class_name(network, 5), "5");
    assert_null(strchr(heddle_network_class_name(network, 1), '\033')); // names of a file do not play on the terminal
    heddle_network_close(network);
    heddle_device_close(device);
    heddle_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_missing_of_another_type_or_out_of_range_is_refused),
        cmocka_unit_test(a_position_outside_the_run_is_not_resumed),
        cmocka_unit_test(texts_that_are_not_what_they_should_be_are_refused),
        cmocka_unit_test(arrays_that_do_not_fit_the_model_are_refused),
        cmocka_unit_test(missing_moments_stop_resuming_and_nothing_else),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused),
        cmocka_unit_test(every_flipped_bit_of_a_checkpoints_header_is_told_as_damage),
        cmocka_unit_test(edits_of_equal_length_are_refused_by_all_who_open_a_checkpoint),
        cmocka_unit_test(a_checkpoint_of_an_earlier_version_still_loads),
        cmocka_unit_test(doubles_survive_being_written_exactly),
        cmocka_unit_test(a_checkpoint_from_before_there_were_arithmetics_is_full),
        cmocka_unit_test(a_checkpoint_from_before_steps_were_left_out_has_none),
        cmocka_unit_test(data_may_have_fewer_classes_than_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
