"""A GPU's clock and power while something computes, what limits the clock, and which GPU it is, by nvidia-smi. Standard
library only."""
import statistics
import subprocess
import time

NUMBERS = ["clocks.sm", "clocks.max.sm", "power.draw.instant", "enforced.power.limit"]
REASONS = {"sw_power_cap": "the power limit", "hw_slowdown": "the hardware's protection",
           "sw_thermal_slowdown": "its temperature", "hw_thermal_slowdown": "its temperature",
           "hw_power_brake_slowdown": "the power supply"}
MILLISECONDS = 20  # between two samples
BUSY = 0.8  # of the highest power seen: below that the GPU is idle


def sampler(program="nvidia-smi"):
    """A process that writes samples until it is ended; None: no such program."""
    fields = ",".join(NUMBERS + ["clocks_event_reasons." + one for one in REASONS])
    try:
        return subprocess.Popen([program, "--query-gpu=" + fields, "--format=csv,noheader,nounits", "-i", "0", "-lms",
                                 str(MILLISECONDS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None


def summary(text):
    """Medians of the samples in which the GPU was busy; None: there are none."""
    samples = []
    for line in text.splitlines():
        words = [word.strip() for word in line.split(",")]
        try:
            samples.append(([float(word) for word in words[:len(NUMBERS)]], words[len(NUMBERS):]))
        except ValueError:  # a field that this GPU or driver does not know
            continue
    most = max((numbers[2] for numbers, _ in samples), default=0)
    busy = [(numbers, reasons) for numbers, reasons in samples
            if len(numbers) == len(NUMBERS) and len(reasons) == len(REASONS) and numbers[2] >= BUSY * most]
    if not busy:
        return None
    middle = [statistics.median(numbers[i] for numbers, _ in busy) for i in range(len(NUMBERS))]
    held = [name for i, name in enumerate(REASONS.values())
            if 2 * sum(reasons[i] == "Active" for _, reasons in busy) > len(busy)]
    return {"megahertz": middle[0], "most_megahertz": middle[1], "watts": middle[2], "most_watts": middle[3],
            "held_by": sorted(set(held)), "samples": len(busy)}


def card(program="nvidia-smi"):
    """{"device_name", "driver"} of the first GPU; {} without one."""
    try:
        text = subprocess.run([program, "--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    words = [word.strip() for word in text.split(",")]
    return dict(zip(("device_name", "driver"), words)) if len(words) == 2 else {}


def while_running(call, program="nvidia-smi"):
    """Summary of the samples taken while `call` ran; None: nothing could be sampled."""
    process = sampler(program)
    try:
        call()
    finally:
        if process:
            time.sleep(MILLISECONDS / 1000)
            process.terminate()
    return summary(process.communicate()[0]) if process else None


def words(found):
    """One clause for a page."""
    return "the GPU runs at %.0f of %.0f MHz and draws %.0f of %.0f W%s" % (
        found["megahertz"], found["most_megahertz"], found["watts"], found["most_watts"],
        "; its clock is limited by " + " and ".join(found["held_by"]) if found["held_by"] else "")
