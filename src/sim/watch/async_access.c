// The accesses that an asynchronous copy makes: its issue, its source, its landing.

#include "race/under_way.h"
#include "race/values.h"
#include "watch/internal.h"

// Where the accesses of one place were last found good, as hooks know theirs. The place is the one that asked for the
// copy: a wait lands copies of many. Each kind of access has an entry and a key of its own: no address of code has
// these bits.
static uintptr_t key_of(uintptr_t place, unsigned copy)
{
    enum { ABOVE_CODE = 60 };
    return place | (uintptr_t)copy << ABOVE_CODE;
}

static sim_slot *slot_of(sim_worker *worker, uintptr_t place, unsigned copy)
{
    enum { APART = 2731 };
    return &worker->slots[(sim_slot_of(place) + (size_t)copy * APART) % SIM_SLOTS];
}

// The site if an access of so many bytes at `pc` is known to be good; 0: it has to be looked at.
static unsigned known_good(const sim_slot *slot, uintptr_t key, uintptr_t address, unsigned bytes, uintptr_t pc)
{
    if (slot->pc != key || address - slot->lo >= slot->span)
        return 0;
    unsigned site = (unsigned)(slot->tag >> SIM_ENTRY_SHIFT);
    return sim_sites[site].bytes == bytes && sim_sites[site].pc == pc ? site : 0;
}

static void note_piece(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned copy, uintptr_t pc,
                       uintptr_t issued)
{
    unsigned kind = copy == SIM_COPY_SOURCE ? SIM_READ : SIM_WRITE;
    uintptr_t place = issued ? issued : pc, key = key_of(place, copy);
    sim_slot *slot = slot_of(worker, place, copy);
    unsigned site = known_good(slot, key, address, bytes, pc);
    if (site == 0) {
        site = sim_site_copying(pc, copy, kind, bytes);
        if (!sim_access_check(worker, site, address, bytes, kind, pc))
            return;
        if (sim_access_unnumbered(worker, site, address, bytes, copy == SIM_COPY_LANDED)) {
            if (copy == SIM_COPY_ISSUED)
                sim_under_way_unnoticed();
            return;
        }
        const sim_slot *found = &worker->slots[sim_slot_of(pc)];
        if (found->pc == pc && found->tag == (uint64_t)site << SIM_ENTRY_SHIFT) {
            sim_slot good = *found;
            good.pc = key;
            sim_slot_keep(worker, slot, good);
        }
    }
    sim_log_add(worker, site, address);
}

void sim_async_note(uintptr_t address, size_t bytes, unsigned copy, uintptr_t pc, uintptr_t issued)
{
    enum { LARGEST = 16 };
    sim_worker *worker = sim_current;
    if (!sim_watching || !worker || bytes == 0 || address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo)
        return;
    unsigned piece = LARGEST;
    while (((bytes | address) & (piece - 1)) != 0)
        piece /= 2;
    for (uintptr_t at = address; at < address + bytes; at += piece)
        note_piece(worker, at, piece, copy, pc, issued);
    // The values that are stored are noted as those of the place that asked for the copy.
    if (issued && sim_sites[sim_site_find(issued)].values)
        sim_values_store(worker, sim_site_copying(issued, SIM_COPY_ISSUED, SIM_WRITE, piece), address, bytes);
}
