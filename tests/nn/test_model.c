// Models: built in and from JSON; what is wrong with a model file is said with the place.

#include "helpers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "nn/model.h"

static const heddle_input_shape gray28 = {1, 28, 28, 10};

static void the_cnn_is_the_courses(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    assert_ok(heddle_model_open("cnn", &gray28, &model));
    assert_int_equal(heddle_model_layers(model), 12);
    // 32·9+32 + 2·32 + 64·288+64 + 2·64 + 128·3136+128 + 10·128+10
    assert_int_equal(heddle_model_parameters(model), 421834);
    heddle_layer_info info;
    assert_ok(heddle_model_layer(model, 8, &info));
    assert_string_equal(info.type, "flatten");
    assert_int_equal(info.dims[0], 3136);
    assert_int_equal(heddle_model_layer(model, 12, &info), HEDDLE_INVALID);
    heddle_model_close(model);
}

static void a_model_written_as_json_reads_back_the_same(void **state)
{
    (void)state;
    const char *const *names = heddle_model_names();
    for (int i = 0; names[i]; i++) {
        heddle_model *model = NULL, *back = NULL;
        assert_ok(heddle_model_open(names[i], &gray28, &model));
        assert_ok(heddle_model_parse("copy", heddle_model_json(model), NULL, &back));
        assert_string_equal(heddle_model_json(model), heddle_model_json(back));
        heddle_model_close(model);
        heddle_model_close(back);
    }
}

static void the_built_in_models_are_those_of_the_examples(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        heddle_input_shape input;
        size_t parameters; // as PyTorch counts them
    } expected[] = {
        {"cnn", {1, 28, 28, 10}, 421834},       {"mlp", {1, 28, 28, 10}, 203530},    {"lenet", {1, 28, 28, 10}, 61706},
        {"vgg", {3, 32, 32, 10}, 2360906},      {"resnet", {3, 32, 32, 10}, 696618}, {"mlp3", {1, 28, 28, 10}, 2913290},
        {"wide-cnn", {1, 28, 28, 10}, 1249386},
    };
    enum { MODELS = sizeof expected / sizeof *expected };
    for (int i = 0; i < MODELS; i++) {
        heddle_model *model = NULL;
        assert_string_equal(heddle_model_names()[i], expected[i].name);
        assert_ok(heddle_model_open(expected[i].name, &expected[i].input, &model));
        assert_int_equal(heddle_model_parameters(model), expected[i].parameters);
        heddle_model_close(model);
    }
    assert_null(heddle_model_names()[MODELS]);
}

static void other_image_sizes_channels_and_classes_fit(void **state)
{
    (void)state;
    heddle_input_shape shapes[] = {{3, 32, 32, 100}, {1, 9, 17, 2}, {4, 64, 48, 7}};
    for (int i = 0; i < 3; i++) {
        heddle_model *model = NULL;
        assert_ok(heddle_model_open("cnn", &shapes[i], &model));
        heddle_layer_info info;
        assert_ok(heddle_model_layer(model, heddle_model_layers(model) - 1, &info));
        assert_int_equal(info.dims[0], shapes[i].classes);
        heddle_model_close(model);
    }
}

// The text must be refused, and the message must hold `part`.
static void refuse(const char *text, const char *part)
{
    heddle_model *model = NULL;
    assert_int_not_equal(heddle_model_parse("test.json", text, &gray28, &model), HEDDLE_OK);
    if (!strstr(heddle_last_error(), part))
        fail_msg("\"%s\" is not in \"%s\"", part, heddle_last_error());
    assert_null(strchr(heddle_last_error(), '\n'));
    assert_null(model);
}

