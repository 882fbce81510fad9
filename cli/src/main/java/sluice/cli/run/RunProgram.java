package sluice.cli.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sluice.cli.output.ExitStatus;
import sluice.cli.process.DriverSearch;
import sluice.cli.process.Exec;
import sluice.cli.process.RawProcess;
import sluice.cli.process.SliceDriver;
import sluice.cli.process.Variables;
import sluice.linux.Errno;
import sluice.linux.ProgramCalls;
import sluice.region.limits.OnError;
import sluice.region.place.Installation;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Makes the tenant and becomes its program.
public final class RunProgram {
    /// Names the library to which NVTX sends the program's ranges.
    private static final String NVTX = "NVTX_INJECTION64_PATH";

    /// Lets the library print a line about allocations over the quota: a user of this command reads stderr.
    private static final String REFUSALS = "SLUICE_REFUSALS";

    private RunProgram() {}

    /// Returns only if the program could not be started, with the exit status.
    public static int become(RunRequest request) {
        Installation installation = Installation.find().loadable();
        Variables environment = environment(request, installation);
        if (!request.simulated() && !DriverSearch.found(environment)) {
            throw new SluiceException("no CUDA driver (libcuda.so.1) was found; add --sim to run on the simulated GPU,"
                    + " install the NVIDIA driver, or set SLUICE_DRIVER to the driver's path");
        }
        ProgramCalls system = new ProgramCalls();
        List<byte[]> program = RawProcess.arguments(request.program());
        if (request.isLimited()) {
            requirePreload(system, request.limits().onError(), program.getFirst(), environment.value("PATH"));
        }
        RunTenant tenant = RunTenant.make(request, environment, program);
        if (tenant.limited() && !request.isLimited()) {
            requirePreload(system, tenant.onError(), program.getFirst(), environment.value("PATH"));
        }
        tenant.variables().forEach(environment::set);
        if (request.limits().compute().strict()) {
            SliceDriver driver = SliceDriver.ofMachine();
            driver.obstacle(environment.value(SliceDriver.VARIABLE)).ifPresent(why -> System.err.println("sluice: --strict cannot be enforced, because " + why
                    + "; the cap holds as without it, and a kernel that takes longer is repaid. To try, add --env " + driver.advice()));
        }
        Exec exec = new Exec(system, environment.list());
        exec.restore(ThisProcess.current().blockedSignals());
        int error = execute(exec, program, environment.value("PATH"));
        tenant.discard();
        return explain(error, RawProcess.text(program.getFirst()));
    }

    private static Variables environment(RunRequest request, Installation installation) {
        Variables environment = new Variables(RawProcess.environment());
        environment.restore("SLUICE_KEPT_");
        for (byte[] setting : RawProcess.arguments(request.environment())) {
            environment.set(setting);
        }
        String library = installation.presentLibrary().toString();
        environment.prepend("LD_PRELOAD", library);
        if (request.trace() != null && environment.value(NVTX) == null) {
            environment.set(NVTX, library);
        }
        if (request.simulated()) {
            environment.prepend("LD_LIBRARY_PATH", installation.presentSimulatedDriver().toString());
        }
        if (environment.value(REFUSALS) == null) {
            environment.set(REFUSALS, "tell");
        }
        return environment;
    }

    /// A file that may not be executed counts only if no executable one follows.
    private static int execute(Exec exec, List<byte[]> program, String searchPath) {
        int error = Errno.ENOENT;
        for (byte[] path : ProgramFile.candidates(program.getFirst(), searchPath)) {
            int failure = exec.execute(path, program);
            if (failure != Errno.ENOENT) {
                error = failure;
            }
        }
        return error;
    }

    /// A limit has no effect on a program that cannot load the library.
    private static void requirePreload(ProgramCalls system, OnError onError, byte[] program, String searchPath) {
        ProgramFile.find(system, program, searchPath).flatMap(new PreloadCheck(system, PreloadCheck.Starter.current())::obstacle).ifPresent(what -> {
            String line = "program '" + RawProcess.text(program) + "' " + what + ", so the library cannot be loaded into it and no limit would hold";
            if (onError == OnError.FAIL) {
                throw new SluiceException(line + "; give 'sluice run' the program that uses the GPU, in a dynamically linked build without"
                        + " extra rights, or add --on-error run if it only starts such a program");
            }
            System.err.println("sluice: " + line + "; it runs without limits, because on-error is run");
        });
    }

    private static int explain(int error, String program) {
        if (error == Errno.ENOENT) {
            System.err.println("sluice: program '" + program + "' was not found"
                    + (program.indexOf('/') >= 0 ? "; check the path" : " in PATH; check the name or give its path"));
            return ExitStatus.NOT_FOUND;
        }
        System.err.println("sluice: program '" + program + "' cannot be started ("
                + switch (error) {
                    case Exec.NO_INTERPRETER -> "its interpreter does not exist); check its first line";
                    case Errno.EACCES -> Files.isDirectory(Path.of(program)) ? "it is a folder); give the path of a program"
                            : "permission denied); make it executable with chmod +x, or name its interpreter";
                    case Errno.E2BIG -> "its arguments and environment are too long); shorten them";
                    default -> "error " + error + " of execve); see 'man execve'";
                });
        return ExitStatus.NOT_EXECUTABLE;
    }
}
