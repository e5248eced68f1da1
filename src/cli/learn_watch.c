// `heddle learn` on a terminal: shows an exercise, judges its file each time it is saved, and takes keys. The judge
// runs in a thread of its own, so that keys and further saves are heard meanwhile.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/terminal.h"
#include "cli/interrupt.h"
#include "cli/learn.h"
#include "learn/interrupt.h"
#include "learn/watch.h"

typedef struct watching {
    heddle_cli_learn *learn;
    heddle_learn_watch *watch;
    const heddle_learn_exercise *exercise; // NULL: all are solved
    heddle_learn_verdict *verdict;         // of its file as it was last judged; NULL: none
    char error[1024];                      // why it could not be judged, or a word about a key; "": nothing
    char *page;                            // shown in place of statement and verdict until the next key; NULL: none
    bool has_hints;                        // the page shows hints
    bool asks_reset, quits;
    int top, step; // the first row that is shown of what does not fit on the screen, and how many are; 0: all fit
    bool is_last;  // the last of them is shown
    // The judge at work.
    bool judging;
    pthread_t judge;
    int ended[2]; // a byte comes when the judge has ended
    heddle_learn_task task;
    char path[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE];
    heddle_learn_verdict *made;
    heddle_status status;
    char why[1024];
} watching;

static volatile sig_atomic_t redraw; // the window has another size, or we are back from the background

// --- the screen ------------------------------------------------------------------------------------------------------

static void print_keys(const heddle_cli_learn_style *style)
{
    fputs(style->colour
              ? "\033[2mn next  t task  v verdict  h hint  l list  r reset  s solution  q quit  ? help\033[0m\n"
              : "n next  t task  v verdict  h hint  l list  r reset  s solution  q quit  ? help\n",
          style->file);
}

// `folded`: of the statement only its goal.
static void print_exercise(const watching *now, const heddle_cli_learn_style *style, bool folded)
{
    char path[HEDDLE_PLACE_SIZE];
    if (!now->exercise) {
        fprintf(style->file, "Every exercise is solved. `%s learn run NUMBER` judges one again.\n\n",
                heddle_cli_name());
        return;
    }
    if (heddle_cli_learn_print_statement(style, now->exercise, folded) != HEDDLE_OK)
        fprintf(style->file, "%s\n", heddle_last_error());
    heddle_learn_file(&now->learn->workspace, now->exercise, path); // whole: the editor may run in another folder
    fprintf(style->file, "\nYour file: %s\n", path);
    heddle_cli_learn_print_page(style, &now->learn->workspace, now->exercise->chapter, now->exercise);
    if (!folded && heddle_learn_solved_count(&now->learn->workspace) == 0)
        heddle_cli_learn_print_earlier(style->file, now->learn->course, heddle_cli_name());
    fputc('\n', style->file);
    if (now->verdict)
        heddle_cli_learn_print_verdict(style, now->verdict, false);
    const heddle_learn_exercise *next = heddle_learn_next(&now->learn->workspace, now->exercise);
    if (now->verdict && now->verdict->passed && next)
        fprintf(style->file, "Press n for %s %s\n", next->number, next->title);
}

// Where the next row of the screen begins in a text that is wrapped at `width` columns.
static const char *next_row(const char *text, int width)
{
    int column = 0;
    for (; *text; text++) {
        bool begins = ((unsigned char)*text & 0xc0) != 0x80;
        if (*text == '\033') { // a colour
            text += strcspn(text, "m");
            if (*text == '\0')
                break;
        } else if (*text == '\n') {
            return text + 1;
        } else if (begins && column++ == width) {
            return text;
        }
    }
    return text;
}

static int count_rows(const char *text, int width)
{
    int rows = 0;
    for (; *text; rows++)
        text = next_row(text, width);
    return rows;
}

// The rows of a text from `now->top` on, as many as there is room for, and how many are left.
static void print_rows(watching *now, const heddle_cli_learn_style *style, const char *text, int width, int room)
{
    int left = count_rows(text, width);
    now->step = 0;
    if (left <= room) {
        fputs(text, style->file);
        return;
    }
    now->step = room - 1;
    if (now->top >= left)
        now->top = 0; // in a wider terminal the text has fewer rows
    for (int i = 0; i < now->top; i++, left--)
        text = next_row(text, width);
    const char *end = text;
    for (int i = 0; i < now->step && *end; i++, left--)
        end = next_row(end, width);
    now->is_last = left == 0;
    fwrite(text, 1, (size_t)(end - text), style->file);
    fputs(style->colour ? "\033[0m" : "", style->file);
    const char *dots = style->utf8 ? "…" : "...";
    if (now->is_last)
        fprintf(style->file, "(the end: v goes back to the top)\n");
    else
        fprintf(style->file, "%s %d more line%s: press v\n", dots, left, left == 1 ? "" : "s");
}

