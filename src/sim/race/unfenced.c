// What of a thread's knowledge is certain.

#include "race/unfenced.h"

static void begin(sim_block_clock *clock, int thread, sim_knowledge *certain)
{
    sim_unfenced *unfenced = &clock->unfenced[thread];
    *unfenced = (sim_unfenced){.any = true, .near = sim_knowledge_keep(certain), .firm = sim_knowledge_keep(certain)};
    clock->unfenced_threads++;
}

static void end(sim_block_clock *clock, int thread)
{
    sim_unfenced *unfenced = &clock->unfenced[thread];
    if (!unfenced->any)
        return;
    sim_knowledge_drop(unfenced->near);
    sim_knowledge_drop(unfenced->firm);
    *unfenced = (sim_unfenced){0};
    clock->unfenced_threads--;
}

static void end_if_certain(sim_block_clock *clock, int thread)
{
    if (sim_knowledge_same(clock->unfenced[thread].firm, clock->known[thread]))
        end(clock, thread);
}

void sim_unfenced_saw(sim_block_clock *clock, int thread, sim_knowledge *before, sim_knowledge *near, unsigned site)
{
    sim_unfenced *unfenced = &clock->unfenced[thread];
    bool news = clock->known[thread] != before;
    if (news && !unfenced->any)
        begin(clock, thread, before);
    if (!unfenced->any)
        return;
    sim_knowledge_learn(&unfenced->near, near);
    if (!news)
        return;
    unfenced->site = (uint16_t)site;
    unfenced->thread = (uint16_t)thread;
    unfenced->narrowly = false;
}

void sim_unfenced_acquired(sim_block_clock *clock, int thread, sim_knowledge *what)
{
    sim_unfenced *unfenced = &clock->unfenced[thread];
    if (!sim_unfenced_any(clock, thread))
        return;
    sim_knowledge_learn(&unfenced->near, what);
    sim_knowledge_learn(&unfenced->firm, what);
    end_if_certain(clock, thread);
}

void sim_unfenced_fence(sim_block_clock *clock, int thread, int scope)
{
    sim_unfenced *unfenced = &clock->unfenced[thread];
    if (!sim_unfenced_any(clock, thread))
        return;
    if (scope != SIM_SCOPE_BLOCK) {
        end(clock, thread);
        return;
    }
    unfenced->narrowly = true;
    sim_knowledge_learn(&unfenced->firm, unfenced->near);
    end_if_certain(clock, thread);
}

void sim_unfenced_gather(const sim_block_clock *clock, int thread, sim_unfenced *met)
{
    const sim_unfenced *unfenced = &clock->unfenced[thread];
    sim_knowledge *certain = unfenced->any ? unfenced->near : clock->known[thread];
    if (certain != met->firm)
        sim_knowledge_learn(&met->near, certain);
    met->firm = certain;
    if (!unfenced->any)
        return;
    met->any = true;
    met->narrowly = unfenced->narrowly;
    met->site = unfenced->site;
    met->thread = unfenced->thread;
}

void sim_unfenced_spread(sim_block_clock *clock, int thread, const sim_unfenced *met)
{
    if (!met->any)
        return;
    sim_knowledge *certain =
        sim_knowledge_join(clock->unfenced[thread].any ? clock->unfenced[thread].near : NULL, met->near);
    end(clock, thread);
    begin(clock, thread, certain);
    sim_knowledge_drop(certain);
    clock->unfenced[thread].narrowly = met->narrowly;
    clock->unfenced[thread].site = met->site;
    clock->unfenced[thread].thread = met->thread;
    end_if_certain(clock, thread);
}

void sim_unfenced_forget(sim_block_clock *clock)
{
    for (int thread = 0; clock->unfenced_threads && thread < SIM_THREADS; thread++)
        end(clock, thread);
}
