// From the simulator's trace to the one a person gets: buffers with their names, findings with the events they are
// about, the text of the sources. The program could write to the file it comes from: nothing in it is trusted.

#include "check/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/names.h"
#include "check/show.h"
#include "heddle/heddle.h"

enum { LANES = 32, MOST_LINES = 20000 };

// More than the simulator records (sim/watch/trace.h and sim/report/trace.c) is not from it. The largest traces that it
// writes have some 600,000 events of one lane each: about 150 bytes and 13 JSON values per event.
enum {
    MOST_LAUNCHES = 64,
    MOST_BLOCKS = 4,     // of a launch
    MOST_EVENTS = 58192, // of a block
    MOST_OPERATIONS = 1000,
    MOST_BUFFERS = 4096,
    MOST_PLACES = 4096,
    LARGEST_TRACE = 128 << 20,
};

// --- reading ---------------------------------------------------------------------------------------------------------

static const cJSON *field(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static double number(const cJSON *object, const char *name, double otherwise)
{
    const cJSON *item = field(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static uint32_t lanes_of(const cJSON *event)
{
    const double lanes = number(event, "lanes", 0);
    return lanes >= 0 && lanes <= UINT32_MAX ? (uint32_t)lanes : 0;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = field(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static bool is_triple(const cJSON *list, const int values[3])
{
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || item->valuedouble != values[i])
            return false;
    }
    return true;
}

// The places of a trace, by index.
typedef struct place_list {
    const cJSON *at[MOST_PLACES];
    int count;
} place_list;

static place_list *list_places(const cJSON *trace)
{
    place_list *places = calloc(1, sizeof *places);
    const cJSON *place = NULL;
    if (!places)
        return NULL;
    cJSON_ArrayForEach(place, field(trace, "places"))
    {
        if (places->count < MOST_PLACES)
            places->at[places->count++] = place;
    }
    return places;
}

// The place whose index is the item's "place"; NULL: there is none.
static const cJSON *place_of(const place_list *places, const cJSON *item)
{
    const double index = number(item, "place", -1);
    return index >= 0 && index < places->count ? places->at[(int)index] : NULL;
}

static bool is_within_limits(const cJSON *trace)
{
    const cJSON *launch = NULL, *block = NULL;
    bool fits = cJSON_IsObject(trace) && cJSON_GetArraySize(field(trace, "launches")) <= MOST_LAUNCHES &&
                cJSON_GetArraySize(field(trace, "operations")) <= MOST_OPERATIONS &&
                cJSON_GetArraySize(field(trace, "buffers")) <= MOST_BUFFERS &&
                cJSON_GetArraySize(field(trace, "places")) <= MOST_PLACES;
    cJSON_ArrayForEach(launch, field(trace, "launches"))
    {
        fits = fits && cJSON_GetArraySize(field(launch, "blocks")) <= MOST_BLOCKS;
        cJSON_ArrayForEach(block, field(launch, "blocks"))
        {
            fits = fits && cJSON_GetArraySize(field(block, "events")) <= MOST_EVENTS;
        }
    }
    return fits;
}

// --- findings --------------------------------------------------------------------------------------------------------

// One thread of a launch, as warp and lane.
typedef struct lane_of {
    int warp;
    uint32_t bit;
    int lane;
} lane_of;

static lane_of lane_in(const cJSON *launch, const int thread[3])
{
    const cJSON *block = field(launch, "block");
    const double x = cJSON_GetNumberValue(cJSON_GetArrayItem(block, 0));
    const double y = cJSON_GetNumberValue(cJSON_GetArrayItem(block, 1));
    const double linear = thread[0] + x * (thread[1] + y * thread[2]);
    const int index = linear >= 0 && linear < 4096 ? (int)linear : -1;
    return (lane_of){index < 0 ? -1 : index / LANES, index < 0 ? 0 : 1u << index % LANES,
                     index < 0 ? 0 : index % LANES};
}

// A lane's number in a list, or in what stands for an even one.
static bool lane_number(const cJSON *numbers, uint32_t lanes, const lane_of *at, double *value)
{
    const int nth = __builtin_popcount(lanes & (at->bit - 1));
    if (cJSON_IsArray(numbers)) {
        const cJSON *item = cJSON_GetArrayItem(numbers, nth);
        *value = cJSON_IsNumber(item) ? item->valuedouble : 0;
        return cJSON_IsNumber(item);
    }
    *value = number(numbers, "first", 0) + nth * number(numbers, "step", 0);
    return cJSON_IsObject(numbers);
}

static bool is_of_memory(const cJSON *event, uint32_t lanes, const lane_of *at, const heddle_check_memory *memory)
{
    double offset = 0;
    return memory && lane_number(field(event, "offsets"), lanes, at, &offset) && offset <= (double)memory->offset &&
           offset + number(event, "bytes", 0) > (double)memory->offset;
}

// What is looked for: one place of a finding.
typedef struct wanted {
    const place_list *places;
    const heddle_check_finding *finding;
    const heddle_check_place *place;
} wanted;

static bool is_at(const wanted *want, const cJSON *event, const lane_of *at)
{
    const uint32_t lanes = lanes_of(event);
    return number(event, "warp", -1) == at->warp && (lanes & at->bit) &&
           number(place_of(want->places, event), "offset", -1) == (double)want->place->offset;
}

// Events that a place of a finding may be about, in their order.
enum { MOST_CANDIDATES = 512 };

typedef struct candidate {
    int launch, block, event, lane;
    int interval; // between two barriers of its block
    bool exact;   // it is about the finding's memory
} candidate;

typedef struct candidates {
    candidate at[MOST_CANDIDATES];
    int count;
} candidates;

static void look_in_block(const wanted *want, const cJSON *launch, const cJSON *block, candidate place,
                          candidates *found)
{
    const lane_of at = lane_in(launch, want->place->thread);
    const cJSON *event = NULL;
    place.lane = at.lane;
    cJSON_ArrayForEach(event, field(block, "events"))
    {
        if (found->count < MOST_CANDIDATES && is_at(want, event, &at)) {
            place.exact = is_of_memory(event, lanes_of(event), &at, want->finding->memory);
            found->at[found->count++] = place;
        }
        place.interval += strcmp(text_of(event, "kind"), "leave") == 0 && !field(event, "barrier");
        place.event++;
    }
}

static void look(const wanted *want, const cJSON *launches, candidates *found)
{
    const cJSON *launch = NULL, *block = NULL;
    candidate place = {0};
    found->count = 0;
    cJSON_ArrayForEach(launch, launches)
    {
        place.block = 0;
        cJSON_ArrayForEach(block, field(launch, "blocks"))
        {
            if (want->finding->kernel && strcmp(text_of(launch, "kernel"), want->finding->kernel) == 0 &&
                is_triple(field(block, "block"), want->place->block))
                look_in_block(want, launch, block, place, found);
            place.block++;
        }
        place.launch++;
    }
}

// The first that is about the memory, or else the first.
static const candidate *first_of(const candidates *found)
{
    for (int i = 0; i < found->count; i++)
        if (found->at[i].exact)
            return &found->at[i];
    return found->count > 0 ? &found->at[0] : NULL;
}

// Two accesses of one launch with no barrier of their block between them.
static bool may_meet(const candidate *one, const candidate *other)
{
    return one->exact && other->exact && one->launch == other->launch &&
           (one->block != other->block || one->interval == other->interval);
}

// Both sides of a race: the first two that nothing orders.
static void choose_pair(const candidates *one, const candidates *other, const candidate *chosen[2])
{
    for (int i = 0; i < one->count; i++)
        for (int k = 0; k < other->count; k++)
            if (may_meet(&one->at[i], &other->at[k])) {
                chosen[0] = &one->at[i];
                chosen[1] = &other->at[k];
                return;
            }
}

static void add_event(cJSON *place, const candidate *chosen)
{
    cJSON *list = cJSON_AddArrayToObject(place, "events"), *object = chosen ? cJSON_CreateObject() : NULL;
    if (!object)
        return;
    cJSON_AddNumberToObject(object, "launch", chosen->launch);
    cJSON_AddNumberToObject(object, "block", chosen->block);
    cJSON_AddNumberToObject(object, "event", chosen->event);
    cJSON_AddNumberToObject(object, "lane", chosen->lane);
    cJSON_AddItemToArray(list, object);
}

// `object`: the finding in the document.
static void add_events(const heddle_check_finding *finding, const cJSON *trace, const place_list *places,
                       const cJSON *object, candidates found[2])
{
    const candidate *chosen[2] = {NULL, NULL};
    for (int p = 0; p < finding->place_count && p < 2; p++) {
        const wanted want = {places, finding, &finding->places[p]};
        found[p].count = 0;
        if (finding->places[p].has_thread && finding->places[p].offset > 0)
            look(&want, field(trace, "launches"), &found[p]);
        chosen[p] = first_of(&found[p]);
    }
    if (finding->kind == HEDDLE_CHECK_RACE && finding->place_count == 2)
        choose_pair(&found[0], &found[1], chosen);
    for (int p = 0; p < finding->place_count; p++)
        add_event(cJSON_GetArrayItem(field(object, "places"), p), p < 2 ? chosen[p] : NULL);
}

static void add_findings(const heddle_check_result *result, cJSON *trace)
{
    cJSON *whole = heddle_check_json(result);
    cJSON *findings = cJSON_DetachItemFromObjectCaseSensitive(whole, "findings");
    cJSON_Delete(whole);
    cJSON_AddItemToObject(trace, "findings", findings ? findings : cJSON_CreateArray());
    candidates *found = calloc(2, sizeof *found);
    place_list *places = list_places(trace);
    const cJSON *object = findings ? findings->child : NULL;
    for (int i = 0; found && places && object && i < result->finding_count; i++, object = object->next)
        add_events(result->findings[i], trace, places, object, found);
    free(places);
    free(found);
}

// --- names -----------------------------------------------------------------------------------------------------------

// The first place in a kernel that uses each buffer; NULL: none does.
static void find_users(const cJSON *trace, const place_list *places, const cJSON *users[MOST_BUFFERS])
{
    const cJSON *launch = NULL, *block = NULL, *event = NULL;
    cJSON_ArrayForEach(launch, field(trace, "launches"))
    {
        cJSON_ArrayForEach(block, field(launch, "blocks"))
        {
            cJSON_ArrayForEach(event, field(block, "events"))
            {
                const double buffer = number(event, "buffer", -1);
                if (buffer >= 0 && buffer < MOST_BUFFERS && !users[(int)buffer])
                    users[(int)buffer] = place_of(places, event);
            }
        }
    }
}

static heddle_check_frame frame_of(const cJSON *place, const char *function)
{
    const double line = number(place, "line", 0);
    return (heddle_check_frame){
        .file = text_of(place, "file"), .line = line >= 0 && line < INT_MAX ? (int)line : 0, .function = function};
}

// As findings name theirs.
static void name_buffers(const heddle_check_result *result, const cJSON *trace, const place_list *places)
{
    const cJSON *users[MOST_BUFFERS] = {NULL};
    cJSON *buffer = NULL;
    int index = 0;
    find_users(trace, places, users);
    cJSON_ArrayForEach(buffer, field(trace, "buffers"))
    {
        const bool dynamic = cJSON_IsTrue(field(buffer, "dynamic"));
        const cJSON *place = dynamic ? users[index] : place_of(places, buffer);
        heddle_check_memory memory = {
            .name = text_of(buffer, "name"), .space = text_of(buffer, "space"), .is_dynamic = dynamic};
        heddle_check_place user = {.role = "", .frames = 1, .frame = {frame_of(place, text_of(place, "function"))}};
        heddle_check_finding finding = {.memory = &memory, .places = &user, .place_count = 1};
        index++;
        if (memory.name[0] || !place || !cJSON_IsString(field(buffer, "name")))
            continue;
        memory.allocated = frame_of(place, text_of(buffer, "call"));
        memory.freed = frame_of(NULL, "");
        heddle_check_names_settle(&finding, result->sources, result->arena);
        if (memory.name[0])
            cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(buffer, "name"), memory.name);
    }
}

// --- taking it over --------------------------------------------------------------------------------------------------

static heddle_status parse(const char *text, size_t size, cJSON **json)
{
    HEDDLE_TRY(heddle_check_json_parse("the trace", text, size, json));
    if (is_within_limits(*json))
        return HEDDLE_OK;
    cJSON_Delete(*json);
    *json = NULL;
    return heddle_check_beyond("the trace");
}

static heddle_status go_on(const volatile int *stop)
{
    return *stop ? heddle_fail(HEDDLE_INTERRUPTED, "interrupted") : HEDDLE_OK;
}

heddle_status heddle_check_trace_read(heddle_check_result *result, const char *path, const volatile int *stop)
{
    char *text = NULL;
    size_t size = 0;
    cJSON *json = NULL;
    if (result->run_count == 0 || !heddle_file_exists(path)) // the simulator writes a report with every trace
        return heddle_check_result_note(result, "there is no trace: the program did not come to its end");
    heddle_status status = heddle_file_read(path, LARGEST_TRACE, &text, &size);
    if (status == HEDDLE_OK)
        status = go_on(stop);
    if (status == HEDDLE_OK)
        status = parse(text, size, &json);
    free(text);
    if (status == HEDDLE_OUT_OF_MEMORY || status == HEDDLE_INTERRUPTED)
        return status;
    if (status != HEDDLE_OK)
        return heddle_check_result_note(result, "the trace was left out: %s", heddle_last_error());
    result->trace = json;
    HEDDLE_TRY(go_on(stop)); // a large one takes seconds
    place_list *places = list_places(json);
    if (!places)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the trace");
    name_buffers(result, json, places); // what an operator's test was built from goes with its folder
    free(places);
    return HEDDLE_OK;
}

// --- sources ---------------------------------------------------------------------------------------------------------

static bool is_listed(const cJSON *list, const char *file)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list) if (strcmp(text_of(item, "file"), file) == 0) return true;
    return false;
}

