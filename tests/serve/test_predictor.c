// Requests that wait for the network: those that another network came before, and more than there is room for.

#include "serve/predictor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cjson/cJSON.h>

#include "files.h"
#include "heddle/train.h"

enum { PATIENCE = 60, ANSWER_SIZE = 4096, PATH_SIZE = 1024 }; // seconds; a test that waits so long has failed
enum { SMALL = 8, LARGE = 12 };                               // sides of images

typedef struct served {
    heddle_serve_predictor *predictor;
    heddle_web_server *server;
    char other[PATH_SIZE]; // the checkpoint that is loaded between reading and predicting
    pthread_mutex_t lock;  // of what follows
    pthread_cond_t changed;
    int told;  // events
    bool held; // the predictor's thread waits where it tells
} served;

// --- the server ------------------------------------------------------------------------------------------------------

static void on_tell(void *context, const char *event, cJSON *json)
{
    served *now = context;
    (void)event;
    cJSON_Delete(json);
    pthread_mutex_lock(&now->lock);
    now->told++;
    pthread_cond_broadcast(&now->changed);
    while (now->held)
        pthread_cond_wait(&now->changed, &now->lock);
    pthread_mutex_unlock(&now->lock);
}

static void load_and_wait(served *now, const char *checkpoint)
{
    pthread_mutex_lock(&now->lock);
    const int before = now->told;
    heddle_serve_predictor_load(now->predictor, checkpoint);
    while (now->told == before)
        pthread_cond_wait(&now->changed, &now->lock);
    pthread_mutex_unlock(&now->lock);
}

static void set_held(served *now, bool held)
{
    pthread_mutex_lock(&now->lock);
    now->held = held;
    pthread_cond_broadcast(&now->changed);
    pthread_mutex_unlock(&now->lock);
}

// Reads for the network there is, and predicts once another one is loaded.
static void read_load_predict(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    served *now = context;
    heddle_serve_images images;
    cJSON *json = cJSON_ParseWithLength(request->body, request->size);
    heddle_status status = heddle_serve_predictor_read(now->predictor, json, &images);
    cJSON_Delete(json);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return;
    }
    load_and_wait(now, now->other);
    heddle_serve_predictor_predict(now->predictor, heddle_web_defer(request), &images, false);
}

// As many images of 1024×1024 as the path says. Their memory is not touched.
static void predict_many(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const served *now = context;
    const int side = 1024, count = (int)strtol(request->found[0], NULL, 10);
    heddle_serve_images images = {.count = count, .channels = 1, .height = side, .width = side};
    (void)answer;
    images.pixels = calloc((size_t)count * (size_t)side * (size_t)side, sizeof *images.pixels);
    heddle_serve_predictor_predict(now->predictor, heddle_web_defer(request), &images, false);
}

static const heddle_web_route routes[] = {
    {"POST", "/late", read_load_predict, NULL}, {"POST", "/many/*", predict_many, NULL}, {0}};

static void begin(served *now, const char *checkpoint)
{
    const heddle_serve_predictor_settings settings = {.device = "cpu", .threads = 1, .tell = on_tell, .context = now};
    const heddle_web_settings web = {.routes = routes, .context = now};
    pthread_mutex_init(&now->lock, NULL);
    pthread_cond_init(&now->changed, NULL);
    assert_ok(heddle_serve_predictor_create(&settings, checkpoint, &now->predictor));
    assert_ok(heddle_web_start(&web, &now->server));
}

static void end(served *now)
{
    heddle_web_stop(now->server);
    heddle_serve_predictor_destroy(now->predictor);
    pthread_cond_destroy(&now->changed);
    pthread_mutex_destroy(&now->lock);
}

// --- its client ------------------------------------------------------------------------------------------------------

