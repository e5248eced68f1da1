// The sums a written file carries: a damaged byte of its header is told as damage, a sum that was renamed is missed,
// and what another program does with the file without changing what it says is no damage. Damaged tensors are in
// test_safetensors.c, checkpoints in nn/.

#include "files.h"

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "heddle/safetensors.h"

enum { LENGTH_BYTES = 8, BYTE_VALUES = 256 };
static const char NAMES[] = "heddle.checksums, header_crc32 and tensors_crc32";

static const float weights[6] = {1, 2, 3, 4, 5, 6};
static const uint8_t bytes[3] = {7, 8, 9};

// A written file in memory; the caller frees it.
static char *written(const char *folder, size_t *size)
{
    const heddle_array arrays[] = {
        {"b.weight", HEDDLE_F32, 2, {2, 3}, weights, sizeof weights},
        {"a", HEDDLE_U8, 1, {3}, bytes, sizeof bytes},
    };
    // A control character is an escape in the file, whose hexadecimal digits may be of either case.
    const heddle_text_pair metadata[] = {{"rate", "{\"learning_rate\":0.05}"}, {"note", "\033\n µ"}};
    const char *path = scratch_path(folder, "w.safetensors");
    assert_ok(heddle_safetensors_write(path, arrays, 2, metadata, 2));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *content = malloc(4096);
    assert_non_null(content);
    *size = fread(content, 1, 4096, file);
    assert_true(feof(file));
    fclose(file);
    return content;
}

static uint64_t header_length(const char *content)
{
    uint64_t length;
    memcpy(&length, content, sizeof length);
    return length;
}

static heddle_status parse(const char *content, size_t size)
{
    heddle_safetensors *file = NULL;
    heddle_status status = heddle_safetensors_parse("w.safetensors", content, size, &file);
    heddle_safetensors_close(file);
    return status;
}

static bool same_text(const heddle_safetensors *a, const heddle_safetensors *b, const char *key)
{
    const char *one = heddle_safetensors_metadata(a, key), *other = heddle_safetensors_metadata(b, key);
    return one && other && strcmp(one, other) == 0;
}

static bool same_arrays(const heddle_safetensors *a, const heddle_safetensors *b)
{
    for (int i = 0; i < heddle_safetensors_count(a); i++) {
        const heddle_array *one = heddle_safetensors_at(a, i), *other = heddle_safetensors_find(b, one->name);
        if (!other || one->dtype != other->dtype || one->rank != other->rank || one->bytes != other->bytes ||
            memcmp(one->dims, other->dims, sizeof one->dims) != 0 || memcmp(one->data, other->data, one->bytes) != 0)
            return false;
    }
    return heddle_safetensors_count(a) == heddle_safetensors_count(b);
}

// Everything that can be read of the two files is the same.
static bool reads_the_same(const heddle_safetensors *a, const heddle_safetensors *b)
{
    return same_arrays(a, b) && same_text(a, b, "rate") && same_text(a, b, "note") &&
           same_text(a, b, "tensors_crc32") && same_text(a, b, "header_crc32") && same_text(a, b, "heddle.checksums");
}

static void every_other_value_of_every_byte_of_the_header_is_damage_or_reads_the_same(void **state)
{
    size_t size;
    char *content = written(*state, &size), *damaged = malloc(size);
    assert_non_null(damaged);
    heddle_safetensors *whole = NULL;
    assert_ok(heddle_safetensors_parse("whole", content, size, &whole));
    int read = 0;
    for (size_t place = 0; place < LENGTH_BYTES + header_length(content); place++)
        for (int value = 0; value < BYTE_VALUES; value++) {
            memcpy(damaged, content, size);
            damaged[place] = (char)value;
            heddle_safetensors *file = NULL;
            heddle_status status = heddle_safetensors_parse("w.safetensors", damaged, size, &file);
            if (damaged[place] == content[place]) {
                assert_int_equal(status, HEDDLE_OK);
            } else if (status == HEDDLE_OK) {
                // Spaces that pad the header may be other white space, an escape's digit of the other case.
                bool space = content[place] == ' ' && memchr("\t\n\r", value, 3);
                bool digit = content[place] == 'b' && value == 'B' && memcmp(content + place - 5, "\\u001b", 6) == 0;
                if (!(space || digit) || !reads_the_same(whole, file))
                    fail_msg("byte %zu, '%c' (%d) for '%c', went unseen", place, value, value, content[place]);
                read++;
            } else if (status != HEDDLE_CORRUPT || !strstr(heddle_last_error(), "it is corrupt, or another program") ||
                       !strstr(heddle_last_error(), "; use another checkpoint")) {
                fail_msg("byte %zu, value %d: %s", place, value, heddle_last_error());
            }
            heddle_safetensors_close(file);
        }
    assert_true(read > 0);
    heddle_safetensors_close(whole);
    free(damaged);
    free(content);
}

