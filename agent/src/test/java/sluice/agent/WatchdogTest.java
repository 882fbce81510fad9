package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;

/// An agent beside a socket that stands for systemd's.
@Timeout(60)
class WatchdogTest {
    @TempDir
    private Path folder;

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final MultiThreadIoEventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

    @BeforeEach
    void listen() {
        new Bootstrap().group(loop).channel(EpollDomainDatagramChannel.class).handler(new SimpleChannelInboundHandler<DomainDatagramPacket>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, DomainDatagramPacket packet) {
                told.add(packet.content().toString(StandardCharsets.UTF_8));
            }
        }).bind(new DomainSocketAddress(folder.resolve("notify").toString())).syncUninterruptibly();
    }

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private RunningAgent start(Part... parts) throws Exception {
        return new RunningAgent(folder, Map.of("NOTIFY_SOCKET", folder.resolve("notify").toString(), "WATCHDOG_USEC", "300000"), List.of(parts),
                "look-every = 100ms", "late-after = 1s");
    }

    private String next() throws InterruptedException {
        return String.valueOf(told.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellSystemdThatItLives() throws Exception {
        try (RunningAgent agent = start()) {
            assertThat(agent.client().get("/v1/machine").status()).isEqualTo(200);
            assertThat(next()).isEqualTo("READY=1");
            assertThat(next()).startsWith("WATCHDOG=1\n");
            assertThat(next()).startsWith("WATCHDOG=1\n");
        }
        assertThat(told).endsWith("STOPPING=1");
    }

    /// From some moment on the agent cannot look any more.
    private static final class Broken implements Part {
        private volatile boolean broken;

        @Override
        public void start(AgentContext context) {
            context.machine().findings(() -> {
                if (broken) {
                    throw new NoClassDefFoundError("broken");
                }
                return List.of();
            });
        }
    }

    @Test
    void shouldFallSilentWhenAPartFails() throws Exception {
        Broken part = new Broken();
        try (RunningAgent agent = start(part)) {
            assertThat(agent.client().get("/v1/machine").status()).isEqualTo(200);
            part.broken = true;

            String last = next();
            while (!last.startsWith("STATUS=")) {
                last = next();
            }
            assertThat(last).contains("look last finished");
            assertThat(next()).doesNotContain("WATCHDOG=1");
            assertThat(next()).doesNotContain("WATCHDOG=1");
        }
    }
}
