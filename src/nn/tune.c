// Times rungs and keeps the winners in $XDG_CACHE_HOME/heddle/tune-DEVICE-VERSION.json, a flat object of
// "operator shape arithmetic tier": "rung".

#include "nn/tune.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/json.h"
#include "heddle/heddle.h"
#include "nn/run.h"

enum {
    PATH_SIZE = 4096,
    KEY_SIZE = 512,
    MOST_RUNGS = 64,
    MOST_RUNS = 16, // of a rung in one graph
    TURNS = 4,      // that each rung has, the first to warm up
};

// About how long a rung's graph is to take: long beside the launch, short beside a user's patience. In milliseconds.
static const double TURN_TIME = 0.5;
// Another rung than the ladder's own choice has to be quicker by more than measurements differ.
static const double CLEARLY = 0.98;

// How long to wait for another process that measures, in seconds, and how often to look: some operators take it less
// than one.
static const double PATIENCE = 10, LOOK_EVERY = 0.005;

struct heddle_tuner {
    heddle_stream *stream;
    heddle_event *begin, *end;
    char path[PATH_SIZE]; // "": there is nowhere to keep anything
    cJSON *known;
    bool changed;
    bool measuring; // has begun to, with the cache as it was then; `lock` is held
    int lock;       // a descriptor of the cache's folder; -1: none
};

// --- candidates -----------------------------------------------------------------------------------------------------

// Whether each run of the operator takes the next samples: again and again it would leave the dataset behind.
static bool moves_on(const heddle_op *op)
{
    int cursor = heddle_operand_find(op, "cursor");
    return cursor >= 0 && op->operands[cursor].role == HEDDLE_UPDATE;
}

int heddle_tune_candidates(const heddle_op *op, heddle_device_kind device, const heddle_tune_wish *wish,
                           const void *shape, const heddle_rung *rungs[HEDDLE_TUNE_CANDIDATES])
{
    const heddle_rung *all[MOST_RUNGS], *first = NULL;
    int count = heddle_rung_candidates(op, device, wish->tier, wish->arithmetic, shape, all, MOST_RUNGS), kept = 0;
    for (int i = 0; i < count && i < MOST_RUNGS && kept < HEDDLE_TUNE_CANDIDATES; i++) {
        bool orderly = !all[i]->unordered || !wish->deterministic;
        if (!first && orderly)
            first = all[i];
        // Whoever asks for the vendor's kernels wants no others, and what one writes first never wins over the rest.
        bool stands_in = first && (wish->tier == HEDDLE_VENDOR ? all[i]->tier == first->tier
                                                               : all[i]->tier > HEDDLE_NAIVE || all[i] == first);
        if (orderly && stands_in)
            rungs[kept++] = all[i];
    }
    if (kept == 0 && count > 0) // all are unordered: better so than not at all
        rungs[kept++] = all[0];
    return kept > 1 && moves_on(op) ? 1 : kept;
}

// --- the cache ------------------------------------------------------------------------------------------------------

// "NVIDIA H200" as part of a file's name.
static void plain_name(const char *name, char *plain, size_t size)
{
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++)
        plain[i] = (char)(isalnum((unsigned char)name[i]) ? name[i] : '-');
    plain[i] = '\0';
}

