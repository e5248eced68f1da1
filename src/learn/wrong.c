// A wrong result, as the judge tells it ("@MARK {...}"): which element, whose it is, and what its neighbours hold.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "check/pattern.h"
#include "check/wrong.h"
#include "learn/judging.h"

static const char *field(const cJSON *said, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(said, name));
    return text ? text : "";
}

static double number(const cJSON *said, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(said, name);
    return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

static int at(const cJSON *said, const char *name, int index)
{
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(said, name), index);
    return cJSON_IsNumber(item) ? item->valueint : 0;
}

static void tell_owner(const heddle_learn_judging *judging, heddle_learn_reason *reason, const cJSON *said,
                       const char *array)
{
    heddle_learn_verdict *verdict = judging->verdict;
    double index = number(said, "index");
    if (number(said, "dimensions") == 3)
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                              "%s[%.0f] is slice %.0f, row %.0f, column %.0f. It belongs to thread (%d,%d,%d) of block "
                              "(%d,%d,%d).",
                              array, index, number(said, "slice"), number(said, "row"), number(said, "column"),
                              at(said, "thread", 0), at(said, "thread", 1), at(said, "thread", 2), at(said, "block", 0),
                              at(said, "block", 1), at(said, "block", 2));
    else if (number(said, "dimensions") == 2)
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                              "%s[%.0f] is row %.0f, column %.0f. It belongs to thread (%d,%d) of block (%d,%d).",
                              array, index, number(said, "row"), number(said, "column"), at(said, "thread", 0),
                              at(said, "thread", 1), at(said, "block", 0), at(said, "block", 1));
    else if (number(said, "dimensions") == 1)
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                              "%s[%.0f] should be written by thread %d of block %d.", array, index,
                              at(said, "thread", 0), at(said, "block", 0));
}

static const char *window_value(const cJSON *pair, int index)
{
    const char *text = cJSON_GetStringValue(cJSON_GetArrayItem(pair, index));
    return text ? text : "";
}

// The elements around the first wrong one. An arrow marks that one.
static void draw_window(const heddle_learn_judging *judging, heddle_learn_reason *reason, const cJSON *said,
                        const char *array)
{
    const cJSON *window = cJSON_GetObjectItemCaseSensitive(said, "window"), *pair;
    double first = number(said, "first"), wrong_at = number(said, "index");
    heddle_check_wrong table = {.row_count = 0};
    char *text = NULL;
    size_t size = 0;
    FILE *file = cJSON_GetArraySize(window) > 0 ? open_memstream(&text, &size) : NULL;
    if (!file)
        return;
    static const char *const titles[] = {"", "element", "expected", "found", ""};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        heddle_check_wrong_column(&table, titles[i]);
    int i = 0;
    cJSON_ArrayForEach(pair, window)
    {
        const char *found = window_value(pair, 1);
        bool unwritten = strcmp(found, "unwritten") == 0;
        heddle_check_wrong_row(&table);
        heddle_check_wrong_cell(&table, first + i == wrong_at ? ">" : "");
        heddle_check_wrong_cell(&table, heddle_learn_format(judging->verdict->arena, "%s[%.0f]", array, first + i));
        heddle_check_wrong_cell(&table, window_value(pair, 0));
        heddle_check_wrong_cell(&table, unwritten ? "-" : found);
        heddle_check_wrong_cell(&table, unwritten ? "never written" : "");
        i++;
    }
    heddle_status status = heddle_check_wrong_print(&table, "", file);
    fclose(file);
    if (status == HEDDLE_OK)
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_DRAWING, "%s", text);
    free(text);
}

