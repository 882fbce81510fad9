/// picocli under its usual module name. Sources are unpacked by the build; nothing of ours is in here.
module info.picocli {
    requires static java.sql;

    exports picocli;

    opens picocli;
}
