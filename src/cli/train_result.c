// The result of `heddle train`, as text or as the last JSON line.

#include "cli/train_result.h"

#include <math.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "nn/trainer_folder.h"

enum {
    PATH_SIZE = 4096 + 32, // a folder and the name of a checkpoint
    TIME_SIZE = 64
};

// Before the first evaluation the best accuracy is NAN, which reaches nothing.
static bool reached(const heddle_cli_trained *trained)
{
    return trained->result->best_accuracy >= trained->until;
}

static cJSON *to_json(const heddle_cli_trained *trained, const char *path)
{
    const heddle_train_result *result = trained->result;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "epochs", result->epochs);
    if (trained->until > 0) {
        cJSON_AddNumberToObject(json, "until", trained->until);
        cJSON_AddBoolToObject(json, "reached", reached(trained));
        if (trained->reached_in > 0)
            cJSON_AddNumberToObject(json, "reached_in", trained->reached_in);
    }
    if (isfinite(result->best_accuracy)) {
        cJSON_AddNumberToObject(json, "test_accuracy", result->test_accuracy);
        cJSON_AddNumberToObject(json, "best_accuracy", result->best_accuracy);
    }
    cJSON_AddNumberToObject(json, "seconds", result->seconds);
    cJSON_AddNumberToObject(json, "images_per_second", result->images_per_second);
    if (isfinite(result->best_accuracy))
        cJSON_AddStringToObject(json, "best", path);
    heddle_cli_device_add(trained->device, json);
    if (trained->profile)
        cJSON_AddItemToObject(json, "profile", cJSON_Duplicate(trained->profile, true));
    return json;
}

static void print_text(const heddle_cli_trained *trained, const char *path)
{
    const heddle_train_result *result = trained->result;
    const char *plural = result->epochs == 1 ? "" : "s";
    char time[TIME_SIZE], quoted[2 * PATH_SIZE];
    if (!isfinite(result->test_accuracy)) {
        printf("nothing trained: 0 epochs; the initial parameters are in %s/" HEDDLE_RUN_LAST "\n", trained->folder);
        return;
    }
    if (result->images_per_second > 0)
        printf("%s %d epoch%s in %s (%.*f images/s); ", trained->resumed ? "resumed and completed" : "trained",
               result->epochs, plural, heddle_text_seconds(result->seconds, time, sizeof time),
               result->images_per_second < 10 ? 2 : 0, result->images_per_second);
    else
        printf("nothing left to train: the run has completed %d epoch%s, %s; ", result->epochs, plural,
               trained->epochs < result->epochs ? "more than --epochs" : "use --epochs N for more");
    printf("test accuracy %.2f %%, best %.2f %%\n", 100 * result->test_accuracy, 100 * result->best_accuracy);
    if (trained->simulated && result->images_per_second > 0)
        printf("every access and launch of the kernels was checked: no errors found\n");
    printf("saved   %s\ntry     %s predict %s --count 5\n", path, heddle_cli_name(),
           heddle_text_quote(path, quoted, sizeof quoted));
}

// A resumed run may have reached the accuracy before, in an epoch that its checkpoint does not name.
static void print_until(const heddle_cli_trained *trained)
{
    const heddle_train_result *result = trained->result;
    printf("until   %g was ", trained->until);
    if (!reached(trained))
        printf("not reached in %d epoch%s; use --epochs N for more\n", result->epochs, result->epochs == 1 ? "" : "s");
    else if (trained->reached_in == 0)
        printf("reached before this run was resumed\n");
    else
        printf("reached in epoch %d of %d\n", trained->reached_in, trained->epochs);
}

heddle_status heddle_cli_print_trained(const heddle_cli_trained *trained)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/" HEDDLE_RUN_BEST, trained->folder);
    if (!trained->json->print) {
        print_text(trained, path);
        if (trained->until > 0)
            print_until(trained);
    }
    return heddle_cli_json_result(trained->json, to_json(trained, path));
}
