// Reads the curve of a run.

#include "nn/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/json.h"

enum {
    PATH_SIZE = 4096,
};

const char *const heddle_curve_events[] = {"", "started", "step", "evaluated", "ended"};
enum { EVENTS = sizeof heddle_curve_events / sizeof *heddle_curve_events };

static const double largest_count = 0x1p53; // a double has it exactly

const char *heddle_curve_precision(heddle_arithmetic arithmetic)
{
    return arithmetic == HEDDLE_FULL ? "fp32" : heddle_arithmetic_names[arithmetic];
}

// --- one line -------------------------------------------------------------------------------------------------------

static bool number(const cJSON *line, const char *field, double least, double most, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, field);
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble < least || item->valuedouble > most)
        return false;
    *value = item->valuedouble;
    return true;
}

static bool count(const cJSON *line, const char *field, int64_t *value)
{
    double given;
    if (!number(line, field, 0, largest_count, &given) || given != trunc(given))
        return false;
    *value = (int64_t)given;
    return true;
}

static bool epoch_of(const cJSON *line, int *epoch)
{
    double given;
    if (!number(line, "epoch", 0, 1 << 30, &given))
        return false;
    *epoch = (int)given;
    return true;
}

static bool word(const cJSON *line, const char *field, char text[HEDDLE_CURVE_WORD])
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, field);
    if (!cJSON_IsString(item) || strlen(item->valuestring) >= HEDDLE_CURVE_WORD)
        return false;
    snprintf(text, HEDDLE_CURVE_WORD, "%s", item->valuestring);
    return true;
}

static bool read_started(cJSON *json, heddle_curve_line *line)
{
    double format;
    if (!number(json, "format", HEDDLE_CURVE_FORMAT, HEDDLE_CURVE_FORMAT, &format) || !word(json, "time", line->word) ||
        !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json, "settings")))
        return false;
    line->settings = cJSON_DetachItemFromObjectCaseSensitive(json, "settings");
    return true;
}

static bool read_step(const cJSON *json, heddle_curve_line *line)
{
    heddle_curve_point *point = &line->point;
    if (!number(json, "images_per_second", 0, INFINITY, &point->images_per_second))
        point->images_per_second = NAN;
    return epoch_of(json, &point->epoch) && count(json, "images", &point->images) && point->images > 0 &&
           number(json, "loss", -INFINITY, INFINITY, &point->loss) &&
           number(json, "accuracy", 0, 1, &point->accuracy) &&
           number(json, "learning_rate", 0, INFINITY, &point->learning_rate) &&
           number(json, "seconds", 0, INFINITY, &point->seconds);
}

static bool read_test(const cJSON *json, heddle_curve_line *line)
{
    heddle_curve_test *test = &line->test;
    test->step = line->point.step;
    return epoch_of(json, &test->epoch) && number(json, "loss", -INFINITY, INFINITY, &test->loss) &&
           number(json, "accuracy", 0, 1, &test->accuracy) && number(json, "seconds", 0, INFINITY, &test->seconds);
}

static bool read_line(cJSON *json, heddle_curve_event event, heddle_curve_line *line)
{
    if (!count(json, "step", &line->point.step))
        return false;
    switch (event) {
    case HEDDLE_CURVE_STARTED: return read_started(json, line);
    case HEDDLE_CURVE_STEP: return read_step(json, line);
    case HEDDLE_CURVE_TEST: return read_test(json, line);
    case HEDDLE_CURVE_ENDED: return word(json, "state", line->word);
    case HEDDLE_CURVE_NONE: break;
    }
    return false;
}

heddle_curve_line heddle_curve_parse(const char *text, size_t size)
{
    heddle_curve_line line = {0};
    cJSON *json = memchr(text, '\0', size) ? NULL : cJSON_ParseWithLength(text, size); // it takes zeros for spaces
    char name[HEDDLE_CURVE_WORD];
    if (word(json, "event", name))
        for (int i = 1; i < EVENTS && line.event == HEDDLE_CURVE_NONE; i++)
            if (strcmp(name, heddle_curve_events[i]) == 0 && read_line(json, (heddle_curve_event)i, &line))
                line.event = (heddle_curve_event)i;
    cJSON_Delete(json);
    return line;
}

// --- all of them ----------------------------------------------------------------------------------------------------

// Room for one more, twice as much each time there is none.
static bool has_room(void **list, int used, size_t size)
{
    if (used & (used - 1)) // not a power of two
        return true;
    void *moved = realloc(*list, (used ? 2 * (size_t)used : 1) * size);
    *list = moved ? moved : *list;
    return moved;
}

static heddle_status add(heddle_curve *curve, heddle_curve_line *line)
{
    void *points = curve->points, *tests = curve->tests;
    bool room = true;
    switch (line->event) {
    case HEDDLE_CURVE_STARTED:
        cJSON_Delete(curve->settings);
        curve->settings = line->settings;
        curve->end[0] = '\0';
        if (curve->starts++ == 0)
            memcpy(curve->started, line->word, sizeof curve->started);
        break;
    case HEDDLE_CURVE_STEP:
        room = has_room(&points, curve->point_count, sizeof *curve->points);
        curve->points = points;
        if (room)
            curve->points[curve->point_count++] = line->point;
        break;
    case HEDDLE_CURVE_TEST:
        room = has_room(&tests, curve->test_count, sizeof *curve->tests);
        curve->tests = tests;
        if (room)
            curve->tests[curve->test_count++] = line->test;
        break;
    case HEDDLE_CURVE_ENDED: memcpy(curve->end, line->word, sizeof curve->end); break;
    case HEDDLE_CURVE_NONE: break;
    }
    return room ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the curve of a run");
}

heddle_status heddle_curve_take(const char *what, const char *text, size_t size, heddle_curve *curve)
{
    *curve = (heddle_curve){0};
    heddle_status status = HEDDLE_OK;
    const char *end = text + size, *next;
    int number_of_line = 0;
    for (const char *at = text; at < end && status == HEDDLE_OK; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (!next) // cut off as it was written
            break;
        number_of_line++;
        heddle_curve_line line = heddle_curve_parse(at, (size_t)(next - at));
        if (line.event == HEDDLE_CURVE_NONE && !curve->bad_line)
            curve->bad_line = number_of_line;
        status = add(curve, &line);
    }
    if (status == HEDDLE_OK && curve->starts + curve->point_count + curve->test_count == 0)
        status =
            heddle_fail(HEDDLE_CORRUPT, "%s: this is not the curve of a run, or not of this version's format", what);
    if (!curve->settings) // the line that has them is damaged
        curve->settings = cJSON_CreateObject();
    return status;
}

heddle_status heddle_curve_read(const char *folder, heddle_curve *curve)
{
    *curve = (heddle_curve){0};
    char path[PATH_SIZE], *content = NULL;
    size_t size = 0;
    if (snprintf(path, sizeof path, "%s/" HEDDLE_RUN_CURVE, folder) >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_CURVE_LARGEST, &content, &size));
    heddle_status status = heddle_curve_take(path, content, size, curve);
    free(content);
    return status;
}

void heddle_curve_free(heddle_curve *curve)
{
    cJSON_Delete(curve->settings);
    free(curve->points);
    free(curve->tests);
    *curve = (heddle_curve){0};
}
