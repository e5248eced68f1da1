// Finds runs and works out what there is to say about each.

#include "nn/runs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "data/augment.h"
#include "nn/checkpoint.h"
#include "nn/optimizer.h"

static const double nanosecond = 1e-9;

static heddle_status no_memory(void)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a list of runs");
}

static void free_run(heddle_run *run)
{
    heddle_curve_free(&run->curve);
    free(run->name);
    free(run->folder);
}

void heddle_runs_free(heddle_runs *runs)
{
    for (int i = 0; i < runs->count; i++)
        free_run(&runs->items[i]);
    free(runs->items);
    *runs = (heddle_runs){0};
}

static const char *const names[] = {HEDDLE_RUN_CURVE, HEDDLE_RUN_LAST, HEDDLE_RUN_BEST};

// When the newest of the run's files was written; 0: it has none.
static double newest(const char *folder)
{
    char path[HEDDLE_RUN_FOLDER_SIZE + sizeof HEDDLE_RUN_LAST];
    double latest = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
            latest = fmax(latest, (double)about.st_mtim.tv_sec + nanosecond * (double)about.st_mtim.tv_nsec);
    }
    return latest;
}

// A run from before there were curves: its checkpoint has the settings and the best accuracy.
static heddle_status read_checkpoint(heddle_run *run)
{
    char path[HEDDLE_RUN_FOLDER_SIZE + sizeof HEDDLE_RUN_LAST];
    snprintf(path, sizeof path, "%s/" HEDDLE_RUN_LAST, run->folder);
    heddle_checkpoint *checkpoint = NULL;
    HEDDLE_TRY(heddle_checkpoint_open(path, &checkpoint));
    const heddle_checkpoint_about *about = heddle_checkpoint_about_of(checkpoint);
    const heddle_train_options *options = &about->options;
    cJSON *settings = run->curve.settings = cJSON_CreateObject();
    cJSON_AddStringToObject(settings, "model", heddle_model_name(heddle_checkpoint_model(checkpoint)));
    cJSON_AddStringToObject(settings, "data", about->dataset);
    cJSON_AddStringToObject(settings, "precision", heddle_curve_precision(options->arithmetic));
    cJSON_AddNumberToObject(settings, "epochs", options->epochs);
    cJSON_AddNumberToObject(settings, "batch", options->batch);
    cJSON_AddStringToObject(settings, "optimizer", heddle_optimizer_name(options->optimizer));
    cJSON_AddNumberToObject(settings, "lr", options->learning_rate);
    run->epochs_done = about->position.epochs_done;
    run->best_accuracy = about->position.best_accuracy;
    heddle_checkpoint_close(checkpoint);
    return HEDDLE_OK;
}

static void work_out(heddle_run *run)
{
    const heddle_curve *curve = &run->curve;
    double images = 0;
    for (int i = 0; i < curve->point_count; i++)
        images += (double)curve->points[i].images;
    if (curve->point_count > 0) {
        run->loss = curve->points[curve->point_count - 1].loss;
        run->seconds = curve->points[curve->point_count - 1].seconds;
        run->images_per_second = run->seconds > 0 ? images / run->seconds : NAN;
    }
    for (int i = 0; i < curve->test_count; i++) {
        const heddle_curve_test *test = &curve->tests[i];
        run->epochs_done = test->epoch;
        if (!(test->accuracy <= run->best_accuracy)) { // also the first
            run->best_accuracy = test->accuracy;
            run->best_epoch = test->epoch;
        }
    }
}

// A pipe would let us wait for ever.
static heddle_status check_kinds(const char *folder)
{
    char path[HEDDLE_RUN_FOLDER_SIZE + sizeof HEDDLE_RUN_LAST];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
            return heddle_fail(HEDDLE_CORRUPT, "%s is not a regular file; move it away", path);
    }
    return HEDDLE_OK;
}

static heddle_status read_run(heddle_run *run)
{
    run->best_accuracy = run->loss = run->images_per_second = NAN;
    run->changed = newest(run->folder);
    if (run->changed == 0)
        return heddle_fail(HEDDLE_NOT_FOUND, "there is no run in %s; `heddle runs` lists those that there are",
                           run->folder);
    HEDDLE_TRY(check_kinds(run->folder));
    heddle_status status = heddle_curve_read(run->folder, &run->curve);
    // The line that is damaged may be the one that says how the run ended.
    const char *state = run->curve.end[0] ? run->curve.end : run->curve.bad_line ? "damaged" : "killed";
    if (status == HEDDLE_NOT_FOUND) {
        state = "no curve";
        status = read_checkpoint(run);
    }
    if (status != HEDDLE_OK)
        return status;
    if (run->curve.bad_line)
        heddle_log(HEDDLE_LOG_WARN, "%s/" HEDDLE_RUN_CURVE ": line %d is damaged; damaged lines are left out",
                   run->folder, run->curve.bad_line);
    snprintf(run->state, sizeof run->state, "%s", heddle_run_folder_is_busy(run->folder) ? "running" : state);
    work_out(run);
    return HEDDLE_OK;
}

