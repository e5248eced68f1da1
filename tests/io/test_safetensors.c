// safetensors: what is written is read back, and every way in which a file can be wrong is one clear line.

#include "files.h"

#include <dirent.h>

#include "heddle/safetensors.h"

// A file's bytes from its header and data; the caller frees them.
static char *build(const char *header, const void *data, size_t data_size, size_t *size)
{
    uint64_t length = strlen(header);
    *size = sizeof length + length + data_size;
    char *content = malloc(*size);
    assert_non_null(content);
    memcpy(content, &length, sizeof length);
    memcpy(content + sizeof length, header, length);
    if (data_size > 0)
        memcpy(content + sizeof length + length, data, data_size);
    return content;
}

static heddle_status parse_built(const char *header, size_t data_size, heddle_safetensors **file)
{
    char data[256] = {0};
    assert_true(data_size <= sizeof data);
    size_t size;
    char *content = build(header, data, data_size, &size);
    heddle_status status = heddle_safetensors_parse("x.safetensors", content, size, file);
    if (status == HEDDLE_OK) {
        heddle_safetensors_close(*file);
        *file = NULL;
    }
    assert_null(*file);
    free(content);
    return status;
}

#define assert_refused(header, data_size, status, text)                                                                \
    do {                                                                                                               \
        heddle_safetensors *refused_ = NULL;                                                                           \
        assert_fails(parse_built(header, data_size, &refused_), status, text);                                         \
        assert_non_null(strstr(heddle_last_error(), "x.safetensors"));                                                 \
    } while (0)

static const float weights[6] = {1, 2, 3, 4, 5, 6};
static const int64_t step[1] = {12345678901234};
static const uint8_t bytes[3] = {7, 8, 9};

static void write_example(const char *path)
{
    const heddle_array arrays[] = {
        {"layer.weight", HEDDLE_F32, 2, {2, 3}, weights, sizeof weights},
        {"step", HEDDLE_I64, 0, {0}, step, sizeof step},
        {"bytes", HEDDLE_U8, 1, {3}, bytes, sizeof bytes},
        {"nothing", HEDDLE_F64, 3, {4, 0, 2}, NULL, 0},
    };
    const heddle_text_pair metadata[] = {{"format", "heddle"}, {"note", "a \"quoted\"\nline, µ"}};
    assert_ok(heddle_safetensors_write(path, arrays, 4, metadata, 2));
}

// --- reading back ---------------------------------------------------------------------------------------------------

static void what_is_written_is_read_back(void **state)
{
    const char *path = scratch_path(*state, "a.safetensors");
    write_example(path);
    heddle_safetensors *file;
    assert_ok(heddle_safetensors_open(path, &file));
    assert_int_equal(heddle_safetensors_count(file), 4);
    assert_string_equal(heddle_safetensors_at(file, 0)->name, "layer.weight");
    assert_string_equal(heddle_safetensors_at(file, 3)->name, "nothing");

    const heddle_array *weight = heddle_safetensors_find(file, "layer.weight");
    assert_int_equal(weight->dtype, HEDDLE_F32);
    assert_int_equal(weight->rank, 2);
    assert_int_equal(weight->dims[0], 2);
    assert_int_equal(weight->dims[1], 3);
    assert_int_equal(weight->bytes, sizeof weights);
    assert_memory_equal(weight->data, weights, sizeof weights);
    assert_int_equal(heddle_safetensors_find(file, "step")->rank, 0);
    assert_memory_equal(heddle_safetensors_find(file, "step")->data, step, sizeof step);
    assert_memory_equal(heddle_safetensors_find(file, "bytes")->data, bytes, sizeof bytes);
    assert_int_equal(heddle_safetensors_find(file, "nothing")->bytes, 0);
    assert_string_equal(heddle_safetensors_metadata(file, "format"), "heddle");
    assert_string_equal(heddle_safetensors_metadata(file, "note"), "a \"quoted\"\nline, µ");
    heddle_safetensors_close(file);
}