// "They are in the last column; every element there is wrong.", of what the judge tells of the wrong elements; "":
// nothing.
static const char *pattern_of(const cJSON *said, char *text, size_t size)
{
    double count = number(said, "count"), width = number(said, "width");
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(said, "runs");
    const double most = 1 << 28; // what a judge says may be the learner's own print
    bool *wrong =
        count > 0 && count < most && cJSON_GetArraySize(runs) > 0 ? calloc((size_t)count, sizeof *wrong) : NULL;
    bool in_rows = width > 1 && count > width && fmod(count, width) == 0;
    int dims[] = {in_rows ? (int)(count / width) : (int)count, (int)width};
    text[0] = '\0';
    if (!wrong)
        return text;
    for (const cJSON *begin = runs->child; begin && begin->next; begin = begin->next->next) {
        const double from = fmax(begin->valuedouble, 0), to = fmin(from + begin->next->valuedouble, count);
        for (size_t i = (size_t)from; from < to && i < (size_t)to; i++)
            wrong[i] = true;
    }
    heddle_check_values values = {.dims = dims, .rank = in_rows ? 2 : 1, .count = (size_t)count, .wrong = wrong};
    heddle_check_pattern(&values, text, size);
    free(wrong);
    return text;
}

// The line that adds to the array's elements, which have no value yet.
static void quote_sum(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *array)
{
    const heddle_learn_code *code = judging->code;
    for (int i = 0; code && i + 1 < code->tokens.count; i++) {
        bool indexed = heddle_learn_code_is(code, i, array) && heddle_learn_code_is(code, i + 1, "[");
        int close = indexed ? i + 1 : code->tokens.count, depth = 0;
        for (; close < code->tokens.count; close++) {
            depth += heddle_learn_code_is(code, close, "[") - heddle_learn_code_is(code, close, "]");
            if (depth == 0)
                break;
        }
        if (!heddle_learn_code_is(code, close + 1, "+") || !heddle_learn_code_is(code, close + 2, "="))
            continue;
        heddle_check_place place = {
            .frame = {{.file = judging->source, .line = code->tokens.at[i].line, .function = ""}}, .frames = 1};
        heddle_learn_quote(judging, reason, &place, "adds to an element that has no value yet");
        return;
    }
}

static void tell_array(const heddle_learn_judging *judging, const cJSON *said)
{
    const char *array = field(said, "array");
    bool unwritten = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(said, "unwritten"));
    double wrong = number(said, "wrong"), count = number(said, "count");
    heddle_learn_verdict *verdict = judging->verdict;
    heddle_learn_reason *reason =
        unwritten
            ? heddle_learn_add_reason(verdict, "wrong", HEDDLE_LEARN_RANK_WRONG,
                                      "%s[%.0f] was never written; it should be %s", array, number(said, "index"),
                                      field(said, "expected"))
            : heddle_learn_add_reason(verdict, "wrong", HEDDLE_LEARN_RANK_WRONG, "%s[%.0f] is %s; it should be %s",
                                      array, number(said, "index"), field(said, "found"), field(said, "expected"));
    reason->in_case = judging->in_case;
    if (strstr(field(said, "found"), "never written"))
        quote_sum(judging, reason, array);
    tell_owner(judging, reason, said, array);
    draw_window(judging, reason, said, array);
    char pattern[512];
    if (wrong > 1)
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT, "%.0f of %.0f elements are wrong.%s%s", wrong, count,
                              pattern_of(said, pattern, sizeof pattern)[0] ? " " : "", pattern);
}

void heddle_learn_explain_wrong(const heddle_learn_judging *judging, const cJSON *said)
{
    if (field(said, "array")[0]) {
        tell_array(judging, said);
        return;
    }
    const char *cuda = field(said, "cuda"), *says = field(said, "says"), *more = strstr(says, ". ");
    bool explained = false, first = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(said, "first"));
    for (int i = 0; judging->result && i < judging->result->finding_count; i++)
        explained |= judging->result->findings[i]->tier == HEDDLE_CHECK_ERROR;
    heddle_learn_reason *reason = heddle_learn_add_reason(judging->verdict, "wrong",
                                                          first                  ? HEDDLE_LEARN_RANK_COMPILE
                                                          : cuda[0] && explained ? HEDDLE_LEARN_RANK_FOLLOWS
                                                                                 : HEDDLE_LEARN_RANK_WRONG,
                                                          "%s%s%.*s", cuda[0] ? "CUDA reports an error: " : "", cuda,
                                                          (int)(more ? more - says : (long)strlen(says)), says);
    reason->in_case = judging->in_case;
    if (more)
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE, "%s", more + strlen(". "));
}
