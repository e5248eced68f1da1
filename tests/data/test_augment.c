// Augmentation: what each word does to an image, that moves follow from seed, epoch and sample alone, and how settings
// are written.

#include "files.h"

#include "data/augment.h"

enum { HEIGHT = 5, WIDTH = 7, CHANNELS = 2, PLANE = HEIGHT * WIDTH };

// --- what a move does -----------------------------------------------------------------------------------------------

static void draw_image(uint8_t *image)
{
    for (int i = 0; i < CHANNELS * PLANE; i++)
        image[i] = (uint8_t)(i + 1); // no pixel is black
}

// The same, step by step: pad and cut, mirror, shift.
static void move_by_steps(const int8_t *move, const uint8_t *from, uint8_t *to)
{
    enum { PAD = 8, TALL = HEIGHT + 2 * PAD, WIDE = WIDTH + 2 * PAD };
    for (int c = 0; c < CHANNELS; c++) {
        uint8_t padded[TALL][WIDE] = {{0}}, cut[HEIGHT][WIDTH], mirrored[HEIGHT][WIDTH];
        for (int y = 0; y < HEIGHT; y++)
            memcpy(&padded[y + PAD][PAD], from + c * PLANE + y * WIDTH, WIDTH);
        for (int y = 0; y < HEIGHT; y++)
            memcpy(cut[y], &padded[y + PAD + move[HEDDLE_MOVE_CROP_DOWN]][PAD + move[HEDDLE_MOVE_CROP_RIGHT]], WIDTH);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                mirrored[y][x] = cut[y][move[HEDDLE_MOVE_FLIP] ? WIDTH - 1 - x : x];
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int row = y - move[HEDDLE_MOVE_SHIFT_DOWN], col = x - move[HEDDLE_MOVE_SHIFT_RIGHT];
                row = row < 0 ? 0 : row > HEIGHT - 1 ? HEIGHT - 1 : row;
                col = col < 0 ? 0 : col > WIDTH - 1 ? WIDTH - 1 : col;
                to[c * PLANE + y * WIDTH + x] = mirrored[row][col];
            }
    }
}

static void every_move_is_a_crop_then_a_flip_then_a_shift(void **state)
{
    (void)state;
    uint8_t image[CHANNELS * PLANE], moved[sizeof image], expected[sizeof image];
    draw_image(image);
    for (int i = 0; i < 2000; i++) {
        int8_t move[HEDDLE_MOVE_COUNT];
        heddle_augment_draw(&(heddle_augment){.crop = 4, .flip = 1, .shift = 4}, 3, 1, (uint32_t)i, move);
        heddle_augment_apply(move, image, CHANNELS, HEIGHT, WIDTH, moved);
        move_by_steps(move, image, expected);
        assert_memory_equal(moved, expected, sizeof moved);
    }
}

static void a_crop_is_black_outside_and_a_shift_repeats_the_border(void **state)
{
    (void)state;
    const uint8_t line[4] = {1, 2, 3, 4};
    uint8_t moved[4];
    heddle_augment_apply((int8_t[]){0, 1, 0, 0, 0}, line, 1, 1, 4, moved);
    assert_memory_equal(moved, ((uint8_t[]){2, 3, 4, 0}), 4);
    heddle_augment_apply((int8_t[]){0, 0, 1, 0, 0}, line, 1, 1, 4, moved);
    assert_memory_equal(moved, ((uint8_t[]){4, 3, 2, 1}), 4);
    heddle_augment_apply((int8_t[]){0, 0, 0, 0, 2}, line, 1, 1, 4, moved);
    assert_memory_equal(moved, ((uint8_t[]){1, 1, 1, 2}), 4);
}

// --- drawing --------------------------------------------------------------------------------------------------------

static void moves_follow_from_seed_epoch_and_sample(void **state)
{
    (void)state;
    const heddle_augment all = {.crop = 100, .flip = 1, .shift = 100};
    int8_t move[HEDDLE_MOVE_COUNT], again[HEDDLE_MOVE_COUNT];
    heddle_augment_draw(&all, 7, 2, 11, move);
    heddle_augment_draw(&all, 7, 2, 11, again);
    assert_memory_equal(move, again, sizeof move);
    const struct {
        uint64_t seed;
        int epoch;
        uint32_t sample;
    } others[] = {{8, 2, 11}, {7 + (1ULL << 32), 2, 11}, {7, 3, 11}, {7, 2, 12}};
    for (int i = 0; i < 4; i++) {
        heddle_augment_draw(&all, others[i].seed, others[i].epoch, others[i].sample, again);
        assert_memory_not_equal(move, again, sizeof move);
    }
}