// False where the user has no home.
static bool cache_path(heddle_device *device, char path[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    heddle_device_info info;
    char name[128];
    bool own = cache && cache[0] == '/';
    if ((!own && !(home && home[0])) || heddle_device_describe(device, &info) != HEDDLE_OK)
        return false;
    plain_name(info.name, name, sizeof name);
    char folder[PATH_SIZE];
    int length = snprintf(folder, sizeof folder, "%s%s/heddle", own ? cache : home, own ? "" : "/.cache");
    if (length >= PATH_SIZE || heddle_folder_create(folder) != HEDDLE_OK)
        return false;
    length = snprintf(path, PATH_SIZE, "%s/tune-%s-%s.json", folder, name, heddle_version());
    return length > 0 && length < PATH_SIZE;
}

static bool write_cache(const heddle_tuner *tuner)
{
    char *text = tuner->path[0] ? cJSON_Print(tuner->known) : NULL;
    heddle_slice slice = {text, text ? strlen(text) : 0};
    bool written = text && heddle_file_write_atomic(tuner->path, &slice, 1) == HEDDLE_OK;
    cJSON_free(text);
    return written;
}

// What the file says, where it says anything.
static void read_cache(heddle_tuner *tuner)
{
    cJSON *found = NULL;
    if (heddle_json_read(tuner->path, &found) == HEDDLE_OK && cJSON_IsObject(found)) {
        cJSON_Delete(tuner->known);
        tuner->known = found;
    } else {
        cJSON_Delete(found);
    }
}

// False where another process holds it for too long. A folder that cannot be locked is used without.
static bool lock_cache(heddle_tuner *tuner)
{
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", tuner->path);
    *strrchr(folder, '/') = '\0';
    tuner->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct timespec nap = {.tv_nsec = (long)(LOOK_EVERY * 1e9)};
    for (double waited = 0; tuner->lock >= 0 && flock(tuner->lock, LOCK_EX | LOCK_NB) != 0; waited += LOOK_EVERY) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return true;
        if (waited > PATIENCE)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

// Before the first measurement: two processes that measured the same at a time could choose differently, and the one
// that wrote last would give the other's next run other bits. Returns whether choices will be found again.
static bool begin_measuring(heddle_tuner *tuner)
{
    if (!tuner->measuring && tuner->path[0]) {
        bool locked = lock_cache(tuner);
        if (locked)
            read_cache(tuner);
        if (!locked || !write_cache(tuner)) // whether it can be written has to be known before it is
            tuner->path[0] = '\0';
    }
    tuner->measuring = true;
    return tuner->path[0] != '\0';
}

heddle_status heddle_tuner_open(heddle_stream *stream, heddle_tuner **tuner)
{
    heddle_tuner *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to choose rungs");
    made->stream = stream;
    made->lock = -1;
    made->known = cJSON_CreateObject();
    heddle_device *device = heddle_stream_device(stream);
    heddle_status status = made->known ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to choose rungs");
    if (status == HEDDLE_OK)
        status = heddle_event_create(device, &made->begin);
    if (status == HEDDLE_OK)
        status = heddle_event_create(device, &made->end);
    if (status != HEDDLE_OK) {
        heddle_tuner_close(made);
        return status;
    }
    if (cache_path(device, made->path))
        read_cache(made);
    else
        made->path[0] = '\0';
    *tuner = made;
    return HEDDLE_OK;
}

void heddle_tuner_close(heddle_tuner *tuner)
{
    if (!tuner)
        return;
    if (tuner->changed)
        (void)write_cache(tuner);
    if (tuner->lock >= 0)
        close(tuner->lock);
    heddle_event_destroy(tuner->begin);
    heddle_event_destroy(tuner->end);
    cJSON_Delete(tuner->known);
    free(tuner);
}

bool heddle_tuner_keeps(const heddle_tuner *tuner)
{
    return tuner->path[0] != '\0';
}

// Takes the words that begin with `field` and '=' out of a shape's text.
static void leave_out(char *text, const char *field)
{
    size_t length = strlen(field);
    for (char *word = text; (word = strstr(word, field));) {
        bool whole = (word == text || word[-1] == ' ') && word[length] == '=';
        const char *after = word + strcspn(word, " ");
        if (whole)
            memmove(word, after + (*after == ' '), strlen(after + (*after == ' ')) + 1);
        else
            word += length;
    }
}

static void make_key(const heddle_op *op, const void *shape, const heddle_tune_wish *wish, char key[KEY_SIZE])
{
    char text[KEY_SIZE / 2];
    heddle_shape_print(op, shape, text, sizeof text);
    // How much there is beside the batch that a step takes changes no rung's speed: images that are all on the device
    // and images that pass through it are trained on by the same rungs, and so give the same bits.
    if (heddle_operand_find(op, "cursor") >= 0) {
        leave_out(text, "count");
        leave_out(text, "length");
    }
    snprintf(key, KEY_SIZE, "%s %s %s %s%s", op->name, text, heddle_arithmetic_names[wish->arithmetic],
             heddle_tier_names[wish->tier], wish->deterministic ? "" : " unordered");
}

// --- measuring ------------------------------------------------------------------------------------------------------

// A rung on trial: some runs of it as a graph, as the step will have it. Launched one by one, a rung of several short
// kernels would be timed by how fast the host can launch.
typedef struct trial {
    heddle_graph *graph; // NULL: the rung fails
    int runs;
    double best; // milliseconds a run
} trial;

// Milliseconds that work on the tuner's stream takes: one launch of a rung, or a graph if there is one.
static bool time_work(heddle_tuner *tuner, const heddle_op *op, const heddle_rung *rung, const heddle_call *call,
                      heddle_graph *graph, double *milliseconds)
{
    if (heddle_event_record(tuner->begin, tuner->stream) != HEDDLE_OK)
        return false;
    heddle_status status = graph ? heddle_graph_launch(graph, tuner->stream) : heddle_launch(op, rung, call);
    return status == HEDDLE_OK && heddle_event_record(tuner->end, tuner->stream) == HEDDLE_OK &&
           heddle_stream_synchronize(tuner->stream) == HEDDLE_OK &&
           heddle_event_elapsed(tuner->begin, tuner->end, milliseconds) == HEDDLE_OK;
}

// Runs the rung twice, the first time to have its code loaded, and captures as many runs as make a turn.
static trial begin_trial(heddle_tuner *tuner, const heddle_op *op, const heddle_rung *rung, const heddle_call *call)
{
    trial made = {.best = INFINITY};
    double once = 0;
    for (int i = 0; i < 2; i++)
        if (!time_work(tuner, op, rung, call, NULL, &once))
            return made;
    made.runs = once * MOST_RUNS < TURN_TIME ? MOST_RUNS : once < TURN_TIME ? (int)(TURN_TIME / once) : 1;
    if (heddle_capture_begin(tuner->stream) != HEDDLE_OK)
        return made;
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < made.runs && status == HEDDLE_OK; i++)
        status = heddle_launch(op, rung, call);
    heddle_status ended = heddle_capture_end(tuner->stream, &made.graph);
    if (status != HEDDLE_OK && ended == HEDDLE_OK)
        heddle_graph_destroy(made.graph);
    if (status != HEDDLE_OK || ended != HEDDLE_OK)
        made.graph = NULL;
    return made;
}

// The quickest of the candidates, which take turns, so that a clock that changes changes it for all.
static const heddle_rung *quickest(heddle_tuner *tuner, const heddle_op *op, const heddle_rung *const *candidates,
                                   int count, const heddle_call *call)
{
    trial trials[HEDDLE_TUNE_CANDIDATES];
    for (int i = 0; i < count; i++)
        trials[i] = begin_trial(tuner, op, candidates[i], call);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < count; i++) {
            double spent;
            if (!trials[i].graph || !time_work(tuner, op, candidates[i], call, trials[i].graph, &spent))
                continue;
            if (turn > 0)
                trials[i].best = fmin(trials[i].best, spent / trials[i].runs);
        }
    int best = 0;
    for (int i = 0; i < count; i++) {
        if (trials[i].best < trials[best].best * (best == 0 ? CLEARLY : 1))
            best = i;
        if (trials[i].graph)
            heddle_graph_destroy(trials[i].graph);
    }
    return candidates[best];
}

