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
    if (!verdict)
        return;
    cJSON_Delete(verdict->trace);
    heddle_arena_destroy(verdict->arena);
}

// Bytes of the character at `text`; 0: not UTF-8. Overlong forms, surrogates and numbers above 10ffff are not.
static size_t character_bytes(const unsigned char *text)
{
    size_t count = text[0] < 0x80   ? 1
                   : text[0] < 0xc2 ? 0
                   : text[0] < 0xe0 ? 2
                   : text[0] < 0xf0 ? 3
                   : text[0] < 0xf5 ? 4
                                    : 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || outside ? 0 : count;
}

const char *heddle_learn_printable(heddle_arena *arena, const char *text)
{
    unsigned char *kept = (unsigned char *)heddle_arena_copy_text(arena, text);
    for (unsigned char *at = kept; at && *at;) {
        size_t count = character_bytes(at);
        if (count == 0 || (*at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f)
            *at = '?';
        at += count > 0 ? count : 1;
    }
    return kept ? (const char *)kept : "";
}

static const char *format_list(heddle_arena *arena, const char *format, va_list list)
{
    char *made = NULL;
    const char *kept = vasprintf(&made, format, list) < 0 ? "" : heddle_learn_printable(arena, made);
    free(made);
    return kept;
}

heddle_learn_reason *heddle_learn_add_reason(heddle_learn_verdict *verdict, const char *tag, int rank,
                                             const char *format, ...)
{
    // The place behind the last is the spare one.
    heddle_learn_reason *reason = &verdict->reasons[verdict->reason_count];
    va_list list;
    va_start(list, format);
    *reason = (heddle_learn_reason){.tag = tag, .rank = rank, .in_case = "", .finding = -1};
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
    verdict->output = heddle_learn_printable(verdict->arena, output);
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

static cJSON *reason_json(const heddle_learn_reason *reason, bool traced)
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
    if (traced && reason->finding >= 0)
        cJSON_AddNumberToObject(object, "finding", reason->finding);
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
        cJSON_AddItemToArray(reasons, reason_json(&verdict->reasons[i], verdict->trace != NULL));
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
