package sluice.codegen.entries;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import sluice.codegen.api.ApiFile;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.Enforcement;
import sluice.codegen.api.EntryPoint;
import sluice.codegen.api.Role;

/// `docs/hooks.md`: how Sluice treats each entry point.
public final class HooksPage {
    private HooksPage() {}

    public static String emit(ApiSpec cuda, ApiSpec nvml) {
        return """
                # What Sluice does about each CUDA call

                Generated from `spec/cuda.api` and `spec/nvml.api`; to change it, change these and run
                `mvn -q -pl codegen compile exec:exec@docs`.

                ## In short
                The driver API has %d entry points under %d names; with the twins for per-thread default streams they are
                %d symbols. %d entry points are hooked. All others only pass, as they are; those whose parameters are known, %d,
                pass through a wrapper that counts and times the call, as that of the hooked ones does (`sluice stat`).

                | role | what such a call does | entry points | hooked |
                |---|---|---|---|
                %s

                **Ways to take memory that are enforced now** (above the quota the call gets CUDA's out-of-memory error):
                %s.

                **Ways to take memory that are not enforced yet** (the call passes and its memory is not counted):
                %s.

                **Memory queries that tell the tenant's own truth now**: %s.

                **Calls that submit work and wait for a share of GPU time now**: %s.

                **Calls that submit work and are only counted**: %s.

                **NVML calls that tell the tenant's own truth now**: %s.

                In the tables below, *enforced* means that the call has a hook that does what its role asks for, *gated* that it
                waits at the gate while its tenant's share of GPU time is used up or others have their turn, *counted* that it passes
                the gate unmeasured and is counted, *not yet* that it should have a hook but passes, *watched* that nothing has to be
                done about it but to count and time it, and *passes* that the program holds the driver's own function. "Since" is
                the CUDA version from which cuGetProcAddress gives this symbol; a twin is named by its suffix and its own version.

                ## CUDA driver API
                %s
                ## NVML
                Entry points that Sluice changes, or asks itself; all others go straight to the driver. "Since" is the generation.
                %s""".formatted(
                        cuda.entries().size(),
                        cuda.entries().stream().map(EntryPoint::apiName).distinct().count(),
                        cuda.symbols().size(),
                        count(cuda, EntryPoint::hooked),
                        count(cuda, entry -> entry.documented() && !entry.hooked()),
                        Arrays.stream(Role.values()).map(role -> role(cuda, role)).collect(Collectors.joining("\n")),
                        names(cuda, entry -> entry.role() == Role.CHARGE && entry.hooked()),
                        waysNotEnforced(cuda),
                        names(cuda, entry -> entry.role() == Role.QUERY && entry.hooked()),
                        names(cuda, entry -> Enforcement.of(cuda.file(), entry) == Enforcement.GATED),
                        names(cuda, entry -> Enforcement.of(cuda.file(), entry) == Enforcement.COUNTED),
                        names(nvml, EntryPoint::hooked),
                        tables(cuda),
                        tables(nvml));
    }

    private static long count(ApiSpec api, Predicate<EntryPoint> which) {
        return api.entries().stream().filter(which).count();
    }

    private static String role(ApiSpec cuda, Role role) {
        return "| %s | %s | %d | %d |".formatted(
                role.word(),
                role.meaning(),
                count(cuda, entry -> entry.role() == role),
                count(cuda, entry -> entry.role() == role && entry.hooked()));
    }

    private static String names(ApiSpec cuda, Predicate<EntryPoint> which) {
        var names = cuda.entries().stream()
                .filter(which)
                .map(entry -> "`" + entry.apiName() + "`")
                .distinct()
                .toList();
        return names.isEmpty() ? "none" : String.join(", ", names);
    }

    private static String waysNotEnforced(ApiSpec cuda) {
        var groups = new ArrayList<String>();
        grouped(cuda).forEach((group, _) -> {
            var names = names(cuda, entry -> entry.group().equals(group) && entry.role() == Role.CHARGE && !entry.hooked());
            if (!names.equals("none")) {
                groups.add("- " + group + ": " + names);
            }
        });
        return groups.isEmpty() ? "none" : "\n" + String.join(";\n", groups);
    }

    private static LinkedHashMap<String, List<EntryPoint>> grouped(ApiSpec api) {
        return api.entries().stream()
                .collect(Collectors.groupingBy(EntryPoint::group, LinkedHashMap::new, Collectors.toList()));
    }

    private static String tables(ApiSpec api) {
        var tables = new StringBuilder();
        grouped(api).forEach((group, entries) -> tables.append("""

                ### %s
                | symbol | since | per-thread twin | role | now |
                |---|---|---|---|---|
                %s
                """.formatted(group, entries.stream().map(entry -> row(api, entry)).collect(Collectors.joining("\n")))));
        return tables.toString();
    }

    private static String row(ApiSpec api, EntryPoint entry) {
        return "| `%s` | %s | %s | %s | %s |".formatted(
                entry.symbol(),
                version(api, entry.since()),
                entry.twin().map(twin -> "`_" + twin.suffix() + "` " + version(api, twin.since())).orElse("–"),
                entry.role().word(),
                Enforcement.of(api.file(), entry).word());
    }

    private static String version(ApiSpec api, int version) {
        if (version == 0) {
            return "–";
        }
        return api.file() == ApiFile.CUDA ? version / 1000 + "." + version % 1000 / 10 : Integer.toString(version);
    }
}
