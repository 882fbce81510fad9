package sluice.api.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;
import sluice.region.boards.Boards;
import sluice.region.place.RuntimeDirectory;

/// The entries of tenants on the boards of their GPUs.
public record OnBoards(List<BoardState> boards) {
    public static final OnBoards NONE = new OnBoards(List.of());

    public static OnBoards in(List<RuntimeDirectory> directories) {
        List<BoardState> boards = new ArrayList<>();
        directories.forEach(directory -> boards.addAll(Boards.read(directory)));
        return new OnBoards(boards);
    }

    public Optional<BoardTenant> of(Tenant tenant, TenantGpu gpu) {
        return boards.stream().filter(board -> board.uuid().equals(gpu.uuid()))
                .flatMap(board -> board.tenant(tenant.createdNanos()).stream())
                .findFirst();
    }
}
