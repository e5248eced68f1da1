// IDX files: raw and gzip arrive as the bytes they hold; every way in which they can be wrong is one clear line.

#include "files.h"

#include "data/idx.h"
#include "idx_files.h"

static const uint32_t image_dims[] = {5, 4, 3};
static const uint32_t label_dims[] = {7};

static heddle_status parse(const buffer *bytes, heddle_idx_kind kind, heddle_idx *idx)
{
    // Its own memory, so that a sanitizer sees a read past the end.
    uint8_t *copy = malloc(bytes->size ? bytes->size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes->data, bytes->size);
    heddle_status status = heddle_idx_parse("file", copy, bytes->size, kind, idx);
    free(copy);
    if (status != HEDDLE_OK) {
        assert_null(idx->values);
        assert_non_null(strstr(heddle_last_error(), "file: "));
    }
    return status;
}

static heddle_status parse_and_free(buffer *bytes, heddle_idx_kind kind)
{
    heddle_idx idx;
    heddle_status status = parse(bytes, kind, &idx);
    buffer_free(bytes);
    heddle_idx_free(&idx);
    return status;
}

// --- what is right --------------------------------------------------------------------------------------------------

static void assert_images(const buffer *bytes)
{
    heddle_idx idx;
    assert_ok(parse(bytes, HEDDLE_IDX_IMAGES, &idx));
    assert_int_equal(idx.rank, 3);
    assert_int_equal(idx.dims[0], 5);
    assert_int_equal(idx.dims[1], 4);
    assert_int_equal(idx.dims[2], 3);
    assert_int_equal(idx.size, 60);
    for (int i = 0; i < 60; i++)
        assert_int_equal(idx.values[i], i);
    heddle_idx_free(&idx);
}

static void raw_and_gzip_hold_the_same(void **state)
{
    (void)state;
    buffer raw = idx_build(3, image_dims, 60, 256);
    buffer gzip = gzip_build(raw.data, raw.size);
    assert_images(&raw);
    assert_images(&gzip);
    buffer_free(&raw);
    buffer_free(&gzip);
}

static void gzip_may_have_several_members_and_padding(void **state)
{
    (void)state;
    buffer raw = idx_build(3, image_dims, 60, 256);
    buffer whole = {0};
    // Cut at every kind of place: inside the magic, inside the dimensions, inside the values, and an empty member.
    size_t cuts[] = {0, 2, 2, 9, 40, raw.size};
    for (int i = 0; i + 1 < 6; i++) {
        buffer member = gzip_build(raw.data + cuts[i], cuts[i + 1] - cuts[i]);
        buffer_append(&whole, member.data, member.size);
        buffer_free(&member);
    }
    assert_images(&whole);
    buffer_append(&whole, (uint8_t[512]){0}, 512);
    assert_images(&whole);
    buffer_free(&whole);
    buffer_free(&raw);
}

static void images_may_have_channels(void **state)
{
    (void)state;
    buffer raw = idx_build(4, (uint32_t[]){2, 3, 4, 5}, 120, 256);
    heddle_idx idx;
    assert_ok(parse(&raw, HEDDLE_IDX_IMAGES, &idx));
    assert_int_equal(idx.rank, 4);
    assert_int_equal(idx.dims[1], 3);
    heddle_idx_free(&idx);
    buffer_free(&raw);
}

static void a_file_is_read_like_memory(void **state)
{
    char *folder = scratch_create();
    (void)state;
    buffer raw = idx_build(1, label_dims, 7, 10);
    scratch_write(folder, "labels", raw.data, raw.size);
    heddle_idx idx;
    assert_ok(heddle_idx_read(scratch_path(folder, "labels"), HEDDLE_IDX_LABELS, &idx));
    assert_int_equal(idx.dims[0], 7);
    assert_int_equal(idx.values[6], 6);
    heddle_idx_free(&idx);
    assert_fails(heddle_idx_read(scratch_path(folder, "none"), HEDDLE_IDX_LABELS, &idx), HEDDLE_NOT_FOUND, "none");
    buffer_free(&raw);
    scratch_remove(folder);
}

// --- what is wrong --------------------------------------------------------------------------------------------------

static void truncated_files_say_what_was_promised(void **state)
{
    (void)state;
    buffer raw = idx_build(3, (uint32_t[]){60000, 28, 28}, 1000, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT,
                 "truncated: the header says 60000 images of 28×28 (47040016 bytes), but the file has 1016");
    raw = idx_build(1, label_dims, 6, 10);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "truncated: the header says 7 labels (15 bytes), but the file has 14");
    raw = idx_build(3, image_dims, 59, 256);
    buffer gzip = gzip_build(raw.data, raw.size);
    buffer_free(&raw);
    assert_fails(parse_and_free(&gzip, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT,
                 "truncated: the header says 5 images of 4×3 (76 bytes), but the file has 75 when inflated");
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(3, image_dims, 60, 256);
    buffer gzip = gzip_build(raw.data, raw.size);
    for (int compressed = 0; compressed < 2; compressed++) {
        buffer *bytes = compressed ? &gzip : &raw;
        size_t size = bytes->size;
        for (size_t cut = 0; cut < size; cut++) {
            heddle_idx idx;
            bytes->size = cut;
            assert_fails(parse(bytes, HEDDLE_IDX_IMAGES, &idx), HEDDLE_CORRUPT, "file: ");
        }
    }
    buffer_free(&raw);
    buffer_free(&gzip);
}

static void oversized_files_are_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(1, label_dims, 9, 10);
    buffer gzip = gzip_build(raw.data, raw.size);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "oversized: the header says 7 labels (15 bytes), but the file has 17");
    assert_fails(parse_and_free(&gzip, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "oversized: the header says 7 labels (15 bytes), but it inflates to more");
}

