// The API of the serving page. docs/serve.md lists it.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "check/sources.h"
#include "nn/runs.h"
#include "serve/parts.h"
#include "serve/results.h"

enum { MOST_DATASETS = 16, NAME_SIZE = 256 };

// The body as an object, or NULL after an answer that says what is wrong.
static cJSON *read_body(const heddle_web_request *request, heddle_web_answer *answer)
{
    cJSON *json = NULL;
    heddle_status status = heddle_web_json_read(request->body, request->size, &json);
    if (status == HEDDLE_OK)
        return json;
    heddle_web_answer_failure(answer, status);
    return NULL;
}

static void answer_ending(heddle_web_answer *answer)
{
    heddle_web_answer_error(answer, HEDDLE_WEB_BUSY, "the server is ending");
}

// --- how things stand ------------------------------------------------------------------------------------------------

static void add_choices(const heddle_serve *serve, cJSON *json)
{
    heddle_dataset_info sets[MOST_DATASETS];
    const char *const *models = heddle_model_names();
    const int count = heddle_dataset_list(serve->settings.folder, sets, MOST_DATASETS);
    cJSON *names = cJSON_AddArrayToObject(json, "models"), *data = cJSON_AddArrayToObject(json, "datasets");
    for (; *models; models++)
        cJSON_AddItemToArray(names, cJSON_CreateString(*models));
    for (int i = 0; i < count && i < MOST_DATASETS; i++) {
        cJSON *set = cJSON_CreateObject();
        cJSON_AddStringToObject(set, "name", sets[i].name);
        cJSON_AddStringToObject(set, "summary", sets[i].summary);
        cJSON_AddBoolToObject(set, "present", sets[i].present);
        cJSON_AddItemToArray(data, set);
    }
    cJSON_AddStringToObject(json, "default_data", heddle_dataset_default(serve->settings.folder));
}

static void get_status(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    cJSON *json = cJSON_CreateObject();
    (void)request;
    cJSON_AddItemToObject(json, "network", heddle_serve_predictor_about(serve->predictor));
    cJSON_AddItemToObject(json, "training", heddle_serve_training_json(serve->training, true));
    cJSON_AddItemToObject(json, "evaluation", heddle_serve_predictor_evaluation(serve->predictor));
    add_choices(serve, json);
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

static void get_metrics(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    char *text = heddle_serve_metrics(context);
    (void)request;
    if (text)
        heddle_web_answer_bytes(answer, "text/plain; version=0.0.4; charset=utf-8", text, strlen(text));
    else
        heddle_web_answer_error(answer, HEDDLE_WEB_FAILED, "no memory for the metrics");
}

// --- predicting ------------------------------------------------------------------------------------------------------

static void read_and_predict(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    const heddle_serve *serve = context;
    heddle_web_answer answer = {0};
    heddle_serve_images images = {0};
    cJSON *json = read_body(request, &answer);
    if (json) {
        const bool layers = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "layers"));
        heddle_status status = heddle_serve_predictor_read(serve->predictor, json, &images);
        cJSON_Delete(json);
        if (status == HEDDLE_OK) {
            heddle_serve_predictor_predict(serve->predictor, later, &images, layers);
            return;
        }
        if (images.too_large)
            heddle_web_answer_error(&answer, HEDDLE_WEB_TOO_LARGE, "%s", heddle_last_error());
        else
            heddle_web_answer_failure(&answer, status);
    }
    heddle_web_finish(later, &answer);
}

static void post_predict(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_images images;
    if (!heddle_serve_predictor_scan(serve->predictor, request->body, request->size, &images)) {
        heddle_serve_worker_give(serve->images, request, read_and_predict, answer);
        return;
    }
    heddle_web_later *later = heddle_web_defer(request);
    if (later) {
        heddle_serve_predictor_predict(serve->predictor, later, &images, false);
        return;
    }
    free(images.pixels);
    answer_ending(answer);
}