static void every_value_in_the_range_is_drawn_about_as_often(void **state)
{
    (void)state;
    enum { DRAWS = 90000, VALUES = 9 };
    int counts[HEDDLE_MOVE_COUNT][VALUES] = {{0}};
    for (uint32_t i = 0; i < DRAWS; i++) {
        int8_t move[HEDDLE_MOVE_COUNT];
        heddle_augment_draw(&(heddle_augment){.crop = 4, .flip = 1, .shift = 1}, 1, 0, i, move);
        for (int m = 0; m < HEDDLE_MOVE_COUNT; m++) {
            assert_in_range(move[m] + 4, 0, VALUES - 1);
            counts[m][move[m] + 4]++;
        }
    }
    const int kinds[HEDDLE_MOVE_COUNT] = {9, 9, 2, 3, 3}; // how many values each takes
    for (int m = 0; m < HEDDLE_MOVE_COUNT; m++) {
        int drawn = 0;
        for (int v = 0; v < VALUES; v++)
            if (counts[m][v]) {
                drawn++;
                assert_in_range(counts[m][v] * kinds[m], DRAWS * 95 / 100, DRAWS * 105 / 100);
            }
        assert_int_equal(drawn, kinds[m]);
    }
}

static void what_is_not_asked_for_stays(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        int8_t move[HEDDLE_MOVE_COUNT];
        heddle_augment_draw(&(heddle_augment){.crop = 3}, 1, 0, i, move);
        assert_true(!move[HEDDLE_MOVE_FLIP] && !move[HEDDLE_MOVE_SHIFT_DOWN] && !move[HEDDLE_MOVE_SHIFT_RIGHT]);
    }
}

// --- settings -------------------------------------------------------------------------------------------------------

static void settings_are_read_and_written(void **state)
{
    (void)state;
    static const char *const texts[] = {"none", "flip", "crop:4", "shift:127", "crop:4,flip", "crop:4,flip,shift:2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        heddle_augment augment;
        char text[HEDDLE_AUGMENT_TEXT];
        assert_ok(heddle_augment_parse(texts[i], &augment));
        assert_string_equal(heddle_augment_text(&augment, text), texts[i]);
        assert_int_equal(heddle_augments(&augment), i > 0);
    }
    heddle_augment augment;
    assert_ok(heddle_augment_parse("shift:2,flip", &augment)); // in any order
    assert_true(augment.shift == 2 && augment.flip == 1 && augment.crop == 0);
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "crop",
                                        "crop:",
                                        "crop:0",
                                        "crop:-1",
                                        "crop:128",
                                        "crop:4x",
                                        "flip,flip",
                                        "flip,crop:x",
                                        "crop:4,,",
                                        "rotate",
                                        "flip:1",
                                        "crop:1,crop:2",
                                        "none,flip",
                                        " flip",
                                        "crop:99999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        heddle_augment augment;
        assert_fails(heddle_augment_parse(texts[i], &augment), HEDDLE_INVALID, "write crop:N, flip and shift:N");
        assert_false(heddle_augments(&augment));
    }
    assert_fails(heddle_augment_check(&(heddle_augment){.crop = -1}, 0, 0), HEDDLE_INVALID, "crop -1");
    assert_fails(heddle_augment_check(&(heddle_augment){.flip = 2}, 0, 0), HEDDLE_INVALID, "flip 2");
    assert_ok(heddle_augment_check(&(heddle_augment){.shift = 4}, 5, 7));
    assert_fails(heddle_augment_check(&(heddle_augment){.shift = 5}, 5, 7), HEDDLE_INVALID,
                 "shift:5 moves images of 7×5 out of sight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_move_is_a_crop_then_a_flip_then_a_shift),
        cmocka_unit_test(a_crop_is_black_outside_and_a_shift_repeats_the_border),
        cmocka_unit_test(moves_follow_from_seed_epoch_and_sample),
        cmocka_unit_test(every_value_in_the_range_is_drawn_about_as_often),
        cmocka_unit_test(what_is_not_asked_for_stays),
        cmocka_unit_test(settings_are_read_and_written),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
