// A stream sleeps as a suspended connection, and costs no thread, until there is something to send.

#include "web/events.h"

#if HEDDLE_HAVE_MICROHTTPD

#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 4 << 20, BLOCK = 16 << 10 };

typedef struct stream {
    heddle_web_streams *streams;
    struct stream *next, **link; // where the list points to this one
    struct MHD_Connection *connection;
    char *waiting; // what was not sent yet
    size_t size, sent, room;
    bool asleep, ended;
} stream;

struct heddle_web_streams {
    pthread_mutex_t lock;
    stream *first;
    bool ended;
};

heddle_status heddle_web_streams_create(heddle_web_streams **streams)
{
    *streams = calloc(1, sizeof **streams);
    if (!*streams)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the web server");
    pthread_mutex_init(&(*streams)->lock, NULL);
    return HEDDLE_OK;
}

void heddle_web_streams_destroy(heddle_web_streams *streams)
{
    if (streams)
        pthread_mutex_destroy(&streams->lock);
    free(streams);
}

static void wake(stream *one)
{
    if (!one->asleep)
        return;
    one->asleep = false;
    MHD_resume_connection(one->connection);
}

static void append(stream *one, const char *text, size_t size)
{
    if (one->sent == one->size)
        one->sent = one->size = 0;
    if (one->size + size > MOST_WAITING) {
        one->ended = true;
        return;
    }
    if (one->size + size > one->room) {
        size_t room = 2 * (one->size + size);
        char *moved = realloc(one->waiting, room);
        one->ended |= !moved;
        if (!moved)
            return;
        one->waiting = moved;
        one->room = room;
    }
    memcpy(one->waiting + one->size, text, size);
    one->size += size;
}

// Called by the server's thread for more to send.
static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t most)
{
    stream *one = context;
    (void)position;
    pthread_mutex_lock(&one->streams->lock);
    size_t left = one->size - one->sent, count = left < most ? left : most;
    ssize_t result = (ssize_t)count;
    if (count > 0) {
        memcpy(buffer, one->waiting + one->sent, count);
        one->sent += count;
    } else if (one->ended) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        one->asleep = true;
        MHD_suspend_connection(one->connection);
    }
    pthread_mutex_unlock(&one->streams->lock);
    return result;
}

static void free_stream(void *context)
{
    stream *one = context;
    pthread_mutex_lock(&one->streams->lock);
    *one->link = one->next;
    if (one->next)
        one->next->link = one->link;
    pthread_mutex_unlock(&one->streams->lock);
    free(one->waiting);
    free(one);
}

struct MHD_Response *heddle_web_streams_open(heddle_web_streams *streams, struct MHD_Connection *connection)
{
    static const char hello[] = "retry: 1000\n\n";
    stream *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->streams = streams;
    one->connection = connection;
    pthread_mutex_lock(&streams->lock);
    append(one, hello, strlen(hello));
    one->ended |= streams->ended;
    one->next = streams->first;
    one->link = &streams->first;
    if (one->next)
        one->next->link = &one->next;
    streams->first = one;
    pthread_mutex_unlock(&streams->lock);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, one, free_stream);
    if (!response)
        free_stream(one);
    return response;
}

void heddle_web_streams_send(heddle_web_streams *streams, const char *event, const char *data)
{
    char *text = NULL;
    int size = event ? asprintf(&text, "event: %s\ndata: %s\n\n", event, data) : asprintf(&text, ":\n\n");
    if (size < 0)
        return;
    pthread_mutex_lock(&streams->lock);
    for (stream *one = streams->first; one; one = one->next) {
        append(one, text, (size_t)size);
        wake(one);
    }
    pthread_mutex_unlock(&streams->lock);
    free(text);
}

void heddle_web_streams_end(heddle_web_streams *streams)
{
    pthread_mutex_lock(&streams->lock);
    streams->ended = true;
    for (stream *one = streams->first; one; one = one->next) {
        one->ended = true;
        wake(one);
    }
    pthread_mutex_unlock(&streams->lock);
}

#endif