// The whole number that a part of the path is; -1: none, or a larger one than any that we give.
static int number_of(const char *text)
{
    const size_t length = heddle_text_number(text, true);
    return length > 0 && !text[length] && length < 10 ? (int)strtol(text, NULL, 10) : -1;
}

static void get_image(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    cJSON *json = NULL;
    heddle_status status = heddle_serve_predictor_image(serve->predictor, number_of(request->found[0]), &json);
    if (status == HEDDLE_OK)
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
    else
        heddle_web_answer_failure(answer, status);
}

static void post_evaluate(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    (void)request;
    heddle_status status = heddle_serve_predictor_evaluate(serve->predictor);
    if (status == HEDDLE_OK)
        heddle_web_answer_json(answer, HEDDLE_WEB_ACCEPTED, heddle_serve_predictor_evaluation(serve->predictor));
    else
        heddle_web_answer_failure(answer, status);
}

static void get_evaluation(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    cJSON *json = cJSON_CreateObject();
    (void)request;
    cJSON_AddItemToObject(json, "evaluation", heddle_serve_predictor_evaluation(serve->predictor));
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

// --- runs ------------------------------------------------------------------------------------------------------------

static void read_runs(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    const heddle_serve *serve = context;
    heddle_web_answer answer = {0};
    heddle_runs runs = {0};
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "runs");
    (void)request;
    heddle_status status = heddle_runs_read(serve->settings.runs, &runs);
    for (int i = 0; i < runs.count; i++)
        cJSON_AddItemToArray(list, heddle_run_json(&runs.items[i], false));
    heddle_runs_free(&runs);
    if (status == HEDDLE_OK || status == HEDDLE_NOT_FOUND) { // without the folder there are no runs yet
        heddle_web_answer_json(&answer, HEDDLE_WEB_OK, json);
    } else {
        cJSON_Delete(json);
        heddle_web_answer_failure(&answer, status);
    }
    heddle_web_finish(later, &answer);
}

static void get_runs(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_worker_give(serve->runs, request, read_runs, answer);
}

// A name has no slash and no dot in front: heddle_web_path_read sees to that for paths, this for bodies.
static heddle_status run_folder(const heddle_serve *serve, const char *name, char path[HEDDLE_SERVE_PATH_SIZE])
{
    if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) >= NAME_SIZE)
        return heddle_fail(HEDDLE_NOT_FOUND, "there is no run of that name");
    if (snprintf(path, HEDDLE_SERVE_PATH_SIZE, "%s/%s", serve->settings.runs, name) >= HEDDLE_SERVE_PATH_SIZE)
        return heddle_fail(HEDDLE_NOT_FOUND, "path too long");
    return HEDDLE_OK;
}

static void read_run(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    const heddle_serve *serve = context;
    char path[HEDDLE_SERVE_PATH_SIZE];
    heddle_web_answer answer = {0};
    heddle_runs runs = {0};
    heddle_status status = run_folder(serve, request->found[0], path);
    if (status == HEDDLE_OK)
        status = heddle_runs_add(request->found[0], path, &runs);
    if (status == HEDDLE_OK)
        heddle_web_answer_json(&answer, HEDDLE_WEB_OK, heddle_run_json(&runs.items[0], true));
    else
        heddle_web_answer_failure(&answer, status);
    heddle_runs_free(&runs);
    heddle_web_finish(later, &answer);
}

static void get_run(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_worker_give(serve->runs, request, read_run, answer);
}

// {"run": "synth-cnn"}: predict with that one from now on.
static void post_network(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    char folder[HEDDLE_SERVE_PATH_SIZE], path[HEDDLE_SERVE_PATH_SIZE];
    cJSON *json = read_body(request, answer);
    if (!json)
        return;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "run");
    heddle_status status = cJSON_IsString(name) ? run_folder(serve, name->valuestring, folder)
                                                : heddle_fail(HEDDLE_INVALID, "expected {\"run\": \"NAME\"}");
    if (status == HEDDLE_OK)
        status = heddle_serve_find_checkpoint(folder, path);
    cJSON_Delete(json);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return;
    }
    heddle_serve_predictor_load(serve->predictor, path);
    cJSON *taken = cJSON_CreateObject();
    cJSON_AddStringToObject(taken, "checkpoint", path);
    heddle_web_answer_json(answer, HEDDLE_WEB_ACCEPTED, taken);
}

