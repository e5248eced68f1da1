// Offers to accept a finding by a comment in the source.

#include "lsp/actions.h"

#include <stdio.h>
#include <string.h>

#include "check/sources.h"
#include "lsp/show.h"

enum { TEXT_SIZE = 256, LAST_LINE = 1 << 24 };

static cJSON *insertion(int line, const char *text)
{
    cJSON *edit = cJSON_CreateObject();
    cJSON_AddItemToObject(edit, "range", heddle_lsp_range(line, 0, 0));
    cJSON_AddStringToObject(edit, "newText", text);
    return edit;
}

static cJSON *allow(const heddle_check_result *result, const char *path, const char *uri, const cJSON *diagnostic,
                    const char *kind, int line)
{
    char text[TEXT_SIZE];
    const char *source = result ? heddle_check_sources_line(result->sources, path, line + 1) : NULL;
    const int indentation = source ? (int)strspn(source, " \t") : 0;
    cJSON *action = cJSON_CreateObject();
    snprintf(text, sizeof text, "Accept this finding: // heddle: allow %s", kind);
    cJSON_AddStringToObject(action, "title", text);
    cJSON_AddStringToObject(action, "kind", "quickfix");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(action, "diagnostics"), cJSON_Duplicate(diagnostic, true));
    snprintf(text, sizeof text, "%.*s// heddle: allow %s\n", indentation, source ? source : "", kind);
    cJSON *changes = cJSON_AddObjectToObject(cJSON_AddObjectToObject(action, "edit"), "changes");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(changes, uri), insertion(line, text));
    return action;
}

cJSON *heddle_lsp_actions(const heddle_check_result *result, const char *path, const char *uri,
                          const cJSON *diagnostics)
{
    cJSON *actions = cJSON_CreateArray();
    const cJSON *diagnostic;
    cJSON_ArrayForEach(diagnostic, diagnostics)
    {
        const cJSON *source = cJSON_GetObjectItemCaseSensitive(diagnostic, "source");
        const cJSON *code = cJSON_GetObjectItemCaseSensitive(diagnostic, "code");
        const cJSON *start =
            cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(diagnostic, "range"), "start");
        const cJSON *line = cJSON_GetObjectItemCaseSensitive(start, "line");
        if (!cJSON_IsString(source) || strcmp(source->valuestring, "heddle") != 0 || !cJSON_IsString(code) ||
            !cJSON_IsNumber(line) || line->valuedouble < 0 || line->valuedouble >= LAST_LINE)
            continue;
        const heddle_check_kind kind = heddle_check_kind_find(code->valuestring);
        if (heddle_check_kinds[kind].meaning) // the check's own kinds cannot be accepted
            cJSON_AddItemToArray(actions,
                                 allow(result, path, uri, diagnostic, heddle_check_kinds[kind].name, line->valueint));
    }
    return actions;
}
