package sluice.region;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import sluice.linux.FileRules;
import sluice.linux.Folder;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.RuntimeFile;

/// A runtime directory that is opened once, to read many of its regions. Each file is opened relative to it.
public final class RegionFolder implements AutoCloseable {
    private final RuntimeDirectory directory;
    private final Folder folder;
    private final FileRules rules;

    private RegionFolder(RuntimeDirectory directory, Folder folder, FileRules rules) {
        this.directory = directory;
        this.folder = folder;
        this.rules = rules;
    }

    public static RegionFolder open(RuntimeDirectory directory) throws IOException {
        Folder folder = Folder.open(directory.path());
        try {
            return new RegionFolder(directory, folder, RuntimeFile.rules(folder));
        } catch (IOException e) {
            folder.close();
            throw e;
        }
    }

    /// The files of its tenants, as many as [RuntimeDirectory#files] gives.
    public List<Path> regions() {
        return directory.files(folder, "", RegionFile.SUFFIX);
    }

    /// @param region a file of this directory
    public Tenant read(Path region, Processes known) {
        return Tenant.read(region, known, (file, write) -> folder.openDescriptor(file.getFileName().toString(), rules, write));
    }

    @Override
    public void close() {
        folder.close();
    }
}
