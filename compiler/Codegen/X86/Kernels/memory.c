// LLVM may invent calls to these even in freestanding code. Embedded as an object and given to the linker of
// a dispatch between --start-lib and --end-lib: pulled in only where one is referenced.
typedef __SIZE_TYPE__ size_t;
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void *memset(void *to, int byte, size_t n) {
  void *d = to;
  __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(byte) : "memory");
  return to;
}

HIDDEN void *memcpy(void *to, const void *from, size_t n) {
  void *d = to;
  __asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n) : : "memory");
  return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t n) {
  char *d = to;
  const char *s = from;
  if ((size_t)(d - s) >= n)
    return memcpy(to, from, n);
  while (n--)
    d[n] = s[n];
  return to;
}