static void what_is_not_there_is_null(void **state)
{
    const char *path = scratch_path(*state, "a.safetensors");
    write_example(path);
    heddle_safetensors *file;
    assert_ok(heddle_safetensors_open(path, &file));
    assert_null(heddle_safetensors_find(file, "layer"));
    assert_null(heddle_safetensors_metadata(file, "layer.weight"));
    assert_null(heddle_safetensors_at(file, 4));
    assert_null(heddle_safetensors_at(file, -1));
    heddle_safetensors_close(file);
    heddle_safetensors_close(NULL);
}

static void a_file_without_tensors_is_fine(void **state)
{
    const char *path = scratch_path(*state, "empty.safetensors");
    assert_ok(heddle_safetensors_write(path, NULL, 0, NULL, 0));
    heddle_safetensors *file;
    assert_ok(heddle_safetensors_open(path, &file));
    assert_int_equal(heddle_safetensors_count(file), 0);
    assert_null(heddle_safetensors_metadata(file, "format"));
    heddle_safetensors_close(file);
}

static void the_header_is_padded_so_that_data_starts_aligned(void **state)
{
    // Names of every length, so that every remainder comes up.
    for (int length = 1; length <= 8; length++) {
        char name[16] = "";
        memset(name, 'n', (size_t)length);
        const heddle_array array = {name, HEDDLE_F32, 1, {6}, weights, sizeof weights};
        const char *path = scratch_path(*state, "padded.safetensors");
        assert_ok(heddle_safetensors_write(path, &array, 1, NULL, 0));
        uint64_t header = 0;
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        assert_int_equal(fread(&header, sizeof header, 1, stream), 1);
        fclose(stream);
        assert_int_equal(header % 8, 0);
    }
}

static void tensors_are_aligned_even_where_the_file_is_not(void **state)
{
    (void)state;
    const char *header = "{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                         "\"d\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[3,19]},"
                         "\"h\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[19,21]}}";
    char data[21];
    const double values[2] = {1.5, -2.5};
    memcpy(data, "abc", 3);
    memcpy(data + 3, values, sizeof values);
    memcpy(data + 19, "\x80\x3f", 2);
    size_t size;
    char *content = build(header, data, sizeof data, &size);
    char *odd = malloc(size + 1);
    memcpy(odd + 1, content, size);
    for (int shift = 0; shift < 2; shift++) {
        heddle_safetensors *file;
        assert_ok(heddle_safetensors_parse("x", shift ? odd + 1 : content, size, &file));
        const heddle_array *doubles = heddle_safetensors_find(file, "d");
        assert_int_equal((uintptr_t)doubles->data % sizeof(double), 0);
        assert_memory_equal(doubles->data, values, sizeof values);
        const heddle_array *half = heddle_safetensors_find(file, "h");
        assert_int_equal((uintptr_t)half->data % 2, 0);
        assert_memory_equal(half->data, "\x80\x3f", 2);
        assert_memory_equal(heddle_safetensors_find(file, "b")->data, "abc", 3);
        heddle_safetensors_close(file);
    }
    free(odd);
    free(content);
}

static void tensors_may_stand_in_any_order_in_the_header(void **state)
{
    (void)state;
    heddle_safetensors *file = NULL;
    assert_ok(parse_built("{\"z\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]},"
                          "\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}   ",
                          7, &file));
}

// --- what a file can have wrong -------------------------------------------------------------------------------------

static void a_missing_file_is_not_found(void **state)
{
    heddle_safetensors *file;
    assert_fails(heddle_safetensors_open(scratch_path(*state, "none.safetensors"), &file), HEDDLE_NOT_FOUND,
                 "none.safetensors");
    assert_null(file);
}

