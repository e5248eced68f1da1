// Counts what the network says of its test images.

#include "serve/evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { MOST_WRONG = 100, MESSAGE_SIZE = 1024, PART = 4 * HEDDLE_SERVE_BATCH };

typedef struct mistake {
    int index, label, taken_for;
    float probability;
} mistake;

struct heddle_serve_evaluation {
    int count, done, correct, classes;
    char error[MESSAGE_SIZE];  // why it failed; "": it has not
    int *confusion;            // (classes, classes): rows are the truth
    mistake wrong[MOST_WRONG]; // the surest first
    int wrong_count;
    float *images, *probabilities; // of one part
};

heddle_status heddle_serve_evaluation_create(const heddle_serve_network *network, heddle_serve_evaluation **evaluation)
{
    const heddle_dataset *test = heddle_serve_network_test(network);
    const size_t classes = (size_t)heddle_serve_network_classes(network);
    const size_t area = (size_t)test->channels * (size_t)test->height * (size_t)test->width;
    heddle_serve_evaluation *made = calloc(1, sizeof *made);
    *evaluation = made;
    if (made) {
        made->count = test->count;
        made->classes = (int)classes;
        made->confusion = calloc(classes * classes, sizeof *made->confusion);
        made->images = malloc(PART * area * sizeof *made->images);
        made->probabilities = malloc(PART * classes * sizeof *made->probabilities);
        if (made->confusion && made->images && made->probabilities)
            return HEDDLE_OK;
    }
    heddle_serve_evaluation_free(made);
    *evaluation = NULL;
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to evaluate %zu classes", classes);
}

void heddle_serve_evaluation_free(heddle_serve_evaluation *evaluation)
{
    if (!evaluation)
        return;
    free(evaluation->confusion);
    free(evaluation->images);
    free(evaluation->probabilities);
    free(evaluation);
}

bool heddle_serve_evaluation_has_failed(const heddle_serve_evaluation *evaluation)
{
    return evaluation->error[0] != '\0';
}

bool heddle_serve_evaluation_is_under_way(const heddle_serve_evaluation *evaluation)
{
    return !heddle_serve_evaluation_has_failed(evaluation) && evaluation->done < evaluation->count;
}

static void add_wrong(heddle_serve_evaluation *evaluation, const mistake *one)
{
    int place = evaluation->wrong_count;
    while (place > 0 && evaluation->wrong[place - 1].probability < one->probability)
        place--;
    if (place == MOST_WRONG)
        return;
    if (evaluation->wrong_count < MOST_WRONG)
        evaluation->wrong_count++;
    memmove(evaluation->wrong + place + 1, evaluation->wrong + place,
            (size_t)(evaluation->wrong_count - place - 1) * sizeof *one);
    evaluation->wrong[place] = *one;
}

static void count(heddle_serve_evaluation *evaluation, int label, const float *probabilities)
{
    int best = 0;
    for (int i = 1; i < evaluation->classes; i++)
        if (probabilities[i] > probabilities[best])
            best = i;
    evaluation->confusion[label * evaluation->classes + best]++;
    evaluation->correct += best == label;
    if (best != label)
        add_wrong(evaluation, &(mistake){evaluation->done, label, best, probabilities[best]});
    evaluation->done++;
}

heddle_status heddle_serve_evaluation_step(heddle_serve_evaluation *evaluation, heddle_serve_network *network,
                                           pthread_mutex_t *lock)
{
    const heddle_dataset *test = heddle_serve_network_test(network);
    const size_t area = (size_t)test->channels * (size_t)test->height * (size_t)test->width;
    const int left = evaluation->count - evaluation->done, part = left < PART ? left : PART;
    const uint8_t *bytes = test->images + (size_t)evaluation->done * area;
    for (size_t i = 0; i < (size_t)part * area; i++)
        evaluation->images[i] = (float)bytes[i] / 255.0F;
    heddle_status status = heddle_serve_network_predict(network, evaluation->images, part, evaluation->probabilities);
    if (status == HEDDLE_OK)
        status =
            heddle_serve_probabilities_check(evaluation->probabilities, (size_t)part * (size_t)evaluation->classes);
    pthread_mutex_lock(lock);
    if (status != HEDDLE_OK)
        snprintf(evaluation->error, sizeof evaluation->error, "%s", heddle_last_error());
    for (int i = 0; i < part && status == HEDDLE_OK; i++)
        count(evaluation, test->labels[evaluation->done],
              evaluation->probabilities + (size_t)i * (size_t)evaluation->classes);
    pthread_mutex_unlock(lock);
    return status;
}

cJSON *heddle_serve_evaluation_progress(const heddle_serve_evaluation *evaluation)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "done", evaluation->done);
    cJSON_AddNumberToObject(json, "count", evaluation->count);
    cJSON_AddNumberToObject(json, "correct", evaluation->correct);
    if (evaluation->done > 0)
        cJSON_AddNumberToObject(json, "accuracy", (double)evaluation->correct / evaluation->done);
    if (heddle_serve_evaluation_has_failed(evaluation))
        cJSON_AddStringToObject(json, "error", evaluation->error);
    return json;
}

cJSON *heddle_serve_evaluation_json(const heddle_serve_evaluation *evaluation)
{
    cJSON *json = heddle_serve_evaluation_progress(evaluation);
    cJSON *rows = cJSON_AddArrayToObject(json, "confusion"), *wrong = cJSON_AddArrayToObject(json, "wrong");
    for (int i = 0; i < evaluation->classes; i++)
        cJSON_AddItemToArray(rows, cJSON_CreateIntArray(evaluation->confusion + (size_t)i * (size_t)evaluation->classes,
                                                        evaluation->classes));
    for (int i = 0; i < evaluation->wrong_count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "index", evaluation->wrong[i].index);
        cJSON_AddNumberToObject(one, "label", evaluation->wrong[i].label);
        cJSON_AddNumberToObject(one, "class", evaluation->wrong[i].taken_for);
        cJSON_AddNumberToObject(one, "probability", (double)evaluation->wrong[i].probability);
        cJSON_AddItemToArray(wrong, one);
    }
    return json;
}
