// `heddle runs`: lists training runs, shows one, or compares several. nn/ reads them; plot.c draws the curves.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/drawing.h"
#include "cli/json.h"
#include "cli/plot.h"
#include "nn/runs.h"

enum {
    TEXT_SIZE = 1024 + 64, // the name of a dataset
    PATH_SIZE = HEDDLE_RUN_FOLDER_SIZE,
    WIDE = 108,       // columns of a terminal that the whole list fits
    SMALL_CURVE = 16, // columns
    SMALLEST_CURVE = 10,
    SMALL_BYTES = 4 * SMALL_CURVE + 1,
    PLOT_ROWS = 10,
    PLOT_COLUMNS = 72,
    AXIS = 12, // columns of a plot that are not the area inside the axes
};

typedef struct runs_settings {
    const char *folder;
    heddle_cli_json json;
} runs_settings;

static const heddle_cli_option options[] = {
    {"in", HEDDLE_CLI_TEXT, offsetof(runs_settings, folder), "DIR", "runs", "folder that the runs are in", 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(runs_settings, json)),
};

// --- curves ---------------------------------------------------------------------------------------------------------

// Loss or test accuracy over epochs, so that runs with other batch sizes compare.
typedef struct curve {
    double *x, *y;
    int count;
} curve;

static curve loss_curve(const heddle_run *run)
{
    const heddle_curve *from = &run->curve;
    const cJSON *total = cJSON_GetObjectItemCaseSensitive(from->settings, "training_images");
    const double images = cJSON_IsNumber(total) && total->valuedouble > 0 ? total->valuedouble : 1;
    const size_t room = (size_t)from->point_count + 1;
    curve result = {calloc(room, sizeof(double)), calloc(room, sizeof(double)), 0};
    double seen = 0;
    for (int i = 0; result.x && result.y && i < from->point_count; i++) {
        seen += (double)from->points[i].images;
        result.x[i] = seen / images;
        result.y[i] = from->points[i].loss;
        result.count++;
    }
    return result;
}

static curve test_curve(const heddle_run *run)
{
    const heddle_curve *from = &run->curve;
    const size_t room = (size_t)from->test_count + 1;
    curve result = {calloc(room, sizeof(double)), calloc(room, sizeof(double)), 0};
    for (int i = 0; result.x && result.y && i < from->test_count; i++) {
        result.x[i] = from->tests[i].epoch;
        result.y[i] = from->tests[i].accuracy;
        result.count++;
    }
    return result;
}

static void free_curve(const curve *drawn)
{
    free(drawn->x);
    free(drawn->y);
}

static void plot(const heddle_runs *runs, const char *title, curve (*take)(const heddle_run *run), bool percent)
{
    curve curves[HEDDLE_PLOT_MOST_SERIES];
    heddle_plot_series series[HEDDLE_PLOT_MOST_SERIES];
    const int columns = heddle_drawing_columns(stdout) - AXIS;
    for (int i = 0; i < runs->count; i++) {
        curves[i] = take(&runs->items[i]);
        series[i] = (heddle_plot_series){curves[i].x, curves[i].y, curves[i].count};
    }
    heddle_plot_print(stdout, &(heddle_plot){.title = title,
                                             .x_title = "epochs ",
                                             .series = series,
                                             .count = runs->count,
                                             .columns = columns < SMALL_CURVE    ? SMALL_CURVE
                                                        : columns < PLOT_COLUMNS ? columns
                                                                                 : PLOT_COLUMNS,
                                             .rows = PLOT_ROWS,
                                             .percent = percent,
                                             .utf8 = heddle_terminal_utf8()});
    for (int i = 0; i < runs->count; i++)
        free_curve(&curves[i]);
}

// --- words ----------------------------------------------------------------------------------------------------------

// What a table says of a run.
typedef void run_text(const heddle_run *run, char *text, size_t size);

// A folder may have any name, and a file hold any word.
static const char *on_one_line(const char *word, char *text, size_t size)
{
    snprintf(text, size, "%s", word);
    heddle_text_one_line(text);
    return text;
}

static const char *known(const char *text)
{
    return text[0] ? text : "-";
}

