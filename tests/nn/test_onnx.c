// ONNX there and back: what is exported and imported is the same checkpoint; read by its nodes alone, without what
// heddle notes in the file, it is a network with the same logits. Graphs that heddle has no layers for are refused by
// name.

#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/activations.h"
#include "nn/infer.h"
#include "nn/layers.h"
#include "nn/network.h"
#include "nn/onnx.h"

enum { PATH = 256, IMAGES = 3, PIXELS = 28 * 28, CLASSES = 10 };

// Every type of layer, and settings that are not defaults.
static const char every_layer[] =
    "{\"name\": \"every\", \"layers\": ["
    "{\"type\": \"conv2d\", \"channels\": 8, \"padding\": 1, \"bias\": false},"
    "{\"type\": \"batchnorm2d\", \"epsilon\": 0.001}, {\"type\": \"gelu\"},"
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"conv2d\", \"channels\": 8, \"padding\": 1, \"groups\": 8},"
    "  {\"type\": \"swish\"}, {\"type\": \"layernorm\"}]},"
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"conv2d\", \"channels\": 16, \"stride\": 2, \"padding\": 1},"
    "  {\"type\": \"elu\"}, {\"type\": \"residual\", \"layers\": ["
    "    {\"type\": \"conv2d\", \"channels\": 16, \"padding\": 2, \"dilation\": 2}, {\"type\": \"tanh\"}]}],"
    "  \"projection\": [{\"type\": \"conv2d\", \"channels\": 16, \"kernel\": 1, \"stride\": 2}]},"
    "{\"type\": \"relu\"}, {\"type\": \"maxpool2d\", \"window\": 3, \"stride\": 2, \"padding\": 1},"
    "{\"type\": \"avgpool2d\", \"window\": 3, \"stride\": 1, \"padding\": 1}, {\"type\": \"softplus\"},"
    "{\"type\": \"globalavgpool\"}, {\"type\": \"dropout\"},"
    "{\"type\": \"linear\", \"features\": 24, \"bias\": false}, {\"type\": \"layernorm\"}, {\"type\": \"sigmoid\"},"
    "{\"type\": \"flatten\"}, {\"type\": \"linear\", \"features\": \"classes\"}, {\"type\": \"log_softmax\"}]}";

// A checkpoint after two steps, so that running statistics are not what they start as.
static void train(const char *model_name, char path[PATH])
{
    const heddle_dataset *data = digits(16);
    heddle_model *model = model_for(data, model_name);
    heddle_device *device = open_cpu(2);
    const char *folder = temporary_folder();
    heddle_train_options options = heddle_train_defaults();
    options.folder = folder;
    options.epochs = 1;
    options.batch = 8;
    assert_ok(heddle_train(device, model, data, NULL, &options, NULL));
    heddle_device_close(device);
    heddle_model_close(model);
    path_in(folder, "last.safetensors", path, PATH);
}

static void compute_logits(const char *checkpoint, float logits[IMAGES * CLASSES])
{
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    heddle_activations *activations = NULL;
    float image[PIXELS];
    assert_ok(heddle_network_open(device, checkpoint, 1, HEDDLE_TUNED, &network));
    assert_ok(heddle_activations_create(network, &activations));
    for (int i = 0; i < IMAGES; i++) {
        for (int j = 0; j < PIXELS; j++)
            image[j] = (float)((j * 37 + i * 101) % 256) / 255;
        assert_ok(heddle_activations_run(activations, image));
        const int last = heddle_activations_count(activations) - 1;
        memcpy(logits + (size_t)i * CLASSES, heddle_activations_layer(activations, last).values,
               CLASSES * sizeof *logits);
    }
    heddle_activations_destroy(activations);
    heddle_network_close(network);
    heddle_device_close(device);
}

// The same file without what heddle notes in it.
static void forget_notes(const char *from, const char *to)
{
    heddle_onnx *graph = NULL;
    assert_ok(heddle_onnx_open(from, &graph));
    assert_true(graph->metadata_count > 0);
    graph->metadata_count = 0;
    assert_ok(heddle_onnx_write(to, graph));
    heddle_onnx_close(graph);
}

