// `heddle ops`: lists the operators and their ladders, from the registry.

#include "cli/ops.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/ops_code.h"
#include "device/device.h"
#include "ops/engines.h"

enum { MOST_NAMES = 512, TEXT_SIZE = 256 };

typedef struct ops_settings {
    heddle_cli_json json;
    bool engines;
    const char *shape;
    bool ptx;
    heddle_cli_ops_code code; // its json is not set
} ops_settings;

static const heddle_cli_option options[] = {
    HEDDLE_CLI_JSON_OPTION(offsetof(ops_settings, json)),
    {"engines", HEDDLE_CLI_FLAG, offsetof(ops_settings, engines), NULL, NULL,
     "list the engines of the vendor's library for this operator on this GPU, best first", 0, 0, NULL},
    {"shape", HEDDLE_CLI_TEXT, offsetof(ops_settings, shape), "SHAPE", NULL,
     "with --engines: shape to use; default: the operator's first benchmark shape", 0, 0, NULL},
    {"sass", HEDDLE_CLI_FLAG, offsetof(ops_settings, code.sass), NULL, NULL,
     "show the machine code of a rung, below the source lines that it comes from, and its registers", 0, 0, NULL},
    {"ptx", HEDDLE_CLI_FLAG, offsetof(ops_settings, ptx), NULL, NULL, "the same for PTX; needs only nvcc", 0, 0, NULL},
    {"arch", HEDDLE_CLI_TEXT, offsetof(ops_settings, code.architecture), "NAME", HEDDLE_CLI_USUAL_ARCHITECTURE,
     "with --sass or --ptx: GPU architecture to compile for", 0, 0, NULL},
    {"kernel", HEDDLE_CLI_TEXT, offsetof(ops_settings, code.kernel), "TEXT", NULL,
     "with --sass or --ptx: only kernels that have TEXT in their name", 0, 0, NULL},
    {"source", HEDDLE_CLI_TEXT, offsetof(ops_settings, code.source), "DIR", NULL,
     "with --sass or --ptx: heddle's source folder; default: the one that heddle was built in", 0, 0, NULL},
};

// --- names -----------------------------------------------------------------------------------------------------------

static const char *role_name(heddle_role role)
{
    switch (role) {
    case HEDDLE_INPUT: return "input";
    case HEDDLE_OUTPUT: return "output";
    case HEDDLE_UPDATE: return "update";
    }
    return "unknown";
}

static const char *example_shape(const heddle_op *op)
{
    if (op->bench_shapes != NULL && op->bench_shapes[0] != NULL)
        return op->bench_shapes[0];
    return op->test_shapes != NULL ? op->test_shapes[0] : NULL;
}

static const char *dims_text(const heddle_operand *operand, const void *shape, char *text, size_t size)
{
    int dims[HEDDLE_MAX_DIMS];
    int rank = operand->dims(shape, dims);
    int used = snprintf(text, size, "(");
    for (int i = 0; i < rank && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%d", i > 0 ? ", " : "", dims[i]);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, ")");
    return text;
}

bool heddle_cli_op_is_called(const heddle_op *op, const char *name)
{
    size_t length = strlen(name);
    return strcmp(op->name, name) == 0 || strcmp(op->ladder_name, name) == 0 ||
           (strncmp(op->name, name, length) == 0 && op->name[length] == '_');
}

heddle_status heddle_cli_unknown_op(const char *name, const char *const *others)
{
    const char *names[MOST_NAMES];
    int count = 0;
    for (int i = 0; others != NULL && others[i] != NULL; i++)
        names[count++] = others[i];
    for (int i = 0; i < heddle_op_count() && count + 2 <= MOST_NAMES; i++) {
        names[count++] = heddle_op_at(i)->ladder_name;
        names[count++] = heddle_op_at(i)->name;
    }
    const char *nearest = heddle_text_nearest(name, names, count);
    if (nearest != NULL)
        return heddle_fail(HEDDLE_INVALID, "unknown operator or ladder '%s'; did you mean %s?", name, nearest);
    return heddle_fail(HEDDLE_INVALID, "unknown operator or ladder '%s'; `heddle ops` lists them", name);
}

// --- one operator ----------------------------------------------------------------------------------------------------

static heddle_table *new_table(const char *const *titles)
{
    heddle_table *table = heddle_table_create();
    for (int i = 0; titles[i] != NULL; i++)
        heddle_table_column(table, titles[i], HEDDLE_LEFT);
    return table;
}

