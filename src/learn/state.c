// The state is small and changes seldom: it is read whole, changed, and written whole by a rename.

#include "learn/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/place.h"
#include "heddle/heddle.h"

enum { FORMAT = 1, MODE = 0666 };

const char heddle_learn_state_name[] = ".heddle-learn.json";
static const char lock_name[] = ".heddle-learn.lock";

cJSON *heddle_learn_state_object(cJSON *state, const char *name)
{
    cJSON *object = cJSON_GetObjectItemCaseSensitive(state, name);
    if (cJSON_IsObject(object))
        return object;
    cJSON_DeleteItemFromObjectCaseSensitive(state, name);
    return cJSON_AddObjectToObject(state, name);
}

heddle_status heddle_learn_state_read(const char *folder, cJSON **state)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, heddle_learn_state_name);
    struct stat about;
    *state = NULL;
    if (stat(path, &about) != 0 && errno == ENOENT) {
        *state = cJSON_CreateObject();
        return *state ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the state of the course");
    }
    heddle_status status = heddle_json_read(path, state);
    if (status == HEDDLE_OK && !cJSON_IsObject(*state)) {
        cJSON_Delete(*state);
        *state = NULL;
        status = heddle_fail(HEDDLE_CORRUPT, "%s: not an object", path);
    }
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(*state, "format");
    if (cJSON_IsNumber(format) && format->valuedouble > FORMAT) {
        cJSON_Delete(*state);
        *state = NULL;
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: written by a newer heddle; update this one (it is %s)", path,
                           heddle_version());
    }
    if (status == HEDDLE_CORRUPT)
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s; rename it, then run `heddle learn init .` there: your files stay as they are",
                           heddle_last_error());
    return status;
}

static heddle_status write_state(const char *folder, cJSON *state)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, heddle_learn_state_name);
    if (!cJSON_GetObjectItemCaseSensitive(state, "format"))
        cJSON_AddNumberToObject(state, "format", FORMAT);
    cJSON_DeleteItemFromObjectCaseSensitive(state, "heddle");
    cJSON_AddStringToObject(state, "heddle", heddle_version());
    char *text = cJSON_Print(state);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the state of the course");
    heddle_slice slices[] = {{text, strlen(text)}, {"\n", 1}};
    heddle_status status = heddle_file_write_atomic(path, slices, sizeof slices / sizeof *slices);
    free(text);
    return status;
}

// Held for moments only, so it is waited for. Where files cannot be locked, as on some network folders, -1.
static int take_lock(const char *folder)
{
    char path[HEDDLE_PLACE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, lock_name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, MODE);
    while (file >= 0 && flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    return file;
}

heddle_status heddle_learn_state_change(const char *folder, cJSON **state,
                                        heddle_status (*change)(cJSON *state, void *context), void *context)
{
    cJSON *fresh = NULL, *before = NULL;
    int lock = take_lock(folder);
    heddle_status status = heddle_learn_state_read(folder, &fresh);
    if (status == HEDDLE_OK) {
        before = cJSON_Duplicate(fresh, true);
        status = change(fresh, context);
    }
    if (status == HEDDLE_OK && !cJSON_Compare(before, fresh, true))
        status = write_state(folder, fresh);
    cJSON_Delete(before);
    if (lock >= 0)
        close(lock);
    if (status != HEDDLE_OK) {
        cJSON_Delete(fresh);
        return status;
    }
    cJSON_Delete(*state);
    *state = fresh;
    return HEDDLE_OK;
}