static size_t operand_bytes(const heddle_op *op, int index, const void *shape)
{
    enum { ALIGNMENT = 256 };
    size_t bytes = heddle_operand_bytes(op, index, shape);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// What a trial has of its own.
static bool diverted(const heddle_operand *operand)
{
    return operand->role == HEDDLE_UPDATE || strcmp(operand->name, "cursor") == 0;
}

// What the call updates in place goes to `scratch`, filled with what is there; and the place in the order that it reads
// samples from becomes the first: after an epoch it is behind the last.
static heddle_status divert(heddle_tuner *tuner, const heddle_op *op, heddle_call *call, heddle_workspace *scratch)
{
    size_t total = 0, offset = 0;
    for (int i = 0; i < op->operand_count; i++)
        total += diverted(&op->operands[i]) ? operand_bytes(op, i, call->shape) : 0;
    HEDDLE_TRY(heddle_workspace_reserve(scratch, tuner->stream, total));
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        bool output = heddle_operand_slot(op, i, &slot);
        const void *from = output ? call->output[slot] : call->input[slot];
        if (!diverted(&op->operands[i]) || !from)
            continue;
        void *copy = (char *)scratch->memory + offset;
        size_t bytes = heddle_operand_bytes(op, i, call->shape);
        HEDDLE_TRY(output ? heddle_copy(tuner->stream, copy, from, bytes) : heddle_fill(tuner->stream, copy, 0, bytes));
        if (output)
            call->output[slot] = copy;
        else
            call->input[slot] = copy;
        offset += operand_bytes(op, i, call->shape);
    }
    return HEDDLE_OK;
}