static heddle_status print_operands(const heddle_op *op)
{
    static const char *const titles[] = {"operand", "role", "type", "example", "", NULL};
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const char *example = example_shape(op);
    if (example != NULL)
        HEDDLE_TRY(heddle_shape_parse(op, example, shape));
    heddle_table *table = new_table(titles);
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        char text[TEXT_SIZE] = "";
        heddle_table_cell(table, "%s", operand->name);
        heddle_table_cell(table, "%s", role_name(operand->role));
        heddle_table_cell(table, "%s", heddle_dtype_name(operand->dtype));
        heddle_table_cell(table, "%s", example != NULL ? dims_text(operand, shape, text, sizeof text) : "");
        heddle_table_cell(table, "%s%s%s", operand->optional ? "optional" : "",
                          operand->optional && operand->saved ? ", " : "", operand->saved ? "saved for backward" : "");
    }
    HEDDLE_TRY(heddle_table_finish(table, stdout));
    if (example != NULL)
        printf("(example: %s)\n", example);
    return HEDDLE_OK;
}

static heddle_status print_fields(const heddle_op *op)
{
    static const char *const titles[] = {"shape field", "kind", "default", "", NULL};
    heddle_table *table = new_table(titles);
    for (int i = 0; i < op->field_count; i++) {
        const heddle_field *field = &op->fields[i];
        heddle_table_cell(table, "%s", field->name);
        heddle_table_cell(table, "%s", field->kind == HEDDLE_FIELD_INT ? "int" : "float");
        if (isnan(field->initial))
            heddle_table_cell(table, "required");
        else
            heddle_table_cell(table, field->kind == HEDDLE_FIELD_INT ? "%.0f" : "%g", field->initial);
        heddle_table_cell(table, "%s", field->note != NULL ? field->note : "");
    }
    return heddle_table_finish(table, stdout);
}

static heddle_status print_ladder(const heddle_op *op)
{
    static const char *const titles[] = {"rung", "device", "tier", "what it does, what limits it", NULL};
    heddle_table *table = new_table(titles);
    for (int i = 0; i < op->rungs; i++) {
        heddle_table_cell(table, "%s", op->ladder[i].name);
        heddle_table_cell(table, "%s", heddle_device_kind_name(op->ladder[i].device));
        heddle_table_cell(table, "%s", heddle_tier_names[op->ladder[i].tier]);
        heddle_table_cell(table, "%s", op->ladder[i].note);
    }
    return heddle_table_finish(table, stdout);
}

static heddle_status print_operator(const heddle_op *op)
{
    printf("%s: %s\n\n", op->name, op->summary);
    HEDDLE_TRY(print_operands(op));
    printf("\n");
    HEDDLE_TRY(print_fields(op));
    printf("\n");
    HEDDLE_TRY(print_ladder(op));
    if (op->gradients != NULL && op->gradients[0] != NULL) {
        printf("\ngradients:");
        for (int i = 0; op->gradients[i] != NULL; i++)
            printf("%s %s", i > 0 ? "," : "", op->gradients[i]->name);
        printf("\n");
    }
    return HEDDLE_OK;
}

// Ladders whose name begins with the given one and that are not shown: conv may mean conv2d.
static void print_neighbours(const char *name)
{
    const char *last = "";
    bool first = true;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        bool shown = heddle_cli_op_is_called(op, name) || strcmp(op->ladder_name, last) == 0;
        if (shown || strncmp(op->ladder_name, name, strlen(name)) != 0)
            continue;
        printf("%s %s", first ? "\nsee also:" : ",", op->ladder_name);
        last = op->ladder_name;
        first = false;
    }
    if (!first)
        printf("\n");
}

static heddle_status print_operators(const char *name)
{
    bool first = true;
    for (int i = 0; i < heddle_op_count(); i++) {
        if (!heddle_cli_op_is_called(heddle_op_at(i), name))
            continue;
        if (!first)
            printf("\n\n");
        first = false;
        HEDDLE_TRY(print_operator(heddle_op_at(i)));
    }
    print_neighbours(name);
    return HEDDLE_OK;
}

// --- a library's engines ---------------------------------------------------------------------------------------------

