// Where lanes of a warp meet in a collective. Lanes that name the same mask wait for each other; the last one to come
// computes what each gets (warp_results.c). Lanes that have exited are not waited for. The functions that programs call
// are in warp.c, warp_call.c and warp_sync.c.
#include <stdio.h>

#include "core/order.h"
#include "core/scheduler.h"

static void report_mask(sim_worker *worker, sim_tier tier, int thread, const char *message)
{
    const sim_block *block = worker->block;
    sim_finding finding = sim_finding_make(worker, SIM_WARP_MASK, tier);
    snprintf(finding.message, sizeof finding.message, "%s", message);
    finding.place[0] = sim_place_of(worker, thread, block->waits_at[thread], "call");
    sim_report(&finding);
}

static void report_not_in_mask(sim_worker *worker, unsigned mask)
{
    char message[160];
    snprintf(message, sizeof message, "lane %d calls %s with a mask (0x%08x) that does not name itself", worker->lane,
             sim_warp_name(sim_resident_of(worker->block)->collectives.operation[worker->thread]), mask);
    report_mask(worker, SIM_ERROR, worker->thread, message);
}

static void report_exited(sim_worker *worker, int leader, uint32_t gone)
{
    char message[160];
    const sim_resident *resident = sim_resident_of(worker->block);
    snprintf(message, sizeof message, "the mask of %s (0x%08x) names lanes that have exited (0x%08x)",
             sim_warp_name(resident->collectives.operation[leader]), resident->collectives.meeting[leader].mask, gone);
    report_mask(worker, SIM_WARNING, leader, message);
}

static void report_lanes_missing(sim_worker *worker, int leader, uint32_t arrived)
{
    char message[160];
    snprintf(message, sizeof message, "only lanes 0x%08x execute %s, which needs all 32 of the warp", arrived,
             sim_warp_name(sim_resident_of(worker->block)->collectives.operation[leader]));
    report_mask(worker, SIM_ERROR, leader, message);
}

static void report_mismatch(sim_worker *worker, int first, int second, const char *note)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    sim_finding finding = sim_finding_make(worker, SIM_WARP_MISMATCH, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "lanes of one warp wait for each other in different collectives: %s and %s",
             sim_warp_name(resident->collectives.operation[first]),
             sim_warp_name(resident->collectives.operation[second]));
    snprintf(finding.note, sizeof finding.note, "%s", note);
    finding.place[0] = sim_place_of(worker, first, resident->block.waits_at[first], "call");
    finding.place[1] = sim_place_of(worker, second, resident->block.waits_at[second], "call");
    sim_report(&finding);
}

static uint32_t lanes_that_exist(const sim_block *block, int warp)
{
    int lanes = block->launch->threads - warp * SIM_LANES;
    return lanes >= SIM_LANES ? UINT32_MAX : (1u << lanes) - 1;
}

static void call_function(sim_worker *worker, const sim_resident *resident, const sim_meeting *meeting)
{
    void *arguments[SIM_LANES] = {NULL};
    for (uint32_t rest = meeting->arrived; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        arguments[lane] = (void *)(uintptr_t)resident->collectives.value[worker->warp * SIM_LANES + lane];
    }
    sim_current = NULL; // what happens in there is not watched
    meeting->function(arguments, meeting->arrived);
    sim_current = worker;
}

// All lanes of the meeting are here. The current thread, of the same warp, has stopped.
static void complete(sim_worker *worker, int leader)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    int warp = worker->warp;
    sim_meeting *meeting = &resident->collectives.meeting[leader];
    uint32_t gone = meeting->mask & lanes_that_exist(block, warp) & ~block->live[warp];
    const int operation = resident->collectives.operation[leader];
    bool fine = true;
    if (sim_watching)
        sim_watch_warp_met(worker, meeting->arrived, operation == SIM_WARP_SYNC);
    if (operation == SIM_WARP_MATRIX && meeting->arrived != UINT32_MAX) {
        report_lanes_missing(worker, leader, meeting->arrived);
        fine = false;
    } else if (operation == SIM_WARP_CALL || operation == SIM_WARP_MATRIX) {
        call_function(worker, resident, meeting);
    } else if (operation != SIM_WARP_SYNC) {
        fine = sim_warp_results(worker, meeting->arrived, gone);
    }
    if (gone && fine) // the warning would only hide the error
        report_exited(worker, leader, gone);
    resident->collectives.leaders[warp] &= ~(1u << leader % SIM_LANES);
    sim_lane_ready(resident, warp, meeting->arrived);
    sim_progress_step(worker);
}