static void every_truncation_is_refused(void **state)
{
    const char *path = scratch_path(*state, "whole.safetensors");
    write_example(path);
    char content[1024];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t size = fread(content, 1, sizeof content, stream);
    fclose(stream);
    assert_in_range(size, 64, sizeof content - 1);
    for (size_t cut = 0; cut < size; cut++) {
        char *part = malloc(cut + 1); // its own memory, so that reading past the cut is seen
        memcpy(part, content, cut);
        part = realloc(part, cut ? cut : 1);
        heddle_safetensors *file;
        assert_fails(heddle_safetensors_parse("cut", part, cut, &file), HEDDLE_CORRUPT, "cut: ");
        assert_null(file);
        free(part);
    }
}

static void truncated_data_says_that_the_file_is_not_whole(void **state)
{
    (void)state;
    assert_refused("{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", 20, HEDDLE_CORRUPT,
                   "tensor w ends at byte 24 of the data, but there are 20 (is the file complete?)");
}

static void a_huge_header_is_refused(void **state)
{
    (void)state;
    uint64_t lengths[] = {100000001, (uint64_t)1 << 40, UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        char content[32] = {0};
        memcpy(content, &lengths[i], sizeof lengths[i]);
        heddle_safetensors *file;
        assert_fails(heddle_safetensors_parse("huge", content, sizeof content, &file), HEDDLE_CORRUPT,
                     "the format allows 100000000");
    }
    uint64_t longer = 25;
    char content[32] = {0};
    memcpy(content, &longer, sizeof longer);
    heddle_safetensors *file;
    assert_fails(heddle_safetensors_parse("longer", content, sizeof content, &file), HEDDLE_CORRUPT,
                 "says its header has 25 bytes, but only 24 follow");
}

static void overlapping_tensors_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                   "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
                   12, HEDDLE_CORRUPT, "tensor b at byte 4 overlaps the one before, which ends at 8");
}

static void out_of_range_tensors_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[1000,1004]}}", 8, HEDDLE_CORRUPT,
                   "tensor a ends at byte 1004 of the data, but there are 8");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[-4,0]}}", 8, HEDDLE_CORRUPT,
                   "two integers");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[6,2]}}", 8, HEDDLE_CORRUPT,
                   "begins at byte 6, after its end at 2");
}

static void bytes_that_belong_to_no_tensor_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}", 6, HEDDLE_CORRUPT,
                   "bytes 0 to 2, before tensor a, belong to no tensor");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 9, HEDDLE_CORRUPT,
                   "5 bytes after the last tensor belong to no tensor");
    assert_refused("{}", 1, HEDDLE_CORRUPT, "1 bytes after the last tensor");
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8, HEDDLE_CORRUPT,
                   "its shape needs 12 bytes, its data_offsets hold 8");
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8, HEDDLE_CORRUPT,
                   "its shape needs 4 bytes, its data_offsets hold 8");
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],\"data_offsets\":[0,0]}}", 0,
                   HEDDLE_CORRUPT, "the product of its dimensions overflows");
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4,-1],\"data_offsets\":[0,0]}}", 0, HEDDLE_CORRUPT,
                   "dimension 1 is not an integer");
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[0.5],\"data_offsets\":[0,2]}}", 2, HEDDLE_CORRUPT,
                   "dimension 0 is not an integer");
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1e300],\"data_offsets\":[0,2]}}", 2, HEDDLE_CORRUPT,
                   "dimension 0 is not an integer");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
                   HEDDLE_UNSUPPORTED, "has 9 dimensions, heddle reads at most 8");
}

static void an_unknown_dtype_is_unsupported(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, HEDDLE_UNSUPPORTED,
                   "tensor a: heddle does not read dtype F8_E4M3");
    assert_refused("{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, HEDDLE_UNSUPPORTED,
                   "dtype f32");
}

