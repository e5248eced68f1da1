// A list, newest first. Sockets are only shut down here: libmicrohttpd then sees their end, and closes them.

#include "web/connections.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/text.h"

struct heddle_web_connection {
    heddle_web_connection *before, *after; // newer, older
    int socket;
    heddle_web_state state;
    double since; // it is in this state
    bool trusted, ended;
};

struct heddle_web_connections {
    pthread_mutex_t lock; // of the rest
    heddle_web_connection *newest, *oldest;
    int count, most; // those that are hung up on are not counted any more
};

heddle_status heddle_web_connections_create(int most, heddle_web_connections **connections)
{
    *connections = calloc(1, sizeof **connections);
    if (!*connections)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the web server");
    pthread_mutex_init(&(*connections)->lock, NULL);
    (*connections)->most = most;
    return HEDDLE_OK;
}

void heddle_web_connections_destroy(heddle_web_connections *connections)
{
    if (!connections)
        return;
    pthread_mutex_destroy(&connections->lock);
    free(connections);
}

static void hang_up(heddle_web_connections *connections, heddle_web_connection *one)
{
    shutdown(one->socket, SHUT_RDWR);
    one->ended = true;
    connections->count--;
}

// libmicrohttpd takes no further connection once all places are taken, so one has to become free before that. The
// newest is let be: it may be about to show the token.
static void make_room(heddle_web_connections *connections)
{
    for (heddle_web_connection *one = connections->oldest; one != connections->newest; one = one->before)
        if (!one->trusted && !one->ended) {
            hang_up(connections, one);
            return;
        }
}

heddle_web_connection *heddle_web_connection_add(heddle_web_connections *connections, int socket)
{
    heddle_web_connection *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->socket = socket;
    one->since = heddle_now();
    pthread_mutex_lock(&connections->lock);
    one->after = connections->newest;
    *(one->after ? &one->after->before : &connections->oldest) = one;
    connections->newest = one;
    if (++connections->count >= connections->most)
        make_room(connections);
    pthread_mutex_unlock(&connections->lock);
    return one;
}

void heddle_web_connection_remove(heddle_web_connections *connections, heddle_web_connection *one)
{
    if (!one)
        return;
    pthread_mutex_lock(&connections->lock);
    *(one->before ? &one->before->after : &connections->newest) = one->after;
    *(one->after ? &one->after->before : &connections->oldest) = one->before;
    connections->count -= !one->ended;
    pthread_mutex_unlock(&connections->lock);
    free(one);
}

void heddle_web_connection_set(heddle_web_connections *connections, heddle_web_connection *one, heddle_web_state state)
{
    if (!one)
        return;
    pthread_mutex_lock(&connections->lock);
    one->state = state;
    one->since = heddle_now();
    pthread_mutex_unlock(&connections->lock);
}

void heddle_web_connection_trust(heddle_web_connections *connections, heddle_web_connection *one)
{
    if (!one)
        return;
    pthread_mutex_lock(&connections->lock);
    one->trusted = true;
    pthread_mutex_unlock(&connections->lock);
}

void heddle_web_connections_end_slow(heddle_web_connections *connections, double seconds)
{
    double now = heddle_now();
    pthread_mutex_lock(&connections->lock);
    for (heddle_web_connection *one = connections->newest; one; one = one->after) {
        bool works = one->state == HEDDLE_WEB_STREAMING || one->state == HEDDLE_WEB_WORKING;
        if (!one->ended && !works && now - one->since > seconds)
            hang_up(connections, one);
    }
    pthread_mutex_unlock(&connections->lock);
}