// --- training --------------------------------------------------------------------------------------------------------

static void get_training(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    (void)request;
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, heddle_serve_training_json(serve->training, true));
}

static void answer_training(const heddle_serve *serve, heddle_status status, heddle_web_answer *answer)
{
    if (status == HEDDLE_OK)
        heddle_web_answer_json(answer, HEDDLE_WEB_ACCEPTED, heddle_serve_training_json(serve->training, true));
    else
        heddle_web_answer_failure(answer, status);
}

static void post_train(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_training_wish wish;
    cJSON *json = read_body(request, answer);
    if (!json)
        return;
    heddle_status status = heddle_serve_training_read(json, serve->settings.folder, &wish);
    if (status == HEDDLE_OK && heddle_serve_worker_is_busy(serve->bench))
        status = heddle_fail(HEDDLE_UNSUPPORTED, "an operator is being measured: start the run when that is done");
    if (status == HEDDLE_OK)
        status = heddle_serve_training_start(serve->training, &wish);
    answer_training(serve, status, answer);
    cJSON_Delete(json);
}

static void post_order(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    static const char *const orders[] = {"pause", "resume", "stop"};
    const heddle_serve *serve = context;
    for (int i = 0; i < (int)(sizeof orders / sizeof *orders); i++)
        if (strcmp(request->found[0], orders[i]) == 0) {
            answer_training(serve, heddle_serve_training_tell(serve->training, (heddle_serve_training_order)i), answer);
            return;
        }
    heddle_web_answer_error(answer, HEDDLE_WEB_NOT_FOUND, "a run can be told to pause, resume or stop");
}

// --- results ---------------------------------------------------------------------------------------------------------

static void list_results(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    const heddle_serve *serve = context;
    heddle_web_answer answer = {0};
    cJSON *json = cJSON_CreateObject();
    (void)request;
    cJSON_AddStringToObject(json, "folder", serve->settings.results);
    cJSON_AddItemToObject(json, "results", heddle_serve_results_list(serve->settings.results));
    cJSON_AddItemToObject(json, "operators",
                          heddle_serve_results_operators(heddle_serve_predictor_device(serve->predictor)));
    heddle_web_answer_json(&answer, HEDDLE_WEB_OK, json);
    heddle_web_finish(later, &answer);
}

static void get_results(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_worker_give(serve->runs, request, list_results, answer);
}

static void read_results(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    const heddle_serve *serve = context;
    heddle_web_answer answer = {0};
    char *text = NULL;
    size_t size = 0;
    heddle_status status = heddle_serve_results_read(serve->settings.results, request->found[0], &text, &size);
    if (status == HEDDLE_OK)
        heddle_web_answer_bytes(&answer, heddle_web_type(".json"), text, size);
    else
        heddle_web_answer_failure(&answer, status);
    heddle_web_finish(later, &answer);
}

static void get_result(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_worker_give(serve->runs, request, read_results, answer);
}

// {"op": "matmul_forward"}: a quick look. What runs beside it would be in its figures.
static heddle_status measure(heddle_serve *serve, const cJSON *request, char name[HEDDLE_SERVE_RESULT_NAME])
{
    const heddle_serve_measure how = {.device = serve->settings.device,
                                      .threads = serve->settings.threads,
                                      .folder = serve->settings.results,
                                      .stop = &serve->ending};
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "op"));
    if (!op)
        return heddle_fail(HEDDLE_INVALID, "expected {\"op\": \"OPERATOR\"}");
    if (serve->ending) // those that wait need not begin
        return HEDDLE_INTERRUPTED;
    if (heddle_serve_training_count(serve->training).active)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "a run is under way, beside which nothing can be measured: stop it first");
    return heddle_serve_results_measure(&how, op, name);
}