static void go_there_and_back(const char *model)
{
    char checkpoint[PATH], onnx[PATH], plain[PATH], same[PATH], read[PATH];
    const char *folder = temporary_folder();
    float before[IMAGES * CLASSES], after[IMAGES * CLASSES];
    path_in(folder, "a.onnx", onnx, PATH);
    path_in(folder, "b.onnx", plain, PATH);
    path_in(folder, "a.safetensors", same, PATH);
    path_in(folder, "b.safetensors", read, PATH);
    train(model, checkpoint);
    assert_ok(heddle_onnx_export(checkpoint, onnx));
    assert_ok(heddle_onnx_import(onnx, NULL, same));
    assert_same_file(checkpoint, same);
    forget_notes(onnx, plain);
    assert_ok(heddle_onnx_import(plain, NULL, read));
    compute_logits(checkpoint, before);
    compute_logits(read, after);
    for (int i = 0; i < IMAGES * CLASSES; i++)
        if (!(fabsf(before[i] - after[i]) <= 1e-6F))
            fail_msg("%s: logit %d is %g, and %g after import", model, i, (double)before[i], (double)after[i]);
}

static void every_built_in_model_comes_back_with_its_logits(void **unused)
{
    (void)unused;
    for (const char *const *name = heddle_model_names(); *name; name++)
        go_there_and_back(*name);
}

static void every_type_of_layer_comes_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < heddle_layer_type_count(); i++) {
        char type[64];
        snprintf(type, sizeof type, "\"type\": \"%s\"", heddle_layer_type_at(i)->name);
        if (!strstr(every_layer, type))
            fail_msg("no test has %s", type);
    }
    go_there_and_back(every_layer);
}

static int count_nodes(const heddle_onnx *graph, const char *op)
{
    int count = 0;
    for (int i = 0; i < graph->node_count; i++)
        count += strcmp(graph->nodes[i].op, op) == 0;
    return count;
}

// What heddle adds to a product's sums, in units of these, is the bias of int32 in the file.
static void assert_biases_of_file(heddle_network *network, const heddle_onnx *graph)
{
    heddle_network_bytes bytes;
    int compared = 0;
    assert_ok(heddle_network_in_bytes(network, &bytes));
    for (int i = 0; i < graph->value_count; i++)
        for (int j = 0; j < bytes.rows->group_count; j++) {
            const heddle_rows_group *group = &bytes.rows->groups[j];
            const heddle_onnx_tensor *bias = graph->initialisers[i];
            char name[HEDDLE_ONNX_NAME];
            snprintf(name, sizeof name, "%s.bias", group->product ? group->product->name : "");
            if (!bias || bias->type != HEDDLE_ONNX_INT32 || strcmp(graph->values[i].name, name) != 0)
                continue;
            for (int row = 0; row < (int)bias->dims[0]; row++) {
                const float *vectors = bytes.rows->vectors;
                const double added = (double)vectors[group->shift + row] / (double)vectors[group->scale + row];
                if (!(fabs(added - ((const int32_t *)bias->data)[row]) < 0.02))
                    fail_msg("%s[%d] is %d, heddle adds %g", name, row, ((const int32_t *)bias->data)[row], added);
                compared++;
            }
        }
    assert_int_equal(compared, 64 + 128 + 10);
}

// The first convolution stays in float32; each of the other three products has a weight of bytes and a bias of int32,
// and what the first three leave is rounded.
static void the_int8_network_has_bytes_where_heddle_has_them(void **unused)
{
    char checkpoint[PATH], onnx[PATH], back[PATH];
    const char *folder = temporary_folder();
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    heddle_onnx *graph = NULL;
    bool quantised = false;
    const heddle_network_options options = {.batch = 1, .kernels = HEDDLE_FUSED, .arithmetic = HEDDLE_INT8};
    (void)unused;
    train("cnn", checkpoint);
    path_in(folder, "int8.onnx", onnx, PATH);
    path_in(folder, "int8.safetensors", back, PATH);
    assert_ok(heddle_network_open_with(device, checkpoint, &options, &network));
    assert_int_equal(heddle_onnx_export_int8(network, onnx), HEDDLE_INVALID); // before calibrating
    assert_ok(heddle_network_calibrate(network, digits(16), 16, &quantised));
    assert_true(quantised);
    assert_ok(heddle_onnx_export_int8(network, onnx));
    assert_ok(heddle_onnx_open(onnx, &graph));
    assert_int_equal(count_nodes(graph, "Conv"), 2);
    assert_int_equal(count_nodes(graph, "Gemm"), 2);
    assert_int_equal(count_nodes(graph, "BatchNormalization"), 0);
    assert_int_equal(count_nodes(graph, "QuantizeLinear"), 3);
    assert_int_equal(count_nodes(graph, "DequantizeLinear"), 3 + 2 * 3);
    assert_biases_of_file(network, graph);
    assert_int_equal(heddle_onnx_import(onnx, NULL, back), HEDDLE_UNSUPPORTED);
    assert_non_null(strstr(heddle_last_error(), "float32 file"));
    heddle_onnx_close(graph);
    heddle_network_close(network);
    heddle_device_close(device);
}

