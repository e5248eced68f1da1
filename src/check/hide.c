// The main that heddle wrote has lines that mean nothing to a person.

#include "check/hide.h"

#include <string.h>

static void hide_frame(const heddle_check_folder *folder, heddle_check_frame *frame)
{
    if (strncmp(frame->file, folder->path, strlen(folder->path)) != 0)
        return;
    frame->file = "heddle's main";
    frame->line = 0;
}

void heddle_check_job_hide(const heddle_check_folder *folder, heddle_check_report *report)
{
    for (int f = 0; report->crashed && f < report->crashed->frames; f++)
        hide_frame(folder, &report->crashed->frame[f]);
    for (int i = 0; i < report->finding_count; i++) {
        heddle_check_finding *finding = &report->findings[i];
        for (int p = 0; p < finding->place_count; p++)
            for (int f = 0; f < finding->places[p].frames; f++)
                hide_frame(folder, &finding->places[p].frame[f]);
        heddle_check_memory *memory = finding->memory;
        if (memory) {
            hide_frame(folder, &memory->allocated);
            hide_frame(folder, &memory->freed);
        }
    }
}
