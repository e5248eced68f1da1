// Reads what a judged program printed: the judge's own lines, "@MARK {...}", and the learner's.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "learn/judging.h"

static bool has(const cJSON *said, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(said, name) != NULL;
}

static void add_time(heddle_learn_verdict *verdict, const cJSON *said)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(said, "timed");
    const cJSON *microseconds = cJSON_GetObjectItemCaseSensitive(said, "microseconds");
    heddle_learn_time *times = heddle_arena_alloc(verdict->arena, ((size_t)verdict->time_count + 1) * sizeof *times);
    if (!times || !cJSON_IsString(name) || !cJSON_IsNumber(microseconds))
        return;
    if (verdict->time_count > 0)
        memcpy(times, verdict->times, (size_t)verdict->time_count * sizeof *times);
    const char *kept = heddle_learn_printable(verdict->arena, name->valuestring);
    times[verdict->time_count++] = (heddle_learn_time){kept, microseconds->valuedouble};
    verdict->times = times;
}

// Plain C: memory that was allocated and never freed, or a file that was never closed.
static void explain_leak(const heddle_learn_judging *judging, const cJSON *said)
{
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(said, "leaked");
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(said, "line");
    const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(said, "file"));
    double count = cJSON_IsNumber(bytes) ? bytes->valuedouble : 0;
    bool memory = count > 0;
    heddle_check_place place = {.frame = {{.file = file ? file : "", .function = ""}}, .frames = 1};
    place.frame[0].line = cJSON_IsNumber(line) ? line->valueint : 0;
    heddle_learn_reason *reason = memory ? heddle_learn_add_reason(judging->verdict, "leak", HEDDLE_LEARN_RANK_ERROR,
                                                                   "%.0f bytes are allocated and never freed", count)
                                         : heddle_learn_add_reason(judging->verdict, "leak", HEDDLE_LEARN_RANK_ERROR,
                                                                   "a file is opened and never closed");
    heddle_learn_quote(judging, reason, &place, memory ? "allocated here" : "opened here");
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE, "%s",
                          memory ? "Call free for each allocation, on every path through the function."
                                 : "Call fclose for each file that was opened, on every path through the function.");
}

// What one line of the judge means. Returns whether it is the judge's last word.
static bool hear_line(heddle_learn_judging *judging, const cJSON *said)
{
    const char *in_case = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(said, "case"));
    judging->in_case = in_case ? heddle_learn_printable(judging->verdict->arena, in_case) : "";
    if (has(said, "begins"))
        return false;
    if (has(said, "timed")) {
        add_time(judging->verdict, said);
        return false;
    }
    bool wrong = has(said, "array") || has(said, "says") || has(said, "cuda");
    if (wrong)
        heddle_learn_explain_wrong(judging, said);
    else
        judging->in_case = "";
    if (has(said, "leaked"))
        explain_leak(judging, said);
    return wrong || has(said, "passed") || has(said, "leaked");
}

void heddle_learn_ended_early(const heddle_learn_judging *judging, const char *how)
{
    if (judging->dropped) {
        heddle_learn_reason *much = heddle_learn_add_reason(judging->verdict, "output", HEDDLE_LEARN_RANK_ERROR,
                                                            "it prints too much: the judge's last line is lost");
        heddle_learn_add_item(judging->verdict, much, HEDDLE_LEARN_ADVICE,
                              "Print less, for instance in one thread only.");
        return;
    }
    heddle_learn_reason *reason = heddle_learn_add_reason(
        judging->verdict, "crash", HEDDLE_LEARN_RANK_ERROR,
        "the program ended before the judge had looked at every case%s%s", how[0] ? ": " : "", how);
    reason->in_case = judging->in_case;
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                          "Look for a call of exit() or abort(), and for a pointer that the host follows although it "
                          "was never set.");
}

bool heddle_learn_hear(heddle_learn_judging *judging, const char *output)
{
    char *own = NULL;
    size_t size = 0;
    bool ended = false;
    char mark[sizeof judging->mark + 2];
    size_t begin = (size_t)snprintf(mark, sizeof mark, "@%s ", judging->mark);
    FILE *file = open_memstream(&own, &size);
    for (const char *line = output; file && *line;) {
        size_t length = strcspn(line, "\n");
        cJSON *said = length > begin && strncmp(line, mark, begin) == 0
                          ? cJSON_ParseWithLength(line + begin, length - begin)
                          : NULL;
        if (said)
            ended = hear_line(judging, said);
        else if (length > 0)
            fprintf(file, "%.*s\n", (int)length, line);
        cJSON_Delete(said);
        line += length + (line[length] == '\n');
    }
    if (file)
        fclose(file);
    if (file)
        heddle_learn_set_output(judging->verdict, heddle_learn_without_folders(judging, own));
    free(own);
    return ended;
}
