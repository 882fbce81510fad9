package sluice.agent.audit;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/// Real processes that look as if they used a GPU: a library that is named as the driver is mapped into them.
final class GpuProgram {
    private GpuProgram() {}

    static Process sleep(Path folder) throws Exception {
        return start(folder, "sleep", "100");
    }

    /// Waits until the command runs: before that the process is a copy of this one.
    static Process start(Path folder, String... command) throws Exception {
        Path driver = folder.resolve("libcuda.so.1");
        if (Files.notExists(driver)) {
            Files.copy(anyLibrary(), driver, StandardCopyOption.REPLACE_EXISTING);
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LD_PRELOAD", driver.toString());
        Process process = builder.start();
        while (process.isAlive() && AuditedProcess.read(process.pid()).flatMap(AuditedProcess::mappings)
                .filter(AuditedProcess.Mappings::driver).isEmpty()) {
            Thread.sleep(5);
        }
        return process;
    }

    /// One that has a file mapped too.
    static Process mapping(Path folder, Path file) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xint", "-Xshare:auto",
                "-cp", Path.of(GpuProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString()));
        command.addAll(List.of(GpuProgram.class.getName(), file.toString()));
        Process process = start(folder, command.toArray(String[]::new));
        process.inputReader().readLine();
        return process;
    }

    private static Path anyLibrary() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("/libm.so") || line.contains("/libm-"))
                .map(line -> Path.of(line.substring(line.indexOf('/')))).findFirst().orElseThrow();
    }

    /// Maps the file, says so, and stays.
    public static void main(String[] args) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of(args[0]))) {
            file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), Arena.global());
            System.out.println("mapped");
            Thread.sleep(100_000);
        }
    }
}