static void mistakes_in_a_model_file_are_named(void **state)
{
    (void)state;
    refuse("{", "test.json");
    refuse("[]", "object");
    refuse("{}", "layers");
    refuse("{\"layers\": []}", "the list of layers is empty");
    refuse("{\"leyers\": []}", "no 'leyers'; did you mean 'layers'?");
    refuse("{\"optimizer\": \"sgd\", \"layers\": []}", "no 'optimizer'; it has name, input and layers");
    refuse("{\"layers\": [{\"type\": \"convd2\"}]}", "did you mean 'conv2d'");
    refuse("{\"layers\": [{\"type\": \"conv2d\"}]}", "'channels' is missing");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"chanels\": 3}]}", "did you mean 'channels'");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": -3}]}", "channels");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": 3.5}]}", "channels");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": 3, \"kernel\": 40}]}", "does not fit");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": 4, \"groups\": 2}]}",
           "layer 1: conv2d: 2 groups do not divide 1 input and 4 output channels evenly; make both multiples of "
           "'groups'");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": 4, \"kernel\": 5, \"dilation\": 10}]}",
           "kernel 5 with dilation 10 spans 41 pixels and does not fit into 28×28 pixels with padding 0");
    refuse("{\"layers\": [{\"type\": \"maxpool2d\", \"window\": 30}]}", "window 30 does not fit into 28×28 pixels");
    refuse("{\"layers\": [{\"type\": \"conv2d\", \"channels\": 4, \"groups\": 0}]}", "groups");
    refuse("{\"layers\": [{\"type\": \"linear\", \"features\": 10}]}", "put a flatten before");
    refuse("{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"maxpool2d\"}]}", "before the flatten");
    refuse("{\"layers\": [{\"type\": \"flatten\"}]}", "one per class");
    refuse("{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": 9}]}", "10 features");
    refuse("{\"layers\": [{\"type\": \"dropout\", \"probability\": 1.5}]}", "is 1.5; it must be from 0 to 0.99");
    refuse("{\"layers\": [{\"type\": \"relu\", \"name\": \"a\"}, {\"type\": \"relu\", \"name\": \"a\"}]}",
           "another layer is called 'a'");
    refuse("{\"layers\": [{\"type\": \"maxpool2d\", \"window\": 2, \"padding\": 2}]}", "half");
    // Names become names of tensors ("moment1/a.weight" is the moment of "a.weight") and of folders.
    refuse("{\"layers\": [{\"type\": \"relu\", \"name\": \"moment1/a\"}]}", "without '/'");
    refuse("{\"layers\": [{\"type\": \"relu\", \"name\": \"two\\nlines\"}]}", "control characters");
    refuse("{\"layers\": [{\"type\": \"relu\", \"name\": \"\"}]}", "1 to 31 bytes");
    refuse("{\"name\": \"../up\", \"layers\": [{\"type\": \"relu\"}]}", "without '/'");
    refuse("{\"name\": 7, \"layers\": [{\"type\": \"relu\"}]}", "'name' must be text");
}

// Of a first layer with these settings.
#define LAYER(settings) "{\"layers\": [{" settings "}]}"

