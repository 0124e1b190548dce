//===- buffer.h - a range of device memory ----------------------------------===//
//
// A Buffer is memory that one device's kernels can address. It is either owned (made by Device::allocate,
// freed with the object) or imported (Device::import_buffer: the memory belongs to the caller, who keeps it
// valid until the Buffer is destroyed and every stream operation that names it has completed).
//
// Thread-safety: the accessors are const and may be called from any thread. The contents are ordinary memory:
// who writes and reads them at the same time is the caller's affair; order it with one Stream or with Events.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace quaver::hal {

/// Every owned buffer starts at a multiple of this many bytes, also the smallest of them.
inline constexpr size_t kBufferAlignment = 64;

class Buffer {
public:
  virtual ~Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Size in bytes. May be 0; device_address() is still a valid pointer then, which nobody may read or write
  /// through.
  size_t bytes() const { return bytes_; }

  /// The address that kernels get in `bindings`. Only kernels and stream operations of the buffer's own
  /// device may use it; it is host memory only where host_address() says so.
  void *device_address() const { return device_address_; }

  /// The same bytes as the host sees them, or nullptr where the host cannot address this memory (then copy
  /// through Stream::copy_to_host / copy_from_host).
  void *host_address() const { return host_address_; }

  /// True for memory that belongs to the caller.
  bool is_imported() const { return is_imported_; }

protected:
  Buffer(void *device_address, void *host_address, size_t bytes, bool is_imported)
      : device_address_(device_address), host_address_(host_address), bytes_(bytes),
        is_imported_(is_imported) {}

private:
  void *device_address_;
  void *host_address_;
  size_t bytes_;
  bool is_imported_;
};

} // namespace quaver::hal
