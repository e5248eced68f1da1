// The learner's folder: nothing in it is ever lost. What needs the whole command is in tests/cli/learn.py.

#include "learn/workspace.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "course_files.h"
#include "files.h"
#include "learn/state.h"
#include "learn/watch.h"

// What stands between the library and the kernel here.
static bool no_flags;         // a file system that has no RENAME_NOREPLACE
static const char *intrusion; // another process writes this file as soon as it has been renamed

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (no_flags) {
        errno = EINVAL;
        return -1;
    }
    int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0 && intrusion)
        write_file(".", intrusion, "by another process");
    return result;
}

// A course, a folder made of it, and that folder opened, as from within.
typedef struct fixture {
    char course_folder[600], folder[600];
    heddle_learn_course *course;
    heddle_learn_workspace workspace;
} fixture;

static void set_up(fixture *made, const char *root)
{
    int added = 0;
    snprintf(made->course_folder, sizeof made->course_folder, "%s/course", root);
    snprintf(made->folder, sizeof made->folder, "%s/mine", root);
    write_course(made->course_folder);
    made->course = open_course(made->course_folder);
    assert_int_equal(heddle_learn_workspace_create(made->course, made->folder, &added), HEDDLE_OK);
    assert_int_equal(added, 3);
    assert_int_equal(chdir(made->folder), 0);
    assert_int_equal(heddle_learn_workspace_open(made->course, &made->workspace), HEDDLE_OK);
}

static void tear_down(fixture *made)
{
    heddle_learn_workspace_close(&made->workspace);
    heddle_learn_course_close(made->course);
    assert_int_equal(chdir("/"), 0);
}

// The first of the course is in plain C, the other two are kernels.
static void the_current_exercise_is_the_first_unsolved_kernel_until_one_is_chosen(void **state)
{
    fixture made = {0};
    set_up(&made, *state);
    const heddle_learn_exercise *list = made.course->exercises;
    assert_ptr_equal(heddle_learn_current(&made.workspace), &list[1]);
    assert_int_equal(heddle_learn_set_solved(&made.workspace, &list[1]), HEDDLE_OK);
    assert_ptr_equal(heddle_learn_current(&made.workspace), &list[2]);
    assert_int_equal(heddle_learn_set_current(&made.workspace, &list[1]), HEDDLE_OK);
    assert_ptr_equal(heddle_learn_current(&made.workspace), &list[1]);
    assert_ptr_equal(heddle_learn_next(&made.workspace, &list[1]), &list[2]);
    assert_ptr_equal(heddle_learn_next(&made.workspace, &list[2]), &list[0]); // from the beginning again
    assert_int_equal(heddle_learn_set_solved(&made.workspace, &list[0]), HEDDLE_OK);
    assert_null(heddle_learn_next(&made.workspace, &list[2])); // the only one left
    assert_int_equal(heddle_learn_solved_count(&made.workspace), 2);
    tear_down(&made);
}

static void two_processes_that_change_the_state_do_not_undo_each_other(void **state)
{
    fixture made = {0};
    heddle_learn_workspace other;
    set_up(&made, *state);
    assert_int_equal(heddle_learn_workspace_open(made.course, &other), HEDDLE_OK);
    assert_int_equal(heddle_learn_set_solved(&made.workspace, &made.course->exercises[0]), HEDDLE_OK);
    assert_int_equal(heddle_learn_set_hints(&other, &made.course->exercises[1], 2), HEDDLE_OK);
    assert_true(heddle_learn_is_solved(&other, &made.course->exercises[0]));
    heddle_learn_workspace_close(&other);
    tear_down(&made);
}

static void reset_renames_the_text_and_puts_the_start_back(void **state)
{
    fixture made = {0};
    char backup[HEDDLE_PLACE_SIZE];
    set_up(&made, *state);
    write_file(made.folder, "05-later/05.2-two.cu", "mine");
    assert_int_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_OK);
    assert_string_equal(backup, "05-later/05.2-two.cu.bak-1");
    char *kept = read_file(made.folder, backup), *start = read_file(made.folder, "05-later/05.2-two.cu");
    assert_string_equal(kept, "mine");
    assert_string_equal(start, "start");
    free(kept);
    free(start);
    remove("05-later/05.2-two.cu");
    assert_int_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_OK);
    assert_string_equal(backup, "");
    tear_down(&made);
}

