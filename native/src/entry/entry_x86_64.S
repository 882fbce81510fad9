# entry: the code that cannot be written in C, for x86-64.
#
# Where the C library answers, dlsym and dlvsym jump to it and never call it: for RTLD_NEXT and RTLD_DEFAULT the C library
# looks at the return address to learn which object asks.

    .hidden sl_route_symbol
    .hidden sl_route_real_dlsym
    .hidden sl_route_real_dlvsym
    .hidden sl_entry_resolve

    .text

# sl_route_symbol(handle, name, version, caller) returns the address in %rax. %rdx is 0 if the C library must answer.
    .macro lookup symbol, real, version
    .globl \symbol
    .type \symbol, @function
    .p2align 4
\symbol:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rcx
    .if \version == 0
    xorl %edx, %edx
    .endif
    call sl_route_symbol
    movq %rdx, %rcx
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rcx, %rcx
    jnz 1f
    movq \real(%rip), %r11
    jmp *%r11
1:  ret
    .cfi_endproc
    .size \symbol, .-\symbol
    .endm

    lookup dlsym, sl_route_real_dlsym, 0
    lookup dlvsym, sl_route_real_dlvsym, 1

# A trampoline jumps here when its slot is empty, with its index in %r11. All argument registers must survive, vectors included.
    .globl sl_entry_missing
    .hidden sl_entry_missing
    .type sl_entry_missing, @function
    .p2align 4
sl_entry_missing:
    .cfi_startproc
    .irp register, rdi, rsi, rdx, rcx, r8, r9, rax
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .endr
    subq $128, %rsp
    .cfi_adjust_cfa_offset 128
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\number, 16*\number(%rsp)
    .endr
    movl %r11d, %edi
    call sl_entry_resolve
    movq %rax, %r11
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    movups 16*\number(%rsp), %xmm\number
    .endr
    addq $128, %rsp
    .cfi_adjust_cfa_offset -128
    .irp register, rax, r9, r8, rcx, rdx, rsi, rdi
    popq %\register
    .cfi_adjust_cfa_offset -8
    .endr
    jmp *%r11
    .cfi_endproc
    .size sl_entry_missing, .-sl_entry_missing

    .section .note.GNU-stack, "", @progbits