static void words_of_other_libraries_are_answered_with_ours(void **state)
{
    (void)state;
    static const char *const types[][2] = {{"ReLU", "relu"},
                                           {"silu", "swish"},
                                           {"AdaptiveAvgPool2d", "globalavgpool"},
                                           {"Dense", "linear"},
                                           {"batch_norm", "batchnorm2d"},
                                           {"Conv2D", "conv2d"},
                                           {"Flatten", "flatten"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[128], part[128];
        snprintf(text, sizeof text, LAYER("\"type\": \"%s\""), types[i][0]);
        snprintf(part, sizeof part, "no layer type '%s'; did you mean '%s'?", types[i][0], types[i][1]);
        refuse(text, part);
    }
    refuse(LAYER("\"type\": \"softmax\""), "leave it out: the loss contains it");
    refuse(LAYER("\"type\": \"transformer\""), "the types are conv2d, batchnorm2d, layernorm, relu,");
    refuse(LAYER("\"type\": \"maxpool2d\", \"kernel_size\": 2"),
           "'kernel_size'; did you mean 'window'? Its settings are window, stride, padding");
    refuse(LAYER("\"type\": \"conv2d\", \"kernel_size\": 2"), "did you mean 'kernel'?");
    refuse(LAYER("\"type\": \"dropout\", \"p\": 0.1"), "did you mean 'probability'?");
    refuse(LAYER("\"type\": \"maxpool2d\", \"ceil_mode\": true"),
           "'ceil_mode'; its settings are window, stride, padding");
    refuse(LAYER("\"type\": \"relu\", \"inplace\": true"), "'inplace'; it has no settings");
}

static void a_setting_of_the_wrong_kind_says_what_is_allowed(void **state)
{
    (void)state;
    refuse(LAYER("\"type\": \"conv2d\", \"channels\": 4, \"kernel\": [3, 3]"),
           "'kernel' (height and width of the filter) must be an integer from 1 to 64, the same for height and width");
    refuse(LAYER("\"type\": \"conv2d\", \"channels\": 4, \"padding\": \"same\""),
           "must be an integer from 0 to 64; (kernel - 1) / 2 keeps the size");
    refuse(LAYER("\"type\": \"conv2d\", \"channels\": \"32\""),
           "'channels' (output channels) must be an integer from 1");
    refuse("{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"class\"}]}",
           "must be an integer from 1 to 16777216 or \"classes\"");
    refuse(LAYER("\"type\": \"dropout\", \"probability\": \"0.5\""), "must be a number from 0 to 0.99");
    refuse("{\"layers\": [{\"type\": \"flatten\"}, {\"type\": \"batchnorm2d\"}]}", "use layernorm for features");
}

#define WITH_INPUT(input)                                                                                              \
    "{\"input\": " input ", \"layers\": [{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}"

static void the_input_of_a_model_file_is_checked_even_where_the_data_decide(void **state)
{
    (void)state;
    refuse(WITH_INPUT("[1, 28, 28]"), "test.json: \"input\" must be an object such as {\"channels\": 1,");
    refuse(WITH_INPUT("{\"chanels\": 1}"), "\"input\" has no 'chanels'; did you mean 'channels'?");
    refuse(WITH_INPUT("{\"depth\": 1}"), "\"input\" has no 'depth'; it has channels, height, width and classes");
    refuse(WITH_INPUT("{\"channels\": 1, \"height\": \"28\", \"width\": 28, \"classes\": 10}"),
           "test.json, \"input\": the field \"height\" must be a number");
    refuse(WITH_INPUT("{\"channels\": 1, \"height\": 28, \"width\": 28}"), "the field \"classes\" is missing");
    heddle_model *model = NULL;
    assert_ok(heddle_model_parse("x", WITH_INPUT("{\"channels\": 3, \"height\": 32, \"width\": 16, \"classes\": 7}"),
                                 &gray28, &model));
    assert_int_equal(model->input.channels, 1);
    assert_int_equal(model->named_input.channels, 3);
    assert_int_equal(model->named_input.width, 16);
    heddle_model_close(model);
    assert_ok(heddle_model_open("cnn", &gray28, &model)); // its file names no input
    assert_int_equal(model->named_input.channels, 0);
    heddle_model_close(model);
}

static void a_folder_is_not_a_model(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    assert_int_equal(heddle_model_open(HEDDLE_SOURCE_DIR "/examples/models", &gray28, &model), HEDDLE_NOT_FOUND);
    assert_non_null(strstr(heddle_last_error(), "examples/models is a folder, not a model"));
}

#define RESIDUAL(lists) "{\"layers\": [{\"type\": \"residual\", " lists "}, {\"type\": \"flatten\"}]}"
#define HALVE           "{\"type\": \"maxpool2d\"}"

static void mistakes_in_a_residual_are_named(void **state)
{
    (void)state;
    refuse(RESIDUAL("\"name\": \"a\""), "layer 1: 'layers' is missing");
    refuse(RESIDUAL("\"layers\": {}"), "layer 1: 'layers' must be a list of layers");
    refuse(RESIDUAL("\"layers\": []"), "layer 1: residual: its list of layers is empty");
    refuse(RESIDUAL("\"layers\": [" HALVE "]"),
           "layer 1: residual: its layers give 1×14×14, but its input is 1×28×28; add a \"projection\"");
    refuse(RESIDUAL("\"layers\": [{\"type\": \"flatten\"}]"), "its layers give 784 features, but its input is 1×28×28");
    refuse(RESIDUAL("\"layers\": [" HALVE "], \"projection\": [{\"type\": \"maxpool2d\", \"window\": 4}]"),
           "its layers give 1×14×14, but its projection gives 1×7×7; make both equal");
    refuse(RESIDUAL("\"layers\": [{\"type\": \"relu\"}, {\"type\": \"rleu\"}]"),
           "test.json, layer 1, layer 2: there is no layer type 'rleu'; did you mean 'relu'?");
    refuse(RESIDUAL("\"layers\": [" HALVE "], \"projection\": [" HALVE ", {\"type\": \"linear\", \"features\": 2}]"),
           "test.json, layer 1, projection, layer 2: linear takes features");
    refuse(RESIDUAL("\"layers\": [{\"type\": \"relu\"}], \"projektion\": []"), "did you mean 'projection'?");
    // Names of what is inside have the residual's before them, which another layer could have as its own.
    refuse("{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"batchnorm2d\"}]},"
           "{\"type\": \"batchnorm2d\", \"name\": \"residual1.norm1\"}, {\"type\": \"flatten\"},"
           "{\"type\": \"linear\", \"features\": \"classes\"}]}",
           "two parameters are called 'residual1.norm1.weight'");
}

// {"layers": [{"type": "residual", "layers": [ … [{"type": "relu"}] … ]}, flatten, linear]} with `depth` residuals.
static void nest(int depth, char text[1024])
{
    size_t used = (size_t)snprintf(text, 1024, "{\"layers\": [");
    for (int i = 0; i < depth; i++)
        used += (size_t)snprintf(text + used, 1024 - used, "{\"type\": \"residual\", \"layers\": [");
    used += (size_t)snprintf(text + used, 1024 - used, "{\"type\": \"batchnorm2d\"}");
    for (int i = 0; i < depth; i++)
        used += (size_t)snprintf(text + used, 1024 - used, "]}");
    snprintf(text + used, 1024 - used,
             ", {\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}");
}

static void residuals_are_nested_as_deep_as_the_limit(void **state)
{
    (void)state;
    char text[1024];
    heddle_model *model = NULL;
    nest(HEDDLE_LAYER_DEPTH - 1, text);
    assert_ok(heddle_model_parse("test.json", text, &gray28, &model));
    heddle_layer_info info;
    assert_ok(heddle_model_layer(model, HEDDLE_LAYER_DEPTH - 1, &info));
    assert_string_equal(info.name, "residual1.residual1.residual1.norm1");
    heddle_model_close(model);
    nest(HEDDLE_LAYER_DEPTH, text);
    refuse(text, "lists of layers are nested more than 4 deep");
}

static void layers_of_a_residual_are_counted_and_named_inside_it(void **state)
{
    (void)state;
    static const struct {
        const char *name, *details;
        size_t parameters;
    } expected[] = {
        {"conv1", "channels 4, kernel 3, padding 1", 40},
        {"residual1", "layers 2, projection 1", 0},
        {"residual1.conv1", "channels 6, kernel 3, stride 2, padding 1, no bias", 216},
        {"residual1.norm1", "", 12},
        {"residual1.projection.short", "channels 6, kernel 1, stride 2, no bias", 24},
        {"flatten1", "", 0},
        {"linear1", "features 10", 11770},
    };
    enum { LAYERS = sizeof expected / sizeof *expected };
    heddle_model *model = NULL, *back = NULL;
    assert_ok(heddle_model_parse(
        "test.json",
        "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 4, \"padding\": 1}, {\"type\": \"residual\","
        "\"layers\": [{\"type\": \"conv2d\", \"channels\": 6, \"stride\": 2, \"padding\": 1, \"bias\": false},"
        "{\"type\": \"batchnorm2d\"}], \"projection\": [{\"type\": \"conv2d\", \"name\": \"short\", \"channels\": 6,"
        "\"kernel\": 1, \"stride\": 2, \"bias\": false}]}, {\"type\": \"flatten\"},"
        "{\"type\": \"linear\", \"features\": \"classes\"}]}",
        &gray28, &model));
    assert_int_equal(heddle_model_layers(model), LAYERS);
    size_t parameters = 0;
    for (int i = 0; i < LAYERS; i++) {
        heddle_layer_info info;
        assert_ok(heddle_model_layer(model, i, &info));
        assert_string_equal(info.name, expected[i].name);
        assert_string_equal(info.details, expected[i].details);
        assert_int_equal(info.parameters, expected[i].parameters);
        parameters += info.parameters;
    }
    assert_int_equal(heddle_model_parameters(model), parameters);
    assert_true(heddle_model_parameter_index(model, "residual1.projection.short", "weight") >= 0);
    assert_ok(heddle_model_parse("copy", heddle_model_json(model), NULL, &back));
    assert_string_equal(heddle_model_json(model), heddle_model_json(back));
    heddle_model_close(model);
    heddle_model_close(back);
}

static void sizes_that_do_not_fit_numbers_are_refused(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    heddle_input_shape large = {1, 4096, 4096, 10}, absurd = {INT_MAX, INT_MAX, INT_MAX, 10};
    assert_int_equal(heddle_model_parse("test.json",
                                        "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 65536, \"padding\": 1},"
                                        "{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}",
                                        &large, &model),
                     HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "layer 2: flatten"));
    assert_int_equal(heddle_model_parse("test.json",
                                        "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 65536, \"padding\": 1},"
                                        "{\"type\": \"layernorm\"}]}",
                                        &large, &model),
                     HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "layer 2: layernorm: images of 65536×4096×4096 have more than"));
    assert_int_equal(heddle_model_open("mlp", &absurd, &model), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "at most 4096"));
    assert_null(model);
}

