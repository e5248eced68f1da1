// Reads a run's report. Fields that are missing take their neutral value, so that reports of a runtime a little older
// or newer can still be shown; what is not JSON at all is an error.

#include "check/report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

// More is not from the simulator, but from the program that was checked. Thousands of lines of counters are a few MiB.
enum {
    LARGEST_REPORT = 256 << 20,
    MOST_FINDINGS = 10000, // as sim/report/findings.c keeps
    MOST_VALUES = 10000000,
};

static const double largest_integer = 0x1p53; // exact in JSON's numbers

// What a whole read shares: the arena, and whether it ran out.
typedef struct reading {
    heddle_arena *arena;
    bool out_of_memory;
} reading;

// --- single fields ---------------------------------------------------------------------------------------------------

static const cJSON *field(const cJSON *object, const char *name)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = field(object, name);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

static long long integer_of(const cJSON *item)
{
    if (!cJSON_IsNumber(item) || !(fabs(item->valuedouble) <= largest_integer))
        return 0;
    return (long long)item->valuedouble;
}

static long long integer(const cJSON *object, const char *name)
{
    return integer_of(field(object, name));
}

static int small_of(const cJSON *item)
{
    long long value = integer_of(item);
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

static int small(const cJSON *object, const char *name)
{
    return small_of(field(object, name));
}

static const char *keep(reading *reader, const char *text)
{
    char *copy = heddle_arena_copy_text(reader->arena, text);
    reader->out_of_memory |= !copy;
    if (copy)
        heddle_text_one_line(copy); // names and messages come from the program that is checked
    return copy ? copy : "";
}

static const char *text(reading *reader, const cJSON *object, const char *name)
{
    const cJSON *item = field(object, name);
    return cJSON_IsString(item) ? keep(reader, item->valuestring) : "";
}

static bool triple(const cJSON *object, const char *name, int values[3])
{
    const cJSON *list = field(object, name);
    for (int i = 0; i < 3; i++)
        values[i] = cJSON_IsArray(list) ? small_of(cJSON_GetArrayItem(list, i)) : 0;
    return cJSON_IsArray(list);
}

// Room for the elements of a list; *count is 0 where there is no list or no memory.
static void *room(reading *reader, const cJSON *list, size_t size, int *count)
{
    *count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    void *memory = *count ? heddle_arena_alloc(reader->arena, (size_t)*count * size) : NULL;
    if (*count && !memory) {
        reader->out_of_memory = true;
        *count = 0;
    }
    return memory;
}

// --- findings --------------------------------------------------------------------------------------------------------

static heddle_check_frame read_frame(reading *reader, const cJSON *object, const char *function)
{
    return (heddle_check_frame){
        .file = text(reader, object, "file"),
        .line = small(object, "line"),
        .column = small(object, "column"),
        .function = text(reader, object, function),
    };
}

static void read_place(reading *reader, const cJSON *object, heddle_check_place *place)
{
    place->role = text(reader, object, "role");
    place->offset = integer(object, "offset");
    place->within = text(reader, object, "within");
    place->has_thread = triple(object, "thread", place->thread);
    triple(object, "block", place->block);
    const cJSON *frame = NULL;
    cJSON_ArrayForEach(frame, field(object, "stack")) if (place->frames < HEDDLE_CHECK_FRAMES)
        place->frame[place->frames++] = read_frame(reader, frame, "function");
    heddle_check_frame own = read_frame(reader, object, "function");
    if (own.file[0] == '\0')
        return;
    // The stack begins with the place itself, where there is one.
    if (place->frames == 0)
        place->frames = 1;
    place->frame[0] = own;
}

static heddle_check_memory *read_memory(reading *reader, const cJSON *object)
{
    heddle_check_memory *memory = cJSON_IsObject(object) ? heddle_arena_alloc(reader->arena, sizeof *memory) : NULL;
    if (!memory)
        return NULL;
    *memory = (heddle_check_memory){
        .space = text(reader, object, "space"),
        .name = text(reader, object, "name"),
        .bytes = integer(object, "bytes"),
        .offset = integer(object, "offset"),
        .size = integer(object, "size"),
        .live = !cJSON_IsFalse(field(object, "live")),
        .is_dynamic = cJSON_IsTrue(field(object, "dynamic")),
        .allocated = read_frame(reader, field(object, "allocated"), "call"),
        .freed = read_frame(reader, field(object, "freed"), "call"),
        .allocated_offset = integer(field(object, "allocated"), "offset"),
        .freed_offset = integer(field(object, "freed"), "offset"),
    };
    return memory;
}

static long long *offsets(reading *reader, const cJSON *list, int *count)
{
    long long *made = room(reader, list, sizeof *made, count);
    const cJSON *item = NULL;
    int next = 0;
    cJSON_ArrayForEach(item, list) if (next < *count) made[next++] = integer_of(item);
    return made;
}

static heddle_check_order read_order(const cJSON *item)
{
    static const char *const names[] = {
        [HEDDLE_CHECK_ORDER_BARRIER] = "barrier", [HEDDLE_CHECK_ORDER_BLOCKS] = "blocks",
        [HEDDLE_CHECK_ORDER_COPY] = "copy",       [HEDDLE_CHECK_ORDER_FENCE] = "fence",
        [HEDDLE_CHECK_ORDER_ACQUIRE] = "acquire", [HEDDLE_CHECK_ORDER_ACQUIRE_IN_BLOCK] = "acquire in block",
        [HEDDLE_CHECK_ORDER_GUARD] = "guard",     [HEDDLE_CHECK_ORDER_CHILD] = "child"};
    for (size_t i = 0; cJSON_IsString(item) && i < sizeof names / sizeof *names; i++)
        if (strcmp(item->valuestring, names[i]) == 0)
            return (heddle_check_order)i;
    return HEDDLE_CHECK_ORDER_BARRIER;
}

static void read_finding(reading *reader, const cJSON *object, heddle_check_finding *finding)
{
    const cJSON *kernel = field(object, "kernel");
    const char *kind = text(reader, object, "kind");
    *finding = (heddle_check_finding){
        .kind = heddle_check_kind_find(kind),
        .tier = strcmp(text(reader, object, "tier"), "warning") == 0 ? HEDDLE_CHECK_WARNING : HEDDLE_CHECK_ERROR,
        .count = integer(object, "count"),
        .kernel = cJSON_IsString(kernel) ? keep(reader, kernel->valuestring) : NULL,
        .message = text(reader, object, "message"),
        .note = text(reader, object, "note"),
        .part = text(reader, object, "part"),
        .order = read_order(field(object, "order")),
        .partly = cJSON_IsTrue(field(object, "partly")),
        .parts_warp = cJSON_IsTrue(field(object, "parts_warp")),
        .memory = read_memory(reader, field(object, "memory")),
    };
    if (finding->count < 1)
        finding->count = 1;
    const cJSON *item = NULL;
    int next = 0;
    finding->places = room(reader, field(object, "places"), sizeof *finding->places, &finding->place_count);
    cJSON_ArrayForEach(item, field(object, "places")) if (next < finding->place_count)
        read_place(reader, item, &finding->places[next++]);
    finding->values = offsets(reader, field(object, "values"), &finding->value_count);
    finding->settled = offsets(reader, field(object, "settled"), &finding->settled_count);
}

// --- counters --------------------------------------------------------------------------------------------------------

static const heddle_check_request *read_request(reading *reader, const cJSON *object)
{
    heddle_check_request *request = cJSON_IsObject(object) ? heddle_arena_alloc(reader->arena, sizeof *request) : NULL;
    if (!request)
        return NULL;
    request->units = small(object, "units");
    request->mask = (uint32_t)integer(object, "mask");
    request->lowest = integer(object, "lowest");
    request->warp = small(object, "warp");
    triple(object, "block", request->block);
    const cJSON *item = NULL;
    int lane = 0;
    cJSON_ArrayForEach(item, field(object, "offsets")) if (lane < HEDDLE_CHECK_LANES) request->offsets[lane++] =
        integer_of(item);
    return request;
}

static void read_line(reading *reader, const cJSON *object, heddle_check_line *line)
{
    *line = (heddle_check_line){
        .file = text(reader, object, "file"),
        .line = small(object, "line"),
        .access = text(reader, object, "kind"),
        .space = text(reader, object, "space"),
        .size = small(object, "size"),
        .requests = number(object, "requests"),
        .lanes = number(object, "lanes"),
        .units = number(object, "units"),
        .ideal = number(object, "ideal"),
        .worst = read_request(reader, field(object, "worst")),
    };
}

static void read_kernel(reading *reader, const cJSON *object, heddle_check_kernel *kernel)
{
    *kernel = (heddle_check_kernel){
        .name = text(reader, object, "kernel"),
        .shared = number(object, "shared"),
        .launches = number(object, "launches"),
        .repeated = number(object, "repeated_launches"),
        .accesses = number(object, "accesses"),
        .barriers = number(object, "barriers"),
        .threads = number(object, "threads"),
        .blocks = number(object, "blocks"),
        .watched_blocks = number(object, "watched_blocks"),
    };
    triple(object, "grid", kernel->grid);
    triple(object, "block", kernel->block);
    const cJSON *item = NULL;
    int next = 0;
    kernel->lines = room(reader, field(object, "lines"), sizeof *kernel->lines, &kernel->line_count);
    cJSON_ArrayForEach(item, field(object, "lines")) if (next < kernel->line_count)
        read_line(reader, item, &kernel->lines[next++]);
    next = 0;
    kernel->branches = room(reader, field(object, "branches"), sizeof *kernel->branches, &kernel->branch_count);
    cJSON_ArrayForEach(item, field(object, "branches")) if (next < kernel->branch_count) kernel->branches[next++] =
        (heddle_check_branch){.file = text(reader, item, "file"),
                              .line = small(item, "line"),
                              .executions = number(item, "executions"),
                              .divergent = number(item, "divergent")};
}

// --- copies ----------------------------------------------------------------------------------------------------------

// "SUM MAGNITUDE SUM MAGNITUDE"
static void read_sums(const char *text_of_sums, heddle_check_copy *copy)
{
    char *rest = (char *)text_of_sums;
    for (int type = 0; type < 2; type++) {
        double sum = strtod(rest, &rest);
        const char *before = rest;
        double magnitude = strtod(rest, &rest);
        if (rest == before)
            return;
        copy->sums[type].sum = sum;
        copy->sums[type].magnitude = magnitude;
    }
}

// "SITE ADDRESS", and for a single number "number" or "zero"
static void read_destination(const char *text_of_destination, heddle_check_copy *copy)
{
    char *rest = (char *)text_of_destination;
    copy->site = strtoll(rest, &rest, 10);
    copy->into = strtoull(rest, &rest, 10);
    copy->what = strcmp(rest, " number") == 0 ? HEDDLE_CHECK_COPY_NUMBER
                 : strcmp(rest, " zero") == 0 ? HEDDLE_CHECK_COPY_ZERO
                                              : HEDDLE_CHECK_COPY_ARRAY;
}

static void read_copies(reading *reader, const cJSON *json, heddle_check_report *report)
{
    const cJSON *item = NULL;
    int next = 0;
    report->copies = room(reader, field(json, "copies"), sizeof *report->copies, &report->copy_count);
    cJSON_ArrayForEach(item, field(json, "copies")) if (next < report->copy_count)
    {
        heddle_check_copy *copy = &report->copies[next++];
        copy->hash = cJSON_IsString(item) ? keep(reader, item->valuestring) : "";
        copy->sums[0].magnitude = copy->sums[1].magnitude = -1;
        copy->by = "";
    }
    next = 0;
    cJSON_ArrayForEach(item, field(json, "copied_by")) if (next < report->copy_count) report->copies[next++].by =
        cJSON_IsString(item) ? keep(reader, item->valuestring) : "";
    next = 0;
    cJSON_ArrayForEach(item, field(json, "copied_floats")) if (next < report->copy_count)
        read_sums(cJSON_IsString(item) ? item->valuestring : "", &report->copies[next++]);
    next = 0;
    cJSON_ArrayForEach(item, field(json, "copied_into")) if (next < report->copy_count)
        read_destination(cJSON_IsString(item) ? item->valuestring : "", &report->copies[next++]);
    next = 0;
    report->copies_in_any_order = cJSON_IsArray(field(json, "copied_at"));
    cJSON_ArrayForEach(item, field(json, "copied_at")) if (next < report->copy_count) report->copies[next++].site =
        integer_of(item);
}

// --- all of it -------------------------------------------------------------------------------------------------------

static void read_all(reading *reader, const cJSON *json, heddle_check_report *report)
{
    report->status = text(reader, json, "status");
    report->exit_status = cJSON_IsNumber(field(json, "exit")) ? small(json, "exit") : -1;
    report->unchecked = text(reader, json, "unchecked");
    const cJSON *crashed = field(json, "crashed");
    report->crashed = cJSON_IsObject(crashed) ? heddle_arena_alloc(reader->arena, sizeof *report->crashed) : NULL;
    if (report->crashed) {
        *report->crashed = (heddle_check_place){0};
        read_place(reader, crashed, report->crashed);
    }
    report->gpu = text(reader, json, "gpu");
    report->schedule = small(json, "schedule");
    const cJSON *item = NULL;
    int next = 0;
    report->findings = room(reader, field(json, "findings"), sizeof *report->findings, &report->finding_count);
    cJSON_ArrayForEach(item, field(json, "findings")) if (next < report->finding_count)
        read_finding(reader, item, &report->findings[next++]);
    next = 0;
    report->kernels = room(reader, field(json, "kernels"), sizeof *report->kernels, &report->kernel_count);
    cJSON_ArrayForEach(item, field(json, "kernels")) if (next < report->kernel_count)
        read_kernel(reader, item, &report->kernels[next++]);
    read_copies(reader, json, report);
    const cJSON *totals = field(json, "totals");
    report->accesses = number(totals, "accesses");
    report->launches = number(totals, "launches");
    report->algorithms = number(totals, "algorithms");
    report->seconds = number(totals, "seconds");
    report->branches_in_pieces = cJSON_IsTrue(field(totals, "branches_in_pieces"));
    report->suppressed = small(field(json, "suppressed"), "total");
}

// Each value but the first of a list or object follows a comma; those in strings are counted too.
heddle_status heddle_check_json_parse(const char *what, const char *content, size_t size, cJSON **json)
{
    size_t count = 0;
    *json = NULL;
    for (size_t i = 0; i < size; i++)
        count += content[i] == ',' || content[i] == '[' || content[i] == '{';
    if (count > MOST_VALUES)
        return heddle_check_beyond(what);
    return heddle_json_parse(what, content, size, json);
}

heddle_status heddle_check_beyond(const char *what)
{
    return heddle_fail(HEDDLE_CORRUPT, "%s holds more than the simulator records", what);
}

static heddle_status refuse_report(const char *what, const cJSON *json)
{
    const cJSON *findings = field(json, "findings");
    if (!cJSON_IsArray(findings))
        return heddle_fail(HEDDLE_CORRUPT, "%s: not a report of a simulated run", what);
    return cJSON_GetArraySize(findings) > MOST_FINDINGS ? heddle_check_beyond(what) : HEDDLE_OK;
}

heddle_status heddle_check_report_parse(const char *what, const char *content, size_t size,
                                        heddle_check_report **report)
{
    *report = NULL;
    cJSON *json = NULL;
    HEDDLE_TRY(heddle_check_json_parse(what, content, size, &json));
    heddle_status status = refuse_report(what, json);
    if (status != HEDDLE_OK) {
        cJSON_Delete(json);
        return status;
    }
    reading reader = {.arena = heddle_arena_create()};
    heddle_check_report *read = reader.arena ? heddle_arena_alloc(reader.arena, sizeof *read) : NULL;
    if (read) {
        read->arena = reader.arena;
        read_all(&reader, json, read);
    }
    cJSON_Delete(json);
    if (!read || reader.out_of_memory) {
        heddle_arena_destroy(reader.arena);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", what);
    }
    *report = read;
    return HEDDLE_OK;
}

heddle_status heddle_check_report_read(const char *path, heddle_check_report **report)
{
    *report = NULL;
    char *content = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_REPORT, &content, &size));
    heddle_status status = heddle_check_report_parse(path, content, size, report);
    free(content);
    return status;
}

void heddle_check_report_free(heddle_check_report *report)
{
    if (report)
        heddle_arena_destroy(report->arena);
}

bool heddle_check_is_shared(const char *space)
{
    return strcmp(space, "shared") == 0;
}

const char *heddle_check_own_name(const char *function, size_t *length)
{
    size_t end = strcspn(function, "<"), begin = end;
    while (begin > 0 && function[begin - 1] != ':')
        begin--;
    *length = end - begin;
    return function + begin;
}

bool heddle_check_same_function(const char *one, const char *other)
{
    size_t length, other_length;
    one = heddle_check_own_name(one, &length);
    other = heddle_check_own_name(other, &other_length);
    return length > 0 && length == other_length && memcmp(one, other, length) == 0;
}