static void name_text(const heddle_run *run, char *text, size_t size)
{
    on_one_line(run->name, text, size);
}

static void model_text(const heddle_run *run, char *text, size_t size)
{
    heddle_run_setting(run, "model", text, size);
}

// A folder of images by its last part.
static void data_text(const heddle_run *run, char *text, size_t size)
{
    const char *slash = strrchr(heddle_run_setting(run, "data", text, size), '/');
    if (slash && slash[1])
        memmove(text, slash + 1, strlen(slash + 1) + 1);
}

static void device_text(const heddle_run *run, char *text, size_t size)
{
    heddle_run_setting(run, "device", text, size);
}

static void precision_text(const heddle_run *run, char *text, size_t size)
{
    heddle_run_setting(run, "precision", text, size);
}

static void epochs_text(const heddle_run *run, char *text, size_t size)
{
    char asked[TEXT_SIZE];
    snprintf(text, size, "%d/%s", run->epochs_done, heddle_run_setting(run, "epochs", asked, sizeof asked));
}

static void accuracy_text(const heddle_run *run, char *text, size_t size)
{
    if (isfinite(run->best_accuracy))
        snprintf(text, size, "%.2f %%", 100 * run->best_accuracy);
}

static void best_text(const heddle_run *run, char *text, size_t size)
{
    accuracy_text(run, text, size);
    if (run->best_epoch > 0)
        snprintf(text + strlen(text), size - strlen(text), " (epoch %d)", run->best_epoch);
}

static void rate_text(const heddle_run *run, char *text, size_t size)
{
    if (isfinite(run->images_per_second))
        snprintf(text, size, "%.*f", run->images_per_second < 10 ? 2 : 0, run->images_per_second);
}

static void state_text(const heddle_run *run, char *text, size_t size)
{
    on_one_line(run->state, text, size);
}

static void started_text(const heddle_run *run, char *text, size_t size)
{
    on_one_line(run->curve.started, text, size);
    if (run->curve.starts > 1)
        snprintf(text + strlen(text), size - strlen(text), ", resumed %d time%s", run->curve.starts - 1,
                 run->curve.starts == 2 ? "" : "s");
}

static void loss_text(const heddle_run *run, char *text, size_t size)
{
    if (isfinite(run->loss))
        snprintf(text, size, "%.4f", run->loss);
}

static void time_text(const heddle_run *run, char *text, size_t size)
{
    heddle_text_seconds(run->seconds, text, size);
}

static void add_cell(heddle_table *table, run_text *print, const heddle_run *run)
{
    char text[TEXT_SIZE] = "";
    print(run, text, sizeof text);
    heddle_table_cell(table, "%s", known(text));
}

// --- the list -------------------------------------------------------------------------------------------------------

