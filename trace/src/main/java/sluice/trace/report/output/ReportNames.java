package sluice.trace.report.output;

/// Names of kernels for people. C++ names are mangled: `_ZN2at6native4fillIfEEvPT_` is `at::native::fill<…>`.
final class ReportNames {
    private static final int LONGEST_PART = 200;

    private ReportNames() {}

    /// The name without types of template and call, or the name itself if it is none of C++.
    static String readable(String name) {
        if (!name.startsWith("_Z")) {
            return ReportUnits.visible(name);
        }
        StringBuilder readable = new StringBuilder();
        int at = 2;
        boolean nested = at < name.length() && name.charAt(at) == 'N';
        at += nested ? 1 : 0;
        while (at < name.length() && "rVKRO".indexOf(name.charAt(at)) >= 0) {
            at++;
        }
        do {
            int digits = at;
            while (digits < name.length() && digits - at < 4 && Character.digit(name.charAt(digits), 10) >= 0) {
                digits++;
            }
            int length = digits == at ? 0 : Integer.parseInt(name, at, digits, 10);
            if (length == 0 || length > LONGEST_PART || digits + length > name.length()) {
                break;
            }
            String part = name.substring(digits, digits + length);
            readable.append(readable.isEmpty() ? "" : "::").append(part.startsWith("_GLOBAL__N_") ? "(anonymous)" : part);
            at = digits + length;
        } while (nested);
        if (readable.isEmpty()) {
            return ReportUnits.visible(name);
        }
        if (at < name.length() && name.charAt(at) == 'I') {
            readable.append("<…>");
        }
        return ReportUnits.visible(readable.toString());
    }
}
