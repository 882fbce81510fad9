package sluice.codegen;

import java.util.Locale;

/// The memory-mapped files that C and Java share, and what differs between them. The Java views of the board have its name
/// in them, those of the region, which is the rule, have nothing.
enum LayoutFile {
    REGION("", "of one tenant, shared by the library in each of its processes and by the tools"),
    BOARD("Board", "of one GPU, on which its tenants take turns; shared by the library in their processes and by the tools");

    private final String viewPrefix;
    private final String purpose;

    LayoutFile(String viewPrefix, String purpose) {
        this.viewPrefix = viewPrefix;
        this.purpose = purpose;
    }

    /// `region`, `board`: as in the names of C and of the pages.
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String fileName() {
        return word() + ".abi";
    }

    String layoutClass() {
        return JavaNames.pascal(word()) + "Layout";
    }

    String viewClass(LayoutSpec.Record record) {
        return viewPrefix + JavaNames.pascal(record.name()) + "View";
    }

    /// Ends the sentence "The memory-mapped file …".
    String purpose() {
        return purpose;
    }
}