static const struct {
    const char *title;
    heddle_align align;
    run_text *print; // NULL: the small curve
    int least;       // columns of a terminal that has room for it
} columns[] = {
    {"run", HEDDLE_LEFT, name_text, 0},
    {"model", HEDDLE_LEFT, model_text, 0},
    {"data", HEDDLE_LEFT, data_text, 0},
    {"device", HEDDLE_LEFT, device_text, 96},
    {"precision", HEDDLE_LEFT, precision_text, 108},
    {"epochs", HEDDLE_RIGHT, epochs_text, 0},
    {"best", HEDDLE_RIGHT, accuracy_text, 0},
    {"images/s", HEDDLE_RIGHT, rate_text, 88},
    {"state", HEDDLE_LEFT, state_text, 0},
    {"loss", HEDDLE_LEFT, NULL, 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_row(heddle_table *table, const heddle_run *run, int width)
{
    char small[SMALL_BYTES];
    const curve drawn = loss_curve(run);
    const heddle_plot_series series = {drawn.x, drawn.y, drawn.count};
    for (int i = 0; i < COLUMNS; i++) {
        if (columns[i].print && width >= columns[i].least)
            add_cell(table, columns[i].print, run);
        else if (!columns[i].print)
            heddle_table_cell(table, "%s",
                              heddle_plot_line(&series, width >= WIDE ? SMALL_CURVE : SMALLEST_CURVE,
                                               heddle_terminal_utf8(), small, sizeof small));
    }
    free_curve(&drawn);
}

static heddle_status print_list(const heddle_runs *runs, const char *folder)
{
    if (runs->count == 0) {
        printf("no runs in %s; `%s train` makes one\n", folder, heddle_cli_name());
        return HEDDLE_OK;
    }
    const int terminal = heddle_terminal_width(stdout), width = terminal > 0 ? terminal : WIDE;
    heddle_table *table = heddle_table_create();
    for (int i = 0; i < COLUMNS; i++)
        if (width >= columns[i].least)
            heddle_table_column(table, columns[i].title, columns[i].align);
    for (int i = 0; i < runs->count; i++)
        add_row(table, &runs->items[i], width);
    return heddle_table_finish(table, stdout);
}

// --- one and several ------------------------------------------------------------------------------------------------

static bool differs(const heddle_runs *runs, const char *name)
{
    char first[TEXT_SIZE], other[TEXT_SIZE];
    heddle_run_setting(&runs->items[0], name, first, sizeof first);
    for (int i = 1; i < runs->count; i++)
        if (strcmp(first, heddle_run_setting(&runs->items[i], name, other, sizeof other)) != 0)
            return true;
    return false;
}

// Calls `add` once with each name that any of the runs has a setting of.
static void each_setting(const heddle_runs *runs, void (*add)(const heddle_runs *runs, const char *name, void *context),
                         void *context)
{
    for (int i = 0; i < runs->count; i++) {
        const cJSON *setting;
        cJSON_ArrayForEach(setting, runs->items[i].curve.settings)
        {
            bool before = false;
            for (int k = 0; k < i; k++)
                before |= cJSON_HasObjectItem(runs->items[k].curve.settings, setting->string);
            if (!before)
                add(runs, setting->string, context);
        }
    }
}

static void add_setting_row(const heddle_runs *runs, const char *name, void *context)
{
    heddle_table *table = context;
    char text[TEXT_SIZE];
    if (runs->count > 1 && !differs(runs, name))
        return;
    heddle_table_cell(table, "%s", on_one_line(name, text, sizeof text));
    for (int i = 0; i < runs->count; i++)
        heddle_table_cell(table, "%s", known(heddle_run_setting(&runs->items[i], name, text, sizeof text)));
}

static void add_common(const heddle_runs *runs, const char *name, void *context)
{
    FILE *file = context;
    char text[TEXT_SIZE], shown[TEXT_SIZE];
    if (!differs(runs, name))
        fprintf(file, "%s%s %s", ftell(file) > 0 ? ", " : "", on_one_line(name, shown, sizeof shown),
                heddle_run_setting(&runs->items[0], name, text, sizeof text));
}

static void print_common(const heddle_runs *runs)
{
    static const char title[] = "same in all: ";
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory)
        each_setting(runs, add_common, memory);
    if (memory && fclose(memory) == 0 && size > 0) {
        printf("\n%s", title);
        heddle_cli_print_wrapped(stdout, text, (int)sizeof title - 1, (int)sizeof title - 1);
    }
    free(text);
}

static void add_differing(const heddle_runs *runs, const char *name, void *context)
{
    if (differs(runs, name))
        cJSON_AddItemToArray(context, cJSON_CreateString(name));
}

static heddle_status print_table(const heddle_runs *runs)
{
    static const struct {
        const char *title;
        run_text *print;
    } rows[] = {{"state", state_text},        {"started", started_text}, {"epochs done", epochs_text},
                {"best accuracy", best_text}, {"loss", loss_text},       {"training time", time_text},
                {"images/s", rate_text}};
    char text[TEXT_SIZE];
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "", HEDDLE_LEFT);
    for (int i = 0; i < runs->count; i++) {
        if (runs->count > 1)
            snprintf(text, sizeof text, "%c %s", 'A' + i, runs->items[i].name);
        else
            snprintf(text, sizeof text, "%s", runs->items[i].name);
        heddle_text_one_line(text);
        heddle_table_column(table, text, HEDDLE_LEFT);
    }
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        heddle_table_cell(table, "%s", rows[row].title);
        for (int i = 0; i < runs->count; i++)
            add_cell(table, rows[row].print, &runs->items[i]);
    }
    each_setting(runs, add_setting_row, table);
    return heddle_table_finish(table, stdout);
}

