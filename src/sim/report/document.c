// The report as JSON, in the form that format.md gives. It is written beside its place and then moved there, so that a
// reader sees a whole one or none.
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/options.h"
#include "report/copied.h"
#include "report/internal.h"
#include "report/json.h"

// Absent in a program without the runtime API.

static void write_frame(sim_json *out, const sim_frame *frame)
{
    sim_json_string(out, "file", frame->file);
    sim_json_unsigned(out, "line", frame->line);
    sim_json_string(out, "function", frame->function);
}

static uint64_t offset_of(uintptr_t pc)
{
    return pc - sim_module_self()->base;
}

// What would order the two sides of a race, as format.md names it.
static const char *const orders[] = {
    [SIM_ORDER_BARRIER] = "barrier", [SIM_ORDER_BLOCKS] = "blocks",   [SIM_ORDER_COPY] = "copy",
    [SIM_ORDER_FENCE] = "fence",     [SIM_ORDER_ACQUIRE] = "acquire", [SIM_ORDER_ACQUIRE_IN_BLOCK] = "acquire in block",
    [SIM_ORDER_GUARD] = "guard",     [SIM_ORDER_CHILD] = "child"};

static void write_place(sim_json *out, const char *name, const sim_place *place, const sim_stack *stack,
                        unsigned column)
{
    sim_json_open(out, name, '{');
    sim_json_string(out, "role", place->role ? place->role : "");
    write_frame(out, &stack->frames[0]);
    if (column)
        sim_json_unsigned(out, "column", column);
    if (place->has_thread) {
        sim_json_triple(out, "thread", place->thread);
        sim_json_triple(out, "block", place->block);
    }
    sim_json_open(out, "stack", '[');
    for (size_t i = 0; i < stack->count; i++) {
        sim_json_open(out, NULL, '{');
        write_frame(out, &stack->frames[i]);
        sim_json_close(out, '}');
    }
    sim_json_close(out, ']');
    if (stack->within)
        sim_json_string(out, "within", stack->within->file);
    sim_json_unsigned(out, "offset", offset_of(place->pc));
    sim_json_close(out, '}');
}

static void write_call(sim_json *out, const char *name, uintptr_t pc, const char *call)
{
    const sim_stack *stack = sim_lines_of(pc);
    if (!stack)
        return;
    sim_json_open(out, name, '{');
    sim_json_string(out, "file", stack->frames[0].file);
    sim_json_unsigned(out, "line", stack->frames[0].line);
    if (call)
        sim_json_string(out, "call", call);
    sim_json_unsigned(out, "offset", offset_of(pc));
    sim_json_close(out, '}');
}

static void write_memory(sim_json *out, const sim_described *memory)
{
    sim_json_open(out, "memory", '{');
    sim_json_string(out, "space", memory->space);
    sim_json_string(out, "name", memory->name);
    sim_json_unsigned(out, "bytes", memory->bytes);
    sim_json_signed(out, "offset", memory->offset);
    sim_json_unsigned(out, "size", memory->size);
    sim_json_bool(out, "live", memory->live);
    sim_json_bool(out, "dynamic", memory->dynamic);
    write_call(out, "allocated", memory->allocated_at, memory->function ? memory->function : "");
    write_call(out, "freed", memory->freed_at, NULL);
    sim_json_close(out, '}');
}

// A read has no value to ask for: whether it waits shows where the store lets others go first.
static bool is_read(const sim_place *place)
{
    return strstr(place->role, "read") != NULL;
}

// Offsets of the stores of all records that are one finding in the source, of those that are `open` or of those that
// were found to be harmless.
static void write_offsets(sim_json *out, const char *name, const sim_record *record, bool open)
{
    bool any = false;
    for (; record; record = record->merged) {
        const sim_finding *finding = &record->finding;
        if (finding->ask_values != open || (!open && finding->tier == SIM_ERROR))
            continue;
        if (!any)
            sim_json_open(out, name, '[');
        any = true;
        for (int i = 0; i < SIM_PLACES; i++)
            if (finding->place[i].pc && !is_read(&finding->place[i]) &&
                (i == 0 || finding->place[i].pc != finding->place[0].pc))
                sim_json_unsigned(out, NULL, offset_of(finding->place[i].pc));
    }
    if (any)
        sim_json_close(out, ']');
}

// Two stores of one line are one finding, and the values of both decide what it is, unless something else has decided.
static void write_values(sim_json *out, const sim_record *record)
{
    if (record->finding.kind != SIM_RACE)
        return;
    for (const sim_record *one = record; one; one = one->merged)
        if (one->finding.tier == SIM_ERROR && !one->finding.ask_values)
            return;
    write_offsets(out, "values", record, true);
    write_offsets(out, "settled", record, false);
}

static void write_finding(sim_json *out, const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    sim_json_open(out, NULL, '{');
    sim_json_string(out, "kind", sim_kind_name(finding->kind));
    sim_json_string(out, "tier", finding->tier == SIM_ERROR ? "error" : "warning");
    sim_json_unsigned(out, "count", record->count);
    sim_json_string(out, "kernel", finding->kernel);
    sim_json_string(out, "message", finding->message);
    sim_json_string(out, "note", finding->note);
    if (record->part[0])
        sim_json_string(out, "part", record->part);
    if (finding->kind == SIM_RACE)
        sim_json_string(out, "order", orders[finding->order]);
    if (finding->partly)
        sim_json_bool(out, "partly", true);
    if (finding->parts_warp)
        sim_json_bool(out, "parts_warp", true);
    sim_json_open(out, "places", '[');
    for (int i = 0; i < SIM_PLACES; i++)
        if (record->where[i])
            write_place(out, NULL, &finding->place[i], record->where[i], i == 0 ? finding->column : 0);
    sim_json_close(out, ']');
    if (record->memory.space)
        write_memory(out, &record->memory);
    write_values(out, record);
    sim_json_close(out, '}');
}

