// The watch's connections and its thread.

#include "dist/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/text.h"

enum {
    CONNECT_MILLISECONDS = 3000, // for one address of rank 0
    ARRIVE_MILLISECONDS = 30000, // for all ranks to come
    GRACE_MILLISECONDS = 4000,   // from a loss until the process is ended by force
    // A machine that is switched off closes nothing: three probes without an answer, one per second, end it.
    KEEP_IDLE = 3,
    KEEP_INTERVAL = 1,
    KEEP_COUNT = 3,
};

typedef enum word { WORD_HELLO = 'H', WORD_BYE = 'B', WORD_LOST = 'L' } word;

typedef struct letter {
    uint64_t token;
    int32_t word, rank;
} letter;

struct heddle_watch {
    heddle_ranks ranks;
    const heddle_dist_listener *listener;
    heddle_member *members;
    uint64_t token;
    int listening;
    int *sockets; // on rank 0 one per rank, elsewhere [0] is rank 0's; -1: closed
    bool *bye;    // who has said so
    int stop[2];  // a pipe that wakes the thread
    pthread_t thread;
    bool running;
    atomic_int lost;
};

static int socket_count(const heddle_watch *watch)
{
    return watch->ranks.rank == 0 ? watch->ranks.ranks : 1;
}

int heddle_watch_lost(const heddle_watch *watch)
{
    return atomic_load(&watch->lost);
}

void heddle_watch_name(const heddle_watch *watch, int rank, char *text, size_t size)
{
    const heddle_member *member = &watch->members[rank];
    snprintf(text, size, "rank %d (pid %d on %.*s) is gone", rank, member->pid, HEDDLE_WATCH_HOST - 1, member->host);
}

// --- connecting -----------------------------------------------------------------------------------------------------

static void keep_alive(int descriptor)
{
    const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT},
        {IPPROTO_TCP, TCP_NODELAY, 1},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(descriptor, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
}

// The addresses that other machines may know this one by.
static void list_addresses(heddle_watch_place *place)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *one = all; one && place->addresses < HEDDLE_WATCH_ADDRESSES; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK)) {
            struct sockaddr_in address;
            memcpy(&address, one->ifa_addr, sizeof address);
            place->address[place->addresses++] = address.sin_addr.s_addr;
        }
    freeifaddrs(all);
}

static heddle_status listen_for_ranks(heddle_watch *watch, heddle_watch_place *place)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    watch->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (watch->listening < 0 || bind(watch->listening, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(watch->listening, SOMAXCONN) != 0 ||
        getsockname(watch->listening, (struct sockaddr *)&address, &length) != 0)
        return heddle_fail(HEDDLE_IO, "cannot listen for the other ranks: %s", strerror(errno));
    if (getrandom(&place->token, sizeof place->token, 0) != sizeof place->token)
        place->token = (uint64_t)(heddle_now() * 1e9) ^ (uint64_t)getpid() << 32;
    gethostname(place->host, sizeof place->host - 1);
    place->port = ntohs(address.sin_port);
    list_addresses(place);
    return HEDDLE_OK;
}

static bool send_letter(int descriptor, const letter *sent)
{
    return send(descriptor, sent, sizeof *sent, MSG_NOSIGNAL) == sizeof *sent;
}

// Waits until `descriptor` has something to read.
static bool readable(int descriptor, int milliseconds)
{
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    return poll(&one, 1, milliseconds) == 1;
}

static int try_address(uint32_t address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = address};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t length = sizeof error;
    if (descriptor < 0)
        return -1;
    struct pollfd writable = {.fd = descriptor, .events = POLLOUT};
    bool begun = connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS;
    if (begun && poll(&writable, 1, CONNECT_MILLISECONDS) == 1 &&
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0) {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
        return descriptor;
    }
    close(descriptor);
    return -1;
}

static heddle_status connect_to_first(heddle_watch *watch, const heddle_watch_place *place)
{
    char own[HEDDLE_WATCH_HOST] = "";
    gethostname(own, sizeof own - 1);
    int descriptor = -1;
    if (strcmp(own, place->host) == 0)
        descriptor = try_address(htonl(INADDR_LOOPBACK), place->port);
    for (int i = 0; i < place->addresses && descriptor < 0; i++)
        descriptor = try_address(place->address[i], place->port);
    const letter hello = {.token = place->token, .word = WORD_HELLO, .rank = watch->ranks.rank};
    if (descriptor < 0 || !send_letter(descriptor, &hello)) {
        if (descriptor >= 0)
            close(descriptor);
        return heddle_fail(HEDDLE_IO,
                           "rank %d cannot reach rank 0 on %s, port %d: let TCP through between the machines",
                           watch->ranks.rank, place->host, place->port);
    }
    keep_alive(descriptor);
    watch->sockets[0] = descriptor;
    return HEDDLE_OK;
}