static void a_name_that_is_there_twice_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
                   "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
                   3, HEDDLE_CORRUPT, "\"a\" is given twice");
    assert_refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, HEDDLE_CORRUPT, "\"__metadata__\" is given twice");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
                   HEDDLE_CORRUPT, "\"dtype\" is given twice in \"a\"");
}

static void entries_that_lack_a_field_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"a\":7}", 0, HEDDLE_CORRUPT, "tensor a: its entry in the header is not an object");
    assert_refused("{\"a\":{}}", 0, HEDDLE_CORRUPT, "\"dtype\"");
    assert_refused("{\"a\":{\"dtype\":8}}", 0, HEDDLE_CORRUPT, "\"dtype\"");
    assert_refused("{\"a\":{\"dtype\":\"U8\"}}", 0, HEDDLE_CORRUPT, "\"shape\"");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":3}}", 0, HEDDLE_CORRUPT, "\"shape\"");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", 0, HEDDLE_CORRUPT, "\"data_offsets\"");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0]}}", 0, HEDDLE_CORRUPT,
                   "\"data_offsets\"");
    assert_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1,1]}}", 1, HEDDLE_CORRUPT,
                   "\"data_offsets\"");
}

static void metadata_must_be_text(void **state)
{
    (void)state;
    assert_refused("{\"__metadata__\":{\"epoch\":3}}", 0, HEDDLE_CORRUPT, "the value of epoch is not text");
    assert_refused("{\"__metadata__\":[]}", 0, HEDDLE_CORRUPT, "__metadata__ is not an object");
}

static void a_header_that_is_not_json_is_refused(void **state)
{
    (void)state;
    assert_refused("", 0, HEDDLE_CORRUPT, "does not start with '{'");
    assert_refused("[1]", 0, HEDDLE_CORRUPT, "does not start with '{'");
    assert_refused("{\"a\":", 0, HEDDLE_CORRUPT, "line 1");
    assert_refused("{} {}", 0, HEDDLE_CORRUPT, "line 1");
}

static void deep_nesting_is_refused_not_followed(void **state)
{
    (void)state;
    enum { DEPTH = 1000 * 1000 };
    char *header = malloc(DEPTH + 8);
    assert_non_null(header);
    memcpy(header, "{\"a\":", 5);
    memset(header + 5, '[', DEPTH);
    header[5 + DEPTH] = '\0';
    assert_refused(header, 0, HEDDLE_CORRUPT, "line 1");
    free(header);
}

static void a_strange_name_stays_on_one_line(void **state)
{
    (void)state;
    assert_refused("{\"two\\nlines\":7}", 0, HEDDLE_CORRUPT, "tensor two?lines:");
    char header[512];
    memset(header, 'x', sizeof header);
    memcpy(header, "{\"", 2);
    memcpy(header + 400, "\":7}", 5);
    assert_refused(header, 0, HEDDLE_CORRUPT, "xxx...: its entry");
}

// --- what cannot be written -----------------------------------------------------------------------------------------