heddle_status heddle_runs_add(const char *name, const char *folder, heddle_runs *runs)
{
    if (strlen(folder) >= HEDDLE_RUN_FOLDER_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", HEDDLE_RUN_FOLDER_SIZE);
    heddle_run *items = realloc(runs->items, (size_t)(runs->count + 1) * sizeof *items);
    if (!items)
        return no_memory();
    runs->items = items;
    heddle_run *run = &items[runs->count];
    *run = (heddle_run){.name = strdup(name), .folder = strdup(folder)};
    heddle_status status = run->name && run->folder ? read_run(run) : no_memory();
    if (status == HEDDLE_OK)
        runs->count++;
    else
        free_run(run);
    return status;
}

static int compare_runs(const void *left, const void *right)
{
    const heddle_run *a = left, *b = right;
    if (a->changed != b->changed)
        return a->changed > b->changed ? -1 : 1;
    return strcmp(a->name, b->name);
}

heddle_status heddle_runs_read(const char *folder, heddle_runs *runs)
{
    *runs = (heddle_runs){0};
    DIR *entries = opendir(folder);
    if (!entries)
        return heddle_fail(errno == ENOENT ? HEDDLE_NOT_FOUND : HEDDLE_IO, "%s: cannot list the runs in it: %s", folder,
                           strerror(errno));
    heddle_status status = HEDDLE_OK;
    struct dirent *entry;
    // cppcheck-suppress readdirCalled ; the stream is ours alone, and readdir_r is deprecated
    while (status == HEDDLE_OK && (entry = readdir(entries)) != NULL) {
        char path[HEDDLE_RUN_FOLDER_SIZE];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || length >= HEDDLE_RUN_FOLDER_SIZE || newest(path) == 0)
            continue;
        status = heddle_runs_add(entry->d_name, path, runs);
        if (status != HEDDLE_OK && status != HEDDLE_OUT_OF_MEMORY) { // one bad run does not hide the others
            heddle_log(HEDDLE_LOG_WARN, "%s", heddle_last_error());
            status = HEDDLE_OK;
        }
    }
    closedir(entries);
    if (runs->count > 1)
        qsort(runs->items, (size_t)runs->count, sizeof *runs->items, compare_runs);
    return status;
}

// --- as JSON and text -----------------------------------------------------------------------------------------------

static void add_curve(cJSON *json, const heddle_curve *curve)
{
    cJSON *points = cJSON_AddArrayToObject(json, "points"), *tests = cJSON_AddArrayToObject(json, "tests");
    for (int i = 0; i < curve->point_count; i++) {
        const heddle_curve_point *point = &curve->points[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddNumberToObject(row, "step", (double)point->step);
        cJSON_AddNumberToObject(row, "epoch", point->epoch);
        cJSON_AddNumberToObject(row, "loss", point->loss);
        cJSON_AddNumberToObject(row, "accuracy", point->accuracy);
        cJSON_AddNumberToObject(row, "learning_rate", point->learning_rate);
        cJSON_AddNumberToObject(row, "seconds", point->seconds);
        heddle_json_add_number(row, "images_per_second", point->images_per_second);
        cJSON_AddItemToArray(points, row);
    }
    for (int i = 0; i < curve->test_count; i++) {
        const heddle_curve_test *test = &curve->tests[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddNumberToObject(row, "step", (double)test->step);
        cJSON_AddNumberToObject(row, "epoch", test->epoch);
        cJSON_AddNumberToObject(row, "loss", test->loss);
        cJSON_AddNumberToObject(row, "accuracy", test->accuracy);
        cJSON_AddItemToArray(tests, row);
    }
}

cJSON *heddle_run_json(const heddle_run *run, bool with_curve)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", run->name);
    cJSON_AddStringToObject(json, "folder", run->folder);
    cJSON_AddStringToObject(json, "state", run->state);
    if (run->curve.started[0])
        cJSON_AddStringToObject(json, "started", run->curve.started);
    if (run->curve.starts > 0)
        cJSON_AddNumberToObject(json, "resumed", run->curve.starts - 1);
    cJSON_AddNumberToObject(json, "epochs", run->epochs_done);
    heddle_json_add_number(json, "best_accuracy", run->best_accuracy);
    if (run->best_epoch > 0)
        cJSON_AddNumberToObject(json, "best_epoch", run->best_epoch);
    heddle_json_add_number(json, "loss", run->loss);
    cJSON_AddNumberToObject(json, "seconds", run->seconds);
    heddle_json_add_number(json, "images_per_second", run->images_per_second);
    cJSON_AddItemToObject(json, "settings", cJSON_Duplicate(run->curve.settings, true));
    if (with_curve)
        add_curve(json, &run->curve);
    return json;
}

const char *heddle_run_setting(const heddle_run *run, const char *name, char *text, size_t size)
{
    const cJSON *setting = cJSON_GetObjectItemCaseSensitive(run->curve.settings, name);
    text[0] = '\0';
    if (cJSON_IsString(setting))
        snprintf(text, size, "%s", setting->valuestring);
    else if (cJSON_IsNumber(setting))
        snprintf(text, size, "%.15g", setting->valuedouble);
    else if (cJSON_IsBool(setting))
        snprintf(text, size, "%s", cJSON_IsTrue(setting) ? "yes" : "no");
    heddle_text_one_line(text);
    return text;
}