static void the_example_model_file_is_a_model(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    assert_ok(heddle_model_open(HEDDLE_SOURCE_DIR "/examples/wide.json", &gray28, &model));
    assert_string_equal(heddle_model_name(model), "wide");
    heddle_model_close(model);
}

static void an_unknown_model_suggests_the_nearest(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    assert_int_equal(heddle_model_open("cmn", &gray28, &model), HEDDLE_NOT_FOUND);
    assert_non_null(
        strstr(heddle_last_error(), "built in: cnn, mlp, lenet, vgg, resnet, mlp3, wide-cnn (did you mean 'cnn'?)"));
}

static void a_file_that_is_no_text_is_no_model(void **state)
{
    (void)state;
    const struct {
        size_t size;
        const char *part;
    } files[] = {{100, "is no model file: it is not text"}, {(1 << 20) + 1, "is no model file: it is larger"}};
    for (int i = 0; i < 2; i++) {
        char path[] = "/tmp/heddle-test-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        assert_int_equal(ftruncate(file, (off_t)files[i].size), 0);
        close(file);
        heddle_model *model = NULL;
        heddle_status status = heddle_model_open(path, &gray28, &model);
        unlink(path);
        assert_int_equal(status, HEDDLE_CORRUPT);
        assert_non_null(strstr(heddle_last_error(), files[i].part));
        assert_null(model);
    }
}

