// Images of requests: numbers, base64 and PNG, and what is wrong with them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "serve/checker.h"
#include "serve/images.h"
#include "serve/scan.h"
#include "serve/training.h"

static const heddle_prepare_options small = {.channels = 1, .height = 2, .width = 3};

static heddle_status read(const char *text, heddle_serve_images *images)
{
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    heddle_status status = heddle_serve_images_read(json, &small, images);
    cJSON_Delete(json);
    return status;
}

static void numbers_become_parts_of_255(void **state)
{
    heddle_serve_images images;
    (void)state;
    assert_int_equal(read("{\"image\": [0, 51, 102, 153, 204, 255]}", &images), HEDDLE_OK);
    assert_int_equal(images.count, 1);
    for (int i = 0; i < 6; i++)
        assert_true(images.pixels[i] > 0.2F * (float)i - 1e-6F && images.pixels[i] < 0.2F * (float)i + 1e-6F);
    free(images.pixels);
    assert_int_equal(read("{\"images\": [[0,0,0,0,0,0], [255,255,255,255,255,255]]}", &images), HEDDLE_OK);
    assert_int_equal(images.count, 2);
    assert_true(images.pixels[5] == 0 && images.pixels[6] == 1 && images.pixels[11] == 1);
    free(images.pixels);
}

static void what_is_wrong_is_said_in_one_line(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"{}", "expected {\"image\""},
        {"{\"image\": [1], \"images\": []}", "expected {\"image\""},
        {"{\"images\": 3}", "expected {\"image\""},
        {"{\"images\": []}", "0 images"},
        {"{\"image\": 7}", "image 0 must be"},
        {"{\"image\": [1, 2, 3]}", "has 3 numbers, but the network takes 1×2×3, 6 numbers"},
        {"{\"image\": [1, 2, 3, 4, 5, 6, 7]}", "has 7 numbers"},
        {"{\"image\": [1, 2, 3, 4, 5, 256]}", "pixel 5: expected a number from 0 to 255"},
        {"{\"image\": [1, 2, 3, 4, 5, -1]}", "pixel 5"},
        {"{\"image\": [1, 2, 3, 4, 5, \"6\"]}", "pixel 5"},
        {"{\"images\": [[1, 2, 3, 4, 5, 6], [1]]}", "image 1 has 1 numbers"},
        {"{\"image\": \"????\"}", "not base64"},
        {"{\"image\": \"AAA\"}", "not base64"},
        {"{\"image\": \"AAAA\"}", "not a PNG"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_serve_images images;
        assert_int_not_equal(read(wrong[i].text, &images), HEDDLE_OK);
        assert_null(images.pixels);
        assert_false(images.too_large);
        if (!strstr(heddle_last_error(), wrong[i].says))
            fail_msg("%s: %s", wrong[i].text, heddle_last_error());
        assert_null(strchr(heddle_last_error(), '\n'));
    }
}

static void plain_numbers_are_scanned_to_the_same_pixels_as_json(void **state)
{
    static const char *const bodies[] = {
        "{\"image\":[0,51,102,153,204,255]}",
        " {\t\"image\" :\r\n[ 0 , 1,2 ,3\n,4,5 ] } \n",
        "{\"image\": [0.5, 254.999, 0.1, 0.123456789012, 17.0, 255.000]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        float pixels[6];
        heddle_serve_images images;
        assert_true(heddle_serve_scan(bodies[i], strlen(bodies[i]), pixels, 6));
        assert_int_equal(read(bodies[i], &images), HEDDLE_OK);
        assert_memory_equal(pixels, images.pixels, sizeof pixels);
        free(images.pixels);
    }
}

static void whatever_else_is_left_to_the_json_reader(void **state)
{
    static const char *const bodies[] = {
        "",
        "{",
        "{\"image\":[",
        "{\"image\":[1,2,3,4,5,6",
        "{\"image\":[1,2,3,4,5,6]",
        "{\"image\":[1,2,3,4,5,6]}x",
        "{\"image\":[1,2,3,4,5,6]}}",
        "{\"image\":[1,2,3,4,5,6],\"layers\":true}",
        "{\"image\":[1,2,3,4,5,6],}",
        "{\"image\":[1,2,3,4,5]}",
        "{\"image\":[1,2,3,4,5,6,7]}",
        "{\"image\":[1,2,3,4,5,6,]}",
        "{\"image\":[1,2,3,4,5,,6]}",
        "{\"image\":[1 2,3,4,5,6]}",
        "{\"image\":[1,2,3,4,5,256]}",
        "{\"image\":[1,2,3,4,5,255.5]}",
        "{\"image\":[1,2,3,4,5,1000]}",
        "{\"image\":[1,2,3,4,5,-1]}",
        "{\"image\":[1,2,3,4,5,06]}",
        "{\"image\":[1,2,3,4,5,6.]}",
        "{\"image\":[1,2,3,4,5,.6]}",
        "{\"image\":[1,2,3,4,5,1e1]}",
        "{\"image\":[1,2,3,4,5,0.1234567890123]}",
        "{\"image\":[1,2,3,4,5,\"6\"]}",
        "{\"image\":[1,2,3,4,5,null]}",
        "{\"images\":[[1,2,3,4,5,6]]}",
        "{\"Image\":[1,2,3,4,5,6]}",
        "{image:[1,2,3,4,5,6]}",
        "[1,2,3,4,5,6]",
    };
    float pixels[6];
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (heddle_serve_scan(bodies[i], strlen(bodies[i]), pixels, 6))
            fail_msg("%s", bodies[i]);
    static const char zero[] = "{\"image\":[1,2,3,4,5,6]}\0x";
    assert_false(heddle_serve_scan(zero, sizeof zero - 1, pixels, 6));
    assert_false(heddle_serve_scan("{\"image\":[]}", 12, pixels, 0));
}

