// Which card the simulator is: the one that SIM_GPU names.
#include "api/chips.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "machine/options.h"

// "A100" and "RTX 4090" are names too.
static bool is_called(const char *key, const char *name)
{
    for (;; key++, name++) {
        key += strspn(key, "-");
        name += strspn(name, " -");
        if (tolower((unsigned char)*name) != *key)
            return false;
        if (*key == '\0')
            return true;
    }
}

// NULL: there is no such card.
static const sim_chip *find(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return &sim_chips[0];
    for (int i = 0; i < sim_chip_count; i++) {
        if (is_called(sim_chips[i].key, name))
            return &sim_chips[i];
    }
    return NULL;
}

bool sim_chip_known(char why[SIM_CHIP_REFUSAL])
{
    const char *name = sim_options_get()->gpu;
    if (find(name) != NULL)
        return true;
    size_t used = (size_t)snprintf(why, SIM_CHIP_REFUSAL, "refused: there is no card called '%.64s'; there are", name);
    for (int i = 0; i < sim_chip_count && used < SIM_CHIP_REFUSAL; i++)
        used += (size_t)snprintf(why + used, SIM_CHIP_REFUSAL - used, "%s %s", i > 0 ? "," : "", sim_chips[i].key);
    return false;
}

const sim_chip *sim_chip_get(void)
{
    static const sim_chip *chosen;
    if (chosen == NULL)
        chosen = find(sim_options_get()->gpu);
    return chosen != NULL ? chosen : &sim_chips[0];
}