// What rows_norm makes of two bytes, and what QuantizeLinear makes of their sum, for units that a network had.
static void a_sum_of_bytes_is_rounded_alike_in_heddle_and_in_onnx(void **unused)
{
    static const struct {
        heddle_rows_function function;
        float unit, added, range;
    } sums[] = {{HEDDLE_ROWS_RELU, 0.06329971F, 0.086368114F, 127 * 0.12881398F},
                {HEDDLE_ROWS_RELU, 0.059854824F, 0.111466534F, 127 * 0.12721457F},
                {HEDDLE_ROWS_IDENTITY, 0.0640379F, 0.08132382F, 127 * 0.10863681F},
                {HEDDLE_ROWS_IDENTITY, 0.05F, 0.05F, 127 * 0.1F}};
    (void)unused;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const float unit = sums[i].unit, added = sums[i].added, range = sums[i].range;
        const float to = heddle_rows_unit_of_sum(sums[i].function, range, unit, added);
        assert_true(to >= range / 127 && to < range / 127 * 1.02F);
        for (int pair = 0; pair < 256 * 256; pair++) {
            const float a = (float)(pair / 256 - 128), b = (float)(pair % 256 - 128);
            const float heddle = rintf(fmaf(a, unit / to, b * (added / to)));
            const volatile float left = a * unit, right = b * added; // rounded, not contracted
            const float onnx = rintf((left + right) / to);
            const bool counts = fabsf(onnx) <= 128 && (onnx > 0 || sums[i].function != HEDDLE_ROWS_RELU);
            if (counts && heddle != onnx)
                fail_msg("%g of %g and %g of %g is %g of %g, or %g", (double)a, (double)unit, (double)b, (double)added,
                         (double)heddle, (double)to, (double)onnx);
        }
    }
    assert_true(heddle_rows_unit_of_sum(HEDDLE_ROWS_TANH, 5, 0.05F, 0.05F) == 1 / 127.0F);
}

// The mean of 14 by 14 numbers from 0 on is far smaller than the largest of them.
static void a_mean_has_more_bytes_than_what_it_is_of_would_leave_it(void **unused)
{
    char checkpoint[PATH];
    heddle_device *device = open_cpu(1);
    heddle_network *network = NULL;
    heddle_network_bytes bytes;
    bool quantised = false;
    const heddle_network_options options = {.batch = 1, .kernels = HEDDLE_FUSED, .arithmetic = HEDDLE_INT8};
    (void)unused;
    train("{\"name\": \"mean\", \"layers\": [{\"type\": \"conv2d\", \"channels\": 8, \"stride\": 2, \"padding\": 1},"
          "{\"type\": \"relu\"}, {\"type\": \"globalavgpool\"}, {\"type\": \"linear\", \"features\": \"classes\"}]}",
          checkpoint);
    assert_ok(heddle_network_open_with(device, checkpoint, &options, &network));
    assert_ok(heddle_network_calibrate(network, digits(16), 16, &quantised));
    assert_true(quantised);
    assert_ok(heddle_network_in_bytes(network, &bytes));
    const heddle_rows_group *mean = &bytes.rows->groups[1];
    assert_null(mean->product);
    assert_true(mean->unit < bytes.rows->groups[0].unit * 0.75F);
    assert_true(fabsf(mean->norm_scale * mean->unit / bytes.rows->groups[0].unit - 1) < 1e-6F);
    heddle_network_close(network);
    heddle_device_close(device);
}

// --- graphs that other programs write
// -------------------------------------------------------------------------------------

static const float numbers[4096];

static int constant(heddle_onnx *graph, const char *name, int rank, const int64_t *dims)
{
    return heddle_onnx_constant(graph, name, HEDDLE_ONNX_FLOAT, rank, dims, numbers);
}

// Images of 1×4×4, flattened, with the operators that the caller puts between, and 3 classes.
static heddle_onnx *begin(int *value)
{
    heddle_onnx *graph = heddle_onnx_create("test");
    assert_non_null(graph);
    graph->opset = HEDDLE_ONNX_OPSET;
    *value = heddle_onnx_input(graph, "x", 4, (int64_t[]){HEDDLE_ONNX_ANY, 1, 4, 4});
    return graph;
}

