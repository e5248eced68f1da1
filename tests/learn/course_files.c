#include "course_files.h"

#include "base/file.h"
#include "files.h"

void write_file(const char *folder, const char *path, const char *text)
{
    char whole[1024], *slash;
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    slash = strrchr(whole, '/');
    *slash = '\0';
    assert_int_equal(heddle_folder_create(whole), HEDDLE_OK);
    *slash = '/';
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

char *read_file(const char *folder, const char *path)
{
    enum { LIMIT = 1 << 20 };
    char whole[1024], *content;
    size_t size;
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    assert_int_equal(heddle_file_read(whole, LIMIT, &content, &size), HEDDLE_OK);
    return content;
}

static void write_exercise(const char *folder, const char *path, const char *title, const char *ending)
{
    char name[512];
    snprintf(name, sizeof name, "%s/README.md", path);
    write_file(folder, name, title);
    snprintf(name, sizeof name, "%s/hints.md", path);
    write_file(folder, name, "# Hints\n\n1. Look\n   closely.\n2. See [this](../x.md) and `that`.\n");
    snprintf(name, sizeof name, "%s/judge.json", path);
    write_file(folder, name, "{\"start_fails_because\": [\"wrong\"]}");
    static const char *const files[] = {"start", "solution", "judge"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s%s", path, files[i], ending);
        write_file(folder, name, files[i]);
    }
}

void write_course(const char *folder)
{
    write_exercise(folder, "05-later/exercises/05.10-ten", "# 05.10 · Ten\n\nText.\n", ".cu");
    write_exercise(folder, "05-later/exercises/05.2-two", "# 05.2 · Two\n\nSee [it](../y.md).<!-- x -->\n", ".cu");
    write_exercise(folder, "04-plain/exercises/04.1-one", "# 04.1 · One\n", ".c");
    write_file(folder, "05-later/exercises/notes.txt", "not an exercise");
    write_file(folder, "README.md", "not a chapter");
}

heddle_learn_course *open_course(const char *folder)
{
    heddle_learn_course *course = NULL;
    assert_int_equal(heddle_learn_course_open(folder, &course), HEDDLE_OK);
    return course;
}
