// Places of the program as source lines, with the functions that were inlined there: one run of addr2line for all of
// them at the end. Without addr2line a place is a function and an offset in it.
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h> // memfd_create
#include <sys/wait.h>
#include <unistd.h>

#include "program/arena.h"
#include "program/lines.h"
#include "program/names.h"
#include "program/program.h"

enum { BUCKETS = 4096 }; // a power of two
enum { FUNCTION_BYTES = 160, ADDRESS_BYTES = 32 };
enum { MOST_FRAMES = 64 }; // inlined into each other at one place
// How far before a place without a line one is looked for.
enum { BACK_STEP = 4, MOST_BACK = 16 * BACK_STEP };

typedef struct place {
    uintptr_t pc;
    bool asked, without_line;
    sim_stack stack;
    struct place *next_in_bucket, *next;
} place;

static place *buckets[BUCKETS];
static place *first, **last = &first;
static size_t wanted;

static place **bucket_of(uintptr_t pc)
{
    return &buckets[(pc * 0x9e3779b97f4a7c15u) >> 40 & (BUCKETS - 1)];
}

static place *find_place(uintptr_t pc)
{
    place *found = *bucket_of(pc);
    while (found && found->pc != pc)
        found = found->next_in_bucket;
    return found;
}

void sim_lines_want(uintptr_t pc)
{
    if (!pc || find_place(pc))
        return;
    place *added = sim_arena_take(sizeof *added);
    if (!added)
        return;
    added->pc = pc;
    added->next_in_bucket = *bucket_of(pc);
    *bucket_of(pc) = added;
    *last = added;
    last = &added->next;
    wanted++;
}

const sim_stack *sim_lines_of(uintptr_t pc)
{
    place *found = pc ? find_place(pc) : NULL;
    return found && found->stack.count ? &found->stack : NULL;
}

// --- running addr2line ---------------------------------------------------------------------------------------------

