// Status and StatusOr: how every fallible call of the runtime reports.
#pragma once
#include "runtime/base/str_cat.h"
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace quaver {

enum class StatusCode {
  kOk,
  kInvalidArgument,    // the caller's value is wrong whatever the state
  kNotFound,           // a name or file is not there
  kOutOfRange,         // an index or size is past its end
  kFailedPrecondition, // right, but not in this state or on this machine
  kUnimplemented,      // a valid request that this build does not serve
  kResourceExhausted,  // memory, files, devices
  kDataLoss,           // bytes are corrupted or truncated
  kInternal,           // our fault
  kUnavailable,        // try again later
};

/// Ok, or a code with one sentence for the user. Copying an ok status is copying a null pointer.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) {
    if (code != StatusCode::kOk)
      error_ = std::make_shared<const Error>(Error{code, std::move(message)});
  }
  bool ok() const { return !error_; }
  StatusCode code() const { return error_ ? error_->code : StatusCode::kOk; }
  const std::string &message() const {
    static const std::string kEmpty;
    return error_ ? error_->message : kEmpty;
  }
  void ignore_error() const {}

private:
  struct Error {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Error> error_;
};

inline Status OkStatus() { return Status(); }

// InvalidArgumentError("input ", name, ": expected rank ", want): the parts are joined.
#define QUAVER_STATUS_FACTORY(name, code)                                                                    \
  template <class... Parts> Status name(const Parts &...parts) {                                             \
    return Status(StatusCode::code, str_cat(parts...));                                                      \
  }
QUAVER_STATUS_FACTORY(InvalidArgumentError, kInvalidArgument)
QUAVER_STATUS_FACTORY(NotFoundError, kNotFound)
QUAVER_STATUS_FACTORY(OutOfRangeError, kOutOfRange)
QUAVER_STATUS_FACTORY(FailedPreconditionError, kFailedPrecondition)
QUAVER_STATUS_FACTORY(UnimplementedError, kUnimplemented)
QUAVER_STATUS_FACTORY(ResourceExhaustedError, kResourceExhausted)
QUAVER_STATUS_FACTORY(DataLossError, kDataLoss)
QUAVER_STATUS_FACTORY(InternalError, kInternal)
QUAVER_STATUS_FACTORY(UnavailableError, kUnavailable)
#undef QUAVER_STATUS_FACTORY

/// A value, or why there is none. Reading the value of an error is a programming error.
template <class T> class [[nodiscard]] StatusOr {
public:
  StatusOr(Status status) : status_(std::move(status)) {
    assert(!status_.ok() && "an ok StatusOr needs a value");
  }
  StatusOr(T value) : value_(std::move(value)) {}
  template <class U, class = std::enable_if_t<
                         std::is_convertible_v<U &&, T> && !std::is_same_v<std::decay_t<U>, StatusOr> &&
                         !std::is_same_v<std::decay_t<U>, Status> && !std::is_same_v<std::decay_t<U>, T>>>
  StatusOr(U &&value) : value_(std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &value() & { return assert(ok()), *value_; }
  const T &value() const & { return assert(ok()), *value_; }
  T &&value() && { return assert(ok()), std::move(*value_); }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

private:
  Status status_;
  std::optional<T> value_;
};

} // namespace quaver

#define QUAVER_CONCAT_INNER(a, b) a##b
#define QUAVER_CONCAT(a, b) QUAVER_CONCAT_INNER(a, b)
/// Returns the status of `expr` from the enclosing function unless it is ok.
#define QUAVER_RETURN_IF_ERROR(expr)                                                                         \
  do {                                                                                                       \
    if (::quaver::Status quaver_status = (expr); !quaver_status.ok())                                        \
      return quaver_status;                                                                                  \
  } while (false)
/// QUAVER_ASSIGN_OR_RETURN(auto x, f()): declares x, or returns f's error.
#define QUAVER_ASSIGN_OR_RETURN(lhs, expr)                                                                   \
  QUAVER_ASSIGN_OR_RETURN_INNER(QUAVER_CONCAT(quaver_or_, __LINE__), lhs, expr)
#define QUAVER_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr)                                                        \
  auto tmp = (expr);                                                                                         \
  if (!tmp.ok())                                                                                             \
    return tmp.status();                                                                                     \
  lhs = *std::move(tmp)
