// `heddle explain`: what a kind of finding means, with a wrong program and the right one. The pages are check/pages/.

#include <stdio.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "check/pages.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/learn.h"

typedef struct explain_settings {
    heddle_cli_json json;
} explain_settings;

static const heddle_cli_option options[] = {
    HEDDLE_CLI_JSON_OPTION(offsetof(explain_settings, json)),
};

static const char *meaning_of(const heddle_check_kind_info *kind)
{
    return kind->meaning ? kind->meaning : kind->title;
}

// --- all kinds -------------------------------------------------------------------------------------------------------

static heddle_status print_kinds(void)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "kind", HEDDLE_LEFT);
    heddle_table_column(table, "what it means", HEDDLE_LEFT);
    for (int i = 0; i < HEDDLE_CHECK_OTHER; i++) {
        heddle_table_cell(table, "%s", heddle_check_kinds[i].name);
        heddle_table_cell(table, "%s", meaning_of(&heddle_check_kinds[i]));
    }
    HEDDLE_TRY(heddle_table_finish(table, stdout));
    printf("\n`%s explain KIND` shows the rule, a wrong program and the right one\n", heddle_cli_name());
    return HEDDLE_OK;
}

static int list(const explain_settings *settings)
{
    cJSON *result = cJSON_CreateObject(), *kinds = cJSON_AddArrayToObject(result, "kinds");
    for (int i = 0; i < HEDDLE_CHECK_OTHER; i++) {
        cJSON *kind = cJSON_CreateObject();
        cJSON_AddStringToObject(kind, "kind", heddle_check_kinds[i].name);
        cJSON_AddStringToObject(kind, "meaning", meaning_of(&heddle_check_kinds[i]));
        cJSON_AddItemToArray(kinds, kind);
    }
    heddle_status status = settings->json.print ? HEDDLE_OK : print_kinds();
    if (status == HEDDLE_OK)
        return heddle_cli_json_exit(&settings->json, result);
    cJSON_Delete(result);
    return heddle_cli_fail(status);
}

// --- one kind --------------------------------------------------------------------------------------------------------

static int refuse(const char *word)
{
    const char *names[HEDDLE_CHECK_OTHER];
    for (int i = 0; i < HEDDLE_CHECK_OTHER; i++)
        names[i] = heddle_check_kinds[i].name;
    const char *nearest = heddle_text_nearest(word, names, HEDDLE_CHECK_OTHER);
    if (nearest)
        heddle_fail(HEDDLE_INVALID, "unknown kind of finding '%s'; did you mean %s?", word, nearest);
    else
        heddle_fail(HEDDLE_INVALID, "unknown kind of finding '%s'; `heddle explain` lists them", word);
    return heddle_cli_fail(HEDDLE_INVALID);
}

static int explain(const explain_settings *settings, const char *word)
{
    heddle_check_kind kind = heddle_check_kind_find(word);
    const char *page = heddle_check_page(kind);
    if (!page)
        return refuse(word);
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "kind", heddle_check_kinds[kind].name);
    cJSON_AddStringToObject(result, "title", heddle_check_kinds[kind].title);
    cJSON_AddStringToObject(result, "page", page);
    if (!settings->json.print) {
        heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
        heddle_cli_learn_print(&style, page, 0);
    }
    return heddle_cli_json_exit(&settings->json, result);
}

static int run_command(int argc, char **argv)
{
    explain_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_explain, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    return arguments.count > 0 ? explain(&settings, arguments.items[0]) : list(&settings);
}

const heddle_cli_command heddle_command_explain = {
    .name = "explain",
    .summary = "explain a kind of finding of `heddle check`: the rule, a wrong program and the right one",
    .arguments = "[KIND]",
    .most_arguments = 1,
    .description = "Without KIND, lists the kinds of findings.",
    .example = "heddle explain\n"
               "heddle explain race",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
