package sluice.cli.top;

import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.Limit;

/// The present meaning of the keys.
sealed interface TopMode {
    /// Keys are commands.
    record Watching() implements TopMode {}

    /// The help is shown; any key closes it.
    record Helping() implements TopMode {}

    /// Keys are letters of the filter.
    ///
    /// @param before the filter that Esc brings back
    record Filtering(String before) implements TopMode {}

    /// The next key names a limit of the tenant.
    record Choosing(Tenant tenant) implements TopMode {}

    /// The next key says how deep the tenant is paused, or that it is resumed.
    record Pausing(Tenant tenant) implements TopMode {}

    /// Keys are letters of the limit's new value.
    ///
    /// @param mistake the error of the value, or nothing
    record Editing(Tenant tenant, Limit limit, String text, String mistake) implements TopMode {}

    /// The next key says whether the limit is set.
    record Confirming(Tenant tenant, Limit limit, String text, LimitsChange change) implements TopMode {}
}