static heddle_status finish(heddle_onnx *graph, int value, heddle_onnx_network *network)
{
    const int weight = constant(graph, "weight", 2, (int64_t[]){16, 3});
    const int row = heddle_onnx_apply(graph, "Flatten", "", &value, 1, "row");
    const int product = heddle_onnx_apply(graph, "MatMul", "", (int[]){row, weight}, 2, "product");
    const int sum =
        heddle_onnx_apply(graph, "Add", "", (int[]){constant(graph, "bias", 1, (int64_t[]){3}), product}, 2, "y");
    heddle_onnx_output(graph, sum, 2, (int64_t[]){HEDDLE_ONNX_ANY, 3});
    uint8_t *content;
    size_t size;
    heddle_onnx *read = NULL;
    assert_ok(heddle_onnx_pack("test.onnx", graph, &content, &size));
    heddle_onnx_close(graph);
    heddle_status status = heddle_onnx_parse("test.onnx", content, size, &read);
    free(content);
    if (status == HEDDLE_OK)
        status = heddle_onnx_to_network("test.onnx", read, NULL, network);
    heddle_onnx_close(read);
    return status;
}

static void a_product_and_a_sum_are_a_linear_layer(void **unused)
{
    (void)unused;
    int value;
    heddle_onnx_network network = {0};
    heddle_onnx *graph = begin(&value);
    assert_ok(finish(graph, value, &network));
    if (!network.model)
        return;
    assert_int_equal(network.model->layer_count, 2);
    assert_string_equal(network.model->layers[1].type->name, "linear");
    assert_int_equal(network.model->layers[1].bias, 1);
    assert_string_equal(heddle_model_name(network.model), "test");
    heddle_onnx_network_free(&network);
}

// Whatever the graph has between, it must be refused in a line with `word` in it.
static void assert_refused_as(heddle_status status, heddle_onnx *graph, int value, const char *word)
{
    heddle_onnx_network network = {0};
    assert_int_equal(finish(graph, value, &network), status);
    if (!strstr(heddle_last_error(), word) || strchr(heddle_last_error(), '\n'))
        fail_msg("refused with '%s', without '%s'", heddle_last_error(), word);
    assert_null(network.model);
}

static void assert_refused(heddle_onnx *graph, int value, const char *word)
{
    assert_refused_as(HEDDLE_UNSUPPORTED, graph, value, word);
}

static void numbers_that_contradict_each_other_are_damage(void **unused)
{
    static const float negative[] = {-1};
    (void)unused;
    int value;
    heddle_onnx *graph = begin(&value);
    int parts[5] = {value};
    for (int i = 1; i < 5; i++)
        parts[i] = heddle_onnx_constant(graph, (char[]){(char)('a' + i), '\0'}, HEDDLE_ONNX_FLOAT, 1, (int64_t[]){1},
                                        i == 4 ? negative : numbers);
    value = heddle_onnx_apply(graph, "BatchNormalization", "", parts, 5, "z");
    assert_refused_as(HEDDLE_CORRUPT, graph, value, "a variance of -1");

    graph = begin(&value);
    value =
        heddle_onnx_apply(graph, "Conv", "", (int[]){value, constant(graph, "w", 4, (int64_t[]){1, 1, 3, 3})}, 2, "z");
    heddle_onnx_set_ints(graph, "kernel_shape", (int64_t[]){5, 5}, 2);
    assert_refused_as(HEDDLE_CORRUPT, graph, value, "a filter of 3×3, kernel_shape says 5");
}

static void operators_without_a_layer_are_refused_by_name(void **unused)
{
    static const char *const ops[] = {"LeakyRelu", "ConvTranspose", "Resize", "LSTM", "QuantizeLinear"};
    (void)unused;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        int value;
        heddle_onnx *graph = begin(&value);
        value = heddle_onnx_apply(graph, ops[i], "it", &value, 1, "z");
        assert_refused(graph, value, ops[i]);
    }
}