// The open meeting of the lanes that named this mask, by the thread that opened it; -1: there is none.
static int find(const sim_resident *resident, int warp, unsigned mask)
{
    for (uint32_t rest = resident->collectives.leaders[warp]; rest; rest &= rest - 1) {
        int leader = warp * SIM_LANES + __builtin_ctz(rest);
        if (resident->collectives.meeting[leader].mask == mask)
            return leader;
    }
    return -1;
}

// Ends the launch if a lane that this one waits for waits for this one, in a meeting with another mask.
static void refuse_crossing(sim_worker *worker, const sim_resident *resident, unsigned mask)
{
    for (uint32_t rest = resident->collectives.leaders[worker->warp]; rest; rest &= rest - 1) {
        int leader = worker->warp * SIM_LANES + __builtin_ctz(rest);
        const sim_meeting *other = &resident->collectives.meeting[leader];
        if (!(other->mask >> worker->lane & 1) || !(other->arrived & mask))
            continue;
        char note[100];
        snprintf(note, sizeof note, "the masks differ: 0x%08x and 0x%08x", other->mask, mask);
        report_mismatch(worker, worker->warp * SIM_LANES + __builtin_ctz(other->arrived & mask), worker->thread, note);
        sim_block_fail(worker, SIM_ERROR_FAILURE);
    }
}

static int open_meeting(sim_worker *worker, sim_resident *resident, unsigned mask)
{
    if (resident->collectives.leaders[worker->warp])
        refuse_crossing(worker, resident, mask);
    resident->collectives.meeting[worker->thread].mask = mask;
    resident->collectives.meeting[worker->thread].arrived = 0;
    resident->collectives.leaders[worker->warp] |= 1u << worker->lane;
    return worker->thread;
}

// The caller has put its argument and width into the resident block, and its function into its own meeting.
uint64_t sim_meet(sim_worker *worker, int operation, unsigned mask, uint64_t value, uintptr_t pc)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    int thread = worker->thread, warp = worker->warp;
    uint32_t lane = 1u << worker->lane;
    sim_thread_stops(worker);
    block->waits_at[thread] = pc;
    block->state[thread] = SIM_IN_WARP;
    block->ready[warp] &= ~lane;
    resident->collectives.value[thread] = value;
    resident->collectives.operation[thread] = (uint8_t)operation;
    if (!(mask & lane)) {
        report_not_in_mask(worker, mask);
        mask = lane;
    }
    int leader = find(resident, warp, mask);
    if (leader < 0)
        leader = open_meeting(worker, resident, mask);
    else if (resident->collectives.operation[leader] != operation)
        report_mismatch(worker, leader, thread, "the same mask, different functions");
    resident->collectives.meeting[leader].arrived |= lane;
    if (resident->collectives.meeting[leader].arrived == (mask & block->live[warp]))
        complete(worker, leader);
    sim_thread_waits(worker);
    return resident->collectives.value[thread];
}

void sim_meet_ended(sim_worker *worker)
{
    const sim_block *block = worker->block;
    const sim_resident *resident = sim_resident_of(worker->block);
    for (uint32_t rest = resident->collectives.leaders[worker->warp]; rest; rest &= rest - 1) {
        int leader = worker->warp * SIM_LANES + __builtin_ctz(rest);
        const sim_meeting *meeting = &resident->collectives.meeting[leader];
        if (meeting->arrived == (meeting->mask & block->live[worker->warp]))
            complete(worker, leader);
    }
}
