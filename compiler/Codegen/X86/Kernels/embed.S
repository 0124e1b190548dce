    .macro embed name, path
    .section .rodata
    .balign 16
    .globl \name
    .hidden \name
\name: .incbin "\path"
    .globl \name\()_end
    .hidden \name\()_end
\name\()_end:
    .endm
    embed quaver_kernels_avx2, kernels.avx2.bc
    embed quaver_kernels_avx512, kernels.avx512.bc
    embed quaver_kernels_avx512_bf16, kernels.avx512_bf16.bc
    embed quaver_kernels_memory, memory.o
    .section .note.GNU-stack,"",@progbits
