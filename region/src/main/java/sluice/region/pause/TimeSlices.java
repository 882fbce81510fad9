package sluice.region.pause;

import java.util.Locale;
import java.util.Set;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;

/// Whether a process controls the time slices that the GPU gives to its work, and why not.
///
/// @param state  one of `RegionLayout.SLICES_…`
/// @param micros the slice that it has set; 0: that of the driver's library
public record TimeSlices(int state, long micros) {
    public static final TimeSlices UNTRIED = new TimeSlices(RegionLayout.SLICES_UNTRIED, 0);
    /// The value of `SLUICE_SLICES` with which the library tries where the driver's version was checked.
    public static final String AUTO = "auto";
    private static final Set<String> ON = Set.of("1", "true", "yes", "on");

    public static TimeSlices of(SlotView slot) {
        return new TimeSlices((int) slot.slices(), slot.sliceMicros());
    }

    public boolean controlled() {
        return state == RegionLayout.SLICES_ON;
    }

    /// Whether a program that is started with this value of `SLUICE_SLICES` does not try to control them.
    ///
    /// @param value null where it is not set
    public static boolean isOff(String value) {
        return value == null || !ON.contains(value.strip().toLowerCase(Locale.ROOT)) && !value.equals(AUTO);
    }

    /// Whether the process does not control them, for a reason that is known.
    public boolean failed() {
        return state != RegionLayout.SLICES_UNTRIED && !controlled();
    }

    /// Whether there is anything to tell: it tried, and was not switched off.
    public boolean tried() {
        return state != RegionLayout.SLICES_UNTRIED && state != RegionLayout.SLICES_OFF;
    }

    public String text() {
        return switch (state) {
            case RegionLayout.SLICES_UNTRIED -> "not tried";
            case RegionLayout.SLICES_ON -> micros == 0 ? "on" : "on, " + micros + " us";
            case RegionLayout.SLICES_OFF -> "off: SLUICE_SLICES turns them off";
            case RegionLayout.SLICES_UNHOOKED -> "off: the calls of libcuda to the kernel driver cannot be observed";
            case RegionLayout.SLICES_UNCHECKED -> "off: never checked with this version of the driver; SLUICE_SLICES=1 tries";
            case RegionLayout.SLICES_ABSENT -> "off: libcuda set no time slice, as for a client of MPS";
            case RegionLayout.SLICES_OTHER -> "off: the driver tells another time slice than libcuda has set";
            case RegionLayout.SLICES_REFUSED -> "off: the driver refused a control call";
            case RegionLayout.SLICES_SLOW -> "off: a control call took too long";
            default -> "off: reason " + state + " of a newer version";
        };
    }
}