static void a_course_that_lost_a_start_leaves_the_learners_text_in_place(void **state)
{
    fixture made = {0};
    char backup[HEDDLE_PLACE_SIZE], path[1024];
    set_up(&made, *state);
    write_file(made.folder, "05-later/05.2-two.cu", "mine");
    snprintf(path, sizeof path, "%s/05-later/exercises/05.2-two/start.cu", made.course_folder);
    remove(path);
    assert_int_not_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_OK);
    char *kept = read_file(made.folder, "05-later/05.2-two.cu");
    assert_string_equal(kept, "mine");
    free(kept);
    tear_down(&made);
}

static void a_reset_that_fails_brings_the_text_back_on_any_file_system(void **state)
{
    fixture made = {0};
    char backup[HEDDLE_PLACE_SIZE], path[1024];
    set_up(&made, *state);
    write_file(made.folder, "05-later/05.2-two.cu", "mine");
    no_flags = true;
    assert_int_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_OK);
    assert_string_equal(backup, "05-later/05.2-two.cu.bak-1");
    write_file(made.folder, "05-later/05.2-two.cu", "mine again");
    snprintf(path, sizeof path, "%s/05-later/exercises/05.2-two/start.cu", made.course_folder);
    remove(path);
    assert_int_not_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_OK);
    no_flags = false;
    assert_string_equal(backup, "");
    char *kept = read_file(made.folder, "05-later/05.2-two.cu"),
         *old = read_file(made.folder, "05-later/05.2-two.cu.bak-1");
    assert_string_equal(kept, "mine again");
    assert_string_equal(old, "mine");
    free(kept);
    free(old);
    tear_down(&made);
}

static void a_reset_that_cannot_bring_the_text_back_says_where_it_is(void **state)
{
    fixture made = {0};
    char backup[HEDDLE_PLACE_SIZE];
    set_up(&made, *state);
    write_file(made.folder, "05-later/05.2-two.cu", "mine");
    intrusion = "05-later/05.2-two.cu";
    assert_int_equal(heddle_learn_reset(&made.workspace, &made.course->exercises[1], backup), HEDDLE_IO);
    intrusion = NULL;
    assert_non_null(strstr(heddle_last_error(), "; your text is in 05-later/05.2-two.cu.bak-1"));
    char *kept = read_file(made.folder, backup);
    assert_string_equal(kept, "mine");
    free(kept);
    tear_down(&made);
}

static void exercises_that_cannot_be_added_do_not_stand_in_the_way(void **state)
{
    fixture made = {0};
    heddle_learn_workspace other;
    set_up(&made, *state);
    write_file(made.course_folder, "06-new/exercises/06.1-new/start.cu", "start");
    write_file(made.folder, "06-new", "a file in the place of a folder");
    heddle_learn_course *newer = open_course(made.course_folder);
    assert_int_equal(heddle_learn_workspace_open(newer, &other), HEDDLE_OK);
    assert_string_equal(heddle_learn_current(&other)->name, "05.2-two");
    heddle_learn_workspace_close(&other);
    heddle_learn_course_close(newer);
    tear_down(&made);
}

static void the_current_exercise_is_compared_with_the_file_and_not_with_memory(void **state)
{
    fixture made = {0};
    heddle_learn_workspace other;
    set_up(&made, *state);
    const heddle_learn_exercise *list = made.course->exercises;
    assert_int_equal(heddle_learn_set_current(&made.workspace, &list[1]), HEDDLE_OK);
    assert_int_equal(heddle_learn_workspace_open(made.course, &other), HEDDLE_OK);
    assert_int_equal(heddle_learn_set_current(&other, &list[2]), HEDDLE_OK);
    assert_int_equal(heddle_learn_set_current(&made.workspace, &list[1]), HEDDLE_OK);
    heddle_learn_workspace_close(&other);
    assert_int_equal(heddle_learn_workspace_open(made.course, &other), HEDDLE_OK);
    assert_ptr_equal(heddle_learn_current(&other), &list[1]);
    heddle_learn_workspace_close(&other);
    tear_down(&made);
}