static heddle_status list_engines(const heddle_op *op, const char *shape_text, heddle_device *device,
                                  heddle_stream *stream)
{
    enum { LIST_SIZE = 16384 };
    static char text[LIST_SIZE];
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_engine_list list = {text, sizeof text};
    heddle_device_launcher *launcher;
    if (!shape_text)
        shape_text = example_shape(op);
    HEDDLE_TRY(heddle_shape_parse(op, shape_text, shape));
    if (heddle_device_find_launcher(device, op->name, "engines", &launcher) != HEDDLE_OK) {
        printf("%s: no library lists engines for it\n", op->name);
        return HEDDLE_OK;
    }
    text[0] = '\0';
    heddle_call call = {.shape = shape, .output = {&list}, .stream = stream};
    HEDDLE_TRY(launcher(&call));
    printf("%s at %s, by heuristic and rank:\n%s", op->name, shape_text, text);
    return HEDDLE_OK;
}

static heddle_status print_engines(const char *name, const char *shape)
{
    heddle_device *device = NULL;
    heddle_stream *stream = NULL;
    HEDDLE_TRY(heddle_device_open("cuda", 0, &device));
    heddle_status status = heddle_stream_create(device, 0, &stream);
    for (int i = 0; i < heddle_op_count() && status == HEDDLE_OK; i++)
        if (heddle_cli_op_is_called(heddle_op_at(i), name))
            status = list_engines(heddle_op_at(i), shape, device, stream);
    if (stream)
        heddle_stream_destroy(stream);
    heddle_device_close(device);
    return status;
}

// --- all of them -----------------------------------------------------------------------------------------------------

static heddle_status print_list(void)
{
    static const char *const titles[] = {"ladder", "operator", "rungs", "what it computes", NULL};
    heddle_table *table = new_table(titles);
    const char *ladder = "";
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        heddle_table_cell(table, "%s", strcmp(ladder, op->ladder_name) != 0 ? op->ladder_name : "");
        heddle_table_cell(table, "%s", op->name);
        heddle_table_cell(table, "%d", op->rungs);
        heddle_table_cell(table, "%s", op->summary);
        ladder = op->ladder_name;
    }
    HEDDLE_TRY(heddle_table_finish(table, stdout));
    printf("\n`heddle ops NAME` shows the operands, shape and rungs of a ladder.\n");
    return HEDDLE_OK;
}

// --- as JSON ---------------------------------------------------------------------------------------------------------

static cJSON *operands_json(const heddle_op *op)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const char *example = example_shape(op);
    bool sized = example != NULL && heddle_shape_parse(op, example, shape) == HEDDLE_OK;
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", operand->name);
        cJSON_AddStringToObject(one, "role", role_name(operand->role));
        cJSON_AddStringToObject(one, "dtype", heddle_dtype_name(operand->dtype));
        cJSON_AddBoolToObject(one, "optional", operand->optional);
        cJSON_AddBoolToObject(one, "saved", operand->saved);
        if (sized) {
            int dims[HEDDLE_MAX_DIMS];
            int rank = operand->dims(shape, dims);
            cJSON_AddItemToObject(one, "example_dims", cJSON_CreateIntArray(dims, rank));
        }
        cJSON_AddItemToArray(all, one);
    }
    return all;
}

static cJSON *fields_json(const heddle_op *op)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < op->field_count; i++) {
        const heddle_field *field = &op->fields[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", field->name);
        cJSON_AddStringToObject(one, "kind", field->kind == HEDDLE_FIELD_INT ? "int" : "float");
        if (!isnan(field->initial))
            cJSON_AddNumberToObject(one, "default", field->initial);
        if (field->note != NULL)
            cJSON_AddStringToObject(one, "note", field->note);
        cJSON_AddItemToArray(all, one);
    }
    return all;
}

static cJSON *ladder_json(const heddle_op *op)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", rung->name);
        cJSON_AddStringToObject(one, "device", heddle_device_kind_name(rung->device));
        cJSON_AddStringToObject(one, "tier", heddle_tier_names[rung->tier]);
        cJSON_AddStringToObject(one, "note", rung->note);
        cJSON_AddStringToObject(one, "arithmetic", heddle_arithmetic_names[rung->arithmetic]);
        cJSON_AddNumberToObject(one, "capability", rung->capability);
        cJSON_AddNumberToObject(one, "shared_bytes", rung->shared_bytes);
        if (rung->gpu_only != NULL)
            cJSON_AddStringToObject(one, "gpu_only", rung->gpu_only);
        cJSON_AddBoolToObject(one, "unordered", rung->unordered);
        cJSON_AddItemToArray(all, one);
    }
    return all;
}

