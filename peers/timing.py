"""How long something takes: blocks of work between two waits, and what is made of their times. Standard library
only."""
import signal
import time

LEAST_BLOCKS, MOST_BLOCKS = 5, 200


class OutOfTime(Exception):
    pass


def within(seconds, call):
    """The call's result; OutOfTime where it takes longer."""
    def ring(*_):
        raise OutOfTime("not ready after %d s" % seconds)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def blocks(run_block, seconds):
    """Seconds of each block, sorted, after one block of warm-up."""
    run_block()
    times, began = [], time.perf_counter()
    while len(times) < LEAST_BLOCKS or (time.perf_counter() - began < seconds and len(times) < MOST_BLOCKS):
        begin = time.perf_counter()
        run_block()
        times.append(time.perf_counter() - begin)
    return sorted(times)


def spread(times):
    """(median, low, high) of sorted times: a tenth of them is below low, a tenth above high."""
    return times[len(times) // 2], times[len(times) // 10], times[len(times) - 1 - len(times) // 10]


def repeat_for(seconds, call):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        call()
