// `heddle data`: lists (list) and downloads (get) datasets. data_show.c shows images.

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "heddle/data.h"

enum { MOST_DATASETS = 32, FOLDER_SIZE = 4096 };

static const heddle_cli_command *const actions[] = {
    &heddle_command_data_list,
    &heddle_command_data_show,
    &heddle_command_data_get,
    NULL,
};

static int run_command(int argc, char **argv)
{
    return heddle_cli_run_action(&heddle_command_data, argc, argv);
}

const heddle_cli_command heddle_command_data = {
    .name = "data",
    .summary = "list, show and download datasets",
    .arguments = "ACTION",
    .most_arguments = 1,
    .example = "heddle data list\nheddle data show fashion --count 4\nheddle data get mnist",
    .run = run_command,
    .actions = actions,
};

// --- list ------------------------------------------------------------------------------------------------------------

typedef struct list_settings {
    const char *folder;
    heddle_cli_json json;
} list_settings;

static const heddle_cli_option list_options[] = {
    {"folder", HEDDLE_CLI_TEXT, offsetof(list_settings, folder), "DIR", NULL, HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(list_settings, json)),
};

static cJSON *list_json(const heddle_dataset_info *list, int count)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "datasets");
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", list[i].name);
        cJSON_AddStringToObject(one, "summary", list[i].summary);
        cJSON_AddBoolToObject(one, "present", list[i].present);
        cJSON_AddStringToObject(one, "where", list[i].where);
        cJSON_AddItemToArray(all, one);
    }
    return json;
}

static int list_as_table(const heddle_dataset_info *list, int count)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "name", HEDDLE_LEFT);
    heddle_table_column(table, "here", HEDDLE_LEFT);
    heddle_table_column(table, "what", HEDDLE_LEFT);
    for (int i = 0; i < count; i++) {
        heddle_table_cell(table, "%s", list[i].name);
        heddle_table_cell(table, "%s", list[i].present ? "yes" : "no");
        heddle_table_cell(table, "%s", list[i].summary);
    }
    heddle_status status = heddle_table_finish(table, stdout);
    // Not in the table, which is cut to the terminal: a path or command that is cut is useless.
    putchar('\n');
    for (int i = 0; i < count; i++)
        printf("%s: %s\n", list[i].name, list[i].where);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

static int run_list(int argc, char **argv)
{
    list_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_data_list, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_dataset_info list[MOST_DATASETS];
    int count = heddle_dataset_list(settings.folder, list, MOST_DATASETS);
    if (count > MOST_DATASETS)
        count = MOST_DATASETS;
    exit_code = settings.json.print ? HEDDLE_EXIT_OK : list_as_table(list, count);
    return exit_code != HEDDLE_EXIT_OK ? exit_code : heddle_cli_json_exit(&settings.json, list_json(list, count));
}

const heddle_cli_command heddle_command_data_list = {
    .name = "data list",
    .summary = "list the known datasets, where they are, or how to get them",
    .description = "Every command that takes a dataset also accepts a folder: one subfolder of PNG or JPEG files per "
                   "class, or four IDX files in MNIST's layout (train-images-idx3-ubyte and so on, raw or .gz). "
                   "docs/data.md describes both.",
    .example = "heddle data list",
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .run = run_list,
};

// --- get -------------------------------------------------------------------------------------------------------------

typedef struct get_settings {
    const char *to;
    heddle_cli_list mirrors;
    bool quiet;
    heddle_cli_json json;
} get_settings;

static const heddle_cli_option get_options[] = {
    {"to", HEDDLE_CLI_TEXT, offsetof(get_settings, to), "DIR", NULL,
     "destination folder; default: your data folder, $XDG_DATA_HOME/heddle", 0, 0, NULL},
    {"mirror", HEDDLE_CLI_LIST, offsetof(get_settings, mirrors), "URL", NULL,
     "download from this URL instead of the built-in ones; repeat to try several in turn", 0, 0, NULL},
    {"quiet", HEDDLE_CLI_FLAG, offsetof(get_settings, quiet), NULL, NULL, "do not show progress", 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(get_settings, json)),
};

typedef struct download_view {
    heddle_progress *bar; // of the file that is downloaded now
    char file[256];
    heddle_progress_state state;
    bool quiet;
} download_view;

static void finish_bar(download_view *view)
{
    if (view->bar == NULL)
        return;
    heddle_progress_finish(view->bar, &view->state);
    heddle_progress_destroy(view->bar);
    view->bar = NULL;
}

static int show_progress(void *context, const char *file, uint64_t received, uint64_t total)
{
    const double megabyte = 1e6;
    download_view *view = context;
    if (view->quiet || heddle_cli_interrupted)
        return heddle_cli_interrupted;
    if (view->bar == NULL || strcmp(view->file, file) != 0) {
        finish_bar(view);
        snprintf(view->file, sizeof view->file, "%s", file);
        view->bar = heddle_progress_create(stderr, HEDDLE_PROGRESS_AUTO, view->file);
    }
    view->state = (heddle_progress_state){
        .done = (double)received / megabyte,
        .total = (double)total / megabyte,
        .unit = "MB",
        .loss = NAN,
        .accuracy = NAN,
        .seconds = -1,
    };
    if (view->bar != NULL)
        heddle_progress_update(view->bar, &view->state);
    return heddle_cli_interrupted;
}

// Says where the dataset is and how to use it: by name if it is found by name.
static int print_place(const get_settings *settings, const char *name, const char *folder)
{
    char path[FOLDER_SIZE + NAME_MAX], quoted[2 * FOLDER_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!settings->json.print)
        printf("%s is in %s; train on it with `heddle train --data %s`\n", name, path,
               heddle_text_quote(settings->to != NULL ? path : name, quoted, sizeof quoted));
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "dataset", name);
    cJSON_AddStringToObject(json, "folder", path);
    return heddle_cli_json_exit(&settings->json, json);
}

static int run_get(int argc, char **argv)
{
    get_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_data_get, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *name = arguments.items[0];
    download_view view = {.quiet = settings.quiet};
    heddle_cli_stop_gently(&(heddle_cli_gently){0});
    heddle_status status = heddle_dataset_download(
        name, settings.to, settings.mirrors.count > 0 ? settings.mirrors.items : NULL, show_progress, &view);
    finish_bar(&view);
    char folder[FOLDER_SIZE];
    if (status == HEDDLE_OK && settings.to == NULL)
        status = heddle_data_folder(folder, sizeof folder);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return print_place(&settings, name, settings.to != NULL ? settings.to : folder);
}

const heddle_cli_command heddle_command_data_get = {
    .name = "data get",
    .summary = "download a dataset",
    .arguments = "NAME",
    .least_arguments = 1,
    .most_arguments = 1,
    .description = "Every file is checked against its SHA-256 and put in place only when complete. An interrupted "
                   "download resumes when the command is run again.",
    .example = "heddle data get mnist\nheddle data get mnist --to /srv --mirror https://example.org/mnist/",
    .options = get_options,
    .option_count = sizeof get_options / sizeof *get_options,
    .run = run_get,
};
