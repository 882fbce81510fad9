package sluice.proof;

import java.util.List;
import java.util.stream.Collectors;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;
import sluice.proof.checks.MemoryWay;
import sluice.proof.checks.Subject;
import sluice.proof.checks.View;

/// `docs/memory.md`: the ways to take memory and the views on it, each with the checks of `sluice verify` about it.
final class MemoryPage {
    private MemoryPage() {}

    static String markdown() {
        StringBuilder page = new StringBuilder("""
                # Memory: every way in, every view
                Generated from the list of checks in `proof/`; to change it, change that and run `./sluice verify --markdown > docs/memory.md`.

                What Sluice says a tenant uses is what the driver took. Each line names the checks of `sluice verify memory` that
                show it; `sluice inspect TENANT` shows for each process what its memory is used for.

                ## Ways to take memory
                | way to take memory | charged when | refunded when | checked by |
                |---|---|---|---|
                """);
        for (MemoryWay way : MemoryWay.values()) {
            row(page, List.of(way.calls(), way.charged(), way.refunded(), checks(way)));
        }
        page.append("""

                Whatever a tenant is refused gets CUDA's own out-of-memory code (2), is counted and is kept in the region's error log.
                With `--on-oom wait` an allocation that could fit waits for room first, as long as it may.

                ## Mapped memory
                With `SLUICE_MAPPED=1` in the environment, or `mapped` in the limits of the tenant, Sluice itself puts memory behind the addresses of `cuMemAlloc`
                and `cuMemAllocPitch`. Such memory can leave the GPU and come back at the same address. A process decides at its first allocation.

                - A request above 2 MiB has memory of its own. Smaller requests share blocks of 2 MiB, as the driver packs them. The charge is the same.
                - `cuMemFree` waits for the work of the context, as the driver's does. While a stream captures it does not wait: the memory goes after the next wait.
                - Freed memory may stay mapped for the next request of its size: up to 32 MiB on a GPU and 2 % of the quota, while a sixteenth of the GPU is free. This *spare* memory
                  counts for the tenant, and `cuMemGetInfo` shows it as free. It goes before a request of the tenant is refused, in a pause, with its context, and when it is not used for 0.1 to 0.4 s.
                - `cuMemFreeAsync` gives the memory back when the stream has come there: at the next wait, at the next allocation, or before a request is refused.
                - Pointer attributes, address ranges and peer access are those of the driver's own memory.
                - `cuIpcGetMemHandle` gives a handle that processes of the same tenant and user can open. The process that made it must live; it needs a socket and a thread for that.
                - Memory for which there is a handle stays on the GPU under a release. If it is freed while another process has it open, the driver keeps it until the close, uncharged.
                - On a GPU that cannot pass memory on by descriptors, `cuIpcGetMemHandle` returns `CUDA_ERROR_NOT_SUPPORTED` (801). Start such a job with `SLUICE_MAPPED=0`.
                - Managed memory, arrays, pools, graphs and the 32-bit calls stay with the driver. So does all memory of a GPU that cannot map memory.

                ## What a tenant sees
                | view | shows | checked by |
                |---|---|---|
                """);
        for (View view : View.values()) {
            row(page, List.of(view.calls(), view.shows(), checks(view)));
        }
        page.append("\n## All checks about memory\n");
        for (Group group : Group.values()) {
            if (group.isMemory()) {
                page.append("- **").append(group.word()).append("**, ").append(group.about()).append(": ").append(names(group)).append("\n");
            }
        }
        return page.toString();
    }

    private static void row(StringBuilder page, List<String> cells) {
        page.append(cells.stream().collect(Collectors.joining(" | ", "| ", " |\n")));
    }

    private static String checks(Subject subject) {
        return Verify.checks().stream()
                .filter(check -> check.subjects().contains(subject))
                .map(check -> check.group().word() + ": " + check.name())
                .collect(Collectors.joining("<br>"));
    }

    private static String names(Group group) {
        return Verify.checks().stream().filter(check -> check.group() == group).map(Check::name).collect(Collectors.joining("; "));
    }
}
