// The profile for a person, and as JSON.

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/profile.h"

const char *heddle_profile_label(const heddle_profile_data *data, const heddle_profile_span *span, char *text,
                                 size_t size)
{
    static const char *const kinds[HEDDLE_GPU_KINDS] = {"kernel", "copy in", "copy out", "copy inside", "set"};
    if (span->call >= 0) {
        const heddle_profile_call *call = &data->calls[span->call];
        snprintf(text, size, "%s%s%s", call->layer, *call->layer ? " " : "", call->op);
    } else {
        snprintf(text, size, "%s", span->name >= 0 ? data->names[span->name] : kinds[span->kind]);
    }
    return text;
}

// --- the table -------------------------------------------------------------------------------------------------------

static void add_number(heddle_table *table, const char *format, double value)
{
    if (isfinite(value))
        heddle_table_cell(table, format, value); // NOLINT(clang-diagnostic-format-nonliteral)
    else
        heddle_table_cell(table, "%s", "");
}

static void add_row(heddle_table *table, const heddle_profile_row *row, double steps)
{
    const heddle_profile_call *call = row->call;
    heddle_table_cell(table, "%s", heddle_phase_names[row->phase]);
    heddle_table_cell(table, "%s", call->layer);
    heddle_table_cell(table, "%s", call->op);
    heddle_table_cell(table, "%s", call->rung ? call->rung : call->host ? "(host)" : "(copy)");
    heddle_table_cell(table, "%lld", (long long)row->calls);
    heddle_table_cell(table, "%.1f", 1e6 * row->seconds / steps);
    heddle_table_cell(table, "%.1f", 100 * row->share);
    add_number(table, "%.1f", 1e-9 * row->flops);
    add_number(table, "%.1f", 1e-9 * row->bytes);
    add_number(table, "%.0f", 100 * row->roofline);
    heddle_table_cell(table, "%s", row->bound);
    add_number(table, "%.1f", 1e6 * row->gap / steps);
}

static heddle_status print_rows(const heddle_profile_report *report, FILE *file)
{
    static const struct {
        const char *title;
        heddle_align align;
    } columns[] = {{"phase", HEDDLE_LEFT},       {"layer", HEDDLE_LEFT},    {"operator", HEDDLE_LEFT},
                   {"rung", HEDDLE_LEFT},        {"calls", HEDDLE_RIGHT},   {"µs/step", HEDDLE_RIGHT},
                   {"% of step", HEDDLE_RIGHT},  {"GFLOP/s", HEDDLE_RIGHT}, {"GB/s", HEDDLE_RIGHT},
                   {"% of limit", HEDDLE_RIGHT}, {"limit", HEDDLE_LEFT},    {"gap µs", HEDDLE_RIGHT}};
    heddle_table *table = heddle_table_create();
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        heddle_table_column(table, columns[i].title, columns[i].align);
    for (int i = 0; i < report->row_count; i++)
        add_row(table, &report->rows[i], (double)report->steps);
    return heddle_table_finish(table, file);
}

// "forward 41 %, backward 52 %": of the time of a step.
static void print_phases(const heddle_profile_report *report, FILE *file)
{
    const double step = 1e6 * report->seconds / (double)report->steps;
    fprintf(file, "\na step takes %.1f µs:", step);
    const char *separator = " ";
    for (int i = 0; i < HEDDLE_PHASES; i++) {
        const heddle_phase phase = heddle_phase_order[i];
        if (report->phases[phase] <= 0 || phase == HEDDLE_PHASE_PAUSE)
            continue;
        fprintf(file, "%s%s %.1f µs (%.1f %%)", separator, heddle_phase_names[phase],
                1e6 * report->phases[phase] / (double)report->steps, 100 * report->phases[phase] / report->seconds);
        separator = ", ";
    }
    if (report->other > 0)
        fprintf(file, "%sother work %.1f µs", separator, 1e6 * report->other / (double)report->steps);
    fprintf(file, "; nothing runs for %.1f µs (%.1f %%)\n", 1e6 * report->gaps / (double)report->steps,
            100 * report->gaps / report->seconds);
    if (report->copies > 0)
        fprintf(file, "copies between host and GPU: %.1f µs per step, %.1f %% of it while a kernel runs\n",
                1e6 * report->copies / (double)report->steps, 100 * report->copies_covered / report->copies);
}