static void write_suppressed(sim_json *out, const sim_conclusion *conclusion)
{
    uint64_t total = 0;
    for (int kind = 0; kind < SIM_FINDING_KINDS; kind++)
        total += conclusion->suppressed[kind];
    sim_json_open(out, "suppressed", '{');
    sim_json_unsigned(out, "total", total);
    for (int kind = 0; kind < SIM_FINDING_KINDS; kind++)
        if (conclusion->suppressed[kind])
            sim_json_unsigned(out, sim_kind_name(kind), conclusion->suppressed[kind]);
    sim_json_close(out, '}');
}

static void write_sum(char *text, size_t size, const sim_copied_sum *sum)
{
    snprintf(text, size, "%.17g %.17g", sum->fits ? sum->sum : 0, sum->fits ? sum->magnitude : -1);
}

static void write_copies(sim_json *out)
{
    size_t count = 0;
    const sim_copied *copies = sim_copied_all(&count);
    sim_json_open(out, "copies", '[');
    for (size_t i = 0; copies && i < count; i++) {
        char text[20];
        snprintf(text, sizeof text, "%016llx", (unsigned long long)copies[i].hash);
        sim_json_string(out, NULL, text);
    }
    sim_json_close(out, ']');
    sim_json_open(out, "copied_by", '[');
    for (size_t i = 0, nth = 0; copies && i < count; i++) {
        char text[48];
        nth = i > 0 && copies[i].submitted == copies[i - 1].submitted ? nth + 1 : 0;
        snprintf(text, sizeof text, "%llu.%zu", (unsigned long long)copies[i].submitted, nth);
        sim_json_string(out, NULL, text);
    }
    sim_json_close(out, ']');
    sim_json_open(out, "copied_into", '[');
    for (size_t i = 0; copies && i < count; i++) {
        const char *what = copies[i].bytes > sizeof(uint64_t) ? "" : copies[i].zero ? " zero" : " number";
        char text[64];
        snprintf(text, sizeof text, "%llu %llu%s", (unsigned long long)offset_of(copies[i].pc),
                 (unsigned long long)copies[i].to, what);
        sim_json_string(out, NULL, text);
    }
    sim_json_close(out, ']');
    sim_json_open(out, "copied_floats", '[');
    for (size_t i = 0; copies && i < count; i++) {
        char singles[64], doubles[64], text[2 * sizeof singles];
        write_sum(singles, sizeof singles, &copies[i].singles);
        write_sum(doubles, sizeof doubles, &copies[i].doubles);
        snprintf(text, sizeof text, "%s %s", singles, doubles);
        sim_json_string(out, NULL, text);
    }
    sim_json_close(out, ']');
    if (!sim_copied_by_several())
        return;
    sim_json_open(out, "copied_at", '[');
    for (size_t i = 0; copies && i < count; i++)
        sim_json_unsigned(out, NULL, offset_of(copies[i].pc));
    sim_json_close(out, ']');
}

static bool write_all(int descriptor, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(descriptor, text, bytes);
        if (written <= 0)
            return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

// What is there and no plain file (/dev/null, a pipe) is written into: a rename would put a file in its place. A pipe
// that nobody reads is not waited for.
static bool save_into(const sim_json *out, const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    bool saved = descriptor >= 0 && fcntl(descriptor, F_SETFL, 0) == 0 && write_all(descriptor, out->text, out->used);
    return descriptor >= 0 && close(descriptor) == 0 && saved;
}

void sim_document_save(const sim_json *out, const char *path, const char *what, const char *setting)
{
    char temporary[1024];
    struct stat there;
    int length = snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    bool saved = false;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        saved = save_into(out, path);
    } else if (length > 0 && (size_t)length < sizeof temporary) {
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        saved = descriptor >= 0 && write_all(descriptor, out->text, out->used);
        if (descriptor >= 0)
            saved = close(descriptor) == 0 && saved;
        saved = saved && rename(temporary, path) == 0;
        if (!saved)
            unlink(temporary);
    }
    if (!saved)
        dprintf(STDERR_FILENO, "sim: the %s could not be written to %s (%s)\n", what, path, setting);
}

void sim_document_write(const sim_conclusion *conclusion, const char *status, int exit_status, const char *path)
{
    sim_json *out = &(sim_json){0};
    const sim_options *options = sim_options_get();
    sim_json_open(out, NULL, '{');
    sim_json_unsigned(out, "version", 2);
    sim_json_string(out, "status", status);
    if (exit_status >= 0)
        sim_json_unsigned(out, "exit", (unsigned)exit_status);
    char unchecked[SIM_UNCHECKED_BYTES];
    sim_unchecked_text(status, unchecked, sizeof unchecked);
    sim_json_string(out, "unchecked", unchecked);
    sim_place crash;
    const sim_stack *crashed = sim_crash_place(&crash);
    if (crashed)
        write_place(out, "crashed", &crash, crashed, 0);
    sim_json_string(out, "gpu", options->gpu ? options->gpu : "");
    sim_json_unsigned(out, "schedule", options->schedule);
    sim_json_bool(out, "strict", options->strict);
    sim_json_open(out, "findings", '[');
    for (size_t i = 0; i < conclusion->count; i++)
        write_finding(out, conclusion->findings[i]);
    sim_json_close(out, ']');
    sim_json_unsigned(out, "lost", sim_findings_lost());
    write_suppressed(out, conclusion);
    sim_counters_write(out);
    write_copies(out);
    sim_json_close(out, '}');
    if (!out->failed)
        sim_document_save(out, path, "report", "SIM_REPORT");
}
