// The watch: a connection from every rank to rank 0, which the kernel closes when a process ends however it ends. Rank
// 0 tells the others who is gone. It does not depend on MPI, which waits forever for a rank that is no more.
#pragma once

#include <stdint.h>

#include "dist/engine.h"

enum { HEDDLE_WATCH_ADDRESSES = 8, HEDDLE_WATCH_HOST = 64 };

typedef struct heddle_watch heddle_watch;

// Called once from a thread of the watch's own, as soon as a rank is gone; `message` names it. Its caller's process has
// a few seconds to end by itself, after which `forced` is called and must not return.
typedef struct heddle_dist_listener {
    void (*lost)(void *context, int rank, const char *message);
    void (*forced)(void *context);
    void *context;
} heddle_dist_listener;

// Who a rank is, for messages.
typedef struct heddle_member {
    char host[HEDDLE_WATCH_HOST];
    int pid;
} heddle_member;

// Where rank 0 listens; goes from there to the others by other means.
typedef struct heddle_watch_place {
    char host[HEDDLE_WATCH_HOST];
    uint64_t token; // so that nobody else is taken for a rank
    int port, addresses;
    uint32_t address[HEDDLE_WATCH_ADDRESSES]; // IPv4, network order
} heddle_watch_place;

// On rank 0, which then gives *place to the others; on them it only makes the watch.
heddle_status heddle_watch_create(const heddle_ranks *ranks, const heddle_dist_listener *listener,
                                  heddle_watch_place *place, heddle_watch **watch);
// Connects, or waits for all to connect, and begins to watch. `members` is copied.
heddle_status heddle_watch_begin(heddle_watch *watch, const heddle_watch_place *place, const heddle_member *members);
// Says goodbye, unless `failed`, and ends.
void heddle_watch_end(heddle_watch *watch, bool failed);
// The rank that is gone, -1: none.
int heddle_watch_lost(const heddle_watch *watch);
// "rank 2 (pid 4711 on node7) is gone"
void heddle_watch_name(const heddle_watch *watch, int rank, char *text, size_t size);
