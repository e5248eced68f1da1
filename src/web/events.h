// Streams of server-sent events. A stream that nobody reads is dropped when too much waits for it: the browser comes
// again and asks how things stand.
#pragma once

#include <stdbool.h>

#include "heddle/status.h"

struct MHD_Connection;
struct MHD_Response;
typedef struct heddle_web_streams heddle_web_streams;

heddle_status heddle_web_streams_create(heddle_web_streams **streams);
void heddle_web_streams_destroy(heddle_web_streams *streams); // after the server has stopped; NULL is fine

// The body of an answer that stays open; NULL: no memory, or it is ending.
struct MHD_Response *heddle_web_streams_open(heddle_web_streams *streams, struct MHD_Connection *connection);
// To every stream, from any thread. `event` NULL: a comment, which shows whether anybody is still there.
void heddle_web_streams_send(heddle_web_streams *streams, const char *event, const char *data);
// Ends every stream; none is opened any more.
void heddle_web_streams_end(heddle_web_streams *streams);
