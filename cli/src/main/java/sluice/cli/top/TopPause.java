package sluice.cli.top;

import java.util.Arrays;
import java.util.Optional;
import sluice.api.model.Operation.Kind;

/// The choices for a tenant that is to be paused or resumed.
enum TopPause {
    HOLD('p', Kind.HOLD, "pause", "it submits no more work; its memory stays"),
    RELEASE('r', Kind.RELEASE, "release", "its memory moves to host memory too"),
    VACATE('v', Kind.VACATE, "vacate", "the driver's own state leaves the GPU too"),
    RESUME('g', Kind.RESUME, "go on", "it runs again, with its memory on the GPU");

    private final char key;
    private final Kind kind;
    private final String word;
    private final String meaning;

    TopPause(char key, Kind kind, String word, String meaning) {
        this.key = key;
        this.kind = kind;
        this.word = word;
        this.meaning = meaning;
    }

    static Optional<TopPause> of(int letter) {
        return Arrays.stream(values()).filter(choice -> choice.key == letter).findFirst();
    }

    char key() {
        return key;
    }

    Kind kind() {
        return kind;
    }

    String word() {
        return word;
    }

    String meaning() {
        return meaning;
    }
}