static void a_filter_has_the_channels_of_its_group(void **state)
{
    (void)state;
    heddle_model *model = NULL;
    heddle_input_shape input = {6, 8, 8, 2};
    assert_ok(heddle_model_parse("test.json",
                                 "{\"layers\": [{\"type\": \"conv2d\", \"channels\": 4, \"groups\": 2},"
                                 "{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}",
                                 &input, &model));
    const int expected[] = {4, 3, 3, 3};
    assert_memory_equal(model->parameters[0].dims, expected, sizeof expected);
    heddle_model_close(model);
}

static void every_layer_type_can_be_used(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_layer_type_count(); i++) {
        const heddle_layer_type *type = heddle_layer_type_at(i);
        char text[512];
        const char *setting = strcmp(type->name, "conv2d") == 0     ? ", \"channels\": 4"
                              : strcmp(type->name, "linear") == 0   ? ", \"features\": 12"
                              : strcmp(type->name, "residual") == 0 ? ", \"layers\": [{\"type\": \"relu\"}]"
                                                                    : "";
        snprintf(text, sizeof text,
                 "{\"layers\": [%s{\"type\": \"%s\"%s}, {\"type\": \"flatten\", \"name\": \"end\"}, "
                 "{\"type\": \"linear\", \"name\": \"out\", \"features\": \"classes\"}]}",
                 type->in_rank == 1 ? "{\"type\": \"flatten\", \"name\": \"begin\"}," : "", type->name, setting);
        heddle_model *model = NULL;
        assert_ok(heddle_model_parse(type->name, text, &gray28, &model));
        heddle_model_close(model);
    }
}

