// What --model names, and what is named there by mistake.

#include "cli/model.h"

#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/network.h"
#include "nn/trainer_folder.h"

enum { QUOTED_SIZE = HEDDLE_CLI_CHECKPOINT_SIZE };

// Has weights, which a model has not.
static heddle_status refuse_checkpoint(const char *name, const char *what, const char *checkpoint, bool has_init)
{
    char quoted[QUOTED_SIZE];
    if (!has_init)
        return heddle_fail(HEDDLE_INVALID, "%s is %s, not a model; name the model that it was trained with", name,
                           what);
    return heddle_fail(HEDDLE_INVALID,
                       "%s is %s, not a model; to train on from its weights: --init %s, with the --model that it was "
                       "trained with",
                       name, what, heddle_text_quote(checkpoint, quoted, sizeof quoted));
}

static heddle_status refuse_weights(const char *name, bool has_init)
{
    char path[HEDDLE_CLI_CHECKPOINT_SIZE], quoted[QUOTED_SIZE];
    bool best = false, last = false;
    if (heddle_folder_exists(name)) {
        if (heddle_run_folder_holds(name, HEDDLE_RUN_BEST, &best) != HEDDLE_OK ||
            heddle_run_folder_holds(name, HEDDLE_RUN_LAST, &last) != HEDDLE_OK || (!best && !last))
            return HEDDLE_OK;
        snprintf(path, sizeof path, "%s/%s", name, best ? HEDDLE_RUN_BEST : HEDDLE_RUN_LAST);
        return refuse_checkpoint(name, "the folder of a run", path, has_init);
    }
    if (heddle_text_ends(name, ".safetensors") && heddle_file_exists(name))
        return refuse_checkpoint(name, "a checkpoint", name, has_init);
    if (heddle_text_ends(name, ".onnx") && heddle_file_exists(name))
        return heddle_fail(HEDDLE_INVALID,
                           "%s is an ONNX file, not a model; heddle import %s --out FILE.safetensors makes a "
                           "checkpoint of it",
                           name, heddle_text_quote(name, quoted, sizeof quoted));
    return HEDDLE_OK;
}

heddle_status heddle_cli_model_open(const char *name, const heddle_input_shape *input, bool has_init,
                                    heddle_model **model)
{
    HEDDLE_TRY(refuse_weights(name, has_init));
    const heddle_status status = heddle_model_open(name, input, model);
    return status == HEDDLE_CORRUPT ? heddle_fail(HEDDLE_INVALID, "%s", heddle_last_error()) : status;
}
