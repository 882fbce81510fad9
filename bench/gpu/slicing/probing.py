"""What the library finds in a process, as its log tells it."""
import time

from kit import Job, verdict


def said(job):
    with open(job.log, encoding="utf-8", errors="replace") as file:
        return "```\n" + "\n".join(line.strip() for line in file if "slice" in line) + "\n```"


def probe(run):
    texts = []
    for part, slices in (("plain", "1"), ("plain", "auto"), ("contexts", "1"), ("torch", "1")):
        try:
            run.need(8)
            job = Job(run, f"probe-{part}-{slices}", ["life", part], ["--priority", "normal"], slices=slices, log="debug")
            right = job.next("right", 60)["right"]
            job.close()
            texts.append(f"{part}, SLUICE_SLICES={slices}: result {verdict(right)}\n{said(job)}")
        except Exception as problem:  # noqa: BLE001: told in the table
            texts.append(f"{part}, SLUICE_SLICES={slices}: {str(problem)[:200]}")
        run.table("probe", "\n\n".join(texts))
    run.need(20)
    folder = run.folder()
    job = Job(run, "probe-vacate", ["life", "plain"], ["--priority", "normal"], folder, log="debug", LIFE_SECONDS="10")
    job.next("ready", 40)
    time.sleep(1)
    paused = run.sluice("pause", "probe-vacate", "--vacate", folder=folder)
    time.sleep(0.5)
    resumed = run.sluice("resume", "probe-vacate", folder=folder)
    right = job.next("right", 30)["right"]
    job.close()
    texts.append(f"checkpoint and restore: pause {paused.returncode}, resume {resumed.returncode} {(paused.stderr + resumed.stderr)[:200]}, result {verdict(right)}\n{said(job)}")
    run.table("probe", "\n\n".join(texts))
    run.conclude("checkpoint and restore", "control goes on", verdict(right))