static heddle_status print_compared(const heddle_runs *runs)
{
    HEDDLE_TRY(print_table(runs));
    if (runs->count > 1)
        print_common(runs);
    plot(runs, "training loss", loss_curve, false);
    plot(runs, "test accuracy", test_curve, true);
    return HEDDLE_OK;
}

// --- the command ----------------------------------------------------------------------------------------------------

static const char *nearest_run(const char *name, const heddle_runs *all)
{
    const char **names = calloc((size_t)all->count + 1, sizeof *names);
    for (int i = 0; names && i < all->count; i++)
        names[i] = all->items[i].name;
    const char *nearest = names ? heddle_text_nearest(name, names, all->count) : NULL;
    free(names);
    return nearest;
}

static heddle_status no_such_run(const char *name, const char *folder)
{
    heddle_runs all = {0};
    const char *nearest = heddle_runs_read(folder, &all) == HEDDLE_OK ? nearest_run(name, &all) : NULL;
    if (nearest)
        heddle_fail(HEDDLE_NOT_FOUND, "there is no run %s in %s; did you mean %s?", name, folder, nearest);
    else
        heddle_fail(HEDDLE_NOT_FOUND, "there is no run %s in %s; `heddle runs` lists those that there are", name,
                    folder);
    heddle_runs_free(&all);
    return HEDDLE_NOT_FOUND;
}

// A name is that of a run in `folder`, or the path of one.
static heddle_status add_named(const char *name, const char *folder, heddle_runs *runs)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", PATH_SIZE);
    if (!heddle_folder_exists(path)) {
        snprintf(path, sizeof path, "%s", name);
        for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
            path[end - 1] = '\0';
    }
    if (!heddle_folder_exists(path))
        return no_such_run(name, folder);
    const char *slash = strrchr(path, '/');
    return heddle_runs_add(slash && slash[1] ? slash + 1 : path, path, runs);
}

static cJSON *to_json(const heddle_runs *runs, bool with_curves)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "runs");
    for (int i = 0; i < runs->count; i++)
        cJSON_AddItemToArray(all, heddle_run_json(&runs->items[i], with_curves));
    if (with_curves && runs->count > 1)
        each_setting(runs, add_differing, cJSON_AddArrayToObject(json, "differ"));
    return json;
}

static int run_command(int argc, char **argv)
{
    runs_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_runs, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_runs runs = {0};
    heddle_status status = HEDDLE_OK;
    const bool list = arguments.count == 0;
    if (list) {
        status = heddle_runs_read(settings.folder, &runs);
        // Where nobody has trained yet there are no runs; a folder that was named must be there.
        if (status == HEDDLE_NOT_FOUND && !heddle_cli_given(&heddle_command_runs, &arguments, "in"))
            status = HEDDLE_OK;
    }
    for (int i = 0; i < arguments.count && status == HEDDLE_OK; i++)
        status = add_named(arguments.items[i], settings.folder, &runs);
    if (status == HEDDLE_OK && !settings.json.print)
        status = list ? print_list(&runs, settings.folder) : print_compared(&runs);
    exit_code =
        status == HEDDLE_OK ? heddle_cli_json_exit(&settings.json, to_json(&runs, !list)) : heddle_cli_fail(status);
    heddle_runs_free(&runs);
    return exit_code;
}

const heddle_cli_command heddle_command_runs = {
    .name = "runs",
    .summary = "list and compare training runs",
    .arguments = "[RUN...]",
    .most_arguments = HEDDLE_PLOT_MOST_SERIES,
    .description = "Without RUN: lists the runs in --in, newest first, with their best test accuracy and a small curve "
                   "of the loss. With one RUN, a name from that list or a folder: shows its settings and curves. With "
                   "several: compares them, and shows only the settings that differ.\n\nA run that is training now is "
                   "shown as far as it is.",
    .example = "heddle runs\nheddle runs synth-cnn\nheddle runs synth-cnn synth-cnn-2",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
