// The table of sites.

#include "race/site.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "machine/options.h"
#include "program/program.h"

sim_site sim_sites[SIM_SITES];
uint16_t *sim_site_table;
uintptr_t sim_code_lo, sim_code_bytes;

static unsigned sites_made; // site 0 is nobody's
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

// Places whose stored values are asked for (SIM_VALUES).
enum { MOST_ASKED = 4096, LONGEST_LINE = 32 };
static uintptr_t asked[MOST_ASKED];
static size_t asked_count;

static void read_asked(uintptr_t base)
{
    const char *path = sim_options_get()->values;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    char line[LONGEST_LINE];
    while (asked_count < MOST_ASKED && fgets(line, sizeof line, file))
        asked[asked_count++] = base + (uintptr_t)strtoull(line, NULL, 10);
    fclose(file);
}

static bool is_asked(uintptr_t pc)
{
    for (size_t i = 0; i < asked_count; i++)
        if (asked[i] == pc)
            return true;
    return false;
}

void sim_sites_start(void)
{
    const sim_module *module = sim_module_self();
    size_t bytes = module->text_hi - module->text_lo;
    size_t entries = (bytes >> SIM_CODE_SHIFT) + 1;
    void *table = mmap(NULL, entries * sizeof(uint16_t), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        return; // sim_code_bytes stays 0: every access takes the slow path, as site 0
    sim_site_table = table;
    sim_code_lo = module->text_lo;
    sim_code_bytes = bytes;
    read_asked(module->base);
}

// The lock is held. 0: there are no numbers left.
static uint16_t add(uintptr_t pc, unsigned copy, unsigned kind, unsigned bytes)
{
    if (sites_made + 1 == SIM_SITES)
        return 0;
    unsigned number = ++sites_made;
    sim_sites[number] = (sim_site){
        .pc = pc, .kind = (uint8_t)kind, .bytes = (uint8_t)bytes, .copy = (uint8_t)copy, .values = is_asked(pc)};
    return (uint16_t)number;
}

// The place's first site.
static unsigned make(uintptr_t pc, unsigned copy, unsigned kind, unsigned bytes)
{
    uintptr_t offset = pc - sim_code_lo;
    if (offset >= sim_code_bytes)
        return 0;
    uint16_t *entry = &sim_site_table[offset >> SIM_CODE_SHIFT];
    pthread_mutex_lock(&making);
    if (*entry == 0)
        __atomic_store_n(entry, add(pc, copy, kind, bytes), __ATOMIC_RELEASE);
    unsigned number = *entry;
    pthread_mutex_unlock(&making);
    return number;
}

unsigned sim_site_make(uintptr_t pc, unsigned kind, unsigned bytes)
{
    unsigned number = make(pc, SIM_NO_COPY, kind, bytes);
    sim_sites[number].whole = number != 0;
    return number;
}

unsigned sim_site_copying(uintptr_t pc, unsigned copy, unsigned kind, unsigned bytes)
{
    unsigned number = sim_site_find(pc);
    if (number == 0)
        number = make(pc, copy, kind, bytes);
    while (number != 0 &&
           (sim_sites[number].bytes != bytes || sim_sites[number].copy != copy || sim_sites[number].kind != kind)) {
        uint16_t *other = &sim_sites[number].other;
        if (__atomic_load_n(other, __ATOMIC_ACQUIRE) == 0) {
            pthread_mutex_lock(&making);
            if (*other == 0)
                __atomic_store_n(other, add(pc, copy, kind, bytes), __ATOMIC_RELEASE);
            pthread_mutex_unlock(&making);
        }
        number = *other;
    }
    return number;
}

unsigned sim_site_sized(uintptr_t pc, unsigned kind, unsigned bytes)
{
    return sim_site_copying(pc, SIM_NO_COPY, kind, bytes);
}
