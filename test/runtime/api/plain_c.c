/*===- plain_c.c - quaver.h from C ------------------------------------------===
 * Runs matmul_plan() on x[2, 4]: C99 is enough for an embedder. Returns 0 on success.
 *===----------------------------------------------------------------------===*/
#include "runtime/api/quaver.h"

#include <stdio.h>

int quaver_plain_c(const char *path, float *y, size_t y_bytes);

int quaver_plain_c(const char *path, float *y, size_t y_bytes) {
  static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t shape[2] = {2, 4};
  qv_model *model = NULL;
  qv_session *session = NULL;
  qv_input input = {"x", QV_F32, 2, shape, x, sizeof(x), QV_MEMORY_HOST};
  qv_output output = {0};
  qv_status *status = qv_model_open(path, &model);
  int code;
  output.name = "y";
  output.data = y;
  output.capacity = y_bytes;
  if (!status)
    status = qv_session_create(model, NULL, &session);
  if (!status)
    status = qv_run(session, NULL, &input, 1, &output, 1, NULL);
  if (status)
    fprintf(stderr, "%s\n", qv_status_message(status));
  code = (int)qv_status_code(status);
  qv_status_release(status);
  qv_session_release(session);
  qv_model_release(model);
  return code;
}
