package sluice.agent.history;

/// Several samples of one series as one: the most memory, the last limit, the mean of the rest.
final class Sums {
    private int count;
    private int got;
    private long usedBytes;
    private long limitBytes;
    private long limitSecond;
    private long gotPermille;
    private long submittedPerSecond;
    private long waitedPermille;

    void add(Sample sample) {
        count++;
        usedBytes = Math.max(usedBytes, sample.usedBytes());
        if (sample.second() >= limitSecond) {
            limitBytes = sample.limitBytes();
            limitSecond = sample.second();
        }
        if (sample.gotPermille() >= 0) {
            got++;
            gotPermille += sample.gotPermille();
        }
        submittedPerSecond += sample.submittedPerSecond();
        waitedPermille += sample.waitedPermille();
    }

    Sample sample(int series, long second) {
        return new Sample(series, second, usedBytes, limitBytes, got == 0 ? -1 : (int) (gotPermille / got),
                (int) (submittedPerSecond / count), (int) (waitedPermille / count));
    }
}