heddle_status heddle_profile_print(const heddle_profile_data *data, const heddle_profile_report *report, FILE *file)
{
    if (*data->note)
        fprintf(file, "profile: %s\n", data->note);
    if (report->steps == 0) {
        fprintf(file, "profile: no step was seen\n");
        return HEDDLE_OK;
    }
    fprintf(file, "profile of %lld step%s on %s%s\n\n", (long long)report->steps, report->steps == 1 ? "" : "s",
            heddle_device_kind_name(data->device),
            data->device == HEDDLE_SIM ? ": how long the simulation takes, not how long a GPU would" : "");
    HEDDLE_TRY(print_rows(report, file));
    print_phases(report, file);
    if (data->stopped)
        fprintf(file,
                "recorded until %d kernels, copies and launches were seen; the rest of the run was not slowed down\n",
                data->span_count + data->launch_count);
    if (data->dropped)
        fprintf(file, "the profile is of the last steps: %ld earlier spans are not in it\n", data->dropped);
    return HEDDLE_OK;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static cJSON *row_json(const heddle_profile_row *row, double steps)
{
    const heddle_profile_call *call = row->call;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "phase", heddle_phase_names[row->phase]);
    cJSON_AddStringToObject(json, "layer", call->layer);
    cJSON_AddStringToObject(json, "operator", call->op);
    if (call->rung)
        cJSON_AddStringToObject(json, "rung", call->rung);
    if (call->tier)
        cJSON_AddStringToObject(json, "kernels", call->tier);
    cJSON_AddBoolToObject(json, "host", call->host);
    cJSON_AddNumberToObject(json, "calls", (double)row->calls);
    cJSON_AddNumberToObject(json, "launched", row->kernels);
    cJSON_AddNumberToObject(json, "seconds", row->seconds);
    cJSON_AddNumberToObject(json, "microseconds_per_step", 1e6 * row->seconds / steps);
    cJSON_AddNumberToObject(json, "share", row->share);
    heddle_json_add_number(json, "flops_per_second", row->flops);
    heddle_json_add_number(json, "bytes_per_second", row->bytes);
    heddle_json_add_number(json, "roofline", row->roofline);
    cJSON_AddStringToObject(json, "bound", row->bound);
    cJSON_AddNumberToObject(json, "gap_seconds", row->gap);
    return json;
}

cJSON *heddle_profile_json(const heddle_profile_data *data, const heddle_profile_report *report)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device", heddle_device_kind_name(data->device));
    cJSON_AddNumberToObject(json, "steps", (double)report->steps);
    cJSON_AddNumberToObject(json, "seconds", report->seconds);
    cJSON *phases = cJSON_AddObjectToObject(json, "phases");
    for (int i = 0; phases && i < HEDDLE_PHASES; i++)
        if (heddle_phase_order[i] != HEDDLE_PHASE_PAUSE)
            cJSON_AddNumberToObject(phases, heddle_phase_names[heddle_phase_order[i]],
                                    report->phases[heddle_phase_order[i]]);
    cJSON_AddNumberToObject(json, "other_seconds", report->other);
    cJSON_AddNumberToObject(json, "gap_seconds", report->gaps);
    cJSON_AddNumberToObject(json, "pause_seconds", report->pauses);
    cJSON_AddNumberToObject(json, "copy_seconds", report->copies);
    cJSON_AddNumberToObject(json, "copy_seconds_under_kernels", report->copies_covered);
    cJSON_AddNumberToObject(json, "spans", data->span_count);
    cJSON_AddNumberToObject(json, "dropped", (double)data->dropped);
    cJSON_AddBoolToObject(json, "stopped", data->stopped);
    cJSON *lanes = cJSON_AddArrayToObject(json, "lanes");
    for (int i = 0; lanes && i < data->lane_count; i++)
        cJSON_AddItemToArray(lanes, cJSON_CreateString(data->lanes[i].name));
    cJSON *ranges = data->range_count ? cJSON_AddArrayToObject(json, "nvtx_ranges") : NULL;
    for (int i = 0; ranges && i < data->range_count; i++)
        cJSON_AddItemToArray(ranges, cJSON_CreateString(data->ranges[i]));
    cJSON_AddStringToObject(json, "note", data->note);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (int i = 0; rows && i < report->row_count; i++)
        cJSON_AddItemToArray(rows, row_json(&report->rows[i], (double)report->steps));
    return json;
}