static int ask(const served *now, const char *path, const char *body)
{
    char text[ANSWER_SIZE];
    const char *url = heddle_web_url(now->server);
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = PATIENCE};
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_port = htons((uint16_t)strtol(strrchr(url, ':') + 1, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(made >= 0);
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(made, (struct sockaddr *)&address, sizeof address), 0);
    const int size = snprintf(text, sizeof text,
                              "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n"
                              "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                              path, strchr(url, '=') + 1, strlen(body), body);
    assert_true(size > 0 && size < (int)sizeof text);
    assert_int_equal(send(made, text, (size_t)size, MSG_NOSIGNAL), size);
    return made;
}

static void assert_answered(int from, const char *status, const char *says)
{
    char answer[ANSWER_SIZE];
    size_t used = 0;
    ssize_t count;
    while (used < sizeof answer - 1 && (count = recv(from, answer + used, sizeof answer - 1 - used, 0)) > 0)
        used += (size_t)count;
    answer[used] = '\0';
    close(from);
    if (strncmp(answer, status, strlen(status)) != 0 || !strstr(answer, says))
        fail_msg("expected %s and \"%s\", not %s", status, says, answer);
}

// --- tests -----------------------------------------------------------------------------------------------------------

// A network for images of that side; returns its checkpoint.
static const char *train(const char *folder, int side)
{
    char name[64];
    heddle_device *device = NULL;
    heddle_dataset *images = NULL;
    heddle_model *model = NULL;
    heddle_train_options options = heddle_train_defaults();
    heddle_train_result result;
    snprintf(name, sizeof name, "synth:count=32,size=%d", side);
    assert_ok(heddle_device_open("cpu", 1, &device));
    assert_ok(heddle_dataset_open(name, NULL, HEDDLE_TRAIN, &images));
    const heddle_input_shape input = {images->channels, images->height, images->width, images->classes};
    assert_ok(heddle_model_open("mlp", &input, &model));
    snprintf(name, sizeof name, "%d", side);
    options.epochs = 1;
    options.folder = scratch_path(folder, name);
    assert_ok(heddle_train(device, model, images, NULL, &options, &result));
    heddle_model_close(model);
    heddle_dataset_close(images);
    heddle_device_close(device);
    return scratch_path(options.folder, "last.safetensors");
}

static void images_read_for_another_network_are_refused(void **state)
{
    served now = {0};
    const int numbers[SMALL * SMALL] = {0};
    cJSON *request = cJSON_CreateObject();
    cJSON_AddItemToObject(request, "image", cJSON_CreateIntArray(numbers, SMALL * SMALL));
    char *body = cJSON_PrintUnformatted(request);
    snprintf(now.other, sizeof now.other, "%s", train(*state, LARGE));
    begin(&now, train(*state, SMALL));
    assert_answered(ask(&now, "/late", body), "HTTP/1.1 409", "another network was loaded");
    // The other one is loaded now, and takes other images.
    assert_answered(ask(&now, "/late", body), "HTTP/1.1 400", "the network takes 1×12×12");
    end(&now);
    cJSON_free(body);
    cJSON_Delete(request);
}

static void requests_that_would_fill_the_memory_are_refused(void **state)
{
    const size_t side = 1024;
    char path[64];
    served now = {0};
    (void)state;
    begin(&now, NULL);
    set_held(&now, true);
    load_and_wait(&now, "there is no such file");
    snprintf(path, sizeof path, "/many/%zu", HEDDLE_SERVE_MOST_NUMBERS / (side * side) - 1);
    const int first = ask(&now, path, "{}");
    while (heddle_serve_predictor_count(now.predictor).waiting == 0)
        usleep(1000);
    assert_answered(ask(&now, "/many/2", "{}"), "HTTP/1.1 503", "try again");
    const int second = ask(&now, "/many/1", "{}"); // just fits
    while (heddle_serve_predictor_count(now.predictor).waiting == 1)
        usleep(1000);
    assert_answered(ask(&now, "/many/1", "{}"), "HTTP/1.1 503", "try again");
    set_held(&now, false);
    assert_answered(first, "HTTP/1.1 409", "error"); // there is no network
    assert_answered(second, "HTTP/1.1 409", "error");
    assert_answered(ask(&now, "/many/2", "{}"), "HTTP/1.1 409", "error"); // there is room again
    end(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(images_read_for_another_network_are_refused),
        cmocka_unit_test(requests_that_would_fill_the_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