// The page, else the exercise and its verdict, as text; NULL: no memory. `folded`: of the statement only its goal.
static char *screen_text(const watching *now, const heddle_cli_learn_style *style, bool folded)
{
    heddle_cli_learn_style into = *style;
    char *text = NULL;
    size_t size = 0;
    into.file = open_memstream(&text, &size);
    if (!into.file)
        return NULL;
    if (now->page)
        fputs(now->page, into.file);
    else
        print_exercise(now, &into, folded);
    fclose(into.file);
    return text;
}

// Where statement and verdict do not fit on the screen, the statement is folded: it has been read. The goal and the
// progress bar stay on the screen, whatever comes between them.
static void draw(watching *now)
{
    enum { LINES_BELOW = 3, LEAST_ROOM = 4 }; // a blank line, the bar, the keys
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    int width = heddle_terminal_width(stdout), height = heddle_terminal_height(stdout);
    int room = height - LINES_BELOW - now->judging - (width > 0 && now->error[0] ? count_rows(now->error, width) : 0);
    char *text = screen_text(now, &style, false);
    bool fits = width == 0 || height == 0 || (text && count_rows(text, width) <= room);
    if (!fits && now->verdict && !now->page) {
        free(text);
        text = screen_text(now, &style, true);
    }
    fputs("\033[H\033[2J", stdout);
    if (fits)
        fputs(text ? text : "", stdout);
    else if (text)
        print_rows(now, &style, text, width, room > LEAST_ROOM ? room : LEAST_ROOM);
    free(text);
    if (now->error[0])
        printf("%s\n", now->error);
    if (now->judging)
        puts("Judging ...");
    putchar('\n');
    heddle_cli_learn_print_bar(&style, &now->learn->workspace);
    print_keys(&style);
    fflush(stdout);
}

static void say(watching *now, const char *text)
{
    snprintf(now->error, sizeof now->error, "%s", text);
}

static struct termios usual; // the terminal as it was
static bool taken;           // it is ours

static void give_terminal_back(void)
{
    if (taken)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
}

// Ctrl-Z and Ctrl-Backslash do what they always do, with the terminal as it was.
static void on_leave(int number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t only;
    give_terminal_back();
    sigaction(number, &action, NULL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL); // it happens here
    redraw = 1;                            // we are back
}