static void add_sources(const heddle_check_result *result, cJSON *trace)
{
    cJSON *list = cJSON_AddArrayToObject(trace, "sources");
    const cJSON *place = NULL;
    cJSON_ArrayForEach(place, field(trace, "places"))
    {
        const char *file = text_of(place, "file");
        const heddle_check_source *source =
            file[0] && !is_listed(list, file) ? heddle_check_sources_get(result->sources, file) : NULL;
        if (!source || source->count == 0 || source->count > MOST_LINES)
            continue;
        cJSON *object = cJSON_CreateObject(), *lines = cJSON_CreateStringArray(source->lines, source->count);
        cJSON_AddStringToObject(object, "file", file);
        cJSON_AddItemToObject(object, "lines", lines);
        cJSON_AddItemToArray(list, object);
    }
}

// --- the document ----------------------------------------------------------------------------------------------------

static cJSON *empty_trace(void)
{
    cJSON *trace = cJSON_CreateObject();
    cJSON_AddNumberToObject(trace, "version", HEDDLE_CHECK_TRACE_VERSION);
    static const char *const lists[] = {"launches", "operations", "buffers", "places"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        cJSON_AddArrayToObject(trace, lists[i]);
    return trace;
}

cJSON *heddle_check_trace_json(const heddle_check_result *result)
{
    cJSON *facts = result->trace ? cJSON_Duplicate(result->trace, true) : empty_trace(), *trace = cJSON_CreateObject();
    if (!facts || !trace) {
        cJSON_Delete(facts);
        cJSON_Delete(trace);
        return NULL;
    }
    // Who made it stands near the beginning: it tells a trace from other files.
    cJSON *version = cJSON_DetachItemFromObject(facts, "version");
    cJSON_AddItemToObject(trace, "version", version);
    cJSON_AddStringToObject(trace, "heddle", heddle_version());
    while (facts->child) {
        cJSON *next = cJSON_DetachItemViaPointer(facts, facts->child);
        cJSON_AddItemToObject(trace, next->string, next);
    }
    cJSON_Delete(facts);
    add_findings(result, trace);
    add_sources(result, trace);
    return trace;
}

heddle_status heddle_check_show_trace(const heddle_check_result *result, FILE *file)
{
    cJSON *trace = heddle_check_trace_json(result);
    char *text = trace ? cJSON_PrintUnformatted(trace) : NULL;
    cJSON_Delete(trace);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the trace");
    fprintf(file, "%s\n", text);
    free(text);
    return ferror(file) ? heddle_fail(HEDDLE_IO, "cannot write the trace") : HEDDLE_OK;
}

// --- for a page ------------------------------------------------------------------------------------------------------

static bool is_first_of_kernel(const cJSON *launches, const cJSON *launch)
{
    const cJSON *earlier = NULL;
    cJSON_ArrayForEach(earlier, launches)
    {
        if (earlier == launch)
            return true;
        if (strcmp(text_of(earlier, "kernel"), text_of(launch, "kernel")) == 0)
            return false;
    }
    return false;
}

static bool is_meant(const cJSON *findings, int launch)
{
    const cJSON *finding = NULL, *place = NULL, *event = NULL;
    cJSON_ArrayForEach(finding, findings)
    {
        cJSON_ArrayForEach(place, field(finding, "places"))
        {
            cJSON_ArrayForEach(event, field(place, "events"))
            {
                if (number(event, "launch", -1) == launch)
                    return true;
            }
        }
    }
    return false;
}

cJSON *heddle_check_trace_json_short(const heddle_check_result *result)
{
    cJSON *trace = result->trace ? heddle_check_trace_json(result) : NULL;
    const cJSON *launches = field(trace, "launches"), *launch = NULL;
    int index = 0;
    cJSON_ArrayForEach(launch, launches)
    {
        cJSON *blocks = cJSON_GetObjectItemCaseSensitive(launch, "blocks");
        if (!is_meant(field(trace, "findings"), index++) && !is_first_of_kernel(launches, launch))
            while (blocks && blocks->child)
                cJSON_DeleteItemFromArray(blocks, 0);
    }
    return trace;
}
