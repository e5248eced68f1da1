// The main that heddle wrote has lines that mean nothing to a person, and launches a kernel by a parameter's name
// (driver.c): places and names become those of the file that is checked.

#include "check/hide.h"

#include <stdio.h>
#include <string.h>

#include "check/code.h"

// --- places ----------------------------------------------------------------------------------------------------------

static void hide_frame(const heddle_check_folder *folder, heddle_check_frame *frame)
{
    if (strncmp(frame->file, folder->path, strlen(folder->path)) != 0)
        return;
    frame->file = "heddle's main";
    frame->line = 0;
}

static void hide_places(const heddle_check_folder *folder, heddle_check_report *report)
{
    for (int f = 0; report->crashed && f < report->crashed->frames; f++)
        hide_frame(folder, &report->crashed->frame[f]);
    for (int i = 0; i < report->finding_count; i++) {
        heddle_check_finding *finding = &report->findings[i];
        for (int p = 0; p < finding->place_count; p++)
            for (int f = 0; f < finding->places[p].frames; f++)
                hide_frame(folder, &finding->places[p].frame[f]);
        heddle_check_memory *memory = (heddle_check_memory *)finding->memory;
        if (memory) {
            hide_frame(folder, &memory->allocated);
            hide_frame(folder, &memory->freed);
        }
    }
}

// --- names -----------------------------------------------------------------------------------------------------------

static const char launched[] = "function"; // by what name the driver launches the kernel

static const char *real_name(const heddle_check_job *job, const char *name)
{
    return name && strcmp(name, launched) == 0 ? job->function : name;
}

// A sentence that begins "kernel function ...", with the kernel's name.
static const char *real_sentence(const heddle_check_job *job, const char *sentence, heddle_arena *arena)
{
    static const char before[] = "kernel ";
    const size_t length = sizeof before - 1;
    if (strncmp(sentence, before, length) != 0 ||
        !heddle_check_word_is(sentence + length, heddle_check_word_length(sentence + length), launched))
        return sentence;
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", before, job->function, sentence + length + sizeof launched - 1);
    const char *copy = heddle_arena_copy_text(arena, text);
    return copy ? copy : sentence;
}

static void hide_names(const heddle_check_job *job, heddle_check_report *report)
{
    for (int i = 0; i < report->finding_count; i++)
        report->findings[i].kernel = real_name(job, report->findings[i].kernel);
    for (int i = 0; i < report->kernel_count; i++)
        report->kernels[i].name = real_name(job, report->kernels[i].name);
    report->unchecked = real_sentence(job, report->unchecked, report->arena);
}

void heddle_check_job_hide(const heddle_check_job *job, const heddle_check_folder *folder, heddle_check_report *report)
{
    hide_places(folder, report);
    if (job->launch[0])
        hide_names(job, report);
}