static void wrong_arrays_are_not_written(void **state)
{
    const char *path = scratch_path(*state, "wrong.safetensors");
    heddle_array good = {"w", HEDDLE_F32, 2, {2, 3}, weights, sizeof weights};
    heddle_array wrong = good;
    wrong.bytes = 20;
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "20 bytes do not fit");
    wrong = good;
    wrong.data = NULL;
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "tensor w has no data");
    heddle_array byte = {"b", HEDDLE_U8, 1, {1}, NULL, 1};
    assert_fails(heddle_safetensors_write(path, &byte, 1, NULL, 0), HEDDLE_INVALID, "tensor b has no data");
    wrong = good;
    wrong.rank = 9;
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "rank 9");
    wrong = good;
    wrong.dims[0] = -2;
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "do not fit");
    wrong = good;
    wrong.name = "__metadata__";
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "needs a name");
    wrong = good;
    wrong.dtype = (heddle_dtype)99;
    assert_fails(heddle_safetensors_write(path, &wrong, 1, NULL, 0), HEDDLE_INVALID, "99 is not a dtype");
    heddle_array twice[] = {good, good};
    assert_fails(heddle_safetensors_write(path, twice, 2, NULL, 0), HEDDLE_INVALID, "two tensors are called w");
    heddle_text_pair pairs[] = {{"k", "1"}, {"k", "2"}};
    assert_fails(heddle_safetensors_write(path, &good, 1, pairs, 2), HEDDLE_INVALID, "two metadata entries");
    heddle_text_pair half = {"k", NULL};
    assert_fails(heddle_safetensors_write(path, &good, 1, &half, 1), HEDDLE_INVALID, "lacks its key or value");
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_flipped_bit_anywhere_in_the_data_is_found(void **state)
{
    enum { DATA_SIZE = sizeof weights + sizeof step + sizeof bytes };
    const char *path = scratch_path(*state, "flipped.safetensors");
    write_example(path);
    for (int place = 1; place <= DATA_SIZE; place++) { // from the end
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        for (int turn = 0; turn < 2; turn++) {
            assert_int_equal(fseek(file, -place, SEEK_END), 0);
            int byte = fgetc(file);
            assert_int_equal(fseek(file, -place, SEEK_END), 0);
            fputc(byte ^ 0x10, file);
            fflush(file);
            heddle_safetensors *read = NULL;
            if (turn == 0)
                assert_fails(heddle_safetensors_open(path, &read), HEDDLE_CORRUPT, "does not match its checksum");
            else
                assert_ok(heddle_safetensors_open(path, &read));
            heddle_safetensors_close(read);
        }
        fclose(file);
    }
    heddle_text_pair own = {"tensors_crc32", "0"};
    assert_fails(heddle_safetensors_write(path, NULL, 0, &own, 1), HEDDLE_INVALID, "reserved");
}