// All addresses as one file in memory: a pipe could fill up on both ends.
static int write_addresses(void)
{
    const sim_module *module = sim_module_self();
    char *text = sim_arena_take(wanted * ADDRESS_BYTES + 1);
    int descriptor = memfd_create("sim-addresses", MFD_CLOEXEC);
    if (!text || descriptor < 0)
        return -1;
    size_t used = 0;
    for (place *at = first; at; at = at->next) {
        if (!at->asked && at->pc > module->text_lo && at->pc <= module->text_hi)
            used += (size_t)snprintf(text + used, ADDRESS_BYTES, "%#lx\n", (unsigned long)(at->pc - 1 - module->base));
        at->asked = true;
    }
    if (used == 0 || write(descriptor, text, used) != (ssize_t)used || lseek(descriptor, 0, SEEK_SET) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// vfork, for a program that has reserved a whole card's memory is slow to copy; the child only calls what is safe. Not
// posix_spawn: its list of file actions takes memory from the heap, which a crash may have left locked or broken.
static pid_t start(const char *program, int input, int output, int nowhere)
{
    char *const arguments[] = {(char *)program, "-a", "-f", "-C", "-i", "-e", (char *)sim_module_self()->path, NULL};
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): see above
    if (child == 0) {
        dup2(input, STDIN_FILENO); // NOLINT(clang-analyzer-unix.Vfork): a system call, changes nothing of the parent
        dup2(output, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execvp(program, arguments);
        _exit(127);
    }
    return child;
}

// Reads to the end, into memory that doubles; a 0 at the end.
static char *read_all(int descriptor)
{
    size_t room = 1 << 20, used = 0;
    char *text = sim_arena_take(room);
    while (text) {
        ssize_t got = read(descriptor, text + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
        if (room - used > 1)
            continue;
        char *larger = sim_arena_take(2 * room);
        if (larger)
            memcpy(larger, text, used);
        text = larger;
        room *= 2;
    }
    return text;
}

// What `program` says of the addresses; NULL when it cannot be run.
static char *ask(const char *program, int addresses)
{
    int ends[2], nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (lseek(addresses, 0, SEEK_SET) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
        close(nowhere);
        return NULL;
    }
    pid_t child = start(program, addresses, ends[1], nowhere);
    close(ends[1]);
    char *text = child > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    close(nowhere);
    if (child > 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    return text && text[0] == '0' ? text : NULL;
}

static char *ask_any(int addresses)
{
    const char *given = getenv("ADDR2LINE");
    const char *const programs[] = {given && given[0] ? given : "addr2line", "addr2line", "llvm-addr2line",
                                    "llvm-addr2line-14"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *text = ask(programs[i], addresses);
        if (text)
            return text;
    }
    return NULL;
}

// --- understanding what it says ------------------------------------------------------------------------------------

static const char *shortened(const char *function)
{
    char name[FUNCTION_BYTES];
    sim_name_of_function(function, name, sizeof name);
    return sim_arena_string(name, strlen(name));
}

// "/a/./b/../c.cu" to "/a/c.cu", without asking the file system: links stay as the user wrote them.
static const char *tidy_path(const char *path, size_t length)
{
    char text[1024];
    size_t used = 0;
    if (length == 0 || length >= sizeof text / 2)
        return sim_arena_string(path, length);
    if (path[0] != '/' && getcwd(text, sizeof text / 2))
        used = strlen(text);
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && path[end] != '/')
            end++;
        size_t part = end - at;
        if (part == 2 && memcmp(path + at, "..", 2) == 0) {
            while (used > 0 && text[--used] != '/')
                continue;
        } else if (part > 0 && !(part == 1 && path[at] == '.')) {
            text[used++] = '/';
            memcpy(text + used, path + at, part);
            used += part;
        }
        at = end + 1;
    }
    return sim_arena_string(text, used);
}

// "file:12 (discriminator 3)"
static void set_source(sim_frame *frame, char *text)
{
    char *colon = strrchr(text, ':');
    frame->file = "";
    if (!colon || strncmp(text, "??", 2) == 0)
        return;
    frame->line = (unsigned)strtoul(colon + 1, NULL, 10);
    if (frame->line)
        frame->file = tidy_path(text, (size_t)(colon - text));
}

// A stand-in header: one of the folders above it has sim/abi.h.
static bool is_stand_in(const char *file)
{
    static const char header[] = "sim/abi.h";
    static char known[512]; // the folder that was found to be the stand-in headers'
    char path[1024];
    if (known[0] && strncmp(file, known, strlen(known)) == 0)
        return true;
    size_t length = strlen(file);
    if (length + sizeof header >= sizeof path)
        return false;
    memcpy(path, file, length + 1);
    for (char *slash; (slash = strrchr(path, '/')); *slash = '\0') {
        memcpy(slash + 1, header, sizeof header);
        if (access(path, F_OK) == 0) {
            slash[1] = '\0';
            snprintf(known, sizeof known, "%.*s", (int)sizeof known - 1, path);
            return true;
        }
    }
    return false;
}

static bool is_users(const sim_frame *frame)
{
    const char *file = frame->file;
    return file[0] && strncmp(file, "/usr/include/", 13) != 0 && strncmp(file, "/usr/lib/", 9) != 0 &&
           !strstr(file, "/include/c++/") && !is_stand_in(file);
}

// The user's frames, or all where none is the user's.
static void set_stack(place *at, const sim_frame *frames, size_t count)
{
    size_t users = 0;
    bool keep[MOST_FRAMES];
    for (size_t i = 0; i < count; i++)
        users += keep[i] = is_users(&frames[i]);
    sim_frame *kept = sim_arena_take((users ? users : count) * sizeof *kept);
    if (!kept)
        return;
    for (size_t i = 0; i < count; i++)
        if (keep[i] || !users)
            kept[at->stack.count++] = frames[i];
    at->stack.frames = kept;
    size_t others = 0; // called by the user's innermost
    while (users && !keep[others])
        others++;
    sim_frame *within = others ? sim_arena_take(sizeof *within) : NULL;
    if (within)
        *within = frames[others - 1];
    at->stack.within = within;
}

static char *take_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    if (!*line)
        return NULL;
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static bool is_address(const char *line)
{
    return line[0] == '0' && line[1] == 'x';
}

// For each address a line with it, then two lines for each frame: the function, and its file and line.
static void read_answer(char *text)
{
    const sim_module *module = sim_module_self();
    char *line = take_line(&text);
    while (line) {
        place *at = find_place(strtoul(line, NULL, 16) + 1 + module->base);
        sim_frame frames[MOST_FRAMES];
        size_t count = 0;
        bool in_known_file = false;
        while ((line = take_line(&text)) && !is_address(line)) {
            char *source = take_line(&text);
            if (!source || count == MOST_FRAMES)
                continue;
            frames[count] = (sim_frame){.function = line};
            in_known_file |= strncmp(source, "??", 2) != 0;
            set_source(&frames[count++], source);
        }
        if (at && count && !frames[0].file[0])
            at->without_line = in_known_file;
        if (at && !at->stack.count && count && frames[0].file[0]) {
            for (size_t i = 0; i < count; i++)
                frames[i].function = shortened(frames[i].function);
            // GNU addr2line calls an inlined function that is static by the name of the one all were inlined into.
            if (count > 1 && strcmp(frames[0].function, frames[count - 1].function) == 0)
                frames[0].function = "";
            set_stack(at, frames, count);
        }
    }
}

static void use_symbol(place *at)
{
    char mangled[FUNCTION_BYTES * 4], text[FUNCTION_BYTES * 2];
    size_t offset = 0;
    const char *symbol = sim_symbol_function(at->pc - 1, &offset);
    sim_frame *frame = sim_arena_take(sizeof *frame);
    if (!frame)
        return;
    frame->file = "";
    if (symbol) {
        sim_name_demangle(symbol, mangled, sizeof mangled);
        snprintf(text, sizeof text, "%s+%#lx", shortened(mangled), (unsigned long)offset);
    } else {
        snprintf(text, sizeof text, "%#lx", (unsigned long)at->pc);
    }
    frame->function = sim_arena_string(text, strlen(text));
    at->stack = (sim_stack){.count = 1, .frames = frame};
}

static void ask_all(void)
{
    int addresses = write_addresses();
    char *text = addresses >= 0 ? ask_any(addresses) : NULL;
    if (addresses >= 0)
        close(addresses);
    if (text)
        read_answer(text);
}

// Where the compiler has made one instruction of several, or made one up, it has no line: that of the closest one
// before it in the same function stands for it.
static void ask_before(void)
{
    bool any = false;
    for (place *at = first; at; at = at->next) {
        size_t offset = 0;
        if (!at->without_line || !sim_symbol_function(at->pc - 1, &offset))
            continue;
        any = true;
        for (unsigned back = BACK_STEP; back <= MOST_BACK && back <= offset; back += BACK_STEP)
            sim_lines_want(at->pc - back);
    }
    if (any)
        ask_all();
    for (place *at = first; any && at; at = at->next)
        for (unsigned back = BACK_STEP; at->without_line && !at->stack.count && back <= MOST_BACK; back += BACK_STEP) {
            const place *before = find_place(at->pc - back);
            if (before && !before->without_line)
                at->stack = before->stack;
        }
}

void sim_lines_resolve(void)
{
    ask_all();
    ask_before();
    for (place *at = first; at; at = at->next)
        if (!at->stack.count)
            use_symbol(at);
}

// --- words -----------------------------------------------------------------------------------------------------------

const char *sim_frame_text(const sim_frame *frame, char text[SIM_PLACE_BYTES])
{
    const char *slash = strrchr(frame->file, '/');
    if (frame->file[0])
        snprintf(text, SIM_PLACE_BYTES, "%s:%u", slash ? slash + 1 : frame->file, frame->line);
    else
        snprintf(text, SIM_PLACE_BYTES, "%s", frame->function);
    return text;
}

int sim_frame_compare(const sim_frame *a, const sim_frame *b)
{
    int order = strcmp(a->file, b->file);
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    return order || a->line ? order : strcmp(a->function, b->function);
}
