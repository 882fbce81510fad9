package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Who listens hears each event once, and in order.
@Timeout(60)
class EventLogTest {
    private static final int LISTENERS = 200;
    private static final int MOST = 100;

    private final EventLog log = new EventLog();

    private void add() {
        log.add("began", "job", 1000, "began");
    }

    private List<Long> heard(long after) {
        List<Long> heard = new ArrayList<>();
        log.listen(after, MOST, event -> heard.add(event.number())).run();
        return heard;
    }

    @Test
    void shouldMissNoEventWhileAListenerIsAdded() throws Exception {
        var ended = new AtomicBoolean();
        Runnable adder = () -> {
            while (!ended.get()) {
                add();
            }
        };
        try (var threads = Executors.newFixedThreadPool(2)) {
            threads.execute(adder);
            threads.execute(adder);
            try {
                for (int listener = 0; listener < LISTENERS; listener++) {
                    List<Long> heard = hear(2 * MOST);
                    assertThat(heard).containsExactlyElementsOf(LongStream.range(0, 2 * MOST).map(after -> heard.getFirst() + after).boxed().toList());
                }
            } finally {
                ended.set(true);
            }
        }
    }

    private List<Long> hear(int events) throws InterruptedException {
        List<Long> heard = new ArrayList<>();
        var enough = new CountDownLatch(events);
        Runnable end = log.listen(0, MOST, event -> {
            if (enough.getCount() > 0) {
                heard.add(event.number());
                enough.countDown();
            }
        });
        enough.await();
        end.run();
        return heard;
    }

    @Test
    void shouldSendTheRestToAListenerThatComesBack() {
        for (int event = 0; event < 5; event++) {
            add();
        }

        assertThat(heard(0)).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(heard(log.seen(log.mark(log.last(3).getFirst())))).containsExactly(4L, 5L);
        assertThat(heard(log.seen("1.4"))).as("after events of another agent").hasSize(5);
    }

    @Test
    void shouldTellNoMoreThanTheLastEvents() {
        for (int event = 0; event < MOST + 20; event++) {
            add();
        }

        assertThat(heard(0)).hasSize(MOST).startsWith(21L).endsWith(120L);
    }

    @Test
    void shouldRefuseWhatIsNoMark() {
        for (String mark : List.of("", "7", "x", "1.2.3", "-1.2", "1.99999999999999999999")) {
            assertThatIllegalArgumentException().isThrownBy(() -> log.seen(mark));
        }
    }

    @Test
    void shouldKeepTheEventsOfOthersWhenOneUserHasMany() {
        log.add("began", "quiet", 1001, "began");
        for (int event = 0; event < 10_000; event++) {
            add();
        }

        assertThat(log.last(Integer.MAX_VALUE)).anyMatch(event -> event.uid() == 1001).hasSizeLessThanOrEqualTo(500);
    }
}
