// Opens the course and the learner's folder, and prepares a judging.

#include <stdlib.h>

#include "base/terminal.h"
#include "cli/interrupt.h"
#include "cli/learn.h"
#include "learn/interrupt.h"

heddle_status heddle_cli_learn_open(heddle_cli_learn *learn)
{
    *learn = (heddle_cli_learn){0};
    setenv("LANGUAGE", "en", 1); // compilers then speak the language that we explain
    HEDDLE_TRY(heddle_learn_course_open(NULL, &learn->course));
    heddle_status status = heddle_learn_workspace_open(learn->course, &learn->workspace);
    if (status != HEDDLE_OK)
        heddle_cli_learn_close(learn);
    return status;
}

void heddle_cli_learn_close(heddle_cli_learn *learn)
{
    heddle_learn_workspace_close(&learn->workspace);
    heddle_learn_course_close(learn->course);
    learn->course = NULL;
}

heddle_status heddle_cli_learn_find(const heddle_cli_learn *learn, const char *word,
                                    const heddle_learn_exercise **exercise)
{
    if (word)
        return heddle_learn_find(&learn->workspace, word, exercise);
    *exercise = heddle_learn_current(&learn->workspace);
    if (*exercise)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "every exercise is solved; name one, such as %s",
                       learn->course->exercises[0].number);
}

static void interrupt_judge(int number)
{
    (void)number;
    heddle_learn_interrupt();
}

void heddle_cli_learn_stop_gently(bool patient)
{
    heddle_cli_stop_gently(&(heddle_cli_gently){.also = interrupt_judge, .patient = patient});
}

heddle_learn_task heddle_cli_learn_task(const heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                                        char path[HEDDLE_PLACE_SIZE], char shown[HEDDLE_PLACE_SIZE])
{
    heddle_learn_file(&learn->workspace, exercise, path);
    heddle_learn_shown_file(&learn->workspace, exercise, shown);
    return (heddle_learn_task){
        .course = learn->course, .exercise = exercise, .path = path, .shown = shown, .utf8 = heddle_terminal_utf8()};
}

heddle_status heddle_cli_learn_record(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                                      const heddle_learn_verdict *verdict)
{
    HEDDLE_TRY(heddle_learn_set_current(&learn->workspace, exercise));
    return verdict->passed ? heddle_learn_set_solved(&learn->workspace, exercise) : HEDDLE_OK;
}