static void a_state_that_cannot_be_read_is_not_taken_for_an_empty_one(void **state)
{
    fixture made = {0};
    cJSON *read = NULL;
    set_up(&made, *state);
    assert_int_equal(remove(heddle_learn_state_name), 0);
    assert_int_equal(symlink(heddle_learn_state_name, heddle_learn_state_name), 0); // to itself
    assert_int_not_equal(heddle_learn_state_read(made.folder, &read), HEDDLE_OK);
    assert_null(read);
    tear_down(&made);
}

// Asks until something has changed: how long that takes depends on the machine. After a minute nothing will.
static const heddle_learn_exercise *wait_for_change(heddle_learn_watch *watch)
{
    const int most_tries = 60000, between_tries = 1000; // microseconds
    const heddle_learn_exercise *changed = NULL;
    for (int i = 0; i < most_tries && !changed; i++) {
        usleep(between_tries);
        changed = heddle_learn_watch_changed(watch);
    }
    assert_non_null(changed);
    return changed;
}

static void a_save_is_noticed_in_place_by_rename_and_by_deletion(void **state)
{
    fixture made = {0};
    heddle_learn_watch *watch = NULL;
    set_up(&made, *state);
    assert_int_equal(heddle_learn_watch_open(&made.workspace, &watch), HEDDLE_OK);
    assert_null(heddle_learn_watch_changed(watch));
    write_file(made.folder, "05-later/05.2-two.cu", "in place");
    assert_ptr_equal(wait_for_change(watch), &made.course->exercises[1]);
    assert_null(heddle_learn_watch_changed(watch));
    write_file(made.folder, "05-later/new", "by rename");
    assert_int_equal(rename("05-later/new", "05-later/05.10-ten.cu"), 0);
    assert_ptr_equal(wait_for_change(watch), &made.course->exercises[2]);
    remove("04-plain/04.1-one.c");
    assert_ptr_equal(wait_for_change(watch), &made.course->exercises[0]);
    write_file(made.folder, "05-later/notes.txt", "not an exercise");
    assert_null(heddle_learn_watch_changed(watch));
    heddle_learn_watch_close(watch);
    tear_down(&made);
}

static void only_one_watches_a_folder(void **state)
{
    fixture made = {0};
    int first = -1, second = -1;
    set_up(&made, *state);
    assert_int_equal(heddle_learn_watch_alone(&made.workspace, &first), HEDDLE_OK);
    assert_int_equal(heddle_learn_watch_alone(&made.workspace, &second), HEDDLE_UNSUPPORTED);
    close(first);
    assert_int_equal(heddle_learn_watch_alone(&made.workspace, &second), HEDDLE_OK);
    close(second);
    tear_down(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_current_exercise_is_the_first_unsolved_kernel_until_one_is_chosen),
        WITH_FOLDER(two_processes_that_change_the_state_do_not_undo_each_other),
        WITH_FOLDER(reset_renames_the_text_and_puts_the_start_back),
        WITH_FOLDER(a_course_that_lost_a_start_leaves_the_learners_text_in_place),
        WITH_FOLDER(a_reset_that_fails_brings_the_text_back_on_any_file_system),
        WITH_FOLDER(a_reset_that_cannot_bring_the_text_back_says_where_it_is),
        WITH_FOLDER(exercises_that_cannot_be_added_do_not_stand_in_the_way),
        WITH_FOLDER(the_current_exercise_is_compared_with_the_file_and_not_with_memory),
        WITH_FOLDER(a_state_that_cannot_be_read_is_not_taken_for_an_empty_one),
        WITH_FOLDER(a_save_is_noticed_in_place_by_rename_and_by_deletion),
        WITH_FOLDER(only_one_watches_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
