// The end: what was held back until the whole run is known.

#include "race/race.h"
#include "race/read_only.h"
#include "race/sequence.h"
#include "race/unfenced.h"
#include "race/unwritten.h"
#include "race/view.h"

void sim_race_finish(void)
{
    sim_unwritten_report();
    sim_unfenced_report();
    sim_read_only_report();
    sim_sequence_report();
    sim_race_report();
}
