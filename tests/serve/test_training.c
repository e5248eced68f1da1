// Runs that cannot be made: they fail in one line that says why, and leave no folder behind.

#include "serve/training.h"

#include <pthread.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "files.h"

enum { IMAGES = 4, SIDE = 8 };

typedef struct told {
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    char error[256]; // of the run that failed
    bool failed;
} told;

static void on_tell(void *context, const char *event, cJSON *json)
{
    told *to = context;
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "state"));
    const char *error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "error"));
    (void)event;
    pthread_mutex_lock(&to->lock);
    if (state && strcmp(state, "failed") == 0) {
        snprintf(to->error, sizeof to->error, "%s", error ? error : "");
        to->failed = true;
        pthread_cond_broadcast(&to->changed);
    }
    pthread_mutex_unlock(&to->lock);
    cJSON_Delete(json);
}

// Training and test files in MNIST's format, all of whose images are of class 0.
static void write_single_class(const char *folder)
{
    static const unsigned char images[16 + IMAGES * SIDE * SIDE] = {0, 0, 8, 3,    0, 0, 0, IMAGES,
                                                                    0, 0, 0, SIDE, 0, 0, 0, SIDE};
    static const unsigned char labels[8 + IMAGES] = {0, 0, 8, 1, 0, 0, 0, IMAGES};
    scratch_write(folder, "train-images-idx3-ubyte", images, sizeof images);
    scratch_write(folder, "train-labels-idx1-ubyte", labels, sizeof labels);
    scratch_write(folder, "t10k-images-idx3-ubyte", images, sizeof images);
    scratch_write(folder, "t10k-labels-idx1-ubyte", labels, sizeof labels);
}

static void test_a_single_class_is_refused_in_one_line(void **state)
{
    const char *folder = *state;
    told now = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    heddle_serve_training *training = NULL;
    write_single_class(folder);
    const heddle_serve_training_settings settings = {
        .device = "cpu", .threads = 1, .runs = "runs", .tell = on_tell, .context = &now};
    heddle_serve_training_wish wish = {.model = "mlp", .data = ".", .options = heddle_train_defaults()};
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(heddle_serve_training_create(&settings, &training), HEDDLE_OK);
    assert_int_equal(heddle_serve_training_start(training, &wish), HEDDLE_OK);
    pthread_mutex_lock(&now.lock);
    while (!now.failed)
        pthread_cond_wait(&now.changed, &now.lock);
    pthread_mutex_unlock(&now.lock);
    heddle_serve_training_destroy(training);
    assert_non_null(strstr(now.error, "has a single class; training needs at least two"));
    assert_int_not_equal(access("runs/.-mlp", F_OK), 0);
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_FOLDER(test_a_single_class_is_refused_in_one_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
