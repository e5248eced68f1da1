// What /proc/cpuinfo says of the first processor. Arm kernels give numbers instead of a name: the table below has the
// cores one meets in servers, boards and laptops.

#include "device/cpu/processor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SIZE = 4096, SHORT_SIZE = 128 };

static const struct {
    unsigned implementer, part;
    const char *name;
} arm_cores[] = {
    {0x41, 0xd03, "Cortex-A53"},    {0x41, 0xd05, "Cortex-A55"},     {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},    {0x41, 0xd09, "Cortex-A73"},     {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},    {0x41, 0xd0c, "Neoverse-N1"},    {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"},   {0x41, 0xd41, "Cortex-A78"},     {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd44, "Cortex-X1"},     {0x41, 0xd46, "Cortex-A510"},    {0x41, 0xd47, "Cortex-A710"},
    {0x41, 0xd48, "Cortex-X2"},     {0x41, 0xd49, "Neoverse-N2"},    {0x41, 0xd4a, "Neoverse-E1"},
    {0x41, 0xd4b, "Cortex-A78C"},   {0x41, 0xd4d, "Cortex-A715"},    {0x41, 0xd4e, "Cortex-X3"},
    {0x41, 0xd4f, "Neoverse-V2"},   {0x41, 0xd80, "Cortex-A520"},    {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},     {0x41, 0xd84, "Neoverse-V3"},    {0x41, 0xd8e, "Neoverse-N3"},
    {0x43, 0x0af, "ThunderX2"},     {0x46, 0x001, "A64FX"},          {0x48, 0xd01, "Kunpeng 920"},
    {0x4e, 0x004, "NVIDIA Carmel"}, {0x51, 0x001, "Qualcomm Oryon"}, {0x61, 0x022, "Apple M1"},
    {0x61, 0x023, "Apple M1"},      {0x61, 0x024, "Apple M1 Pro"},   {0x61, 0x025, "Apple M1 Pro"},
    {0x61, 0x028, "Apple M1 Max"},  {0x61, 0x029, "Apple M1 Max"},   {0x61, 0x032, "Apple M2"},
    {0x61, 0x033, "Apple M2"},      {0xc0, 0xac3, "AmpereOne"},      {0xc0, 0xac4, "AmpereOne A"},
};

// The flags worth showing, in the order shown, and the kernel's words for them.
static const struct {
    const char *flag, *word;
} instruction_flags[] = {
    {"asimd", "neon"}, {"neon", "neon"}, {"sve", "sve"}, {"sve2", "sve2"},       {"sme", "sme"},
    {"avx", "avx"},    {"avx2", "avx2"}, {"fma", "fma"}, {"avx512f", "avx512f"}, {"amx_tile", "amx"},
};

// The value of the first line "key : value"; false when there is none.
static bool find_value(const char *cpuinfo, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = cpuinfo; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *colon = line + length + strspn(line + length, " \t");
        if (*colon != ':')
            continue;
        const char *start = colon + 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(start, "\n"), start);
        return value[0] != '\0';
    }
    return false;
}

void heddle_cpu_processor_name(const char *cpuinfo, char *name, size_t size)
{
    char implementer_text[SHORT_SIZE] = "";
    char part_text[SHORT_SIZE] = "";
    if (find_value(cpuinfo, "model name", name, size))
        return;
    if (!find_value(cpuinfo, "CPU implementer", implementer_text, sizeof implementer_text) ||
        !find_value(cpuinfo, "CPU part", part_text, sizeof part_text)) {
        snprintf(name, size, "unknown processor");
        return;
    }
    unsigned long implementer = strtoul(implementer_text, NULL, 0);
    unsigned long part = strtoul(part_text, NULL, 0);
    for (size_t i = 0; i < sizeof arm_cores / sizeof *arm_cores; i++) {
        if (arm_cores[i].implementer == implementer && arm_cores[i].part == part) {
            snprintf(name, size, "%s", arm_cores[i].name);
            return;
        }
    }
    snprintf(name, size, "Arm processor (implementer 0x%lx, part 0x%lx)", implementer, part);
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = strstr(list, word); found; found = strstr(found + 1, word)) {
        bool starts = found == list || found[-1] == ' ';
        bool ends = found[length] == ' ' || found[length] == '\0';
        if (starts && ends)
            return true;
    }
    return false;
}

void heddle_cpu_instructions(const char *cpuinfo, char *instructions, size_t size)
{
    char flags[VALUE_SIZE] = "";
    size_t used = 0;
    if (!find_value(cpuinfo, "flags", flags, sizeof flags))
        find_value(cpuinfo, "Features", flags, sizeof flags);
    instructions[0] = '\0';
    for (size_t i = 0; i < sizeof instruction_flags / sizeof *instruction_flags; i++)
        if (has_word(flags, instruction_flags[i].flag) && used < size)
            used += (size_t)snprintf(instructions + used, size - used, "%s%s", used > 0 ? " " : "",
                                     instruction_flags[i].word);
    if (used == 0)
        snprintf(instructions, size, "%s", has_word(flags, "sse2") ? "sse2" : "scalar");
}

double heddle_cpu_clock(const char *cpuinfo)
{
    char text[SHORT_SIZE] = "";
    return find_value(cpuinfo, "cpu MHz", text, sizeof text) ? strtod(text, NULL) : 0;
}