static void measure_and_answer(void *context, const heddle_web_request *request, heddle_web_later *later)
{
    heddle_serve *serve = context;
    heddle_web_answer answer = {0};
    char name[HEDDLE_SERVE_RESULT_NAME];
    cJSON *json = read_body(request, &answer);
    if (json) {
        heddle_status status = measure(serve, json, name);
        cJSON_Delete(json);
        if (status == HEDDLE_INTERRUPTED) {
            answer_ending(&answer);
        } else if (status != HEDDLE_OK) {
            heddle_web_answer_failure(&answer, status);
        } else {
            cJSON *made = cJSON_CreateObject();
            cJSON_AddStringToObject(made, "name", name);
            heddle_web_answer_json(&answer, HEDDLE_WEB_OK, made);
        }
    }
    heddle_serve_worker_finish(serve->bench, later, &answer);
}

static void post_bench(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    heddle_serve_worker_give(serve->bench, request, measure_and_answer, answer);
}

// --- checking --------------------------------------------------------------------------------------------------------

static void post_check(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_serve *serve = context;
    cJSON *json = read_body(request, answer);
    if (!json)
        return;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    const char *source = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "source"));
    heddle_web_later *later = NULL;
    if (!name || !source)
        heddle_web_answer_error(answer, HEDDLE_WEB_BAD, "expected {\"name\": \"FILE.cu\", \"source\": \"...\"}");
    else if (!heddle_serve_checker_names(name))
        heddle_web_answer_error(answer, HEDDLE_WEB_BAD, "the name must end in .cu, and have no spaces and no folder");
    else if (strlen(source) > HEDDLE_CHECK_LARGEST_SENT)
        heddle_web_answer_error(answer, HEDDLE_WEB_TOO_LARGE, "the source is larger than 1 MB");
    else if (!(later = heddle_web_defer(request)))
        answer_ending(answer);
    if (later)
        heddle_serve_checker_check(serve->checker, later, name, source);
    cJSON_Delete(json);
}

// A page of its own origin, which nobody shares: its script can reach neither the API nor the cookie.
static void get_report(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    static const char policy[] = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                                 "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                                 "sandbox allow-scripts";
    const heddle_serve *serve = context;
    char *html = NULL;
    size_t size = 0;
    heddle_status status = heddle_serve_checker_report(serve->checker, number_of(request->found[0]), &html, &size);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return;
    }
    heddle_web_answer_bytes(answer, heddle_web_type(".html"), html, size);
    answer->policy = policy;
}

const heddle_web_route heddle_serve_routes[] = {
    {"GET", "/", NULL, "serve.html"},
    {"GET", "/v1/status", get_status, NULL},
    {"GET", "/v1/events", heddle_web_listen_to_events, NULL},
    {"GET", "/v1/metrics", get_metrics, NULL},
    {"POST", "/v1/predict", post_predict, NULL},
    {"GET", "/v1/images/*", get_image, NULL},
    {"GET", "/v1/evaluate", get_evaluation, NULL},
    {"POST", "/v1/evaluate", post_evaluate, NULL},
    {"GET", "/v1/runs", get_runs, NULL},
    {"GET", "/v1/runs/*", get_run, NULL},
    {"POST", "/v1/network", post_network, NULL},
    {"GET", "/v1/train", get_training, NULL},
    {"POST", "/v1/train", post_train, NULL},
    {"POST", "/v1/train/*", post_order, NULL},
    {"GET", "/v1/results", get_results, NULL},
    {"GET", "/v1/results/*", get_result, NULL},
    {"POST", "/v1/bench", post_bench, NULL},
    {"POST", "/v1/check", post_check, NULL},
    {"GET", "/v1/check/*", get_report, NULL},
    {0},
};