// Keys are read one by one and not shown; Ctrl-C stays a signal.
static void take_terminal(void)
{
    struct sigaction action = {.sa_handler = on_leave};
    if (!taken && tcgetattr(STDIN_FILENO, &usual) != 0)
        return;
    struct termios raw = usual;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    taken = true;
    sigaction(SIGTSTP, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void on_change(int number)
{
    (void)number;
    redraw = 1;
}

// --- judging ---------------------------------------------------------------------------------------------------------

static void *judge(void *context)
{
    watching *now = context;
    now->status = heddle_learn_judge(&now->task, &now->made);
    if (now->status != HEDDLE_OK)
        snprintf(now->why, sizeof now->why, "%s", heddle_last_error());
    while (write(now->ended[1], "", 1) < 0 && errno == EINTR) {
    }
    return NULL;
}

// Waits for the judge; what it found is dropped if `drop`.
static void end_judging(watching *now, bool drop)
{
    char byte;
    if (!now->judging)
        return;
    if (drop)
        heddle_learn_interrupt();
    pthread_join(now->judge, NULL);
    while (read(now->ended[0], &byte, 1) < 0 && errno == EINTR) {
    }
    now->judging = false;
    heddle_learn_verdict *made = now->made;
    now->made = NULL;
    if (drop) {
        heddle_learn_verdict_free(made);
        return;
    }
    heddle_learn_verdict_free(now->verdict);
    now->verdict = made;
    now->top = 0;
    if (now->status != HEDDLE_OK)
        say(now, now->why);
    else if (heddle_cli_learn_record(now->learn, now->exercise, made) != HEDDLE_OK)
        snprintf(now->error, sizeof now->error, "progress is not recorded: %s", heddle_last_error());
}

static void begin_judging(watching *now)
{
    end_judging(now, true);
    if (!now->exercise || heddle_cli_interrupted)
        return;
    heddle_learn_resume();
    now->error[0] = '\0';
    now->task = heddle_cli_learn_task(now->learn, now->exercise, now->path, now->shown);
    now->judging = heddle_thread_start(&now->judge, "judge", judge, now) == HEDDLE_OK;
    if (!now->judging)
        say(now, heddle_last_error());
}

static void go_to(watching *now, const heddle_learn_exercise *exercise)
{
    end_judging(now, true);
    now->asks_reset = false; // it was about what was on the screen
    if (exercise != now->exercise) {
        heddle_learn_verdict_free(now->verdict);
        now->verdict = NULL;
    }
    now->exercise = exercise;
    if (exercise)
        heddle_learn_set_current(&now->learn->workspace, exercise); // only convenience: a full disk must not stop us
    begin_judging(now);
}

// --- keys ------------------------------------------------------------------------------------------------------------

// Prints into a page instead of the terminal.
static FILE *begin_page(watching *now, heddle_cli_learn_style *style)
{
    static size_t size;
    free(now->page);
    now->page = NULL;
    *style = heddle_cli_learn_style_of(stdout);
    style->file = open_memstream(&now->page, &size);
    return style->file;
}

static void end_page(watching *now, FILE *file, heddle_status status)
{
    fclose(file);
    if (status != HEDDLE_OK)
        say(now, heddle_last_error());
}

static void press_next(watching *now)
{
    const heddle_learn_exercise *next = now->exercise ? heddle_learn_next(&now->learn->workspace, now->exercise) : NULL;
    if (next)
        go_to(now, next);
    else
        say(now, now->exercise && !heddle_learn_is_solved(&now->learn->workspace, now->exercise)
                     ? "This is the only exercise left."
                     : "Every exercise is solved.");
}

// First the hints that have been seen; h again, while they are shown, one more.
static void press_hint(watching *now, const heddle_cli_learn_style *style, bool again)
{
    heddle_cli_learn_print_title(style, now->exercise);
    fputc('\n', style->file);
    heddle_status status =
        heddle_cli_learn_print_hints(style, &now->learn->workspace, now->exercise,
                                     again ? HEDDLE_CLI_LEARN_MORE_HINTS : HEDDLE_CLI_LEARN_SEEN_HINTS);
    fputs("h shows one more; any other key goes back.\n", style->file);
    now->has_hints = true;
    end_page(now, style->file, status);
}

static void press_solution(watching *now, const heddle_cli_learn_style *style)
{
    heddle_status status = HEDDLE_OK;
    if (heddle_learn_is_solved(&now->learn->workspace, now->exercise))
        status = heddle_cli_learn_print_solution(style, now->exercise);
    else
        fprintf(style->file,
                "The solution is shown once you have passed. Press h for a hint.\n"
                "(`%s learn solution %s --anyway` shows it now.)\n",
                heddle_cli_name(), now->exercise->number);
    end_page(now, style->file, status);
}

static void press_help(watching *now, const heddle_cli_learn_style *style)
{
    heddle_cli_learn_print(
        style,
        "Edit your file in any editor. Each time you save it, it is judged on a simulated GPU, and "
        "what is wrong is shown here.\n\n"
        "```\n"
        "n      next unsolved exercise after this one\n"
        "t      the whole task, which is folded to its goal where the screen is low\n"
        "h      hints you have seen; again: one more\n"
        "l      list: the exercises of this chapter, and the other chapters\n"
        "r      reset: restore the original file; your version is kept as a .bak file\n"
        "s      solution, once you have passed\n"
        "v      more of what does not fit on the screen\n"
        "Enter  judge again\n"
        "q      quit\n"
        "```\n\n"
        "Each is a command, too: `heddle learn hint`, and so on; `heddle learn show` prints the task, "
        "`heddle learn run` a whole verdict. Saving the file of another exercise goes to that "
        "exercise.\n",
        0);
    end_page(now, style->file, HEDDLE_OK);
}

static void answer_reset(watching *now, char key)
{
    heddle_cli_learn_style style;
    now->asks_reset = false;
    if (key != 'y' && key != 'Y') {
        say(now, "Nothing was changed.");
        return;
    }
    heddle_learn_verdict_free(now->verdict); // of a text that is gone
    now->verdict = NULL;
    FILE *file = begin_page(now, &style);
    if (file)
        end_page(now, file, heddle_cli_learn_reset(&style, &now->learn->workspace, now->exercise));
}

static void press(watching *now, char key)
{
    heddle_cli_learn_style style;
    bool had_page = now->page != NULL, had_hints = now->has_hints;
    bool quits = key == 'q' || key == 'Q' || key == 4; // 4: Ctrl-D
    if (key == 'v') {
        now->top = now->step == 0 || now->is_last ? 0 : now->top + now->step;
        return;
    }
    now->error[0] = '\0';
    now->top = 0;
    now->has_hints = false;
    if (now->asks_reset && !quits) {
        answer_reset(now, key);
        return;
    }
    free(now->page);
    now->page = NULL;
    if (quits) {
        now->quits = true;
    } else if (key == 'n') {
        press_next(now);
    } else if (key == 'l' && begin_page(now, &style)) {
        heddle_cli_learn_print_outline(&style, &now->learn->workspace, now->exercise ? now->exercise->chapter : "");
        end_page(now, style.file, HEDDLE_OK);
    } else if (key == '?' && begin_page(now, &style)) {
        press_help(now, &style);
    } else if (!now->exercise) {
        return;
    } else if (key == 'h' && begin_page(now, &style)) {
        press_hint(now, &style, had_hints);
    } else if (key == 't' && begin_page(now, &style)) {
        end_page(now, style.file, heddle_cli_learn_print_statement(&style, now->exercise, false));
    } else if (key == 's' && begin_page(now, &style)) {
        press_solution(now, &style);
    } else if (key == 'r') {
        now->asks_reset = true;
        say(now, "Put the start back? Your text is kept in a .bak file beside it. y/n");
    } else if (key == '\n' && !had_page) {
        begin_judging(now);
    }
}

// --- the loop --------------------------------------------------------------------------------------------------------

static void hear_keys(watching *now)
{
    char keys[64];
    ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        now->quits = true; // the terminal is gone
    for (ssize_t i = 0; i < count && !now->quits; i++)
        press(now, keys[i]);
}

static void loop(watching *now)
{
    draw(now);
    while (!now->quits && !heddle_cli_interrupted) {
        struct pollfd from[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                {.fd = now->ended[0], .events = POLLIN},
                                {.fd = heddle_learn_watch_descriptor(now->watch), .events = POLLIN}};
        poll(from, sizeof from / sizeof *from, heddle_learn_watch_period(now->watch));
        bool changed = redraw;
        if (redraw) {
            redraw = 0;
            take_terminal(); // it may come from the background
        }
        if (from[1].revents & POLLIN && now->judging) {
            end_judging(now, false);
            changed = true;
        }
        if (from[0].revents) {
            hear_keys(now);
            changed = true;
        }
        const heddle_learn_exercise *saved = heddle_learn_watch_changed(now->watch);
        if (saved) {
            free(now->page);
            now->page = NULL;
            now->top = 0;
            now->has_hints = false;
            go_to(now, saved);
            changed = true;
        }
        if (changed && !now->quits && !heddle_cli_interrupted)
            draw(now);
    }
}

static heddle_status prepare(watching *now)
{
    const heddle_learn_workspace *workspace = &now->learn->workspace;
    if (pipe2(now->ended, O_CLOEXEC) != 0)
        return heddle_fail(HEDDLE_IO, "no pipe: %s", strerror(errno));
    HEDDLE_TRY(heddle_learn_watch_open(workspace, &now->watch));
    now->exercise = heddle_learn_current(workspace);
    return HEDDLE_OK;
}

int heddle_cli_learn_watch(heddle_cli_learn *learn)
{
    watching now = {.learn = learn, .ended = {-1, -1}};
    int lock = -1;
    heddle_status status = heddle_learn_watch_alone(&learn->workspace, &lock);
    if (status == HEDDLE_OK)
        status = prepare(&now);
    if (status == HEDDLE_OK) {
        heddle_cli_learn_stop_gently(true);
        struct sigaction action = {.sa_handler = on_change};
        sigaction(SIGWINCH, &action, NULL);
        sigaction(SIGCONT, &action, NULL);
        take_terminal();
        begin_judging(&now);
        loop(&now);
        end_judging(&now, true);
        give_terminal_back();
    }
    heddle_learn_watch_close(now.watch);
    heddle_learn_verdict_free(now.verdict);
    free(now.page);
    for (int i = 0; i < 2; i++)
        if (now.ended[i] >= 0)
            close(now.ended[i]);
    if (lock >= 0)
        close(lock);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return heddle_cli_interrupted ? heddle_cli_interrupt_code() : HEDDLE_EXIT_OK;
}