// Sets *rung to the candidate that the cache has for `key`; false where it has none.
static bool find_known(const heddle_tuner *tuner, const char *key, const heddle_rung *const *candidates, int count,
                       const heddle_rung **rung)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(tuner->known, key);
    for (int i = 0; i < count && cJSON_IsString(known); i++)
        if (strcmp(known->valuestring, candidates[i]->name) == 0) {
            *rung = candidates[i];
            return true;
        }
    return false;
}

bool heddle_tuner_knows(const heddle_tuner *tuner, const heddle_op *op, const void *shape, const heddle_tune_wish *wish,
                        const heddle_rung *const *candidates, int count, const heddle_rung **rung)
{
    char key[KEY_SIZE];
    *rung = candidates[0];
    if (count < 2)
        return true;
    make_key(op, shape, wish, key);
    return find_known(tuner, key, candidates, count, rung);
}

heddle_status heddle_tuner_choose(heddle_tuner *tuner, const heddle_op *op, const heddle_call *call,
                                  const heddle_tune_wish *wish, const heddle_rung *const *candidates, int count,
                                  const heddle_rung **rung)
{
    char key[KEY_SIZE];
    if (heddle_tuner_knows(tuner, op, call->shape, wish, candidates, count, rung))
        return HEDDLE_OK;
    make_key(op, call->shape, wish, key);
    bool kept = begin_measuring(tuner);
    if (find_known(tuner, key, candidates, count, rung)) // by now
        return HEDDLE_OK;
    if (wish->deterministic && !kept) // what the next run does not find would not give it the same bits
        return HEDDLE_OK;
    heddle_call trial_call = *call;
    heddle_workspace scratch = {0};
    trial_call.stream = tuner->stream;
    heddle_status status = divert(tuner, op, &trial_call, &scratch);
    if (status == HEDDLE_OK)
        *rung = quickest(tuner, op, candidates, count, &trial_call);
    // Also where a rung failed half-way: nothing of it may run on.
    heddle_status waited = heddle_stream_synchronize(tuner->stream);
    heddle_workspace_destroy(&scratch);
    HEDDLE_TRY(status);
    HEDDLE_TRY(waited);
    cJSON_DeleteItemFromObjectCaseSensitive(tuner->known, key);
    tuner->changed |= cJSON_AddStringToObject(tuner->known, key, (*rung)->name) != NULL;
    return HEDDLE_OK;
}
