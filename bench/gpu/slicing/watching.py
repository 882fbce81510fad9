"""A process that watches its own long kernel by the beats that the kernel writes to host memory."""
import os
import random
import struct
import sys
import threading
import time

import gpu as driver

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "soak"))
GAP = 0.0004      # no beat for longer: the work may be off the GPU; a beat comes every 20 us or so
SAMPLE = 0.05     # how often the progress is noted
STILL = 0.02      # after a pause, so long without a beat is a stop
PATIENCE = 150.0


def nap():
    """Polls as often as it can; a simulated GPU needs the processors itself."""
    if os.environ.get("SIMULATED"):
        time.sleep(0.0001)


def watch(gpu, rounds):
    """When the work was on the GPU, and how far it was. A pause of the poller is no gap: the rounds that were done meanwhile tell that."""
    beat, gaps, samples = driver.Beat(gpu), [], [(0.0, 0)]
    launched = time.monotonic()
    gpu.launch(rounds, beat.device)
    last = beat.look()
    while beat.look() == last and time.monotonic() < launched + PATIENCE:
        nap()
    origin = changed = time.monotonic()
    before = 0
    while beat.rounds() < rounds:
        seen, now = beat.look(), time.monotonic()
        if now > launched + PATIENCE:
            raise TimeoutError(f"{beat.rounds()} of {rounds} rounds after {PATIENCE} s")
        if seen == last:
            nap()
            continue
        done = beat.rounds()
        if now - changed > GAP:
            gaps.append((round(changed - origin, 6), round(now - origin, 6), done - before))
        if now - origin - samples[-1][0] >= SAMPLE:
            samples.append((round(now - origin, 6), done))
        last, changed, before = seen, now, done
    ended = time.monotonic()
    gpu.wait()
    return {"began": origin, "seconds": ended - origin, "waited": origin - launched, "gaps": gaps, "samples": samples, "rounds": rounds, "digest": gpu.digest()}


def pauses(gpu, rounds, count, folder, waits):
    """Writes the command word of its own region and watches the beats: from the word to the last beat, and from the word to the first one after.

    waits: a thread is in the driver meanwhile and waits for the kernel, as in most programs."""
    import pausing

    tenant = pausing.find(folder)
    slot = next(slot for slot in tenant.slots() if tenant.record(slot)["attended"])
    beat = driver.Beat(gpu)
    gpu.launch(rounds, beat.device)
    if waits:
        threading.Thread(target=gpu.wait, daemon=True).start()
    began, found = time.monotonic(), []
    while beat.rounds() == 0 and time.monotonic() < began + 20:
        nap()
    for _ in range(count):
        if beat.rounds() + rounds // 20 > rounds:
            break
        time.sleep(random.uniform(0.02, 0.04))
        found.append(one_pause(pausing, tenant, slot, beat))
    while beat.rounds() < rounds and time.monotonic() < began + PATIENCE:
        time.sleep(0.001)
    gpu.wait()
    return {"pauses": found, "seconds": time.monotonic() - began, "rounds": rounds, "digest": gpu.digest()}


def one_pause(pausing, tenant, slot, beat):
    answer = pausing.SLOT + slot * pausing.SLOT_BYTES + pausing.SLOT_ANSWER
    last = beat.look()
    asked = time.monotonic()
    tenant.ask(pausing.HOLD)
    changed, answered = asked, None
    while time.monotonic() - max(changed, asked) < STILL:
        seen = beat.look()
        if seen != last:
            last, changed = seen, time.monotonic()
        if answered is None and struct.unpack_from("<Q", tenant.map, answer)[0] == tenant.command:
            answered = time.monotonic() - asked
        if changed - asked > 5:
            break
        nap()
    time.sleep(0.01)
    stood = beat.look() == last
    again = time.monotonic()
    tenant.ask(pausing.RUN)
    while beat.look() == last and time.monotonic() - again < 5:
        nap()
    return {"stop": changed - asked, "answer": answered, "still": stood, "go": time.monotonic() - again}
