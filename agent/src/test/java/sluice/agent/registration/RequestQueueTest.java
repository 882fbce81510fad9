package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestQueueTest {
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final List<String> answered = new ArrayList<>();

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    private static RequestQueue queue(int connections, int ofOne, int few, int perSecond, int burst) {
        return new RequestQueue(new RequestQueue.Capacity(connections, ofOne, few, perSecond, burst));
    }

    private List<String> answers(int count) throws Exception {
        for (int look = 0; look < 1000 && executor.submit(answered::size).get() < count; look++) {
            Thread.sleep(5);
        }
        return executor.submit(() -> List.copyOf(answered)).get();
    }

    @Test
    void shouldAnswerOneOfEachPeerInTurn() throws Exception {
        RequestQueue queue = queue(100, 100, 4, 1000, 1000);
        executor.submit(() -> {
            for (long peer = 1; peer <= 3; peer++) {
                queue.connect(peer, System.nanoTime());
            }
            for (int request = 0; request < 4; request++) {
                queue.add(1, () -> answered.add("many"), executor);
            }
            queue.add(2, () -> answered.add("second"), executor);
            queue.add(3, () -> answered.add("third"), executor);
        }).get();

        assertThat(answers(6)).containsExactly("many", "second", "third", "many", "many", "many");
    }

    @Test
    void shouldLetAPeerThatAsksTooMuchWaitAndNoOther() throws Exception {
        RequestQueue queue = queue(100, 100, 4, 20, 2);
        long began = System.nanoTime();
        executor.submit(() -> {
            queue.connect(1, System.nanoTime());
            queue.connect(2, System.nanoTime());
            for (int request = 0; request < 6; request++) {
                queue.add(1, () -> answered.add("much"), executor);
            }
            queue.add(2, () -> answered.add("other"), executor);
        }).get();

        assertThat(answers(7).indexOf("other")).isLessThan(2);
        assertThat(System.nanoTime() - began).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(150));
    }

    /// Otherwise it would hang up after its burst and have the next at once.
    @Test
    void shouldRememberWhatAPeerAskedForAfterItHungUp() throws Exception {
        RequestQueue queue = queue(100, 100, 4, 1, 20);
        Runnable burst = () -> {
            queue.connect(1, System.nanoTime());
            for (int request = 0; request < 20; request++) {
                queue.add(1, () -> answered.add("one"), executor);
            }
        };
        long began = System.nanoTime();
        executor.submit(burst).get();
        assertThat(answers(20)).hasSize(20);
        executor.submit(() -> queue.disconnect(1, System.nanoTime())).get();
        executor.submit(burst).get();
        Thread.sleep(200);

        int soon = executor.submit(answered::size).get();
        assertThat(soon).as("one a second after the burst").isLessThanOrEqualTo(21 + (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
    }

    @Test
    void shouldPutOffConnectionsBeyondTheBoundButLetInAPeerWithFew() {
        RequestQueue queue = queue(4, 3, 1, 10, 10);
        long now = System.nanoTime();
        assertThat(queue.connect(1, now) && queue.connect(1, now) && queue.connect(1, now)).isTrue();
        assertThat(queue.connect(1, now)).as("of one peer").isFalse();
        assertThat(queue.connect(2, now)).isTrue();
        assertThat(queue.connect(2, now)).as("all together").isFalse();
        assertThat(queue.connect(3, now)).as("has none yet").isTrue();
        assertThat(queue.againMillis()).isBetween(1, 2000).isNotEqualTo(queue.againMillis());
        queue.disconnect(1, now);
        queue.disconnect(1, now);
        assertThat(queue.connect(2, now)).isTrue();
    }
}
