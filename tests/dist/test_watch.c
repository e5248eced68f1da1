// The watch between two ranks in one process, and what the launcher's environment says.

#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "dist/dist.h"
#include "dist/watch.h"

// --- the launcher ---------------------------------------------------------------------------------------------------

static const char *const known[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "PMI2_RANK", "SLURM_PROCID",
    "SLURM_NTASKS",         "SLURM_STEP_NUM_TASKS"};

static void forget_launcher(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        unsetenv(known[i]);
}

static void the_launcher_says_how_many_there_are(void **state)
{
    (void)state;
    forget_launcher();
    assert_int_equal(heddle_dist_launched(), 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    assert_int_equal(heddle_dist_launched(), 4);
    forget_launcher();
    // A batch script under Slurm is one process, whatever the job has; what srun starts with a PMI plugin is not.
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "8", 1);
    assert_int_equal(heddle_dist_launched(), 1);
    setenv("PMIX_RANK", "0", 1);
    assert_int_equal(heddle_dist_launched(), 8);
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    assert_int_equal(heddle_dist_launched(), 2);
    forget_launcher();
}

static void the_launcher_says_who_is_first(void **state)
{
    (void)state;
    static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                               {"PMI_SIZE", "PMI_RANK"},
                                               {"PMI_SIZE", "PMI2_RANK"},
                                               {"PMI_SIZE", "PMIX_RANK"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        forget_launcher();
        setenv(launchers[i][1], "1", 1);
        assert_true(heddle_dist_is_first()); // alone
        setenv(launchers[i][0], "2", 1);
        assert_int_equal(heddle_dist_launched(), 2);
        assert_false(heddle_dist_is_first());
        setenv(launchers[i][1], "0", 1);
        assert_true(heddle_dist_is_first());
    }
    forget_launcher();
}

static void a_process_alone_has_no_ranks_unless_asked(void **state)
{
    (void)state;
    heddle_dist *dist = NULL;
    forget_launcher();
    assert_int_equal(heddle_dist_open(HEDDLE_DIST_AUTO, NULL, &dist), HEDDLE_OK);
    assert_null(dist);
    // NCCL with one rank needs no MPI; the module itself is loaded with the device.
    assert_int_equal(heddle_dist_open(HEDDLE_DIST_NCCL, NULL, &dist), HEDDLE_OK);
    assert_non_null(dist);
    assert_int_equal(heddle_dist_ranks(dist)->ranks, 1);
    double values[] = {1.5, -2};
    assert_int_equal(heddle_dist_sum(dist, HEDDLE_CHANNEL_HOST, values, 2), HEDDLE_OK);
    assert_true(values[0] == 1.5 && values[1] == -2);
    assert_int_equal(heddle_dist_agree(dist, heddle_fail(HEDDLE_IO, "mine")), HEDDLE_IO);
    assert_string_equal(heddle_last_error(), "mine");
    heddle_dist_close(dist, false);
}

// --- the watch ------------------------------------------------------------------------------------------------------

enum { RANKS = 3, STRANGERS = 5 };

typedef struct side {
    heddle_ranks ranks;
    heddle_watch *watch;
    heddle_watch_place *place;
    const heddle_member *members;
    heddle_status status;
    atomic_int told; // the rank it was told of
    heddle_dist_listener listener;
} side;

static void on_lost(void *context, int rank, const char *message)
{
    side *own = context;
    char wanted[128];
    snprintf(wanted, sizeof wanted, "rank %d (pid %d on host%d) is gone", rank, 100 + rank, rank);
    atomic_store(&own->told, strcmp(message, wanted) == 0 ? rank : -2);
}

static void *begin(void *context)
{
    side *own = context;
    own->status = heddle_watch_begin(own->watch, own->place, own->members);
    return NULL;
}

// What ranks send each other.
typedef struct letter {
    uint64_t token;
    int32_t word, rank;
} letter;

// Connects to rank 0 and says so, as any program on the network can.
static int say(const heddle_watch_place *place, const letter *said)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)place->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(descriptor, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(descriptor, said, sizeof *said, MSG_NOSIGNAL), sizeof *said);
    return descriptor;
}

// Callers that rank 0 must not take for rank 1.
static void call_as_strangers(const heddle_watch_place *place, int callers[STRANGERS])
{
    const uint64_t token = place->token;
    const letter strangers[STRANGERS] = {
        {token + 1, 'H', 1}, {token, 'B', 1}, {token, 'H', 0}, {token, 'H', RANKS}, {token, 'H', -1}};
    for (int i = 0; i < STRANGERS; i++)
        callers[i] = say(place, &strangers[i]);
}

static void create_watches(side *sides, heddle_watch_place *place, heddle_member *members)
{
    for (int i = 0; i < RANKS; i++) {
        members[i].pid = 100 + i;
        snprintf(members[i].host, sizeof members[i].host, "host%d", i);
        sides[i] = (side){.ranks = {.rank = i, .ranks = RANKS}, .place = place, .members = members, .told = -1};
        sides[i].listener = (heddle_dist_listener){.lost = on_lost, .context = &sides[i]};
        assert_int_equal(heddle_watch_create(&sides[i].ranks, &sides[i].listener, place, &sides[i].watch), HEDDLE_OK);
        assert_int_equal(heddle_watch_lost(sides[i].watch), -1);
    }
}

static void begin_watches(side *sides)
{
    pthread_t threads[RANKS];
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, begin, &sides[i]), 0);
    for (int i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sides[i].status, HEDDLE_OK);
    }
}