static cJSON *bench_json(const heddle_op *op)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; op->bench_shapes != NULL && op->bench_shapes[i] != NULL; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        if (heddle_shape_parse(op, op->bench_shapes[i], shape) != HEDDLE_OK)
            continue;
        heddle_cost cost = op->cost(shape);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "shape", op->bench_shapes[i]);
        cJSON_AddNumberToObject(one, "flops", cost.flops);
        cJSON_AddNumberToObject(one, "bytes_read", cost.bytes_read);
        cJSON_AddNumberToObject(one, "bytes_written", cost.bytes_written);
        cJSON_AddItemToArray(all, one);
    }
    return all;
}

static cJSON *operator_json(const heddle_op *op)
{
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", op->name);
    cJSON_AddStringToObject(one, "ladder_name", op->ladder_name);
    cJSON_AddStringToObject(one, "summary", op->summary);
    const char *example = example_shape(op);
    if (example != NULL)
        cJSON_AddStringToObject(one, "example_shape", example);
    cJSON_AddItemToObject(one, "operands", operands_json(op));
    cJSON_AddItemToObject(one, "fields", fields_json(op));
    cJSON_AddItemToObject(one, "ladder", ladder_json(op));
    cJSON_AddItemToObject(one, "bench", bench_json(op));
    cJSON *gradients = cJSON_AddArrayToObject(one, "gradients");
    for (int i = 0; op->gradients != NULL && op->gradients[i] != NULL; i++)
        cJSON_AddItemToArray(gradients, cJSON_CreateString(op->gradients[i]->name));
    return one;
}

static cJSON *to_json(const char *name)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "operators");
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (name == NULL || heddle_cli_op_is_called(op, name))
            cJSON_AddItemToArray(all, operator_json(op));
    }
    return json;
}

// --- the command -----------------------------------------------------------------------------------------------------

static int unknown_name(const char *name)
{
    const char *slash = strchr(name, '/');
    if (slash != NULL)
        return heddle_cli_usage(&heddle_command_ops,
                                "takes a rung only with --sass or --ptx: `heddle ops %.*s` shows the whole ladder",
                                (int)(slash - name), name);
    heddle_cli_unknown_op(name, NULL);
    return heddle_cli_usage(&heddle_command_ops, "%s", heddle_last_error());
}

static int show_code(const char *name, ops_settings *settings)
{
    if (name == NULL)
        return heddle_cli_usage(&heddle_command_ops, "--sass and --ptx need a rung, such as saxpy/01_naive");
    if ((settings->code.sass && settings->ptx) || settings->engines || settings->shape)
        return heddle_cli_usage(&heddle_command_ops, "--sass, --ptx and --engines exclude each other");
    settings->code.json = settings->json;
    return heddle_cli_ops_code_show(name, &settings->code);
}

static int run_command(int argc, char **argv)
{
    ops_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_ops, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *name = arguments.count > 0 ? arguments.items[0] : NULL;
    if (settings.code.sass || settings.ptx)
        return show_code(name, &settings);
    if (settings.code.kernel || settings.code.source)
        return heddle_cli_usage(&heddle_command_ops, "--kernel and --source need --sass or --ptx");
    int matches = 0;
    for (int i = 0; name != NULL && i < heddle_op_count(); i++)
        matches += heddle_cli_op_is_called(heddle_op_at(i), name);
    if (name != NULL && matches == 0)
        return unknown_name(name);
    if (settings.engines && (name == NULL || heddle_cli_json_wanted(&settings.json)))
        return heddle_cli_usage(&heddle_command_ops, "--engines needs a NAME and has no JSON form");
    if (settings.shape && !settings.engines)
        return heddle_cli_usage(&heddle_command_ops, "--shape needs --engines");
    if (settings.engines) {
        heddle_status listed = print_engines(name, settings.shape);
        return listed == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(listed);
    }
    heddle_status status = HEDDLE_OK;
    if (!settings.json.print)
        status = name != NULL ? print_operators(name) : print_list();
    return status == HEDDLE_OK ? heddle_cli_json_exit(&settings.json, to_json(name)) : heddle_cli_fail(status);
}

const heddle_cli_command heddle_command_ops = {
    .name = "ops",
    .summary = "list the operators, their operands and their ladders of implementations",
    .arguments = "[NAME]",
    .most_arguments = 1,
    .description = "NAME is an operator (relu_forward), the first part of its name (relu: forward and backward), or a "
                   "ladder; with "
                   "--sass or --ptx, an operator or ladder and a rung (saxpy/01_naive).",
    .example = "heddle ops\nheddle ops conv2d\nheddle ops matmul --json\nheddle ops conv2d_bias_relu --engines\n"
               "heddle ops transpose/02_tiles --sass",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
