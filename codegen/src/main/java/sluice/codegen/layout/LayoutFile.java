package sluice.codegen.layout;

import java.util.Locale;
import sluice.codegen.text.JavaNames;

/// The memory-mapped files that C and Java share, and their differences. Names of Java views contain the name of the file; those of the
/// region, the usual case, have no addition.
public enum LayoutFile {
    REGION("", true, "region.md", "of one tenant, shared by the library in each of its processes and by the tools"),
    BOARD(
            "Board", true, "board.md",
            "of one GPU, on which its tenants take turns; shared by the library in their processes and by the tools"),
    TRACE("Trace", false, "trace-file.md", "of one traced thread, written by the library and read by the tools");

    private final String viewPrefix;
    private final boolean firstPageIsReadOnly;
    private final String page;
    private final String purpose;

    LayoutFile(String viewPrefix, boolean firstPageIsReadOnly, String page, String purpose) {
        this.viewPrefix = viewPrefix;
        this.firstPageIsReadOnly = firstPageIsReadOnly;
        this.page = page;
        this.purpose = purpose;
    }

    /// `region`, `board`, `trace`: as in the names of C.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public String fileName() {
        return word() + ".abi";
    }

    public String layoutClass() {
        return JavaNames.pascal(word()) + "Layout";
    }

    public String viewClass(LayoutSpec.Record record) {
        return viewPrefix + JavaNames.pascal(record.name()) + "View";
    }

    /// Whether the library maps the first page so that it cannot write there.
    boolean firstPageIsReadOnly() {
        return firstPageIsReadOnly;
    }

    /// Name of the reference page.
    public String page() {
        return page;
    }

    /// Ends the sentence "The memory-mapped file …".
    String purpose() {
        return purpose;
    }
}