// Parses the file with each `from` in its header replaced by `to`, of the same length.
static heddle_status parse_with(const char *content, size_t size, const char *from, const char *to)
{
    size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    char *changed = malloc(size);
    assert_non_null(changed);
    memcpy(changed, content, size);
    int found = 0;
    for (size_t place = LENGTH_BYTES; place + length <= LENGTH_BYTES + header_length(content); place++)
        if (memcmp(changed + place, from, length) == 0) {
            memcpy(changed + place, to, length);
            found++;
        }
    assert_true(found > 0);
    heddle_status status = parse(changed, size);
    free(changed);
    return status;
}

static void no_check_is_switched_off_by_a_name(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    static const char *const edits[][2] = {
        {"\"tensors_crc32\":", "\"tensors_crc33\":"},
        {"\"header_crc32\":", "\"header_crc33\":"},
        {"\"heddle.checksums\":", "\"heddle.checksumz\":"},
        {"tensors_crc32", "tensors_crc33"}, // where it is listed, too
        {"header_crc32", "header_crc33"},
        {"0.05", "0.85"},
        {"b.weight", "c.weight"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        assert_fails(parse_with(content, size, edits[i][0], edits[i][1]), HEDDLE_CORRUPT,
                     "w.safetensors: its header does not match its checksum: it is corrupt, or another program "
                     "changed it");
        assert_non_null(strstr(heddle_last_error(), "; use another checkpoint, or remove "));
        assert_non_null(strstr(heddle_last_error(), NAMES));
    }
    assert_ok(parse(content, size));
    free(content);
}

// --- as other programs write it -------------------------------------------------------------------------------------

// The header as JSON; the caller deletes it.
static cJSON *header_of(const char *content)
{
    cJSON *header = cJSON_ParseWithLength(content + LENGTH_BYTES, header_length(content));
    assert_non_null(header);
    return header;
}

// Parses the data of `content` under another header, in a layout of its own.
static heddle_status parse_under(const cJSON *header, const char *content, size_t size)
{
    char *text = cJSON_Print(header);
    uint64_t length = strlen(text), before = LENGTH_BYTES + header_length(content);
    char *changed = malloc(LENGTH_BYTES + length + size - before);
    assert_non_null(changed);
    memcpy(changed, &length, sizeof length);
    memcpy(changed + LENGTH_BYTES, text, length);
    memcpy(changed + LENGTH_BYTES + length, content + before, size - before);
    heddle_status status = parse(changed, LENGTH_BYTES + length + size - before);
    free(changed);
    cJSON_free(text);
    return status;
}

// The same entries, last first.
static void turn_around(cJSON *object)
{
    cJSON *turned = cJSON_CreateObject();
    for (int i = cJSON_GetArraySize(object) - 1; i >= 0; i--)
        cJSON_AddItemToArray(turned, cJSON_DetachItemFromArray(object, i));
    object->child = turned->child;
    turned->child = NULL;
    cJSON_Delete(turned);
}

static void the_order_and_the_spaces_of_another_writer_are_no_damage(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    cJSON *header = header_of(content), *metadata = cJSON_GetObjectItem(header, "__metadata__");
    assert_string_equal(header->child->string, "__metadata__");
    assert_string_equal(metadata->child->string, "heddle.checksums");
    turn_around(header);
    turn_around(metadata);
    assert_string_equal(header->child->string, "a");
    assert_string_equal(metadata->child->string, "note");
    assert_int_equal(cJSON_GetArraySize(header) + cJSON_GetArraySize(metadata), 3 + 5);
    assert_ok(parse_under(header, content, size));

    cJSON *rate = cJSON_GetObjectItem(metadata, "rate");
    cJSON_SetValuestring(rate, "{\"learning_rate\":0.85}");
    assert_fails(parse_under(header, content, size), HEDDLE_CORRUPT, "its header does not match its checksum");
    cJSON_DeleteItemFromObject(metadata, "rate");
    assert_fails(parse_under(header, content, size), HEDDLE_CORRUPT, "its header does not match its checksum");
    cJSON_Delete(header);
    free(content);
}

static void a_file_from_before_the_header_had_a_sum_has_its_tensors_checked_alone(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    cJSON *header = header_of(content), *metadata = cJSON_GetObjectItem(header, "__metadata__");
    cJSON_DeleteItemFromObject(metadata, "heddle.checksums");
    cJSON_DeleteItemFromObject(metadata, "header_crc32");
    assert_ok(parse_under(header, content, size));
    content[size - 1] ^= 1;
    assert_fails(parse_under(header, content, size), HEDDLE_CORRUPT, "its data does not match its checksum");
    assert_non_null(strstr(heddle_last_error(), "or remove tensors_crc32 from its metadata"));
    cJSON_DeleteItemFromObject(metadata, "tensors_crc32"); // as advised
    assert_ok(parse_under(header, content, size));
    cJSON_Delete(header);
    free(content);
}

static void damaged_tensors_are_read_once_the_sums_are_removed_as_advised(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    cJSON *header = header_of(content), *metadata = cJSON_GetObjectItem(header, "__metadata__");
    content[size - 1] ^= 1;
    assert_fails(parse(content, size), HEDDLE_CORRUPT, "its data does not match its checksum");
    assert_non_null(strstr(heddle_last_error(), NAMES));
    cJSON_DeleteItemFromObject(metadata, "heddle.checksums");
    cJSON_DeleteItemFromObject(metadata, "header_crc32");
    cJSON_DeleteItemFromObject(metadata, "tensors_crc32");
    assert_ok(parse_under(header, content, size));
    cJSON_Delete(header);
    free(content);
}

// The whole format, as its definition has it: others read by that alone.
static void what_is_written_is_plain_safetensors(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    cJSON *header = header_of(content), *item;
    assert_int_equal(content[LENGTH_BYTES], '{');
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(header, "__metadata__")) assert_true(cJSON_IsString(item));
    static const char *const names[] = {"b.weight", "a"};
    double end = 0;
    for (int i = 0; i < 2; i++) {
        const cJSON *offsets = cJSON_GetObjectItem(cJSON_GetObjectItem(header, names[i]), "data_offsets");
        assert_true(cJSON_GetArrayItem(offsets, 0)->valuedouble == end);
        end = cJSON_GetArrayItem(offsets, 1)->valuedouble;
    }
    assert_int_equal(size, LENGTH_BYTES + header_length(content) + (size_t)end);
    assert_int_equal(cJSON_GetArraySize(header), 3);
    cJSON_Delete(header);
    free(content);
}

