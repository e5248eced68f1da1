// Building a verdict, and a verdict as JSON.

#include "learn/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { MOST_ITEMS = 24 };

heddle_status heddle_learn_verdict_create(heddle_learn_verdict **verdict)
{
    heddle_arena *arena = heddle_arena_create();
    *verdict = arena ? heddle_arena_alloc(arena, sizeof **verdict) : NULL;
    heddle_learn_reason *reasons =
        *verdict ? heddle_arena_alloc(arena, (HEDDLE_LEARN_MOST_REASONS + 1) * sizeof *reasons) : NULL;
    if (!reasons) {
        heddle_arena_destroy(arena);
        *verdict = NULL;
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a verdict");
    }
    **verdict = (heddle_learn_verdict){.arena = arena, .reasons = reasons, .output = ""};
    return HEDDLE_OK;
}

void heddle_learn_verdict_free(heddle_learn_verdict *verdict)
{
    if (verdict)
        heddle_arena_destroy(verdict->arena);
}

// What a program printed or a source file holds may come along: nothing of it must play on a terminal.
static void blank_controls(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 0x7f)
            *text = '?';
}

static const char *format_list(heddle_arena *arena, const char *format, va_list list)
{
    char *made = NULL;
    char *kept = vasprintf(&made, format, list) < 0 ? NULL : heddle_arena_copy_text(arena, made);
    free(made);
    if (kept)
        blank_controls(kept);
    return kept ? kept : "";
}

heddle_learn_reason *heddle_learn_add_reason(heddle_learn_verdict *verdict, const char *tag, int rank,
                                             const char *format, ...)
{
    // The place behind the last is the spare one.
    heddle_learn_reason *reason = &verdict->reasons[verdict->reason_count];
    va_list list;
    va_start(list, format);
    *reason = (heddle_learn_reason){.tag = tag, .rank = rank, .in_case = ""};
    reason->headline = format_list(verdict->arena, format, list);
    va_end(list);
    reason->items = heddle_arena_alloc(verdict->arena, MOST_ITEMS * sizeof *reason->items);
    if (verdict->reason_count < HEDDLE_LEARN_MOST_REASONS)
        verdict->reason_count++;
    return reason;
}

heddle_learn_item *heddle_learn_add_item(heddle_learn_verdict *verdict, heddle_learn_reason *reason,
                                         heddle_learn_item_kind kind, const char *format, ...)
{
    static _Thread_local heddle_learn_item spare;
    if (!reason->items || reason->item_count == MOST_ITEMS)
        return &spare;
    heddle_learn_item *item = &reason->items[reason->item_count++];
    va_list list;
    va_start(list, format);
    *item = (heddle_learn_item){.kind = kind, .file = "", .about = ""};
    item->text = format_list(verdict->arena, format, list);
    va_end(list);
    return item;
}

void heddle_learn_set_output(heddle_learn_verdict *verdict, const char *output)
{
    char *kept = heddle_arena_copy_text(verdict->arena, output);
    if (kept)
        blank_controls(kept);
    verdict->output = kept ? kept : "";
}

bool heddle_learn_has_reason(const heddle_learn_verdict *verdict, const char *tag)
{
    for (int i = 0; i < verdict->reason_count; i++)
        if (strcmp(verdict->reasons[i].tag, tag) == 0)
            return true;
    return false;
}

void heddle_learn_verdict_settle(heddle_learn_verdict *verdict)
{
    // Few, and those of one rank keep their order.
    for (int i = 1; i < verdict->reason_count; i++)
        for (int k = i; k > 0 && verdict->reasons[k].rank < verdict->reasons[k - 1].rank; k--) {
            heddle_learn_reason other = verdict->reasons[k];
            verdict->reasons[k] = verdict->reasons[k - 1];
            verdict->reasons[k - 1] = other;
        }
    verdict->passed = verdict->reason_count == 0;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static cJSON *item_json(const heddle_learn_item *item)
{
    static const char *const kinds[] = {"text", "code", "drawing", "advice"};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kind", kinds[item->kind]);
    cJSON_AddStringToObject(object, "text", item->text);
    if (item->kind != HEDDLE_LEARN_CODE)
        return object;
    cJSON_AddStringToObject(object, "file", item->file);
    cJSON_AddStringToObject(object, "about", item->about);
    cJSON_AddNumberToObject(object, "line", item->line);
    cJSON_AddNumberToObject(object, "column", item->column);
    cJSON_AddNumberToObject(object, "width", item->width);
    return object;
}

static cJSON *reason_json(const heddle_learn_reason *reason)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "reason", reason->tag);
    cJSON_AddStringToObject(object, "headline", reason->headline);
    if (reason->in_case[0])
        cJSON_AddStringToObject(object, "case", reason->in_case);
    if (reason->line > 0)
        cJSON_AddNumberToObject(object, "line", reason->line);
    if (reason->column > 0)
        cJSON_AddNumberToObject(object, "column", reason->column);
    cJSON *items = cJSON_AddArrayToObject(object, "items");
    for (int i = 0; i < reason->item_count; i++)
        cJSON_AddItemToArray(items, item_json(&reason->items[i]));
    return object;
}

cJSON *heddle_learn_verdict_json(const heddle_learn_verdict *verdict)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddBoolToObject(object, "passed", verdict->passed);
    cJSON *reasons = cJSON_AddArrayToObject(object, "reasons");
    for (int i = 0; i < verdict->reason_count; i++)
        cJSON_AddItemToArray(reasons, reason_json(&verdict->reasons[i]));
    cJSON_AddStringToObject(object, "output", verdict->output);
    cJSON_AddNumberToObject(object, "seconds", verdict->seconds);
    if (!verdict->on_hardware)
        return object;
    cJSON_AddStringToObject(object, "gpu", verdict->gpu ? verdict->gpu : "");
    cJSON *times = cJSON_AddArrayToObject(object, "times");
    for (int i = 0; i < verdict->time_count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", verdict->times[i].name);
        cJSON_AddNumberToObject(one, "microseconds", verdict->times[i].microseconds);
        cJSON_AddItemToArray(times, one);
    }
    return object;
}
