# entry: the lines that C cannot say, x86-64.
#
# dlsym and dlvsym leave by a jump, never by a call, when the answer is the C library's own: RTLD_NEXT and
# RTLD_DEFAULT look at the return address to learn who asks.

    .hidden sl_route_symbol
    .hidden sl_route_real_dlsym
    .hidden sl_route_real_dlvsym
    .hidden sl_entry_resolve

    .text

# sl_route_symbol(handle, name, version, caller) gives the answer in %rax and in %rdx whether it is one.
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

# A trampoline found its slot empty. Index in %r11; every argument register, also the vector ones, must survive.
    .globl sl_entry_missing
    .hidden sl_entry_missing
    .type sl_entry_missing, @function
    .p2align 4
sl_entry_missing:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movl %r11d, %edi
    call sl_entry_resolve
    movq %rax, %r11
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size sl_entry_missing, .-sl_entry_missing

    .section .note.GNU-stack, "", @progbits
