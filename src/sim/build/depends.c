// Reads the compiler's list of files and writes ours.

#include "build/depends.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void sim_depends_options(const sim_build_context *context, const sim_job *job, sim_arguments *call, sim_text *path)
{
    if (!context->options->depends)
        return;
    sim_text_print(path, "%s/%d.d", context->temporary.folder, job->number);
    // gcc names the headers inside a precompiled one only when told to; clang always does.
    if (!context->compiler.clang)
        sim_arguments_add(call, "-fpch-deps");
    const char *const rest[] = {"-MD", "-MF", path->at, "-MQ", "x", NULL};
    sim_arguments_add_list(call, rest);
}

// --- a file's name, as make reads it ---------------------------------------------------------------------------------

static void add_word(sim_text *rule, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#')
            sim_text_add(rule, "\\");
        else if (*name == '$')
            sim_text_add(rule, "$");
        sim_text_add_bytes(rule, name, 1);
    }
}

// Takes the next name off the list, without its quotes. False: there are no more.
static bool next_word(const char **list, sim_text *word)
{
    const char *at = *list;
    word->bytes = 0;
    while (*at == ' ' || *at == '\n' || (at[0] == '\\' && at[1] == '\n'))
        at += at[0] == '\\' ? 2 : 1;
    for (; *at && *at != ' ' && *at != '\n'; at++) {
        if (at[0] == '\\' && at[1] == '\n')
            break;
        if ((at[0] == '\\' && (at[1] == ' ' || at[1] == '#')) || (at[0] == '$' && at[1] == '$'))
            at++;
        sim_text_add_bytes(word, at, 1);
    }
    *list = at;
    return word->bytes > 0;
}

// --- the compiler's list ---------------------------------------------------------------------------------------------

static bool is_inside(const char *path, const char *folder, size_t length)
{
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

// The file to name in place of this one; NULL: none, because it is only ours.
static const char *users_file(const sim_build_context *context, const sim_rewritten *rewritten, const char *name)
{
    for (int i = 0; rewritten && i < rewritten->count; i++)
        if (rewritten->files[i].shadow && strcmp(name, rewritten->files[i].shadow) == 0)
            return rewritten->files[i].path;
    if (is_inside(name, context->temporary.folder, strlen(context->temporary.folder)))
        return NULL;
    for (int kind = SIM_STANDIN_FAST; kind < SIM_STANDIN_KINDS; kind++) {
        const struct sim_standin *standin = &context->standin[kind];
        const char *slash = strrchr(standin->path, '/');
        if (standin->precompiled && slash && is_inside(name, standin->path, (size_t)(slash - standin->path)))
            return NULL;
    }
    return name;
}

bool sim_depends_read(const sim_build_context *context, sim_job *job, const sim_rewritten *rewritten, const char *path)
{
    sim_text file = {0}, word = {0};
    bool fine = sim_text_read(&file, path);
    const char *list = fine && file.at ? strchr(file.at, ':') : NULL;
    if (list)
        list++;
    while (list && next_word(&list, &word)) {
        const char *name = users_file(context, rewritten, word.at);
        if (!name)
            continue;
        sim_text_add(&job->depends, " \\\n  ");
        add_word(&job->depends, name);
    }
    fine = fine && list && !word.failed && !job->depends.failed;
    sim_text_free(&word);
    sim_text_free(&file);
    return fine;
}

// --- ours ------------------------------------------------------------------------------------------------------------

// A rule for each header.
static void add_phony_rules(sim_text *rules, const sim_job *job)
{
    const char *list = job->depends.at;
    sim_text word = {0};
    while (list && next_word(&list, &word)) {
        if (strcmp(word.at, job->path) == 0)
            continue;
        add_word(rules, word.at);
        sim_text_add(rules, ":\n");
    }
    sim_text_free(&word);
}

static void add_rule(sim_text *rules, const sim_build_options *options, const char *output, const sim_job *jobs,
                     int count)
{
    if (options->depend_target)
        sim_text_add(rules, options->depend_target);
    else
        add_word(rules, output);
    sim_text_add(rules, ":");
    for (int i = 0; i < count; i++)
        if (jobs[i].depends.at)
            sim_text_add_bytes(rules, jobs[i].depends.at, jobs[i].depends.bytes);
    sim_text_add(rules, "\n");
    for (int i = 0; i < count && options->depends_phony; i++)
        add_phony_rules(rules, &jobs[i]);
}

// FILE.d of FILE.o; PROGRAM.d of PROGRAM.
static void default_path(sim_text *path, const char *output)
{
    const char *dot = strrchr(output, '.');
    bool has_ending = dot && dot != output && !strchr(dot, '/');
    sim_text_print(path, "%.*s.d", has_ending ? (int)(dot - output) : (int)strlen(output), output);
}

static bool write_rule(const sim_build_options *options, const char *output, const sim_job *jobs, int count,
                       sim_build_result *result)
{
    sim_text rule = {0}, path = {0};
    add_rule(&rule, options, output, jobs, count);
    if (options->depend_file)
        sim_text_add(&path, options->depend_file);
    else
        default_path(&path, output);
    bool fine = !rule.failed && !path.failed;
    FILE *file = fine ? fopen(path.at, "w") : NULL;
    fine = file && fwrite(rule.at, 1, rule.bytes, file) == rule.bytes;
    fine = file && fclose(file) == 0 && fine;
    if (!fine)
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s: %s", path.at ? path.at : output, strerror(errno));
    sim_text_free(&rule);
    sim_text_free(&path);
    return fine;
}

bool sim_depends_write(const sim_build_options *options, const sim_job *jobs, int count, sim_build_result *result)
{
    if (!options->compile_only)
        return write_rule(options, options->output ? options->output : "a.out", jobs, count, result);
    bool fine = true;
    for (int i = 0; i < count && fine; i++)
        if (jobs[i].language != SIM_LANGUAGE_NONE)
            fine = write_rule(options, jobs[i].object, &jobs[i], 1, result);
    return fine;
}