static void settings_without_a_counterpart_are_refused(void **unused)
{
    (void)unused;
    int value;
    heddle_onnx *graph = begin(&value);
    value = heddle_onnx_apply(graph, "AveragePool", "", &value, 1, "z");
    heddle_onnx_set_ints(graph, "kernel_shape", (int64_t[]){3, 3}, 2);
    heddle_onnx_set_ints(graph, "pads", (int64_t[]){1, 1, 1, 1}, 4);
    heddle_onnx_set_int(graph, "count_include_pad", 1);
    assert_refused(graph, value, "count_include_pad");

    graph = begin(&value);
    value =
        heddle_onnx_apply(graph, "Conv", "", (int[]){value, constant(graph, "w", 4, (int64_t[]){1, 1, 3, 1})}, 2, "z");
    assert_refused(graph, value, "square");

    graph = begin(&value);
    value = heddle_onnx_apply(graph, "Elu", "", &value, 1, "z");
    heddle_onnx_set_float(graph, "alpha", 2);
    assert_refused(graph, value, "alpha");

    graph = begin(&value);
    value = heddle_onnx_apply(graph, "Softmax", "", &value, 1, "z");
    assert_refused(graph, value, "at the end");

    graph = begin(&value);
    value = heddle_onnx_apply(graph, "Add", "", (int[]){value, value}, 2, "z");
    assert_refused(graph, value, "itself");
}

static void dropout_is_left_out_unless_it_was_exported_for_training(void **unused)
{
    (void)unused;
    static const unsigned char modes[] = {0, 1};
    for (int training = 0; training < 2; training++) {
        int value;
        heddle_onnx *graph = begin(&value);
        const int mode = heddle_onnx_constant(graph, "mode", HEDDLE_ONNX_BOOL, 0, NULL, &modes[training]);
        value =
            heddle_onnx_apply(graph, "Dropout", "", (int[]){value, constant(graph, "ratio", 0, NULL), mode}, 3, "z");
        heddle_onnx_network network = {0};
        if (training) {
            assert_refused(graph, value, "exported for training");
            continue;
        }
        assert_ok(finish(graph, value, &network));
        assert_int_equal(network.model->layer_count, 2);
        heddle_onnx_network_free(&network);
    }
}

// Residuals inside one another, deeper than heddle nests layers.
static void residuals_that_are_too_deep_are_refused(void **unused)
{
    (void)unused;
    int value, chain[8];
    heddle_onnx *graph = begin(&value);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        chain[i] = value;
        value = heddle_onnx_apply(graph, "Relu", "", &value, 1, name);
    }
    for (int i = 7; i >= 0; i--) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        value = heddle_onnx_apply(graph, "Add", "", (int[]){value, chain[i]}, 2, name);
    }
    assert_refused(graph, value, "nested");
}

// Normalisations whose result goes two ways that meet again: each way has their parameters, and so more than the nodes
// have.
static void parameters_on_several_ways_are_refused(void **unused)
{
    (void)unused;
    enum { LAYERS = 24 };
    int value, input;
    heddle_onnx *graph = begin(&input);
    const int part = constant(graph, "part", 1, (int64_t[]){1});
    value = input;
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        value = heddle_onnx_apply(graph, "BatchNormalization", "", (int[]){value, part, part, part, part}, 5, name);
    }
    const int one = heddle_onnx_apply(graph, "Add", "", (int[]){value, input}, 2, "one");
    const int relu = heddle_onnx_apply(graph, "Relu", "", &input, 1, "relu");
    const int other = heddle_onnx_apply(graph, "Add", "", (int[]){value, relu}, 2, "other");
    assert_refused(graph, heddle_onnx_apply(graph, "Add", "", (int[]){one, other}, 2, "both"), "several ways");
}

int main(void)
{
    if (!heddle_onnx_available()) {
        char path[PATH];
        snprintf(path, sizeof path, "nothing.onnx");
        if (heddle_onnx_import(path, NULL, "nothing.safetensors") != HEDDLE_MISSING)
            return 1;
        printf("built without protobuf-c: the call says so\n");
        return strstr(heddle_last_error(), "libprotobuf-c-dev") ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_model_comes_back_with_its_logits),
        cmocka_unit_test(every_type_of_layer_comes_back),
        cmocka_unit_test(the_int8_network_has_bytes_where_heddle_has_them),
        cmocka_unit_test(a_sum_of_bytes_is_rounded_alike_in_heddle_and_in_onnx),
        cmocka_unit_test(a_mean_has_more_bytes_than_what_it_is_of_would_leave_it),
        cmocka_unit_test(a_product_and_a_sum_are_a_linear_layer),
        cmocka_unit_test(numbers_that_contradict_each_other_are_damage),
        cmocka_unit_test(operators_without_a_layer_are_refused_by_name),
        cmocka_unit_test(settings_without_a_counterpart_are_refused),
        cmocka_unit_test(dropout_is_left_out_unless_it_was_exported_for_training),
        cmocka_unit_test(residuals_that_are_too_deep_are_refused),
        cmocka_unit_test(parameters_on_several_ways_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
