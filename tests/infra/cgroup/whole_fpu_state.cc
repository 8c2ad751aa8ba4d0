// A preloaded library with which user-mode Linux runs on processors whose floating-point state is
// larger than it knows.
//
// User-mode Linux reads and writes the state of its processes (NT_X86_XSTATE) in a buffer whose
// size was fixed when it was built, up to AVX-512. The kernel of the host gives as much as fits,
// but since Linux 5.14 takes nothing but the whole state, which AMX makes 8 KiB larger: "ptrace
// set fp regs failed". The ptrace below completes what is written with what the process has. The
// state beyond the buffer is then not switched between the processes of user-mode Linux, which is
// right for AMX: a process has none before it asks its kernel for it, and user-mode Linux never
// grants it.
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>

namespace {

using Ptrace = long (*)(enum __ptrace_request, pid_t, void*, void*);

Ptrace real = nullptr;
// Static, because the stacks of user-mode Linux have a few pages. Only one of its threads calls
// ptrace at a time.
char state[1 << 18];

__attribute__((constructor)) void FindPtrace() {
  real = reinterpret_cast<Ptrace>(dlsym(RTLD_NEXT, "ptrace"));
}

bool IsWholeState(void* type) { return reinterpret_cast<uintptr_t>(type) == NT_X86_XSTATE; }

long Complete(pid_t pid, void* type, const iovec& part) {
  iovec whole{state, sizeof state};
  if (const long failed = real(PTRACE_GETREGSET, pid, type, &whole); failed < 0) return failed;
  memcpy(state, part.iov_base,
         std::min(part.iov_len, whole.iov_len));  // a small processor has less than the buffer
  return real(PTRACE_SETREGSET, pid, type, &whole);
}

}  // namespace

extern "C" long ptrace(enum __ptrace_request request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  const pid_t pid = va_arg(arguments, pid_t);
  void* const address = va_arg(arguments, void*);
  void* const data = va_arg(arguments, void*);
  va_end(arguments);
  if (request == PTRACE_SETREGSET && IsWholeState(address)) {
    return Complete(pid, address, *static_cast<const iovec*>(data));
  }
  return real(request, pid, address, data);
}
