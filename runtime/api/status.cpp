//===- status.cpp - errors of the C interface -------------------------------===//
#include "runtime/api/handles.h"

#include <new>

namespace quaver::api {

static qv_code to_c_code(StatusCode code) {
  switch (code) {
  case StatusCode::kOk:
    return QV_OK;
  case StatusCode::kInvalidArgument:
    return QV_INVALID_ARGUMENT;
  case StatusCode::kNotFound:
    return QV_NOT_FOUND;
  case StatusCode::kFailedPrecondition:
    return QV_FAILED_PRECONDITION;
  case StatusCode::kResourceExhausted:
    return QV_RESOURCE_EXHAUSTED;
  case StatusCode::kDataLoss:
    return QV_DATA_LOSS;
  case StatusCode::kUnimplemented:
    return QV_UNIMPLEMENTED;
  default:
    return QV_INTERNAL;
  }
}

qv_status *to_c(const Status &status) {
  if (status.ok())
    return nullptr;
  static qv_status no_memory{QV_RESOURCE_EXHAUSTED, ""};
  qv_status *result = new (std::nothrow) qv_status{to_c_code(status.code()), std::string(status.message())};
  return result ? result : &no_memory;
}

} // namespace quaver::api

qv_code qv_status_code(const qv_status *status) { return status ? status->code : QV_OK; }
const char *qv_status_message(const qv_status *status) { return status ? status->message.c_str() : ""; }