static void a_sum_is_asked_only_of_files_that_have_one(void **state)
{
    (void)state;
    heddle_safetensors *file = NULL;
    assert_ok(parse_built("{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, &file));
    heddle_safetensors_close(file);
    assert_refused("{\"__metadata__\":{\"tensors_crc32\":\"1\"}}", 0, HEDDLE_CORRUPT,
                   "it is corrupt, or another program changed it");
    assert_non_null(strstr(heddle_last_error(), "use another checkpoint, or remove tensors_crc32 from its metadata"));
}

// Two tensors of one size and of names of one length, as another program may lay them out: it keeps the metadata.
static heddle_status parse_pair(const char *sum, const char *first, const char *second, const char *data)
{
    char header[256];
    size_t size;
    snprintf(header, sizeof header,
             "{\"%s\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
             "\"%s\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]},"
             "\"__metadata__\":{\"tensors_crc32\":\"%s\"}}   ",
             first, second, sum);
    char *content = build(header, data, 4, &size);
    heddle_safetensors *file = NULL;
    heddle_status status = heddle_safetensors_parse("x.safetensors", content, size, &file);
    heddle_safetensors_close(file);
    free(content);
    return status;
}

static void the_sum_is_that_of_the_tensors_in_any_order(void **state)
{
    const char *path = scratch_path(*state, "pair.safetensors");
    const heddle_array arrays[] = {{"v", HEDDLE_U8, 1, {2}, "ab", 2}, {"w", HEDDLE_U8, 1, {2}, "cd", 2}};
    const heddle_array turned[] = {arrays[1], arrays[0]};
    char sum[16];
    heddle_safetensors *file;
    assert_ok(heddle_safetensors_write(path, arrays, 2, NULL, 0));
    assert_ok(heddle_safetensors_open(path, &file));
    snprintf(sum, sizeof sum, "%s", heddle_safetensors_metadata(file, "tensors_crc32"));
    heddle_safetensors_close(file);
    assert_ok(heddle_safetensors_write(path, turned, 2, NULL, 0));
    assert_ok(heddle_safetensors_open(path, &file));
    assert_string_equal(heddle_safetensors_metadata(file, "tensors_crc32"), sum);
    heddle_safetensors_close(file);

    assert_ok(parse_pair(sum, "v", "w", "abcd"));
    assert_ok(parse_pair(sum, "w", "v", "cdab"));
    assert_fails(parse_pair(sum, "w", "v", "abcd"), HEDDLE_CORRUPT, "does not match its checksum"); // each other's data
    assert_fails(parse_pair(sum, "v", "w", "cdab"), HEDDLE_CORRUPT, "does not match its checksum");
    assert_fails(parse_pair(sum, "v", "w", "`bbd"), HEDDLE_CORRUPT, "does not match its checksum"); // one bit in both
}

static void writing_replaces_the_file_and_leaves_nothing_else(void **state)
{
    const char *path = scratch_path(*state, "again.safetensors");
    write_example(path);
    assert_ok(heddle_safetensors_write(path, NULL, 0, NULL, 0));
    heddle_safetensors *file;
    assert_ok(heddle_safetensors_open(path, &file));
    assert_int_equal(heddle_safetensors_count(file), 0);
    heddle_safetensors_close(file);

    int files = 0;
    DIR *folder = opendir(*state);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        files += entry->d_name[0] != '.';
    closedir(folder);
    assert_int_equal(files, 1);
}

static void a_failed_write_names_the_file(void **state)
{
    const char *path = scratch_path(*state, "no/such/folder.safetensors");
    assert_fails(heddle_safetensors_write(path, NULL, 0, NULL, 0), HEDDLE_NOT_FOUND, "folder.safetensors");
}

static void an_endless_file_of_another_kind_is_refused_by_its_first_bytes(void **state)
{
    (void)state;
    heddle_safetensors *file = NULL;
    assert_int_equal(heddle_safetensors_open("/dev/zero", &file), HEDDLE_CORRUPT);
    assert_non_null(strstr(heddle_last_error(), "is it a safetensors file?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(what_is_written_is_read_back),
        WITH_FOLDER(what_is_not_there_is_null),
        WITH_FOLDER(a_file_without_tensors_is_fine),
        WITH_FOLDER(the_header_is_padded_so_that_data_starts_aligned),
        cmocka_unit_test(an_endless_file_of_another_kind_is_refused_by_its_first_bytes),
        cmocka_unit_test(tensors_are_aligned_even_where_the_file_is_not),
        cmocka_unit_test(tensors_may_stand_in_any_order_in_the_header),
        WITH_FOLDER(a_missing_file_is_not_found),
        WITH_FOLDER(every_truncation_is_refused),
        cmocka_unit_test(truncated_data_says_that_the_file_is_not_whole),
        cmocka_unit_test(a_huge_header_is_refused),
        cmocka_unit_test(overlapping_tensors_are_refused),
        cmocka_unit_test(out_of_range_tensors_are_refused),
        cmocka_unit_test(bytes_that_belong_to_no_tensor_are_refused),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(an_unknown_dtype_is_unsupported),
        cmocka_unit_test(a_name_that_is_there_twice_is_refused),
        cmocka_unit_test(entries_that_lack_a_field_are_refused),
        cmocka_unit_test(metadata_must_be_text),
        cmocka_unit_test(a_sum_is_asked_only_of_files_that_have_one),
        cmocka_unit_test(a_header_that_is_not_json_is_refused),
        cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(a_strange_name_stays_on_one_line),
        WITH_FOLDER(wrong_arrays_are_not_written),
        WITH_FOLDER(a_flipped_bit_anywhere_in_the_data_is_found),
        WITH_FOLDER(the_sum_is_that_of_the_tensors_in_any_order),
        WITH_FOLDER(writing_replaces_the_file_and_leaves_nothing_else),
        WITH_FOLDER(a_failed_write_names_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
