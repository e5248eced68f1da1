// Who is connected, and for how long with what. Hangs up on whoever takes too long, and, where all places are taken, on
// whoever has waited longest without having shown the token.
#pragma once

#include <stdbool.h>

#include "heddle/status.h"

typedef enum heddle_web_state {
    HEDDLE_WEB_WAITING, // for a request to arrive whole
    HEDDLE_WEB_WORKING, // somebody has yet to finish its answer
    HEDDLE_WEB_ANSWERING,
    HEDDLE_WEB_STREAMING,
} heddle_web_state;

typedef struct heddle_web_connections heddle_web_connections;
typedef struct heddle_web_connection heddle_web_connection;

heddle_status heddle_web_connections_create(int most, heddle_web_connections **connections);
void heddle_web_connections_destroy(heddle_web_connections *connections); // NULL is fine

// NULL: no memory; it is then served, and never hung up on.
heddle_web_connection *heddle_web_connection_add(heddle_web_connections *connections, int socket);
void heddle_web_connection_remove(heddle_web_connections *connections, heddle_web_connection *one);

void heddle_web_connection_set(heddle_web_connections *connections, heddle_web_connection *one, heddle_web_state state);
// It has shown the token.
void heddle_web_connection_trust(heddle_web_connections *connections, heddle_web_connection *one);
// Hangs up on those that have been idle, or receiving their answer, for longer than `seconds`.
void heddle_web_connections_end_slow(heddle_web_connections *connections, double seconds);