static void a_wrong_magic_is_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(1, label_dims, 7, 10);
    raw.data[0] = 'P';
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "not an IDX file: it starts with 50 00 08 01, not 00 00 08 01");
    raw = idx_build(1, label_dims, 7, 10);
    raw.data[2] = 0x0a;
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT, "not an IDX file");
}

static void other_element_types_are_named(void **state)
{
    (void)state;
    const struct {
        uint8_t type;
        const char *name;
    } types[] = {
        {0x09, "signed byte"}, {0x0b, "16-bit integer"}, {0x0c, "32-bit integer"}, {0x0d, "float"}, {0x0e, "double"}};
    for (int i = 0; i < 5; i++) {
        buffer raw = idx_build(1, label_dims, 7, 10);
        raw.data[2] = types[i].type;
        assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_UNSUPPORTED, types[i].name);
    }
}

static void images_and_labels_are_not_taken_for_each_other(void **state)
{
    (void)state;
    buffer raw = idx_build(3, image_dims, 60, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "has 3 dimensions; labels have 1 (are these the images?)");
    raw = idx_build(1, label_dims, 7, 10);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "has 1 dimensions; images have 3");
}

static void dimensions_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(3, (uint32_t[]){5, 0, 3}, 0, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "dimension 1 is 0");
    raw = idx_build(3, (uint32_t[]){0xffffffff, 2, 3}, 8, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "dimension 0 is 4294967295");
    // 2^31 - 1 to the fourth overflows 64 bits; 2^22 squared does not, but is over the limit.
    raw = idx_build(4, (uint32_t[]){0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff}, 8, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "exceed 4 GiB");
    raw = idx_build(3, (uint32_t[]){1u << 22, 1u << 11, 1u << 11}, 8, 256);
    assert_fails(parse_and_free(&raw, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "exceed 4 GiB");
}

static void corrupt_gzip_is_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(3, (uint32_t[]){50, 20, 20}, 20000, 241);
    buffer gzip = gzip_build(raw.data, raw.size);
    uint8_t *damaged = malloc(gzip.size);
    assert_non_null(damaged);
    size_t refused = 0, changed = gzip.size - 10; // after the member's header, whose time and flags do not matter
    for (size_t at = 10; at < gzip.size; at++) {
        memcpy(damaged, gzip.data, gzip.size);
        damaged[at] ^= 0x10;
        heddle_idx idx;
        if (heddle_idx_parse("file", damaged, gzip.size, HEDDLE_IDX_IMAGES, &idx) == HEDDLE_CORRUPT)
            refused++;
        else // the bits that fill up the last byte mean nothing
            assert_memory_equal(idx.values, raw.data + 16, 20000);
        heddle_idx_free(&idx);
    }
    assert_true(refused + 1 >= changed);
    // The last eight bytes are the checksum and the length.
    memcpy(damaged, gzip.data, gzip.size);
    damaged[gzip.size - 8] ^= 1;
    heddle_idx idx;
    assert_fails(heddle_idx_parse("file", damaged, gzip.size, HEDDLE_IDX_IMAGES, &idx), HEDDLE_CORRUPT,
                 "the gzip data is corrupt (incorrect data check)");
    free(damaged);
    buffer_free(&raw);
    buffer_free(&gzip);
}

static void something_after_the_gzip_stream_is_refused(void **state)
{
    (void)state;
    buffer raw = idx_build(1, label_dims, 7, 10);
    buffer gzip = gzip_build(raw.data, raw.size);
    buffer_append(&gzip, "tail", 4);
    buffer_free(&raw);
    assert_fails(parse_and_free(&gzip, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT,
                 "4 bytes after the end of the gzip stream are not gzip");
}

static void a_gzip_bomb_is_not_inflated(void **state)
{
    (void)state;
    enum { BOMB = 64 << 20 };
    // Seven labels are promised, 64 MiB of zeros follow.
    buffer raw = idx_build(1, label_dims, 0, 10);
    uint8_t *zeros = calloc(BOMB, 1);
    assert_non_null(zeros);
    buffer_append(&raw, zeros, BOMB);
    buffer gzip = gzip_build(raw.data, raw.size);
    assert_true(gzip.size < raw.size / 500);
    free(zeros);
    buffer_free(&raw);
    assert_fails(parse_and_free(&gzip, HEDDLE_IDX_LABELS), HEDDLE_CORRUPT, "inflates to more");
}

static void a_small_gzip_file_cannot_claim_gigabytes(void **state)
{
    (void)state;
    buffer raw = idx_build(3, (uint32_t[]){1u << 20, 60, 60}, 1000, 256);
    buffer gzip = gzip_build(raw.data, raw.size);
    buffer_free(&raw);
    assert_fails(parse_and_free(&gzip, HEDDLE_IDX_IMAGES), HEDDLE_CORRUPT, "bytes of gzip cannot hold");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_and_gzip_hold_the_same),
        cmocka_unit_test(gzip_may_have_several_members_and_padding),
        cmocka_unit_test(images_may_have_channels),
        cmocka_unit_test(a_file_is_read_like_memory),
        cmocka_unit_test(truncated_files_say_what_was_promised),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(oversized_files_are_refused),
        cmocka_unit_test(a_wrong_magic_is_refused),
        cmocka_unit_test(other_element_types_are_named),
        cmocka_unit_test(images_and_labels_are_not_taken_for_each_other),
        cmocka_unit_test(dimensions_that_make_no_sense_are_refused),
        cmocka_unit_test(corrupt_gzip_is_refused),
        cmocka_unit_test(something_after_the_gzip_stream_is_refused),
        cmocka_unit_test(a_gzip_bomb_is_not_inflated),
        cmocka_unit_test(a_small_gzip_file_cannot_claim_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
