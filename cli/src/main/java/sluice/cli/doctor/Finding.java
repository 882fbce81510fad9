package sluice.cli.doctor;

/// The result of one check of the doctor.
///
/// @param advice what to do about it; empty: nothing
record Finding(Level level, String topic, String text, String advice) {
    enum Level {
        OK,
        WARN,
        FAIL;

        String word() {
            return switch (this) {
                case OK -> "ok";
                case WARN -> "warn";
                case FAIL -> "fail";
            };
        }
    }

    static Finding ok(String topic, String text) {
        return new Finding(Level.OK, topic, text, "");
    }

    static Finding warn(String topic, String text, String advice) {
        return new Finding(Level.WARN, topic, text, advice);
    }

    static Finding fail(String topic, String text, String advice) {
        return new Finding(Level.FAIL, topic, text, advice);
    }
}
