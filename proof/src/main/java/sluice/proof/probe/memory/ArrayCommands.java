package sluice.proof.probe.memory;

import sluice.cuda.Arrays;
import sluice.proof.facts.Facts;

/// Arrays by their shape: width, height, depth, format, channels.
public final class ArrayCommands {
    private ArrayCommands() {}

    public static Facts run(Session session, String verb, long[] numbers) {
        Arrays arrays = session.driver().arrays();
        return switch (verb) {
            case "create" -> PoolCommands.handle(arrays.create(shape(numbers)));
            case "create-3d" -> PoolCommands.handle(arrays.create3D(shape(numbers)));
            case "create-mipmapped" -> PoolCommands.handle(arrays.createMipmapped(shape(numbers), (int) numbers[5]));
            case "create-sparse" -> PoolCommands.handle(arrays.createSparse(shape(numbers)));
            case "map" -> PoolCommands.status(arrays.map(place(numbers), numbers[5], session.device(), session.stream()));
            case "unmap" -> PoolCommands.status(arrays.unmap(place(numbers), session.device(), session.stream()));
            case "destroy" -> PoolCommands.status(arrays.destroy(numbers[0]));
            case "destroy-mipmapped" -> PoolCommands.status(arrays.destroyMipmapped(numbers[0]));
            default -> throw new IllegalArgumentException("arrays have no command '" + verb + "'");
        };
    }

    private static Arrays.Place place(long[] numbers) {
        return new Arrays.Place(numbers[0], (int) numbers[1], (int) numbers[2], (int) numbers[3], (int) numbers[4]);
    }

    private static Arrays.Shape shape(long[] numbers) {
        return new Arrays.Shape(numbers[0], numbers[1], numbers[2], (int) numbers[3], (int) numbers[4]);
    }
}