static heddle_status accept_ranks(heddle_watch *watch)
{
    double end = heddle_now() + ARRIVE_MILLISECONDS / 1e3;
    for (int missing = watch->ranks.ranks - 1; missing > 0;) {
        int left = (int)((end - heddle_now()) * 1e3);
        if (left <= 0 || !readable(watch->listening, left))
            return heddle_fail(HEDDLE_IO, "%d of %d ranks did not reach rank 0: let TCP through between the machines",
                               missing, watch->ranks.ranks);
        struct sockaddr_storage from;
        socklen_t length = sizeof from;
        int descriptor = accept4(watch->listening, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
        letter hello = {0};
        bool known = descriptor >= 0 && readable(descriptor, CONNECT_MILLISECONDS) &&
                     recv(descriptor, &hello, sizeof hello, MSG_WAITALL) == sizeof hello &&
                     hello.token == watch->token && hello.word == WORD_HELLO && hello.rank > 0 &&
                     hello.rank < watch->ranks.ranks && watch->sockets[hello.rank] < 0;
        if (!known) { // not one of ours
            if (descriptor >= 0)
                close(descriptor);
            continue;
        }
        keep_alive(descriptor);
        watch->sockets[hello.rank] = descriptor;
        missing--;
    }
    return HEDDLE_OK;
}

// --- the thread -----------------------------------------------------------------------------------------------------

// Ends the process by force when it has not ended the watch by then.
static void wait_for_end(heddle_watch *watch)
{
    if (!readable(watch->stop[0], GRACE_MILLISECONDS) && watch->listener->forced)
        watch->listener->forced(watch->listener->context);
}

static void on_loss(heddle_watch *watch, int rank)
{
    char message[128];
    atomic_store(&watch->lost, rank);
    if (watch->ranks.rank == 0) {
        const letter news = {.token = watch->token, .word = WORD_LOST, .rank = rank};
        for (int i = 1; i < watch->ranks.ranks; i++)
            if (watch->sockets[i] >= 0 && i != rank)
                send_letter(watch->sockets[i], &news);
    }
    if (!watch->listener)
        return;
    heddle_watch_name(watch, rank, message, sizeof message);
    if (watch->listener->lost)
        watch->listener->lost(watch->listener->context, rank, message);
    wait_for_end(watch);
}

// What came from socket `index`; the rank that is gone by it, -1: none.
static int listen_to(heddle_watch *watch, int index)
{
    letter received;
    ssize_t bytes = recv(watch->sockets[index], &received, sizeof received, MSG_WAITALL);
    if (bytes == sizeof received && received.token == watch->token) {
        watch->bye[index] |= received.word == WORD_BYE;
        bool named = received.rank >= 0 && received.rank < watch->ranks.ranks;
        return received.word == WORD_LOST && named ? received.rank : -1;
    }
    close(watch->sockets[index]);
    watch->sockets[index] = -1;
    return watch->bye[index] ? -1 : index;
}

static void *run(void *context)
{
    heddle_watch *watch = context;
    int count = socket_count(watch), lost = -1;
    struct pollfd *all = calloc((size_t)count + 1, sizeof *all);
    while (all && lost < 0) {
        for (int i = 0; i < count; i++)
            all[i] = (struct pollfd){.fd = watch->sockets[i], .events = POLLIN}; // one below 0 is left out
        all[count] = (struct pollfd){.fd = watch->stop[0], .events = POLLIN};
        if (poll(all, (nfds_t)count + 1, -1) < 0 && errno != EINTR)
            break;
        if (all[count].revents)
            break;
        for (int i = 0; i < count && lost < 0; i++)
            if (all[i].fd >= 0 && all[i].revents)
                lost = listen_to(watch, i);
    }
    free(all);
    if (lost >= 0)
        on_loss(watch, lost);
    return NULL;
}

// --- making and ending ----------------------------------------------------------------------------------------------

heddle_status heddle_watch_create(const heddle_ranks *ranks, const heddle_dist_listener *listener,
                                  heddle_watch_place *place, heddle_watch **watch)
{
    heddle_watch *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a watch");
    *watch = made;
    *made = (heddle_watch){.ranks = *ranks, .listener = listener, .listening = -1, .stop = {-1, -1}, .lost = -1};
    int count = socket_count(made);
    made->members = calloc((size_t)ranks->ranks, sizeof *made->members);
    made->sockets = malloc((size_t)count * sizeof *made->sockets);
    made->bye = calloc((size_t)count, sizeof *made->bye);
    if (!made->members || !made->sockets || !made->bye)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to watch %d ranks", ranks->ranks);
    for (int i = 0; i < count; i++)
        made->sockets[i] = -1;
    if (pipe2(made->stop, O_CLOEXEC) != 0)
        return heddle_fail(HEDDLE_IO, "no pipe for the watch: %s", strerror(errno));
    return ranks->rank == 0 ? listen_for_ranks(made, place) : HEDDLE_OK;
}

heddle_status heddle_watch_begin(heddle_watch *watch, const heddle_watch_place *place, const heddle_member *members)
{
    memcpy(watch->members, members, (size_t)watch->ranks.ranks * sizeof *members);
    watch->token = place->token;
    HEDDLE_TRY(watch->ranks.rank == 0 ? accept_ranks(watch) : connect_to_first(watch, place));
    HEDDLE_TRY(heddle_thread_start(&watch->thread, "heddle-watch", run, watch));
    watch->running = true;
    return HEDDLE_OK;
}

void heddle_watch_end(heddle_watch *watch, bool failed)
{
    const letter bye = {.token = watch->token, .word = WORD_BYE, .rank = watch->ranks.rank};
    if (watch->running) {
        if (write(watch->stop[1], "", 1) == 1)
            pthread_join(watch->thread, NULL);
        for (int i = 0; i < socket_count(watch) && !failed; i++)
            if (watch->sockets[i] >= 0)
                send_letter(watch->sockets[i], &bye);
    }
    for (int i = 0; watch->sockets && i < socket_count(watch); i++)
        if (watch->sockets[i] >= 0)
            close(watch->sockets[i]);
    const int others[] = {watch->listening, watch->stop[0], watch->stop[1]};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] >= 0)
            close(others[i]);
    free(watch->members);
    free(watch->sockets);
    free(watch->bye);
    free(watch);
}