static void base64_of_every_length_comes_back(void **state)
{
    uint8_t given[64];
    (void)state;
    for (size_t size = 1; size <= sizeof given; size++) {
        for (size_t i = 0; i < size; i++)
            given[i] = (uint8_t)(i * 37 + size * 11);
        uint8_t *read_back = NULL;
        size_t length = 0;
        char *text = heddle_serve_base64_write(given, size);
        assert_non_null(text);
        assert_int_equal(heddle_serve_base64_read(text, &read_back, &length), HEDDLE_OK);
        assert_int_equal(length, size);
        assert_memory_equal(read_back, given, size);
        free(text);
        free(read_back);
    }
    char *known = heddle_serve_base64_write((const uint8_t *)"Man", 3);
    assert_string_equal(known, "TWFu");
    free(known);
}

// 3×2, grey: 0 51 102 / 153 204 255; made by Python's zlib.
static const char png[] = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEElEQVR4nGNgME5jmHnmPwAHmgL+"
                          "77L/2AAAAABJRU5ErkJggg==";

static void a_png_of_the_right_size_is_taken_as_it_is(void **state)
{
    char request[512];
    heddle_serve_images images;
    (void)state;
    const char *const fronts[] = {"", "data:image/png;base64,"};
    for (int front = 0; front < 2; front++) {
        snprintf(request, sizeof request, "{\"image\": \"%s%s\"}", fronts[front], png);
        if (read(request, &images) != HEDDLE_OK)
            fail_msg("%s", heddle_last_error());
        for (int i = 0; i < 6; i++)
            assert_true(images.pixels[i] > 0.2F * (float)i - 1e-6F && images.pixels[i] < 0.2F * (float)i + 1e-6F);
        free(images.pixels);
    }
}

static void requests_that_become_too_many_numbers_are_refused(void **state)
{
    static const heddle_prepare_options large = {.channels = 3, .height = 1024, .width = 1024};
    heddle_serve_images images;
    cJSON *request = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(request, "images");
    (void)state;
    for (int i = 0; i < HEDDLE_SERVE_MOST_NUMBERS / (3 << 20) + 1; i++)
        cJSON_AddItemToArray(list, cJSON_CreateArray());
    assert_int_equal(heddle_serve_images_read(request, &large, &images), HEDDLE_INVALID);
    assert_true(images.too_large);
    assert_null(images.pixels);
    assert_non_null(strstr(heddle_last_error(), "22 images of 3145728 numbers in one request; send at most 21"));
    cJSON_DeleteItemFromArray(list, 0);
    assert_int_equal(heddle_serve_images_read(request, &large, &images), HEDDLE_INVALID);
    assert_false(images.too_large);
    cJSON_Delete(request);
}

static void only_plain_names_of_cuda_files_are_checked(void **state)
{
    static const char *const good[] = {"a.cu", "reduce_2-b.cu", "x.y.cu"};
    static const char *const bad[] = {"",       ".cu",   "a.c",   "a.cu.c", "../a.cu",
                                      "a/b.cu", ".a.cu", "-a.cu", "a b.cu", "a;.cu"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(heddle_serve_checker_names(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(heddle_serve_checker_names(bad[i]));
}

static heddle_status read_wish(const char *text, heddle_serve_training_wish *wish)
{
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    heddle_status status = heddle_serve_training_read(json, NULL, wish);
    cJSON_Delete(json);
    return status;
}

static void a_wish_to_train_has_defaults_and_wrong_ones_are_named(void **state)
{
    static const char *const wrong[][2] = {
        {"{\"model\": \"cn\"}", "\"model\": there is no cn; did you mean cnn?"},
        {"{\"model\": \"/etc/passwd\"}", "there is no /etc/passwd"},
        {"{\"data\": \"/etc\"}", "\"data\": there is no /etc"},
        {"{\"epoch\": 3}", "there is no setting \"epoch\"; did you mean \"epochs\"?"},
        {"{\"epochs\": 0}", "epochs"},
        {"{\"batch\": \"many\"}", "batch"},
        {"{\"rate\": -1}", "rate"},
        {"{\"optimizer\": \"adam\"}", "did you mean adamw?"},
        {"{\"device\": \"gpu\"}", "take cpu, cuda or sim"},
        {"{\"device\": \"cpu\", \"precision\": \"bf16\"}", "the CPU computes in fp32"},
    };
    heddle_serve_training_wish wish;
    (void)state;
    assert_int_equal(read_wish("{\"data\": \"synth:count=64\", \"seed\": 7}", &wish), HEDDLE_OK);
    assert_int_equal(wish.options.epochs, 3);
    assert_int_equal(wish.options.batch, 16);
    assert_int_equal(wish.options.seed, 7);
    assert_int_equal(wish.options.schedule, HEDDLE_LINEAR);
    assert_null(wish.device);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(read_wish(wrong[i][0], &wish), HEDDLE_OK);
        if (!strstr(heddle_last_error(), wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], heddle_last_error());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_become_parts_of_255),
        cmocka_unit_test(what_is_wrong_is_said_in_one_line),
        cmocka_unit_test(plain_numbers_are_scanned_to_the_same_pixels_as_json),
        cmocka_unit_test(whatever_else_is_left_to_the_json_reader),
        cmocka_unit_test(base64_of_every_length_comes_back),
        cmocka_unit_test(a_png_of_the_right_size_is_taken_as_it_is),
        cmocka_unit_test(requests_that_become_too_many_numbers_are_refused),
        cmocka_unit_test(only_plain_names_of_cuda_files_are_checked),
        cmocka_unit_test(a_wish_to_train_has_defaults_and_wrong_ones_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
