// A look counts for the signs that were there when it was made: those of kernels that had run by then. It is told of
// just before it is made, so where another thread runs kernels it may see the sign of one that runs meanwhile.
#include "progress/host_looks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "race/last.h"
#include "race/stream_order.h"

typedef struct look {
    uintptr_t address; // 0: free
    uint64_t up_to;    // signs of launches up to this number can have been seen
    bool open;         // and of those that run before the next access of the host that has the lock
} look;

// An open table. Looks come without the API's lock, too, so it has its own.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static look *looks;
static size_t used, room;
static atomic_bool any_open;
static uint64_t last_ran; // written with the API's lock

// What each thread of the program looked at last, and has done nothing since that is known.
typedef struct looker {
    struct looker *next;
    _Atomic uintptr_t latest; // 0: nothing
} looker;
static looker *_Atomic lookers;
static __thread looker *own;

static size_t slot_of(const look *table, size_t size, uintptr_t address)
{
    size_t at = (size_t)((address >> 2) * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (table[at].address != 0 && table[at].address != address)
        at = (at + 1) & (size - 1);
    return at;
}

static bool grow(void)
{
    enum { FIRST_ROOM = 64 };
    const size_t larger = room == 0 ? FIRST_ROOM : 2 * room;
    look *table = calloc(larger, sizeof *table);
    if (table == NULL)
        return false;
    for (size_t i = 0; i < room; i++) {
        if (looks[i].address != 0)
            table[slot_of(table, larger, looks[i].address)] = looks[i];
    }
    free(looks);
    looks = table;
    room = larger;
    return true;
}

static void add(uintptr_t address, uint64_t up_to, bool open)
{
    pthread_mutex_lock(&lock);
    if (2 * (used + 1) <= room || grow()) {
        look *one = &looks[slot_of(looks, room, address)];
        used += one->address == 0;
        one->address = address;
        one->up_to = up_to > one->up_to ? up_to : one->up_to;
        one->open |= open;
        if (open)
            atomic_store(&any_open, true);
    }
    pthread_mutex_unlock(&lock);
}

// With the API's lock nothing runs: what is open has seen no more than what has run.
static void settle(void)
{
    if (!atomic_load(&any_open))
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < room; i++) {
        if (looks[i].open)
            looks[i].up_to = last_ran;
        looks[i].open = false;
    }
    atomic_store(&any_open, false);
    pthread_mutex_unlock(&lock);
}

static void set_latest(uintptr_t address)
{
    if (own == NULL && address != 0) {
        own = calloc(1, sizeof *own);
        if (own == NULL)
            return;
        own->next = atomic_load(&lookers);
        while (!atomic_compare_exchange_weak(&lookers, &own->next, own))
            continue;
    }
    if (own != NULL)
        atomic_store_explicit(&own->latest, address, memory_order_relaxed);
}

static void note_sign(uint64_t number, void *context)
{
    bool *any = context;
    *any |= number != 0;
}

void sim_looks_add(uintptr_t address, bool settled)
{
    set_latest(address);
    if (!settled) {
        add(address, 0, true);
        return;
    }
    settle();
    bool sign = false;
    sim_signals_at(address, note_sign, &sign);
    if (sign)
        add(address, last_ran, false);
}

void sim_looks_end(void)
{
    settle();
    set_latest(0);
}

void sim_looks_ran(uint64_t number)
{
    last_ran = number > last_ran ? number : last_ran;
    for (looker *one = atomic_load(&lookers); one != NULL; one = one->next) {
        const uintptr_t latest = atomic_load_explicit(&one->latest, memory_order_relaxed);
        if (one != own && latest != 0)
            add(latest, 0, true);
    }
}

// --- judging --------------------------------------------------------------------------------------------------------

typedef struct question {
    uint64_t number, up_to, first; // first: the lowest number of a launch that gave a sign
    unsigned signs;
    bool seen;
} question;

static void compare(uint64_t signal, void *context)
{
    question *asked = context;
    asked->signs++;
    asked->first = asked->first == 0 || signal < asked->first ? signal : asked->first;
    asked->seen |= signal <= asked->up_to && (signal == asked->number || sim_ordered(asked->number, signal));
}

static bool saw_at(const look *one, uint64_t number)
{
    // The watch keeps so many accesses of a word at most: where it has this many, older signs are forgotten.
    enum { FORGETS = 64 };
    question asked = {.number = number, .up_to = one->up_to};
    sim_signals_at(one->address, compare, &asked);
    return asked.seen || (asked.signs >= FORGETS && number < asked.first);
}

bool sim_looks_saw(uint64_t number)
{
    enum { KNOWN = 64 };
    static uint64_t known[KNOWN]; // what has been seen stays so, and every access of a loop asks
    if (known[number % KNOWN] == number)
        return true;
    settle();
    bool saw = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < room && !saw; i++)
        saw = looks[i].address != 0 && saw_at(&looks[i], number);
    pthread_mutex_unlock(&lock);
    if (saw)
        known[number % KNOWN] = number;
    return saw;
}