static void a_damaged_length_is_told_before_the_file_is_read(void **state)
{
    size_t size;
    char *content = written(*state, &size);
    content[LENGTH_BYTES - 1] ^= 0x10;
    scratch_write(*state, "long.safetensors", content, size);
    heddle_safetensors *file = NULL;
    assert_fails(heddle_safetensors_open(scratch_path(*state, "long.safetensors"), &file), HEDDLE_CORRUPT,
                 "it is corrupt, or another program changed it; use another checkpoint");
    assert_non_null(strstr(heddle_last_error(), "the format allows"));
    free(content);
}

static void the_names_of_the_sums_are_the_writers_own(void **state)
{
    const char *path = scratch_path(*state, "own.safetensors");
    static const char *const names[] = {"heddle.checksums", "header_crc32", "tensors_crc32"};
    for (int i = 0; i < 3; i++) {
        const heddle_text_pair own = {names[i], "0"};
        assert_fails(heddle_safetensors_write(path, NULL, 0, &own, 1), HEDDLE_INVALID, "reserved");
        assert_non_null(strstr(heddle_last_error(), names[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(every_other_value_of_every_byte_of_the_header_is_damage_or_reads_the_same),
        WITH_FOLDER(no_check_is_switched_off_by_a_name),
        WITH_FOLDER(the_order_and_the_spaces_of_another_writer_are_no_damage),
        WITH_FOLDER(a_file_from_before_the_header_had_a_sum_has_its_tensors_checked_alone),
        WITH_FOLDER(damaged_tensors_are_read_once_the_sums_are_removed_as_advised),
        WITH_FOLDER(what_is_written_is_plain_safetensors),
        WITH_FOLDER(a_damaged_length_is_told_before_the_file_is_read),
        WITH_FOLDER(the_names_of_the_sums_are_the_writers_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
