// `heddle ops --json`: what the registry says of each operator, for programs.

#include <math.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "cli/cli.h"
#include "cli/ops.h"

static cJSON *operands_json(const heddle_op *op)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const char *example = heddle_cli_example_shape(op);
    bool sized = example != NULL && heddle_shape_parse(op, example, shape) == HEDDLE_OK;
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", operand->name);
        cJSON_AddStringToObject(one, "role", heddle_cli_role_name(operand->role));
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
        cJSON_AddStringToObject(one, "tier", heddle_cli_tier_name(rung->tier));
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
    const char *example = heddle_cli_example_shape(op);
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

cJSON *heddle_cli_ops_json(const char *name)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "operators");
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (name == NULL || heddle_cli_op_is_called(op, name))
            cJSON_AddItemToArray(all, operator_json(op));
    }
    return json;
}