static void assert_told(side *own, int gone)
{
    for (int wait = 0; wait < 2000 && atomic_load(&own->told) == -1; wait++)
        usleep(5000);
    assert_int_equal(atomic_load(&own->told), gone);
}

// Ends `gone` without a goodbye, as the kernel does for one that was killed; all others must be told its name.
static void lose(int gone)
{
    side sides[RANKS];
    heddle_watch_place place = {0};
    heddle_member members[RANKS] = {0};
    int callers[STRANGERS];
    create_watches(sides, &place, members);
    call_as_strangers(&place, callers); // first in the queue
    begin_watches(sides);
    for (int i = 0; i < STRANGERS; i++)
        close(callers[i]);
    heddle_watch_end(sides[gone].watch, true);
    for (int i = 0; i < RANKS; i++)
        if (i != gone) {
            assert_told(&sides[i], gone);
            assert_int_equal(heddle_watch_lost(sides[i].watch), gone);
        }
    for (int i = 0; i < RANKS; i++)
        if (i != gone)
            heddle_watch_end(sides[i].watch, true);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void the_others_are_told_which_rank_is_gone(void **state)
{
    (void)state;
    int before = open_descriptors();
    lose(2);
    lose(0);
    assert_int_equal(open_descriptors(), before);
}

// A machine that loses its power says nothing: the kernel asks after it.
static void assert_connections_are_kept_alive(void)
{
    int connections = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        struct sockaddr_in peer;
        socklen_t length = sizeof peer, size = sizeof(int);
        int alive = 0;
        if (getpeername(descriptor, (struct sockaddr *)&peer, &length) != 0 || peer.sin_family != AF_INET)
            continue;
        assert_int_equal(getsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &alive, &size), 0);
        assert_true(alive);
        connections++;
    }
    assert_int_equal(connections, 2 * (RANKS - 1)); // both ends are in this process
}

static void a_rank_on_another_machine_tries_the_addresses_in_turn(void **state)
{
    (void)state;
    side sides[RANKS];
    heddle_watch_place place = {0};
    heddle_member members[RANKS] = {0};
    create_watches(sides, &place, members);
    strcpy(place.host, "elsewhere");
    place.addresses = 2;
    place.address[0] = htonl(INADDR_BROADCAST); // where nobody can be connected to
    place.address[1] = htonl(INADDR_LOOPBACK);
    begin_watches(sides);
    assert_connections_are_kept_alive();
    for (int i = RANKS - 1; i >= 0; i--)
        heddle_watch_end(sides[i].watch, false);
}

// Addresses that are this machine's, which binding tells, and that another machine can reach.
static void rank_0_says_where_other_machines_reach_it(void **state)
{
    (void)state;
    const heddle_ranks ranks = {.ranks = RANKS};
    heddle_watch_place place = {0};
    heddle_watch *watch = NULL;
    assert_int_equal(heddle_watch_create(&ranks, NULL, &place, &watch), HEDDLE_OK);
    for (int i = 0; i < place.addresses; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = place.address[i]};
        int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
        close(descriptor);
        assert_int_not_equal(place.address[i], INADDR_ANY);
        assert_int_not_equal(ntohl(place.address[i]) >> 24, IN_LOOPBACKNET);
    }
    assert_in_range(place.port, 1, UINT16_MAX);
    assert_true(place.token != 0 && place.host[0] != 0);
    heddle_watch_end(watch, true);
}

// A connection on which something else than a rank's letters comes is as good as closed; who it names is not believed.
static void a_letter_without_the_token_is_not_believed(void **state)
{
    (void)state;
    side sides[RANKS];
    heddle_watch_place place = {0};
    heddle_member members[RANKS] = {0};
    create_watches(sides, &place, members);
    int played = say(&place, &(letter){place.token, 'H', 2}); // before rank 2 itself, which is refused
    begin_watches(sides);
    const letter nobody = {place.token, 'L', RANKS}, wrong = {place.token + 1, 'L', 1};
    assert_int_equal(send(played, &nobody, sizeof nobody, MSG_NOSIGNAL), sizeof nobody); // there is no such rank
    assert_int_equal(send(played, &wrong, sizeof wrong, MSG_NOSIGNAL), sizeof wrong);
    assert_told(&sides[0], 2);
    assert_told(&sides[1], 2);
    close(played);
    for (int i = 0; i < RANKS; i++)
        heddle_watch_end(sides[i].watch, true);
}

static void who_says_goodbye_is_not_lost(void **state)
{
    (void)state;
    side sides[RANKS];
    heddle_watch_place place = {0};
    heddle_member members[RANKS] = {0};
    create_watches(sides, &place, members);
    place.addresses = 0; // on its own machine a rank needs none
    begin_watches(sides);
    heddle_watch_end(sides[1].watch, false);
    // Rank 0 knows of the first only what came before the second's loss.
    heddle_watch_end(sides[2].watch, true);
    assert_told(&sides[0], 2);
    heddle_watch_end(sides[0].watch, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_launcher_says_how_many_there_are),
        cmocka_unit_test(the_launcher_says_who_is_first),
        cmocka_unit_test(a_process_alone_has_no_ranks_unless_asked),
        cmocka_unit_test(the_others_are_told_which_rank_is_gone),
        cmocka_unit_test(a_rank_on_another_machine_tries_the_addresses_in_turn),
        cmocka_unit_test(rank_0_says_where_other_machines_reach_it),
        cmocka_unit_test(a_letter_without_the_token_is_not_believed),
        cmocka_unit_test(who_says_goodbye_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
