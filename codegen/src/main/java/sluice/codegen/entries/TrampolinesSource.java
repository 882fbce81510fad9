package sluice.codegen.entries;

import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;

/// `trampolines.S`: the entry points with unknown parameters; they go straight to the driver.
public final class TrampolinesSource {
    private TrampolinesSource() {}

    public static String emit(ApiSpec cuda) {
        return """
                # Generated from spec/cuda.api: the entry points without a known prototype, x86-64.
                #
                # Each jumps through its slot of `real`. While the slot is empty, sl_entry_missing gets the index in %%r11 and
                # finds the function. No argument register and no stack is touched.

                    .hidden real
                    .hidden sl_entry_missing

                    .macro forward symbol, index
                    .globl \\symbol
                    .type \\symbol, @function
                    .p2align 4
                \\symbol:
                    .cfi_startproc
                    endbr64
                    movq real+8*\\index(%%rip), %%r11
                    testq %%r11, %%r11
                    jz 1f
                    jmp *%%r11
                1:  movl $\\index, %%r11d
                    jmp sl_entry_missing
                    .cfi_endproc
                    .size \\symbol, .-\\symbol
                    .endm

                    .text
                %s

                    .section .note.GNU-stack, "", @progbits
                """.formatted(cuda.symbols().stream()
                        .filter(symbol -> !symbol.entry().documented())
                        .map(symbol -> "    forward %s, %d".formatted(symbol.name(), symbol.index()))
                        .collect(Collectors.joining("\n")));
    }
}
