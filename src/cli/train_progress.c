// The progress of `heddle train`: a bar, a line per epoch, or an event per line as JSON. And --until: the epoch that
// reaches its accuracy ends the run.

#include "cli/train_progress.h"

#include <math.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "cli/interrupt.h"
#include "cli/json.h"
#include "dist/dist.h"

enum {
    LABEL_SIZE = 128,
    TARGET_REACHED = -1, // instead of a signal: the accuracy of --until was reached
};

static void begin_bar(heddle_cli_training *shown, const heddle_train_event *event)
{
    if (shown->quiet || shown->json->print || shown->bar)
        return;
    char label[LABEL_SIZE];
    snprintf(label, sizeof label, "epoch %d/%d", event->epoch + 1, event->epochs);
    // A launcher may give its ranks a terminal and redirect their output to a file.
    bool redraws = heddle_dist_launched() == 1;
    shown->bar = heddle_progress_create(stdout, redraws ? HEDDLE_PROGRESS_AUTO : HEDDLE_PROGRESS_LINES, label);
}

void heddle_cli_training_end(heddle_cli_training *shown)
{
    if (!shown->bar)
        return;
    heddle_progress_finish(shown->bar, &shown->state);
    heddle_progress_destroy(shown->bar);
    shown->bar = NULL;
}

static void print_event(const heddle_cli_training *shown, const char *name, const heddle_train_event *event)
{
    if (shown->quiet)
        return;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "epoch", event->epoch + 1);
    cJSON_AddNumberToObject(json, "epochs", event->epochs);
    cJSON_AddNumberToObject(json, "images", (double)event->images);
    if (isfinite(event->loss))
        cJSON_AddNumberToObject(json, "loss", event->loss);
    if (isfinite(event->accuracy))
        cJSON_AddNumberToObject(json, "accuracy", event->accuracy);
    if (isfinite(event->best_accuracy))
        cJSON_AddNumberToObject(json, "best_accuracy", event->best_accuracy);
    cJSON_AddNumberToObject(json, "seconds", event->seconds);
    if (event->path)
        cJSON_AddStringToObject(json, "path", event->path);
    if (event->kind == HEDDLE_TRAIN_STARTED)
        heddle_cli_device_add(shown->device, json);
    heddle_cli_json_event(shown->json, name, json);
}

static void show_progress(heddle_cli_training *shown, const heddle_train_event *event)
{
    begin_bar(shown, event);
    shown->state = (heddle_progress_state){
        .done = (double)event->images,
        .total = (double)event->images_total,
        .unit = "images",
        .loss = event->loss,
        .accuracy = event->accuracy,
        .seconds = event->seconds - shown->epoch_began,
    };
    if (shown->bar)
        heddle_progress_update(shown->bar, &shown->state);
}

static void on_step(heddle_cli_training *shown, const heddle_train_event *event)
{
    show_progress(shown, event);
    if (event->images == event->images_total) {
        heddle_cli_training_end(shown);
        if (shown->json->print)
            print_event(shown, "trained", event);
        shown->epoch_began = event->seconds;
    }
}

static void on_start(heddle_cli_training *shown, const heddle_train_event *event)
{
    bool resumed = shown->resume && event->epoch < event->epochs;
    shown->saved = shown->resume;
    if (shown->json->print)
        print_event(shown, "started", event);
    else if (!shown->quiet && resumed)
        printf("resumed at epoch %d, image %lld of %lld\n", event->epoch + 1, (long long)event->images,
               (long long)event->images_total);
    if (resumed && event->images > 0)
        show_progress(shown, event); // before the first step, so that the rate counts only the work of this process
}

void heddle_cli_training_event(void *context, const heddle_train_event *event)
{
    heddle_cli_training *shown = context;
    shown->epoch = event->epoch + 1;
    shown->step = (int)((event->images + shown->batch - 1) / shown->batch);
    if (shown->silent && event->kind != HEDDLE_TRAIN_EVALUATED)
        return;
    bool plain = !shown->quiet && !shown->json->print;
    switch (event->kind) {
    case HEDDLE_TRAIN_STARTED: on_start(shown, event); break;
    case HEDDLE_TRAIN_STEP: on_step(shown, event); break;
    case HEDDLE_TRAIN_EVALUATED:
        if (shown->until > 0 && event->accuracy >= shown->until) {
            shown->reached_in = shown->reached_in ? shown->reached_in : event->epoch + 1;
            shown->target_reached |= !heddle_cli_interrupted;
            heddle_cli_interrupted = heddle_cli_interrupted ? heddle_cli_interrupted : TARGET_REACHED;
        }
        if (shown->silent)
            return;
        if (shown->json->print)
            print_event(shown, "evaluated", event);
        else if (plain)
            printf("epoch %d/%d  test loss %.4f, accuracy %.2f %%%s\n", event->epoch + 1, event->epochs, event->loss,
                   100 * event->accuracy, event->best ? "  (best so far)" : "");
        break;
    case HEDDLE_TRAIN_SAVED:
        shown->saved = true;
        if (shown->json->print)
            print_event(shown, "saved", event);
        break;
    }
    fflush(stdout);
}