static void a_misspelt_setting_of_any_layer_type_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_layer_type_count(); i++) {
        const heddle_layer_type *type = heddle_layer_type_at(i);
        char text[256], part[128];
        snprintf(text, sizeof text, "{\"layers\": [{\"type\": \"%s\", \"nmae\": 1}]}", type->name);
        snprintf(part, sizeof part, "%s has no setting 'nmae'; did you mean 'name'?", type->name);
        refuse(text, part);
    }
}

static void the_page_on_models_lists_every_type_and_setting(void **state)
{
    (void)state;
    char *page = NULL;
    size_t size;
    assert_ok(heddle_file_read(HEDDLE_SOURCE_DIR "/docs/models.md", 1 << 20, &page, &size));
    for (int i = 0; i < heddle_layer_type_count(); i++) {
        const heddle_layer_type *type = heddle_layer_type_at(i);
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", type->name);
        if (!strstr(page, quoted))
            fail_msg("docs/models.md has no layer type %s", quoted);
        for (int j = 0; j < type->setting_count; j++) {
            snprintf(quoted, sizeof quoted, "`%s`", type->settings[j].name);
            if (!strstr(page, quoted))
                fail_msg("docs/models.md has no setting %s of %s", quoted, type->name);
        }
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cnn_is_the_courses),
        cmocka_unit_test(a_model_written_as_json_reads_back_the_same),
        cmocka_unit_test(the_built_in_models_are_those_of_the_examples),
        cmocka_unit_test(other_image_sizes_channels_and_classes_fit),
        cmocka_unit_test(mistakes_in_a_model_file_are_named),
        cmocka_unit_test(words_of_other_libraries_are_answered_with_ours),
        cmocka_unit_test(a_setting_of_the_wrong_kind_says_what_is_allowed),
        cmocka_unit_test(the_input_of_a_model_file_is_checked_even_where_the_data_decide),
        cmocka_unit_test(a_folder_is_not_a_model),
        cmocka_unit_test(mistakes_in_a_residual_are_named),
        cmocka_unit_test(residuals_are_nested_as_deep_as_the_limit),
        cmocka_unit_test(layers_of_a_residual_are_counted_and_named_inside_it),
        cmocka_unit_test(sizes_that_do_not_fit_numbers_are_refused),
        cmocka_unit_test(the_example_model_file_is_a_model),
        cmocka_unit_test(an_unknown_model_suggests_the_nearest),
        cmocka_unit_test(a_file_that_is_no_text_is_no_model),
        cmocka_unit_test(a_filter_has_the_channels_of_its_group),
        cmocka_unit_test(every_layer_type_can_be_used),
        cmocka_unit_test(a_misspelt_setting_of_any_layer_type_is_named),
        cmocka_unit_test(the_page_on_models_lists_every_type_and_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
